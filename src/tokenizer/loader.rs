//! Loading a tokenizer while its file arrives, through a window: the same for a file that is there at once.

use super::read::Parser;
use super::spec::Spec;
use super::{LoadOptions, Tokenizer, limit_exceeded, packed, room};
use crate::Error;

/// The largest file that is read.
const MAX_BYTES: usize = 256 << 20;

/// So much of a file is looked at together; more only where one part of it is longer.
const WINDOW: usize = 64 << 10;

/// The longest window, twice as long as the longest string, or other part that is read whole.
const MAX_WINDOW: usize = 32 << 20;

/// A file as it comes. The parser gets the same pieces however it comes, so nothing depends on how it was cut.
#[derive(Debug)]
pub(super) struct Feed {
    parser: Parser,
    window: Vec<u8>,
    /// The length of the window where no part of the file is longer.
    least: usize,
    /// How much of the window is filled.
    held: usize,
    /// How many bytes have come.
    received: usize,
    failed: Option<Error>,
}

impl Default for Feed {
    #[inline(never)]
    fn default() -> Feed {
        Feed { parser: Parser::default(), window: Vec::new(), least: WINDOW, held: 0, received: 0, failed: None }
    }
}

impl Feed {
    /// Tells how long the file will be. It may be wrong, so that not too much is made of it.
    pub fn expect(&mut self, bytes: usize) {
        self.parser.expect(bytes.min(64 << 20));
    }

    /// The free end of the window, never empty.
    fn space(&mut self) -> &mut [u8] {
        if self.window.is_empty() {
            self.window = vec![0; self.least];
        }
        self.window.get_mut(self.held..).unwrap_or_default()
    }

    /// Takes what was written to [`Feed::space`].
    fn advance(&mut self, count: usize) -> Result<(), Error> {
        if self.failed.is_none() {
            self.failed = self.take(count).err();
        }
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    fn take(&mut self, count: usize) -> Result<(), Error> {
        self.received = self.received.saturating_add(count);
        if self.received > MAX_BYTES {
            return Err(too_large());
        }
        self.held = self.held.saturating_add(count).min(self.window.len());
        if self.held < self.window.len() {
            return Ok(());
        }
        if self.is_packed() {
            // That is read as a whole.
            self.window.resize(self.held * 2, 0);
            return Ok(());
        }
        let done = self.parser.read(&self.window, false)?;
        self.window.copy_within(done.., 0);
        self.held -= done;
        // Where a part does not fit, twice as much is looked at, so that all in all none is looked at often.
        let needed = self.held * 2;
        if needed > MAX_WINDOW {
            return Err(limit_exceeded("a string, or another part that is read whole, has more than 16 MiB"));
        }
        self.window.resize(needed.max(self.least), 0);
        Ok(())
    }

    /// Adds some of the file.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let space = self.space();
            let count = space.len().min(bytes.len());
            let (some, rest) = bytes.split_at(count);
            if let Some(space) = space.get_mut(..count) {
                space.copy_from_slice(some);
            }
            self.advance(count)?;
            bytes = rest;
        }
        Ok(())
    }

    /// What is left in the window at the end of the file.
    fn into_held(mut self) -> Vec<u8> {
        self.window.truncate(self.held);
        self.window
    }

    fn is_packed(&self) -> bool {
        self.held == self.received && packed::is_one(&self.window)
    }

    /// What the whole file says.
    pub fn finish(mut self) -> Result<Spec, Error> {
        match self.failed {
            Some(error) => Err(error),
            None => {
                self.parser.read(self.window.get(..self.held).unwrap_or_default(), true)?;
                Ok(self.parser.finish())
            }
        }
    }
}

/// Reads a tokenizer.json that is there at once.
pub(super) fn read(bytes: &[u8]) -> Result<Spec, Error> {
    let mut feed = Feed::default();
    feed.expect(bytes.len());
    feed.push(bytes)?;
    feed.finish()
}

/// Loads a tokenizer while its file arrives. Of a `tokenizer.json` only what decoding needs is kept, so the file is never
/// in memory as a whole; packed tokenizers, and files for the general engine, are kept until the end.
///
/// However the file is cut, the result is that of [`Tokenizer::load`], be it a tokenizer or an error.
///
/// ```
/// use token2text::{DecodeOptions, LoadOptions, TokenizerLoader};
///
/// let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}}"#;
/// let mut loader = TokenizerLoader::new(LoadOptions::default())?;
/// for chunk in json.chunks(7) {
///     loader.push(chunk)?;
/// }
/// assert_eq!(loader.finish()?.decode(&[1, 0], DecodeOptions::default()), "ba");
/// # Ok::<(), token2text::Error>(())
/// ```
#[derive(Debug)]
pub struct TokenizerLoader<'a> {
    options: LoadOptions<'a>,
    feed: Feed,
    /// The file, where something needs all of it.
    whole: Option<Vec<u8>>,
}

