//! What becomes of the ids of a text in the end: cut, put between special tokens, padded. On the ids alone, so that none
//! of the crate's assertions about strides, templates and lengths can be reached.

use std::collections::HashMap;

use serde::Deserialize;
use tokenizers::{
    PaddingDirection, PaddingParams, PaddingStrategy, PostProcessorWrapper, TruncationDirection, TruncationParams,
    TruncationStrategy,
};

use super::{invalid, limit_exceeded, unsupported};
use crate::Error;

/// The most ids that one text may be given.
const MOST_IDS: usize = 16 << 20;

/// What a file says about the ids of a text.
#[derive(Debug, Default)]
pub(super) struct Finish {
    truncation: Option<TruncationParams>,
    processor: Option<Processor>,
    padding: Option<PaddingParams>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Processor {
    ByteLevel,
    BertProcessing { sep: (String, u32), cls: (String, u32) },
    RobertaProcessing { sep: (String, u32), cls: (String, u32) },
    TemplateProcessing { single: Vec<Piece>, pair: Vec<Piece>, special_tokens: HashMap<String, Special> },
    Sequence { processors: Vec<Processor> },
}

#[derive(Debug, Deserialize)]
enum Piece {
    Sequence { id: Which },
    SpecialToken { id: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
enum Which {
    A,
    B,
}

#[derive(Debug, Deserialize)]
struct Special {
    ids: Vec<u32>,
}

impl Finish {
    /// Reads three members of a file, each as JSON text.
    pub fn read(truncation: &str, processor: &str, padding: &str) -> Result<Finish, Error> {
        // The crate says what it refuses; what it takes in an older spelling is not worth a second reader.
        member::<Option<PostProcessorWrapper>>("post_processor", processor)?;
        Ok(Finish {
            truncation: member("truncation", truncation)?,
            processor: member("post_processor", processor).map_err(|error| unsupported(error.message()))?,
            padding: member("padding", padding)?,
        })
    }

    /// The ids that a text is given in the end.
    pub fn apply(&self, mut ids: Vec<u32>, add_special_tokens: bool) -> Result<Vec<u32>, Error> {
        if let Some(truncation) = &self.truncation {
            let added = match &self.processor {
                Some(processor) if add_special_tokens => processor.added(),
                _ => 0,
            };
            // Where there is no room for the special tokens alone, the reference too goes below zero, and cuts nothing.
            let most = truncation.max_length.wrapping_sub(added);
            if let Some(excess) = ids.len().checked_sub(most).filter(|&excess| excess > 0) {
                if truncation.strategy == TruncationStrategy::OnlySecond && most > 0 {
                    return Err(unsupported(
                        "truncation: the text is too long, and only the second of two texts may be cut",
                    ));
                }
                match truncation.direction {
                    TruncationDirection::Left => drop(ids.drain(..excess)),
                    TruncationDirection::Right => ids.truncate(most),
                }
            }
        }
        if let Some(processor) = &self.processor {
            ids = processor.apply(vec![ids], add_special_tokens)?.concat();
        }
        if let Some(padding) = &self.padding {
            pad(&mut ids, padding)?;
        }
        Ok(ids)
    }
}

impl Processor {
    /// How many tokens the crate counts as added to one text.
    fn added(&self) -> usize {
        match self {
            Processor::ByteLevel => 0,
            Processor::BertProcessing { .. } | Processor::RobertaProcessing { .. } => 2,
            Processor::TemplateProcessing { single, special_tokens, .. } => {
                let specials = single.iter().filter_map(|piece| match piece {
                    Piece::Sequence { .. } => None,
                    Piece::SpecialToken { id } => special_tokens.get(id),
                });
                specials.map(|special| special.ids.len()).sum()
            }
            Processor::Sequence { processors } => processors.iter().map(Processor::added).sum(),
        }
    }

    /// Makes lists of lists: a template gives one for each of its pieces.
    fn apply(&self, mut lists: Vec<Vec<u32>>, add_special_tokens: bool) -> Result<Vec<Vec<u32>>, Error> {
        match self {
            Processor::ByteLevel => {}
            Processor::BertProcessing { sep, cls } | Processor::RobertaProcessing { sep, cls } => {
                let again = matches!(self, Processor::RobertaProcessing { .. });
                for (at, list) in lists.iter_mut().enumerate().filter(|_| add_special_tokens) {
                    if at == 0 {
                        list.insert(0, cls.1);
                    } else if again {
                        list.insert(0, sep.1);
                    }
                    list.push(sep.1);
                }
            }
            Processor::TemplateProcessing { single, pair, special_tokens } => {
                let template = match lists.len() {
                    1 => single,
                    2 => pair,
                    _ => {
                        return Err(unsupported(
                            "post_processor: the reference panics on these templates in a Sequence",
                        ));
                    }
                };
                let (mut made, mut count) = (Vec::new(), 0_usize);
                for piece in template {
                    let list = match piece {
                        Piece::Sequence { id: Which::A } => lists.first(),
                        Piece::Sequence { id: Which::B } => lists.get(1),
                        Piece::SpecialToken { .. } if !add_special_tokens => continue,
                        Piece::SpecialToken { id } => special_tokens.get(id).map(|special| &special.ids),
                    };
                    let what = "post_processor: a template names a token or a second text that is not there";
                    let list = list.ok_or_else(|| unsupported(what))?;
                    count = count.saturating_add(list.len());
                    if count > MOST_IDS {
                        return Err(limit_exceeded("post_processor: one text would be given more than 16777216 ids"));
                    }
                    made.push(list.clone());
                }
                return Ok(made);
            }
            Processor::Sequence { processors } => {
                for processor in processors {
                    lists = processor.apply(lists, add_special_tokens)?;
                }
            }
        }
        Ok(lists)
    }
}

fn pad(ids: &mut Vec<u32>, padding: &PaddingParams) -> Result<(), Error> {
    let mut len = match padding.strategy {
        PaddingStrategy::Fixed(len) => len,
        PaddingStrategy::BatchLongest => ids.len(),
    };
    if let Some(multiple) = padding.pad_to_multiple_of.filter(|&multiple| multiple > 0) {
        len = len.div_ceil(multiple).saturating_mul(multiple);
    }
    let missing = len.saturating_sub(ids.len());
    if len > MOST_IDS && missing > 0 {
        return Err(limit_exceeded("padding: one text would be padded to more than 16777216 ids"));
    }
    let end = ids.len();
    ids.resize(end + missing, padding.pad_id);
    if matches!(padding.direction, PaddingDirection::Left) {
        ids.rotate_right(missing);
    }
    Ok(())
}

/// Reads a member of the file.
pub(super) fn member<'a, T: Deserialize<'a>>(name: &str, text: &'a str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| invalid(format!("{name}: {error}")))
}
