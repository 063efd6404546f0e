//! Who wrote which token of a call.

use super::calls::Call;
use super::chat::{Chat, Mark};
use super::messages::Message;

/// Whose a run of tokens is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentKind {
    /// What the model was given.
    Prompt,
    /// What the model wrote.
    Model,
    /// What tools and users gave back.
    Observation,
    /// What a template or an engine put between: headers, ends, line feeds, also inside the model's own message.
    Inserted,
    /// What fills a list up.
    Padding,
    /// A run of one token that stands for parts of an image, a video or a sound. Neighbours may have grown together, so that
    /// the number of runs says nothing of how many pictures there are.
    Placeholder,
}

impl SegmentKind {
    /// All of them.
    pub const ALL: [SegmentKind; 6] = [
        SegmentKind::Prompt,
        SegmentKind::Model,
        SegmentKind::Observation,
        SegmentKind::Inserted,
        SegmentKind::Padding,
        SegmentKind::Placeholder,
    ];

    /// The name in JavaScript.
    pub fn as_str(self) -> &'static str {
        match self {
            SegmentKind::Prompt => "prompt",
            SegmentKind::Model => "model",
            SegmentKind::Observation => "observation",
            SegmentKind::Inserted => "inserted",
            SegmentKind::Padding => "padding",
            SegmentKind::Placeholder => "placeholder",
        }
    }
}

/// A run of tokens of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// Whose it is.
    pub kind: SegmentKind,
    /// Where it stands in the ids of the call, `[start, end)`.
    pub tokens: [usize; 2],
}

impl Segment {
    /// What of it stands before a token.
    pub(super) fn up_to(self, end: usize) -> Option<Segment> {
        let [start, old_end] = self.tokens;
        (start < end).then_some(Segment { tokens: [start, old_end.min(end)], ..self })
    }
}

/// Cuts a call into segments: every token is in exactly one, in order, and neighbours differ in kind, or are placeholders of
/// different tokens.
///
/// `history`: the segments of the call before, up to where this one goes on from it. A prompt that goes on from another call
/// holds what tools and users gave back since, and what a template put around it; texts of the assistant that are there anew
/// count as prompt.
///
/// Behind the prompt the mask says which tokens are the model's. Without one they all are, but for what follows an end
/// token: an engine stops there, so only a template goes on, up to the end of the next header of the assistant. What is
/// not the model's is an observation where it is the text of a message, and inserted where it is not, or is in a message of the
/// assistant. Padding is a run of padding tokens at the end of the prompt or the response, or at the start of the prompt; a
/// token that ends texts too is padding from its second copy on, and never where the mask has it.
pub fn segments(call: &Call, chat: Option<&Chat>, messages: &[Message], history: &[Segment]) -> Vec<Segment> {
    let places = places(messages, call.ids.len());
    let written = match &call.mask {
        Some(mask) => mask.clone(),
        None => written_by_model(call, chat, messages),
    };
    let common = history.last().map_or(0, |segment| segment.tokens[1]).min(call.prompt);
    let mut kinds = Vec::with_capacity(call.ids.len());
    for (at, place) in places.into_iter().enumerate() {
        let is_written = at.checked_sub(call.prompt).and_then(|at| written.get(at)).copied();
        kinds.push(match (is_written, place) {
            (None, _) if common == 0 => SegmentKind::Prompt,
            (None, Place::Assistant) => SegmentKind::Prompt,
            (Some(true), _) => SegmentKind::Model,
            (_, Place::Body) => SegmentKind::Observation,
            (_, Place::Assistant | Place::Glue) => SegmentKind::Inserted,
        });
    }
    for segment in history {
        for kind in kinds.get_mut(segment.tokens[0]..segment.tokens[1].min(common)).unwrap_or_default() {
            *kind = segment.kind;
        }
    }
    if let Some(chat) = chat {
        for (kind, &id) in kinds.iter_mut().zip(&call.ids) {
            if chat.mark(id) == Some(Mark::Placeholder) {
                *kind = SegmentKind::Placeholder;
            }
        }
        for [start, end] in paddings(call, chat) {
            for kind in kinds.get_mut(start..end).unwrap_or_default() {
                *kind = SegmentKind::Padding;
            }
        }
    }
    runs(&kinds, &call.ids)
}

