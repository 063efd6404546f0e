//! A body with token ids in, the same body with their text out, and a report.

#[cfg(feature = "rollouts")]
mod conversation;
mod drop;
#[cfg(feature = "rollouts")]
mod messages;
#[cfg(feature = "rollouts")]
mod messages_json;

use std::borrow::Cow;

use crate::Error;
use crate::formats::{Format, Origin, detect, rewrite};
use crate::ids::{Ids, Refusal};
use crate::layouts::{Existing as Standing, Found, Layout, Sieve, Target, Wanted, resolve};
use crate::limits::Limits;
use crate::report::{Comparison, FieldReport, Report, Status, Unknown, Warning};
use crate::tokenizer::{DecodeOptions, Tokenizer, TokenizerSet};
use crate::view::{Form, Names, NodeId, Text, Tree, View, Write};
use drop::Done;

/// What to do with text that is there already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Existing {
    /// It stays; the report says whether it is what the ids say.
    #[default]
    Keep,
    /// Ours is written in its place, as verl does.
    Replace,
}

/// How a body is enriched.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EnrichOptions {
    /// The wire format.
    pub format: Format,
    /// The layouts, in the order in which they are tried.
    pub layouts: Vec<Layout>,
    /// Whether each span is expected to hold ids: one without is then reported. False for the built-in layouts, which
    /// are tried on anything.
    pub expect_ids: bool,
    /// What to do with text that is there already.
    pub existing: Existing,
    /// Whether ids are taken out when their text is written: those of which the text says everything.
    pub drop_ids: bool,
    /// Most characters of a text that is written; a longer one is cut there.
    pub max_text_chars: Option<usize>,
    /// Whether the conversation that the ids of a span are is written too, where its backend shows one; see
    /// [`MessagesReport`](crate::MessagesReport).
    #[cfg(feature = "rollouts")]
    pub messages: bool,
    /// How ids become text.
    pub decode: DecodeOptions,
    /// Bounds on one call.
    pub limits: Limits,
}

impl Default for EnrichOptions {
    fn default() -> EnrichOptions {
        EnrichOptions {
            format: Format::Auto,
            layouts: Layout::builtin(),
            expect_ids: false,
            existing: Existing::Keep,
            drop_ids: false,
            max_text_chars: None,
            #[cfg(feature = "rollouts")]
            messages: false,
            decode: DecodeOptions::default(),
            limits: Limits::default(),
        }
    }
}

/// What is made of options and tokenizers once, for many bodies.
pub(crate) struct Prepared {
    sieve: Sieve,
    #[cfg(feature = "rollouts")]
    chats: conversation::Chats,
}

impl Prepared {
    pub(crate) fn of(options: &EnrichOptions) -> Prepared {
        Prepared {
            sieve: Sieve::of(&options.layouts),
            #[cfg(feature = "rollouts")]
            chats: conversation::Chats::default(),
        }
    }
}

/// An enriched body.
#[derive(Debug, Clone, PartialEq)]
pub struct Enriched {
    /// The body: every byte as it was, and the texts between.
    pub body: Vec<u8>,
    /// What was done.
    pub report: Report,
}

/// Writes the text of all token ids that the layouts find into a body.
///
/// # Errors
/// `compressed_input`: the body is gzip. `unknown_format`: it is in no known format. `invalid_body`: it is broken; of
/// JSON lines a broken one is copied and reported instead. `limit_exceeded`: it is too large, too deep, or its output
/// is. The caller still has the body and can pass it on.
///
/// # Example
/// ```no_run
/// use token2text::{EnrichOptions, Tokenizer, TokenizerSet, enrich};
///
/// let tokenizer = Tokenizer::from_json(&std::fs::read("tokenizer.json")?)?;
/// let body = br#"{"inputs": {"prompt_ids": [9707]}, "outputs": {"token_ids": [4337]}}"#;
/// let enriched = enrich(body, &TokenizerSet::from(tokenizer), &EnrichOptions::default())?;
/// println!("{}", String::from_utf8_lossy(&enriched.body));
/// println!("{}", enriched.report.summary());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn enrich(body: &[u8], tokenizers: &TokenizerSet, options: &EnrichOptions) -> Result<Enriched, Error> {
    enrich_from(body, &Origin::default(), tokenizers, options)
}

