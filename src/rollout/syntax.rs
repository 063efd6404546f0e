//! What a chat template is, in words that data can be written in.

/// What a token does to a list of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Begins a text.
    Begin,
    /// Opens a message, whose header says the role.
    Open,
    /// Opens a message of a role.
    OpenAs(&'static str),
    /// Stands in a header.
    InHeader,
    /// Ends a header.
    EndHeader,
    /// Ends a header and says the role.
    EndHeaderAs(&'static str),
    /// Ends a message.
    Close,
    /// Ends a message; what follows without an opening is of a role.
    CloseThen(&'static str),
    /// Ends a message, and stands in it as a part of calls or their results.
    CloseTool,
    /// The same, and what follows without an opening is of a role.
    CloseToolThen(&'static str),
    /// Opens a message that is the result of a call.
    OpenTool,
    /// Ends texts, and may fill lists too.
    CloseOrPad,
    /// Fills lists.
    Pad,
    /// Text that stands for a part of an image, a video or a sound.
    Placeholder,
    /// Text that belongs to the model's reasoning.
    Reasoning,
    /// Text that belongs to a call of a tool or its result.
    Tool,
}

/// Where the header of a message ends, if no token ends it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// At the end of its line.
    Line,
    /// Only at the token that ends it.
    Mark,
    /// With the token that opens it.
    None,
}

/// How the model's reasoning is written before its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thinking {
    pub open: &'static str,
    pub close: &'static str,
    /// Whether line feeds inside it and behind it are not its own.
    pub trims: bool,
}

/// What stands between the marks of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `{"name": "f", "arguments": {}}`, or a list of such; also with `parameters` and `tool_name`.
    Json,
    /// The same in a fence of three backticks, whose end is the mark that closes it.
    Fenced,
    /// A name, a mark, and the arguments as JSON; a second mark may stand behind the name, and an id of the call behind that.
    NameThenJson(&'static str, &'static str),
    /// `functions.f:0`, a mark, and the arguments as JSON.
    IdThenJson(&'static str),
    /// `function`, a mark, a name, and the arguments as JSON in a fence.
    KindThenFence(&'static str),
    /// `<function=f><parameter=a>1</parameter></function>`
    FunctionTags,
    /// `f<arg_key>a</arg_key><arg_value>1</arg_value>`
    ArgTags,
    /// `f.call(a="1")`
    PythonCall,
}

/// How calls of tools are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calls {
    /// What opens and closes a list of calls, if something does.
    pub section: (&'static str, &'static str),
    /// What opens a call. Without it the whole text is a call.
    pub open: &'static str,
    /// What closes it. Without it another call or the end of the text does.
    pub close: &'static str,
    /// What stands between; the first that fits.
    pub shapes: &'static [Shape],
    /// How many line feeds before the call the template writes, at most.
    pub gap: usize,
}

/// A chat template.
#[derive(Debug)]
pub(super) struct Template {
    pub name: &'static str,
    /// Whether it was compared with a template that a model ships.
    pub is_checked: bool,
    /// Tokens that a tokenizer must have for the template to fit.
    pub needs: &'static [&'static str],
    /// What tokens do.
    pub marks: &'static [(&'static str, Does)],
    pub header: Header,
    /// What may stand behind the header and is no text of the message; the first that fits.
    pub after_header: &'static [&'static str],
    /// The role of text between the beginning and the first opening, if it has one.
    pub preamble: Option<&'static str>,
    /// Roles whose messages nothing closes but the next one's opening.
    pub open_ended: &'static [&'static str],
    /// Roles as headers say them, and what they are here.
    pub roles: &'static [(&'static str, &'static str)],
    /// What every other role than the usual ones is here.
    pub other_roles: Option<&'static str>,
    /// Whether headers name a channel and a recipient.
    pub has_channels: bool,
    pub thinking: Option<Thinking>,
    pub calls: &'static [Calls],
    /// What stands around each result of a call, in a message that holds several.
    pub results: Option<(&'static str, &'static str)>,
}
