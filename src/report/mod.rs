//! What became of each field: nothing is decoded, kept, skipped or dropped without a word here.

mod serialize;

#[cfg(target_arch = "wasm32")]
pub(crate) use serialize::Value;

/// Most fields and warnings that one report lists; its totals count all.
const MOST_LISTED: usize = 10_000;

/// Most positions that [`Unknown`] lists.
const MOST_POSITIONS: usize = 100;

/// The reason of a field whose ids stay though they were to go.
pub(crate) const NOT_DROPPED: &str = "not_dropped";

/// What one enrichment did.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The format of the body.
    pub format: &'static str,
    /// What told the format.
    pub rule: &'static str,
    /// Number of spans.
    pub spans: usize,
    /// Each field that a layout found; the first 10,000.
    pub fields: Vec<FieldReport>,
    /// What else is worth a look; the first 10,000.
    pub warnings: Vec<Warning>,
    /// What became of the conversations, with `messages`; the first 10,000.
    #[cfg(feature = "rollouts")]
    pub messages: Vec<MessagesReport>,
    /// Exact counts over all fields.
    pub totals: Totals,
}

/// What became of the conversation of a span, at one place where its backend shows it.
///
/// Written are the messages that a chat template finds in the ids of the prompt and the response, where these were decoded, or
/// the text that is there says the same, and no id is unknown:
///
/// * spans of OTLP and MLflow: the attribute `mlflow.chat.messages` if the span has one of MLflow's, else
///   `gen_ai.input.messages` and `gen_ai.output.messages`;
/// * Weave: `inputs.messages` and `output.choices`;
/// * Trackio: `messages`, in place of the contents that verl made of the inputs and the output;
/// * other formats: nothing, without a report.
///
/// Reasoning stands in `<think>` before the content where messages have no part for it.
#[cfg(feature = "rollouts")]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MessagesReport {
    /// Address of the place; of the span if the conversation has none.
    pub path: String,
    /// [`Status::Decoded`] if it was written, [`Status::Kept`] if a value was there and stays, [`Status::Replaced`] if
    /// contents were replaced, else [`Status::Skipped`].
    pub status: Status,
    /// Number of messages that were written.
    pub count: usize,
    /// Why none were: a stable code.
    pub reason: Option<&'static str>,
    /// What was wrong, for a person.
    pub detail: Option<String>,
}

#[cfg(feature = "rollouts")]
impl MessagesReport {
    pub(crate) fn new(status: Status, path: &str, count: usize) -> MessagesReport {
        MessagesReport { path: path.to_owned(), status, count, reason: None, detail: None }
    }
}

/// What became of one field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FieldReport {
    /// Address of the ids: a JSON Pointer with extra steps (`!json`: into the JSON of a string; `*`: every element).
    pub path: String,
    /// Address of the text; none if no place for it was found.
    pub text_path: Option<String>,
    /// What the ids are.
    pub kind: FieldKind,
    /// Name of the layout that found them.
    pub layout: String,
    /// Pattern of the tokenizer that decoded them.
    pub tokenizer: Option<String>,
    /// Number of ids.
    pub ids: usize,
    /// What was done.
    pub status: Status,
    /// Why the field was skipped, or `not_dropped` if its ids stay though they were to go: a stable code.
    pub reason: Option<&'static str>,
    /// What was wrong and where, for a person.
    pub detail: Option<String>,
    /// Whether text that was there says what the ids say.
    pub existing: Option<Comparison>,
    /// Addresses of the ids that were taken out, with their copies.
    pub ids_dropped: Vec<String>,
    /// Number of characters of the whole text, where it was shortened.
    pub shortened: Option<usize>,
    /// The selection, where only some ids of a list are the field.
    pub select: Option<SelectReport>,
    /// Number of the choice, turn or sample, where a layout has several.
    pub index: Option<usize>,
    /// How the ids were spelled, if not as a list of integers.
    pub converted: Option<&'static str>,
    /// Ids that the tokenizer does not know, which have no text.
    pub unknown: Option<Unknown>,
}