impl<'a> TokenizerLoader<'a> {
    /// A loader of one file.
    ///
    /// # Errors
    ///
    /// `engine_not_available` if the options need the general engine and this build has none.
    pub fn new(options: LoadOptions<'a>) -> Result<TokenizerLoader<'a>, Error> {
        let whole = options.asks_general()?.then(Vec::new);
        Ok(TokenizerLoader { options, feed: Feed::default(), whole })
    }

    /// Tells how many bytes the file will have, if that is known: memory is then taken at once. It may be wrong.
    pub fn expect(&mut self, bytes: usize) {
        self.feed.expect(bytes);
    }

    /// Adds the next bytes of the file.
    ///
    /// # Errors
    ///
    /// Those of [`Tokenizer::load`], as soon as the bytes up to here tell.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self.whole() {
            Some(whole) if whole.len().saturating_add(bytes.len()) > MAX_BYTES => Err(too_large()),
            Some(whole) => {
                whole.extend_from_slice(bytes);
                Ok(())
            }
            None => self.feed.push(bytes),
        }
    }

    /// The tokenizer, once all of the file was added.
    ///
    /// # Errors
    ///
    /// Those of [`Tokenizer::load`].
    pub fn finish(mut self) -> Result<Tokenizer, Error> {
        match self.whole().map(std::mem::take) {
            Some(whole) => Tokenizer::load(&whole, &self.options),
            None if self.feed.is_packed() => Tokenizer::load_packed(self.feed.into_held(), &self.options),
            None => {
                let room = room(self.feed.received);
                Tokenizer::read(self.feed.finish()?, &[], &self.options, room)
            }
        }
    }

    /// The file so far, if all of it is needed: never in a build without the general engine, which need not have the code.
    fn whole(&mut self) -> Option<&mut Vec<u8>> {
        if cfg!(feature = "general") { self.whole.as_mut() } else { None }
    }
}

#[cold]
fn too_large() -> Error {
    limit_exceeded("the file has more than 256 MiB")
}

#[cfg(not(target_arch = "wasm32"))]
#[cfg(test)]
mod tests {
    use super::*;

    /// What a file is read as, in words: all that was kept of it, or the error.
    fn outcome(mut feed: Feed, bytes: &[u8], chunk: usize) -> String {
        let mut pushed = Ok(());
        for some in bytes.chunks(chunk) {
            pushed = pushed.and_then(|()| feed.push(some));
        }
        match pushed.and_then(|()| feed.finish()).and_then(|mut spec| {
            let added = format!("{:?} {:?} {:?} {:?}", spec.added, spec.normalizer, spec.padding, spec.decoder);
            let model = spec.model;
            let words = spec.number()?;
            let list: Vec<_> = words.list.iter().map(|&word| (word.id, words.text(word), word.special)).collect();
            Ok(format!("{model} {added} {list:?}"))
        }) {
            Ok(told) => told,
            Err(error) => format!("{}: {}", error.code().as_str(), error.message()),
        }
    }

    const FILES: [&str; 5] = [
        r###"{"version":"1.0","truncation":null,"added_tokens":[{"id":3,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true,"more":[1,{"x":null}]} ,
            {"id":4,"content":"\u00e9\ud83d\ude00","single_word":true,"lstrip":true,"rstrip":true,"normalized":false,"special":false}],
            "normalizer":{"type":"Sequence","normalizers":[]},"pre_tokenizer":{"a":["b",["c"],{"d":["e","\n"]}]},
            "decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}]},
            "model":{"type":"BPE","dropout":1.5e-3,"vocab":{"a":0,"\n":1,"▁日本":2 , "long enough for more than one block":12345678,"":4294967295,"a":7},
            "merges":["a b",["▁","\ud83d\ude00"],["a","b"],[],-0.5,true]}}"###,
        r###"{"model":{"vocab":[["a",-1.5],["\u2581b",0],["a",3e2]],"unk_id":2,"type":"Unigram"},"decoder":null,"padding":{"pad_id":12}}"###,
        r###"{"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{
            "[UNK]" : 5 ,
            "##a" : 6
        }}, "post_processor":[[["x"]],"y",{"z":"w"}], "added_tokens" : [ ] , "decoder":{"type":"WordPiece","prefix":"##","cleanup":false}}   "###,
        // Entries that are read in a quick way where enough bytes are there, and in the other one where they are not.
        r###"{"added_tokens":[],"decoder":null,"model":{"type":"BPE","vocab":{
 "a": 7,
 "b": 8,
 "Ġthe": 9,
 "d": 10,
 "": 11,
 "sixteen letters!": 12,
 "more than sixteen letters": 13,
 "\"": 14,
 "b": 15,
 "h": 9999998,
 "i": 9999999,
 "j": 10000000,
 "k": 10000001,
 "l": 0,
 "日本": 1,
 "m": 2
},"merges":["a b","b c","\" c","c d","d e"]},"truncation":null}"###,
        r###"{"model":{"type":"BPE","vocab":{"a":0},"merges":["x"]},"normalizer":null,"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}}"###,
    ];

    /// The window grows from one byte, so that every part of a file is cut everywhere.
    fn is_the_same_however_it_comes(bytes: &[u8]) {
        let whole = outcome(Feed::default(), bytes, usize::MAX);
        for window in [1, 2, 3, 5, 7, 16, 31, 64] {
            let cut = outcome(Feed { least: window, ..Feed::default() }, bytes, 3);
            assert_eq!(cut, whole, "window of {window}: {}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_file_is_the_same_however_it_is_cut() {
        for file in FILES {
            assert!(!outcome(Feed::default(), file.as_bytes(), 1).starts_with("invalid"), "{file}");
            is_the_same_however_it_comes(file.as_bytes());
        }
    }

    #[test]
    fn an_error_is_the_same_however_the_file_is_cut() {
        for file in FILES {
            for end in 1..file.len() {
                is_the_same_however_it_comes(&file.as_bytes()[..end]);
            }
            for at in 1..file.len() {
                for byte in [b'"', b',', b'}', b'7', b'\\', 0x80, b'\n'] {
                    let mut changed = file.as_bytes().to_vec();
                    changed[at] = byte;
                    is_the_same_however_it_comes(&changed);
                }
            }
        }
    }
}
