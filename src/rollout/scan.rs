//! Where messages are in a list of ids, by the marks alone.

use super::chat::Chat;
use super::messages::Text;
use super::syntax::{Does, Header};

/// A message by its tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cut {
    /// Its first token, which may be padding or the beginning of the text.
    pub start: usize,
    /// The token that opens it; where none does, the first of its text.
    pub opening: usize,
    /// The first token behind what opens it, and behind its header if a token ends that.
    pub first: usize,
    /// Whether its header is between `opening` and `first`, or begins at `first`.
    pub header: Place,
    /// Its role, where a mark says it.
    pub role: Option<&'static str>,
    /// The token that ends its text.
    pub close: usize,
    /// The first token of the next.
    pub end: usize,
    pub is_closed: bool,
    /// Whether an opening follows.
    pub is_followed: bool,
    /// The role of what follows without an opening.
    pub next_role: Option<&'static str>,
}

/// Where the header of a message is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// There is none, or the mark that opens the message is all of it.
    #[default]
    Nowhere,
    /// From this token on, and no token ended it.
    Open(usize),
    /// From this token to another.
    Ended(usize, usize),
}

/// What the scanner is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a message; whether the text was begun.
    Before { is_begun: bool },
    /// In its header or its text.
    Inside,
    /// Behind its end.
    Behind,
}

struct Scanner<'a> {
    chat: &'a Chat,
    state: State,
    cut: Cut,
    /// The first token behind the marks that stand before a message.
    lead: usize,
    cuts: Vec<Cut>,
}

/// Cuts a list. The messages cover it in order, and each has at least one token.
pub(super) fn scan(chat: &Chat, ids: &[u32], text: &Text) -> Vec<Cut> {
    let mut scanner =
        Scanner { chat, state: State::Before { is_begun: false }, cut: Cut::default(), lead: 0, cuts: Vec::new() };
    for (at, &id) in ids.iter().enumerate() {
        scanner.token(at, chat.does(id), text);
    }
    scanner.finish(ids.len())
}

impl Scanner<'_> {
    fn token(&mut self, at: usize, does: Option<Does>, text: &Text) {
        match does {
            Some(Does::Begin) => {
                if !matches!(self.state, State::Before { .. }) {
                    self.end(at);
                }
                self.state = State::Before { is_begun: true };
                self.lead = at + 1;
            }
            Some(Does::Open) => self.open(at, at + 1, None),
            Some(Does::OpenAs(role)) => self.open(at, at + 1, Some(role)),
            Some(Does::OpenTool) => self.open(at, at + 1, Some("tool")),
            // A list may begin inside of a header.
            Some(Does::InHeader) if self.state != State::Inside => self.open(at, at, None),
            Some(Does::EndHeader) if self.is_in_header() => self.end_header(at, None),
            Some(Does::EndHeaderAs(role)) if self.is_in_header() => self.end_header(at, Some(role)),
            Some(Does::Close | Does::CloseTool) => self.close(at, false, true, None),
            Some(Does::CloseThen(role) | Does::CloseToolThen(role)) => self.close(at, false, true, Some(role)),
            Some(Does::CloseOrPad) => self.close(at, true, true, None),
            Some(Does::Pad) => self.close(at, true, false, None),
            _ => self.text(at, text),
        }
    }

    fn is_in_header(&self) -> bool {
        self.state == State::Inside && matches!(self.cut.header, Place::Open(_))
    }

    /// Ends the message before, if there is one, and begins the next at a token; where it is left to begin.
    fn end(&mut self, at: usize) {
        if self.state == State::Inside {
            self.cut.close = at;
        }
        self.cut.end = at;
        self.cuts.push(self.cut);
        self.cut = Cut { start: at, ..Cut::default() };
    }

    /// A token opens a message; its header or its text begins at another.
    fn open(&mut self, at: usize, first: usize, role: Option<&'static str>) {
        if !matches!(self.state, State::Before { .. }) {
            self.cut.is_followed = true;
            self.end(at);
        }
        let has_header = role.is_none() && self.chat.template.header != Header::None;
        let header = if has_header { Place::Open(first) } else { Place::Nowhere };
        self.cut = Cut { start: self.cut.start, opening: at, first, header, role, ..Cut::default() };
        self.state = State::Inside;
    }

    fn end_header(&mut self, at: usize, role: Option<&'static str>) {
        if let Place::Open(from) = self.cut.header {
            self.cut.header = Place::Ended(from, at);
            self.cut.first = at + 1;
            self.cut.role = role;
        }
    }

    /// A token ends a message, or fills the list, or both.
    fn close(&mut self, at: usize, pads: bool, closes: bool, next_role: Option<&'static str>) {
        match self.state {
            State::Before { .. } if pads => {
                self.lead = at + 1;
                return;
            }
            State::Before { .. } => self.begin(at, None),
            State::Inside => {}
            State::Behind => match self.cut.next_role {
                // The assistant said nothing.
                Some(role) if closes => {
                    self.end(at);
                    self.begin(at, Some(role));
                }
                _ => {
                    if closes {
                        self.cut.next_role = next_role;
                    }
                    return;
                }
            },
        }
        self.cut.close = at;
        self.cut.is_closed = closes;
        self.cut.next_role = next_role;
        self.state = State::Behind;
    }

    /// A message without an opening begins.
    fn begin(&mut self, at: usize, role: Option<&'static str>) {
        self.cut = Cut { start: self.cut.start, opening: at, first: at, role, ..Cut::default() };
        self.state = State::Inside;
    }

    fn text(&mut self, at: usize, text: &Text) {
        let is_space = text.token(at).trim().is_empty();
        match self.state {
            State::Before { is_begun } if !is_space => {
                self.begin(self.lead, self.chat.template.preamble.filter(|_| is_begun));
            }
            State::Behind => match self.cut.next_role {
                Some(role) => {
                    self.end(at);
                    self.begin(at, Some(role));
                }
                None if !is_space => {
                    self.end(at);
                    self.begin(at, None);
                }
                None => {}
            },
            _ => {}
        }
    }

    fn finish(mut self, len: usize) -> Vec<Cut> {
        if let State::Before { .. } = self.state {
            if self.cut.start == len {
                return self.cuts;
            }
            self.begin(self.lead, None);
        }
        self.end(len);
        self.cuts
    }
}