/// Which tokens behind the prompt the model wrote, where no mask says so.
fn written_by_model(call: &Call, chat: Option<&Chat>, messages: &[Message]) -> Vec<bool> {
    let mut written = vec![true; call.response_ids().len()];
    let Some(chat) = chat else { return written };
    let is_end = |at: usize| call.ids.get(at).is_some_and(|&id| chat.ends_turn(id));
    let Some(first_end) = (call.prompt..call.ids.len()).find(|&at| is_end(at)) else { return written };
    // Text without a header is no template's.
    let next = messages.iter().find(|message| message.tokens[0] > first_end);
    if next.is_some_and(|message| message.role.is_none()) {
        return written;
    }
    for is_written in written.iter_mut().skip(first_end + 1 - call.prompt) {
        *is_written = false;
    }
    let mut goes_on = true;
    for message in messages {
        let is_assistant = message.role.as_deref() == Some("assistant");
        let [mut start, mut end] = message.body;
        if is_assistant && start > first_end {
            // The header too, where the model writes several messages in a row.
            if goes_on && chat.writes_headers() {
                start = message.tokens[0].max(call.prompt);
            }
            // The token that ends it is the model's too.
            end += usize::from(message.is_closed && is_end(end));
            for is_written in written.get_mut(start - call.prompt..end - call.prompt).unwrap_or_default() {
                *is_written = true;
            }
        }
        goes_on = is_assistant;
    }
    written
}

/// Where a token stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// In the text of a message of someone else.
    Body,
    /// In that of one of the assistant.
    Assistant,
    /// Between.
    Glue,
}

/// Where each token stands: all of them in a text where no message is known.
fn places(messages: &[Message], len: usize) -> Vec<Place> {
    let is_text = messages.iter().all(|message| message.role.is_none());
    let mut places = vec![if is_text { Place::Body } else { Place::Glue }; len];
    for message in messages {
        let is_assistant = message.role.as_deref() == Some("assistant");
        for place in places.get_mut(message.body[0]..message.body[1]).unwrap_or_default() {
            *place = if is_assistant { Place::Assistant } else { Place::Body };
        }
    }
    places
}

/// The runs of padding at both ends of the prompt and at the end of the response.
fn paddings(call: &Call, chat: &Chat) -> [[usize; 2]; 3] {
    let (prompt, len) = (call.prompt, call.ids.len());
    let is_written = |at: usize| {
        let mask = call.mask.as_ref().filter(|_| at >= prompt);
        mask.is_some_and(|mask| mask.get(at - prompt) == Some(&true))
    };
    let start = run_len(call.ids.iter().take(prompt), chat);
    let tail = run_len(call.ids.iter().take(prompt).skip(start).rev(), chat);
    let end = call.ids.iter().enumerate().skip(prompt).rev();
    let end = run_len(end.take_while(|&(at, _)| !is_written(at)).map(|(_, id)| id), chat);
    [[0, start], [prompt - tail, prompt], [len - end, len]]
}

/// How many ids from the first one on are padding.
fn run_len<'i>(mut ids: impl Iterator<Item = &'i u32>, chat: &Chat) -> usize {
    let Some(&first) = ids.next() else { return 0 };
    let more = ids.take_while(|&&id| id == first).count();
    match chat.mark(first) {
        Some(Mark::Padding) => more + 1,
        // One of them ends the text.
        Some(Mark::Close) => more,
        _ => 0,
    }
}

fn runs(kinds: &[SegmentKind], ids: &[u32]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut before = None;
    for (at, (&kind, &id)) in kinds.iter().zip(ids).enumerate() {
        // Runs of placeholders are told apart by what they stand for.
        let run = (kind, (kind == SegmentKind::Placeholder).then_some(id));
        match segments.last_mut() {
            Some(last) if before == Some(run) => last.tokens[1] = at + 1,
            _ => segments.push(Segment { kind, tokens: [at, at + 1] }),
        }
        before = Some(run);
    }
    segments
}
