//! A chat template bound to a tokenizer: its marks as ids.

use super::messages::{self, Message};
use super::syntax::{Does, Template};
use super::templates::TEMPLATES;
use crate::tokenizer::Tokenizer;

/// What a token is for a chat template, besides text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// Begins a text (`<|begin_of_text|>`).
    Begin,
    /// Opens a message or its header.
    Open,
    /// Stands inside the header of a message (`<|channel|>`).
    Header,
    /// Ends the header of a message.
    HeaderEnd,
    /// Ends a message: what a model writes last in its turn.
    Close,
    /// Fills lists up to one length. A token that also ends texts is [`Mark::Close`].
    Padding,
    /// Stands for a part of an image, a video or a sound.
    Placeholder,
    /// Opens or closes the model's reasoning.
    Reasoning,
    /// Belongs to a tool call or its result.
    Tool,
}

/// A chat template bound to a tokenizer.
///
/// Known are ChatML (`chatml`: Qwen, InternLM2, Yi and all that were tuned to it), `llama3`, `gemma`, `mistral` and `mistral-v3` (which have
/// tokens for their marks), `deepseek` (V3, V3.1, R1), `glm4`, `chatglm3`, `kimi-k2`, `harmony` (gpt-oss), `phi3`, `phi4`, `phi4-mini` and
/// `command-r`.
///
/// ```
/// use token2text::Tokenizer;
/// use token2text::rollout::{Chat, Mark};
///
/// let json = br#"{"decoder": {"type": "Fuse"}, "model": {"type": "WordLevel", "unk_token": "?", "vocab":
///     {"<|im_start|>": 0, "<|im_end|>": 1, "user": 2, "assistant": 3, "\n": 4, "Hello": 5, "Hi": 6}}}"#;
/// let tokenizer = Tokenizer::from_json(json)?;
/// let chat = Chat::of(&tokenizer).expect("it has the marks of ChatML");
/// assert_eq!((chat.name(), chat.mark(1), chat.mark(5)), ("chatml", Some(Mark::Close), None));
///
/// let messages = chat.messages(&[0, 2, 4, 5, 1, 4, 0, 3, 4, 6, 1], &tokenizer);
/// assert_eq!((messages[0].role.as_deref(), &*messages[0].content, messages[0].tokens), (Some("user"), "Hello", [0, 6]));
/// assert_eq!((messages[1].role.as_deref(), &*messages[1].content, messages[1].body), (Some("assistant"), "Hi", [9, 10]));
/// # Ok::<(), token2text::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Chat {
    pub(super) template: &'static Template,
    /// The marks that the tokenizer has as tokens, by id.
    marks: Vec<(u32, Does)>,
    /// The marks inside texts that it has as tokens: the text, its id, and whether the token is special.
    inline: Vec<(&'static str, u32, bool)>,
}

impl Chat {
    /// The template whose marks the tokenizer has; none if no known one fits.
    ///
    /// Of several, the one that asks for more tokens; and ChatML before the rest, since models that were tuned to it keep the
    /// tokens of the template that they had before. It passes over the whole vocabulary: bind a tokenizer once.
    pub fn of(tokenizer: &Tokenizer) -> Option<Chat> {
        Chat::bind(TEMPLATES, tokenizer)
    }

    /// The template of a name; none if it is unknown, or the tokenizer lacks its marks.
    pub fn named(name: &str, tokenizer: &Tokenizer) -> Option<Chat> {
        let at = TEMPLATES.iter().position(|template| template.name == name)?;
        Chat::bind(TEMPLATES.get(at..=at)?, tokenizer)
    }