/// As [`enrich`], for a body of which is known where it comes from.
///
/// # Errors
/// As [`enrich`].
pub fn enrich_from(
    body: &[u8],
    origin: &Origin<'_>,
    tokenizers: &TokenizerSet,
    options: &EnrichOptions,
) -> Result<Enriched, Error> {
    let (body, report) = enrich_borrowed(body, origin, tokenizers, options, &Prepared::of(options))?;
    Ok(Enriched { body: body.into_owned(), report })
}

/// As [`enrich_from`], with what is prepared; a body that stays as it is is not copied.
pub(crate) fn enrich_borrowed<'b>(
    body: &'b [u8],
    origin: &Origin<'_>,
    tokenizers: &TokenizerSet,
    options: &EnrichOptions,
    prepared: &Prepared,
) -> Result<(Cow<'b, [u8]>, Report), Error> {
    options.limits.check(body)?;
    let mut detected = detect(body, options.format, origin)?;
    let mut report = Report::default();
    let body =
        rewrite(body, &mut detected, &options.limits, prepared.sieve.keys(), &mut |path, format, part| match part {
            Ok((document, views)) => {
                for write in enrich_views(document, &views, format, tokenizers, options, prepared, &mut report) {
                    document.write(&write);
                }
            }
            Err(why) => report.warn("invalid_body", why, path.to_owned()),
        })?;
    let format = if detected.format == Format::Auto { Format::Record } else { detected.format };
    (report.format, report.rule) = (format.as_str(), detected.rule);
    if let Some(doubt) = detected.doubt() {
        report.warn("ambiguous_format", doubt, String::new());
    }
    Ok((body, report))
}

/// Takes the texts out of a body that a default enrichment put in: each that stands exactly where enrichment puts it.
/// Text at another place, as verl's own after the ids, stays. A producer's own text at exactly that place goes too.
///
/// Of `options`, `format`, `layouts` and `limits` are read; and `messages`, with which conversations go too that stand first, in the
/// form in which enrichment writes them. What it replaced in Trackio's messages cannot come back.
///
/// # Errors
/// As [`enrich`].
pub fn strip(body: &[u8], options: &EnrichOptions) -> Result<Vec<u8>, Error> {
    strip_from(body, &Origin::default(), options)
}

/// As [`strip`], for a body that was enriched with what is known of where it comes from ([`enrich_from`]).
///
/// # Errors
/// As [`enrich`].
///
/// # Example
/// ```
/// use token2text::{EnrichOptions, Origin, strip_from};
///
/// let body = b"unknown: 1\n\ndata: {\"output_ids\": [1]}\n\n";
/// let origin = Origin { url: Some("answers.sse"), ..Origin::default() };
/// assert_eq!(strip_from(body, &origin, &EnrichOptions::default())?, body);
/// # Ok::<(), token2text::Error>(())
/// ```
pub fn strip_from(body: &[u8], origin: &Origin<'_>, options: &EnrichOptions) -> Result<Vec<u8>, Error> {
    options.limits.check(body)?;
    let mut detected = detect(body, options.format, origin)?;
    rewrite(body, &mut detected, &options.limits, None, &mut |_, format, part| {
        #[cfg(not(feature = "rollouts"))]
        let _ = format;
        let Ok((document, views)) = part else { return };
        for view in views {
            let (mut by_object, mut index) = (Vec::<(NodeId, Vec<_>)>::new(), Names::default());
            for found in resolve(document, &view, &options.layouts, &options.limits, Wanted::Nothing) {
                let Some(target) = found.target else { continue };
                if !matches!(target.existing, Standing::Text { at_place: true, .. }) {
                    continue;
                }
                let new = by_object.len() as NodeId;
                let at = index.insert(&target.object.to_string(), new).unwrap_or_else(|| {
                    by_object.push((target.object, Vec::new()));
                    new
                });
                by_object[at as usize].1.push((target.key, target.before));
            }
            #[cfg(feature = "rollouts")]
            if options.messages && !by_object.is_empty() {
                for (object, key) in messages::written(document, &view, format) {
                    let members = match by_object.iter().position(|(known, _)| *known == object) {
                        Some(at) => at,
                        None => {
                            by_object.push((object, Vec::new()));
                            by_object.len() - 1
                        }
                    };
                    by_object[members].1.push((key.to_owned(), None));
                }
            }
            for (object, members) in by_object {
                document.take_out(object, members);
            }
        }
    })
    .map(Cow::into_owned)
}