/// What the ids of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// What the model was given.
    Prompt,
    /// What the model, and in a whole trajectory its tools, gave back.
    Response,
}

/// What was done with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Its text was written.
    Decoded,
    /// Text was there and stays.
    Kept,
    /// A value was there and the text was written in its place.
    Replaced,
    /// No text was written; `reason` says why.
    Skipped,
}

/// Whether text that was there says what the ids say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The same text.
    Same,
    /// Another text.
    Different,
}

/// The selection of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectReport {
    /// Ids where the mask has a value.
    Value {
        /// Address of the mask.
        mask: String,
        /// The value.
        value: f64,
        /// Address of the number of ids that count, before padding.
        length: Option<String>,
    },
    /// Ids where the mask has another value.
    Not {
        /// Address of the mask.
        mask: String,
        /// The value it has not.
        not: f64,
        /// Address of the number of ids that count, before padding.
        length: Option<String>,
    },
    /// Ids in ranges, or outside.
    Ranges {
        /// Address of the ranges.
        ranges: String,
        /// Whether the ids inside are meant.
        inside: bool,
    },
    /// The last ids, or those before.
    Tail {
        /// Address of their number.
        tail: String,
        /// Whether the last ids are meant.
        inside: bool,
    },
}

/// Ids that the tokenizer does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// How many.
    pub count: usize,
    /// Where in the list, for the first 100.
    pub positions: Vec<usize>,
}

impl Unknown {
    /// The unknown ids among these; nothing if all are known.
    pub(crate) fn among(ids: &[u32], is_known: impl Fn(u32) -> bool) -> Option<Unknown> {
        let mut unknown = Unknown { count: 0, positions: Vec::new() };
        for (position, &id) in ids.iter().enumerate() {
            if is_known(id) {
                continue;
            }
            unknown.count += 1;
            if unknown.positions.len() < MOST_POSITIONS {
                unknown.positions.push(position);
            }
        }
        (unknown.count > 0).then_some(unknown)
    }
}

/// Something worth a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// A stable code.
    pub code: &'static str,
    /// What, for a person.
    pub message: String,
    /// Where.
    pub path: String,
}

/// Counts over all fields of a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Fields whose text was written.
    pub decoded: usize,
    /// Fields whose text was there.
    pub kept: usize,
    /// Fields whose text was written in place of a value.
    pub replaced: usize,
    /// Fields without text.
    pub skipped: usize,
    /// Fields by reason.
    pub reasons: Counts,
    /// Token ids of all fields.
    pub ids: usize,
    /// Those that were taken out.
    pub ids_dropped: usize,
    /// Fields whose text was shortened.
    pub shortened: usize,
    /// Ids that the tokenizers do not know.
    pub unknown_ids: usize,
    /// Kept fields whose text differs from what the ids say.
    pub different: usize,
    /// Spans in which no layout found ids.
    pub spans_without_ids: usize,
    /// Warnings.
    pub warnings: usize,
    /// Places that a conversation was written to.
    #[cfg(feature = "rollouts")]
    pub messages: usize,
    /// Conversations that were not written, by reason.
    #[cfg(feature = "rollouts")]
    pub no_messages: Counts,
}

/// How often each of a few codes was met, in the order in which they were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    list: Vec<(&'static str, usize)>,
}

impl Counts {
    /// Each code and its count.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.list.iter().copied()
    }

    #[cfg(feature = "rollouts")]
    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn add(&mut self, code: &'static str) {
        match self.list.iter_mut().find(|(known, _)| *known == code) {
            Some((_, count)) => *count += 1,
            None => self.list.push((code, 1)),
        }
    }
}

impl FieldReport {
    /// The report of a field of which no more is known yet than where it is.
    pub(crate) fn new(kind: FieldKind, layout: &str, path: &str) -> FieldReport {
        FieldReport {
            path: path.to_owned(),
            text_path: None,
            kind,
            layout: layout.to_owned(),
            tokenizer: None,
            ids: 0,
            status: Status::Skipped,
            reason: None,
            detail: None,
            existing: None,
            ids_dropped: Vec::new(),
            shortened: None,
            select: None,
            index: None,
            converted: None,
            unknown: None,
        }
    }
}