    /// The names of all templates, in the order in which [`Chat::of`] tries them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TEMPLATES.iter().map(|template| template.name)
    }

    fn bind(templates: &'static [Template], tokenizer: &Tokenizer) -> Option<Chat> {
        let mut wanted = Vec::new();
        for template in templates {
            wanted.extend(template.needs.iter().chain(template.marks.iter().map(|(token, _)| token)));
        }
        let found = tokenizer.find_tokens(&wanted);
        let id = |token: &str| wanted.iter().zip(&found).find(|(text, _)| **text == token).and_then(|(_, id)| *id);
        let template = templates.iter().find(|template| template.needs.iter().all(|token| id(token).is_some()))?;
        let special = &tokenizer.facts().special_tokens;
        let (mut marks, mut inline) = (Vec::new(), Vec::new());
        for &(token, does) in template.marks {
            let Some(id) = id(token) else { continue };
            marks.push((id, does));
            inline.push((token, id, special.iter().any(|(special, _)| *special == id)));
        }
        marks.sort_unstable_by_key(|(id, _)| *id);
        Some(Chat { template, marks, inline })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.template.name
    }

    /// Whether the template was compared with the one that a model ships: rendered by it, conversations came back as they
    /// were. The others follow documentation.
    pub fn is_checked(&self) -> bool {
        self.template.is_checked
    }

    /// What a token is for the template.
    pub fn mark(&self, id: u32) -> Option<Mark> {
        Some(match self.does(id)? {
            Does::Begin => Mark::Begin,
            Does::Open | Does::OpenAs(_) => Mark::Open,
            Does::InHeader => Mark::Header,
            Does::EndHeader | Does::EndHeaderAs(_) => Mark::HeaderEnd,
            Does::Close | Does::CloseThen(_) | Does::CloseOrPad => Mark::Close,
            Does::Pad => Mark::Padding,
            Does::Placeholder => Mark::Placeholder,
            Does::Reasoning => Mark::Reasoning,
            Does::Tool | Does::OpenTool | Does::CloseTool | Does::CloseToolThen(_) => Mark::Tool,
        })
    }

    /// Whether the model's turn may end with the token: an end, or where nothing ends a message of the assistant, what opens the
    /// next one.
    pub fn ends_turn(&self, id: u32) -> bool {
        match self.mark(id) {
            Some(Mark::Close) => true,
            Some(Mark::Open) => self.template.open_ended.contains(&"assistant"),
            _ => false,
        }
    }

    /// Whether the model writes several messages in a turn, with their headers.
    pub fn writes_headers(&self) -> bool {
        self.template.has_channels
    }

    pub(super) fn does(&self, id: u32) -> Option<Does> {
        let at = self.marks.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.marks.get(at).map(|(_, does)| *does)
    }

    /// Whether a token opens a message, or ends one behind which another begins.
    pub(super) fn opens(&self, id: u32) -> bool {
        use Does::{CloseThen, CloseToolThen, Open, OpenAs, OpenTool};
        matches!(self.does(id), Some(Open | OpenAs(_) | OpenTool | CloseThen(_) | CloseToolThen(_)))
    }

    /// The id of a mark that the tokenizer has as a token, and whether that is special.
    pub(super) fn token(&self, mark: &str) -> Option<(u32, bool)> {
        self.inline.iter().find(|(text, ..)| *text == mark).map(|&(_, id, is_special)| (id, is_special))
    }

    /// Cuts a list of ids into messages. Their ranges cover every id exactly once, in order; what no mark opens is a message
    /// without a role.
    ///
    /// A part of a list may be given, as the ids of a response: it begins with a message without a role, in which reasoning and
    /// calls are found as in one of the assistant. Padding and ends of texts at the beginning belong to the first message's
    /// range, later ones to that of the message before.
    ///
    /// Nothing fails, whatever the ids: what is not well formed stays text. In particular:
    ///
    /// * a call whose arguments are not JSON, or that nothing closes, stays in the content as it is;
    /// * reasoning that is never closed is reasoning if its message is not closed either, as where a rollout was cut off, and
    ///   else content;
    /// * marks count as what they are only where they are tokens, if the tokenizer has special ones for them; other marks
    ///   (`<tool_call>`) count as text, as servers take them;
    /// * a header that does not end is text, unless it is all that there is.
    pub fn messages(&self, ids: &[u32], tokenizer: &Tokenizer) -> Vec<Message> {
        messages::split(self, ids, tokenizer).into_iter().map(|split| split.message).collect()
    }

    /// The model's reasoning in a list of ids: for each block the range of its tokens, marks and the white space behind it
    /// included, which is what templates leave out of earlier turns. Blocks without any thought are among them.
    pub fn reasoning(&self, ids: &[u32], tokenizer: &Tokenizer) -> Vec<[usize; 2]> {
        messages::split(self, ids, tokenizer).into_iter().filter_map(|split| split.reasoning).collect()
    }

    /// If a list ends where the assistant's turn is opened and nothing of it is said, as prompts do: the position of the first
    /// token of that opening. It is the length of the list where the end of the user's message is the opening (Mistral).
    /// A reasoning block that the template opens, or opens and closes, is part of it.
    pub fn generation_prompt(&self, ids: &[u32], tokenizer: &Tokenizer) -> Option<usize> {
        messages::generation_prompt(self, ids, tokenizer)
    }
}