/// Decodes the fields of spans; gives what is to be written.
fn enrich_views(
    tree: &mut dyn Tree,
    views: &[View],
    format: Format,
    tokenizers: &TokenizerSet,
    options: &EnrichOptions,
    prepared: &Prepared,
    report: &mut Report,
) -> Vec<Write> {
    #[cfg(not(feature = "rollouts"))]
    let _ = format;
    let mut writes = Vec::new();
    let wanted = if options.drop_ids && tree.may_drop() { Wanted::Sources } else { Wanted::Nothing };
    for view in views.iter().filter(|view| !(view.is_trace && view.places.is_empty())) {
        report.spans += 1;
        let mut found = Vec::new();
        if prepared.sieve.lets_through(tree, view) {
            found = resolve(tree, view, &options.layouts, &options.limits, wanted);
        }
        if found.is_empty() {
            report.totals.spans_without_ids += 1;
            if options.expect_ids {
                let message = format!("the layouts ({}) find no ids here", Layout::names(&options.layouts));
                report.warn("no_ids_found", message, view.path.clone());
            }
        }
        let tokenizer = tokenizers.find(view.model.as_deref());
        let mut done = Vec::with_capacity(found.len());
        #[cfg(feature = "rollouts")]
        let mut parts = Vec::new();
        for Found { report: field, target, warnings } in found {
            for Warning { code, message, path } in warnings {
                report.warn(code, message, path);
            }
            let mut of_field = Done { field, sources: Vec::new(), left: 0, stays: None, list: 0 };
            #[cfg(feature = "rollouts")]
            if options.messages && !view.is_trace {
                parts.push(target.as_ref().map(conversation::Part::of));
            }
            if let Some(target) = target {
                match enrich_field(target, tokenizer, view, options, &mut of_field) {
                    Ok(write) => writes.extend(write),
                    Err(refusal) => refusal.report(&mut of_field.field),
                }
            }
            check_tokenizer(&of_field.field, report);
            done.push(of_field);
        }
        #[cfg(feature = "rollouts")]
        if let (Some((pattern, tokenizer)), false) = (tokenizer, parts.is_empty()) {
            let chat = &|| prepared.chats.of(pattern, tokenizer);
            let conversation = conversation::conversation(view, &done, &parts, tokenizer, chat, options);
            messages::write(tree, view, format, conversation, report, &mut writes);
        }
        if options.drop_ids {
            drop::decide(&mut done, &mut writes);
        }
        for Done { field, .. } in done {
            report.field(field);
        }
    }
    writes
}

/// Many ids that a tokenizer does not know are a sign that it is not the model's. A padded vocabulary has a few.
fn check_tokenizer(field: &FieldReport, report: &mut Report) {
    let unknown = field.unknown.as_ref().map_or(0, |unknown| unknown.count);
    if let Some(tokenizer) = field.tokenizer.as_ref().filter(|_| unknown.saturating_mul(100) > field.ids) {
        let message = format!(
            "{unknown} of {} ids are unknown to the tokenizer `{tokenizer}`: it may not be the one of the model",
            field.ids
        );
        report.warn("tokenizer_mismatch", message, field.path.clone());
    }
}