impl Report {
    pub(crate) fn field(&mut self, field: FieldReport) {
        let totals = &mut self.totals;
        match field.status {
            Status::Decoded => totals.decoded += 1,
            Status::Kept => totals.kept += 1,
            Status::Replaced => totals.replaced += 1,
            Status::Skipped => totals.skipped += 1,
        }
        if let Some(reason) = field.reason {
            totals.reasons.add(reason);
        }
        totals.ids += field.ids;
        totals.ids_dropped += if field.ids_dropped.is_empty() { 0 } else { field.ids };
        totals.shortened += usize::from(field.shortened.is_some());
        totals.unknown_ids += field.unknown.as_ref().map_or(0, |unknown| unknown.count);
        totals.different += usize::from(field.existing == Some(Comparison::Different));
        if self.fields.len() < MOST_LISTED {
            self.fields.push(field);
        }
    }

    #[cfg(feature = "rollouts")]
    pub(crate) fn messages(&mut self, place: MessagesReport) {
        self.totals.messages += usize::from(matches!(place.status, Status::Decoded | Status::Replaced));
        if let Some(reason) = place.reason {
            self.totals.no_messages.add(reason);
        }
        if self.messages.len() < MOST_LISTED {
            self.messages.push(place);
        }
    }

    pub(crate) fn warn(&mut self, code: &'static str, message: String, path: String) {
        self.totals.warnings += 1;
        if self.warnings.len() < MOST_LISTED {
            self.warnings.push(Warning { code, message, path });
        }
    }

    /// The report in a few lines for a person.
    ///
    /// ```
    /// let report = token2text::Report::default();
    /// assert_eq!(report.summary(), "0 spans: 0 fields decoded, 0 kept, 0 replaced, 0 skipped; 0 token ids");
    /// ```
    pub fn summary(&self) -> String {
        let Totals { decoded, kept, replaced, skipped, ids, .. } = self.totals;
        let mut lines = vec![format!(
            "{} spans: {decoded} fields decoded, {kept} kept, {replaced} replaced, {skipped} skipped; {ids} token ids",
            self.spans
        )];
        for (reason, count) in self.totals.reasons.iter() {
            let example = self.fields.iter().find(|field| field.reason == Some(reason));
            let example =
                example.map(|field| format!(", as {}: {}", field.path, field.detail.as_deref().unwrap_or("")));
            let what = if reason == NOT_DROPPED { "ids stay" } else { "skipped" };
            lines.push(format!("  {what}, {reason}: {count}{}", example.unwrap_or_default()));
        }
        let counts = [
            (self.totals.ids_dropped, "ids taken out"),
            (self.totals.shortened, "texts shortened"),
            (self.totals.unknown_ids, "ids unknown to the tokenizer, which have no text"),
            (self.totals.different, "kept texts that differ from what the ids say"),
            (self.totals.spans_without_ids, "spans without token ids"),
        ];
        lines.extend(counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("  {count} {what}")));
        #[cfg(feature = "rollouts")]
        self.tell_messages(&mut lines);
        let mut codes = Counts::default();
        self.warnings.iter().for_each(|warning| codes.add(warning.code));
        for (code, count) in codes.iter() {
            if let Some(first) = self.warnings.iter().find(|warning| warning.code == code) {
                lines.push(format!("  warning, {code}: {count}, as {}: {}", first.path, first.message));
            }
        }
        lines.join("\n")
    }

    #[cfg(feature = "rollouts")]
    fn tell_messages(&self, lines: &mut Vec<String>) {
        if self.totals.messages > 0 {
            lines.push(format!("  {} conversations", self.totals.messages));
        }
        for (reason, count) in self.totals.no_messages.iter() {
            let example = self.messages.iter().find(|place| place.reason == Some(reason));
            let example =
                example.map(|place| format!(", as {}: {}", place.path, place.detail.as_deref().unwrap_or("")));
            lines.push(format!("  no conversation, {reason}: {count}{}", example.unwrap_or_default()));
        }
    }
}