fn enrich_field(
    mut target: Target,
    tokenizer: Option<(&str, &Tokenizer)>,
    view: &View,
    options: &EnrichOptions,
    done: &mut Done,
) -> Result<Option<Write>, Box<Refusal>> {
    let field = &mut done.field;
    field.ids = target.ids.ids.len();
    field.converted = target.ids.converted.map(|spelling| spelling.as_str());
    let Some((pattern, tokenizer)) = tokenizer else {
        let model = match &view.model {
            Some(name) => format!("the model is `{name}`"),
            None => "the span names no model".into(),
        };
        let what = format!("{model}, and no pattern of the tokenizers matches");
        return Err(Refusal::new("no_tokenizer", what));
    };
    field.tokenizer = Some(pattern.to_owned());
    let ids = &target.ids.ids;
    if !tokenizer.contains_all(ids) {
        field.unknown = Unknown::among(ids, |id| tokenizer.contains(id));
    }
    let text = decode(&target.ids, tokenizer, options)?;
    done.left = target.of;
    done.sources = std::mem::take(&mut target.sources);
    let short = options.max_text_chars.and_then(|most| shortened(&text, most));
    field.status = status(&target, &text, short.as_ref(), options.existing, field);
    if options.drop_ids {
        done.stays = drop::why_stays(field, &text);
    }
    let Target { object, key, before, .. } = target;
    Ok((field.status != Status::Kept).then_some(Write { object, key, before, text: short.unwrap_or(text) }))
}

/// Decides what becomes of a text, given what is there. `short` is the text if it is too long.
fn status(target: &Target, text: &Text, short: Option<&Text>, existing: Existing, field: &mut FieldReport) -> Status {
    let mut is_whole = false;
    let status = match &target.existing {
        Standing::Nothing => Status::Decoded,
        Standing::Other(_) => Status::Replaced,
        Standing::Text { texts, at_place } => {
            is_whole = Standing::is_same(texts, text);
            let is_ours = short.map_or(is_whole, |short| Standing::is_same(texts, short));
            field.existing = Some(if is_whole || is_ours { Comparison::Same } else { Comparison::Different });
            is_whole |= !is_ours;
            match existing {
                Existing::Keep => Status::Kept,
                Existing::Replace if is_ours && *at_place => Status::Kept,
                Existing::Replace if *at_place => Status::Replaced,
                // The producer's text elsewhere is not ours to touch.
                Existing::Replace => Status::Decoded,
            }
        }
    };
    // A kept text is ours and short, or somebody's and whole.
    if short.is_some() && !(status == Status::Kept && is_whole) {
        field.shortened = Some(text.texts.iter().map(|text| text.chars().count()).sum());
    }
    status
}

/// A text of which each part has at most so many characters; nothing if that is the text itself.
fn shortened(text: &Text, most: usize) -> Option<Text> {
    let mut is_short = false;
    let mut texts = Vec::with_capacity(text.texts.len());
    for text in &text.texts {
        let mut short = String::new();
        for char in text.chars().take(most) {
            short.push(char);
        }
        is_short |= short.len() < text.len();
        texts.push(short);
    }
    is_short.then_some(Text { texts, form: text.form })
}

fn decode(ids: &Ids, tokenizer: &Tokenizer, options: &EnrichOptions) -> Result<Text, Box<Refusal>> {
    let most = options.limits.text_bytes_per_field;
    let mut room = most;
    let mut texts = Vec::new();
    for row in ids.rows() {
        // What may be too long is decoded to see, if it is not a danger.
        let is_danger = tokenizer.may_exceed(row, room.saturating_mul(4));
        let text = if is_danger { String::new() } else { tokenizer.decode(row, options.decode) };
        if is_danger || text.len() > room {
            let what = format!("the text has more than {most} bytes (limit `textBytesPerField`)");
            return Err(Refusal::new("limit_exceeded", what));
        }
        room -= text.len();
        texts.push(text);
    }
    Ok(Text { texts, form: Form::of(ids.rows.is_some()) })
}
