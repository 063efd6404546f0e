//! The options of JavaScript callers, read from JSON.

use crate::enrich::{EnrichOptions, Existing};
use crate::formats::Format;
use crate::json::{Json, Object, parse};
use crate::layouts::Layout;
use crate::limits::Limits;
use crate::read::ReadOptions;
#[cfg(feature = "rollouts")]
use crate::rollout::CheckOptions;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

impl EnrichOptions {
    /// Reads options as JavaScript writes them:
    ///
    /// ```
    /// use token2text::EnrichOptions;
    /// let options = EnrichOptions::from_json(br#"{"layouts": ["verl"], "existing": "replace"}"#)?;
    /// assert!(EnrichOptions::from_json(br#"{"exsting": "replace"}"#).is_err());
    /// # Ok::<(), token2text::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid_options`: an unknown name or a wrong value. `invalid_layout`: a layout does not follow the schema.
    pub fn from_json(text: &[u8]) -> Result<EnrichOptions, Error> {
        let mut json = parse(text, "options", ErrorCode::InvalidOptions)?;
        let mut object = Object::open(&mut json, Json::ROOT, "options", ErrorCode::InvalidOptions);
        object.done(&[
            "format",
            "layouts",
            "existing",
            "skipSpecialTokens",
            "messages",
            "ids",
            "maxTextChars",
            "limits",
        ]);
        let existing = object.choice("existing", &["keep", "replace"]).unwrap_or(0);
        let mut options = EnrichOptions {
            format: format(&mut object),
            existing: [Existing::Keep, Existing::Replace][existing],
            ..EnrichOptions::default()
        };
        options.decode.skip_special_tokens = object.boolean("skipSpecialTokens").unwrap_or(false);
        options.drop_ids = object.choice("ids", &["keep", "drop"]) == Some(1);
        options.max_text_chars = whole_number(&mut object, "maxTextChars");
        if object.boolean("messages") == Some(true) {
            #[cfg(not(feature = "rollouts"))]
            object.fail("this build writes no `messages`");
            #[cfg(feature = "rollouts")]
            (options.messages = true);
        }
        limits(&mut object, &mut options.limits);
        if let Some(layouts) = asked_layouts(&mut object) {
            options.layouts = layouts;
            options.expect_ids = true;
        }
        object.finish()?;
        Ok(options)
    }
}

impl ReadOptions {
    /// Reads options as JavaScript writes them: `format`, `layouts` and `limits`.
    ///
    /// # Errors
    /// As [`EnrichOptions::from_json`].
    pub fn from_json(text: &[u8]) -> Result<ReadOptions, Error> {
        let mut json = parse(text, "options", ErrorCode::InvalidOptions)?;
        let mut object = Object::open(&mut json, Json::ROOT, "options", ErrorCode::InvalidOptions);
        object.done(&["format", "layouts", "limits"]);
        read_options(object)
    }
}

#[cfg(feature = "rollouts")]
impl CheckOptions {
    /// Reads options as JavaScript writes them: those of [`ReadOptions`], and `drift`, `maxTokens`, `template`.
    ///
    /// # Errors
    /// As [`EnrichOptions::from_json`]; `engine_not_available` for `drift` in a build without the general engine.
    pub fn from_json(text: &[u8]) -> Result<(ReadOptions, CheckOptions), Error> {
        let mut json = parse(text, "options", ErrorCode::InvalidOptions)?;
        let mut object = Object::open(&mut json, Json::ROOT, "options", ErrorCode::InvalidOptions);
        object.done(&["format", "layouts", "limits", "drift", "maxTokens", "template"]);
        let check = CheckOptions {
            drift: object.boolean("drift").unwrap_or(false),
            max_tokens: whole_number(&mut object, "maxTokens"),
            template: object.string("template"),
        };
        Ok((read_options(object)?, check))
    }
}

fn read_options(mut object: Object<'_, '_>) -> Result<ReadOptions, Error> {
    let mut options = ReadOptions { format: format(&mut object), ..ReadOptions::default() };
    limits(&mut object, &mut options.limits);
    if let Some(layouts) = asked_layouts(&mut object) {
        options.layouts = layouts;
    }
    object.finish()?;
    Ok(options)
}

fn format(object: &mut Object<'_, '_>) -> Format {
    let format = object.choice("format", &Format::ALL.map(Format::as_str));
    Format::ALL[format.unwrap_or(0)]
}

/// The layouts that are asked for by name or given; none for `"auto"`.
fn asked_layouts(object: &mut Object<'_, '_>) -> Option<Vec<Layout>> {
    let node = object.member("layouts")?;
    let is_auto = object.json.str(node).as_deref() == Some("auto");
    (!is_auto).then(|| layouts(object, node))
}

/// A list of layouts, each the name of a built-in one or an object; one alone may stand without its list.
fn layouts(object: &mut Object<'_, '_>, node: NodeId) -> Vec<Layout> {
    let nodes = match object.json.kind(node) {
        Kind::Array => object.json.elements(node),
        _ => vec![node],
    };
    let mut layouts = Vec::new();
    for (i, node) in nodes.into_iter().enumerate() {
        let Some(name) = object.json.str(node) else {
            match Layout::from_value(object.json, node, &format!("layouts[{i}]")) {
                Ok(layout) => layouts.push(layout),
                Err(error) => object.fail_with(error),
            }
            continue;
        };
        let builtin = Layout::builtin();
        let known = Layout::names(&builtin);
        let count = layouts.len();
        for layout in builtin {
            if layout.name() == name || name == "auto" {
                layouts.push(layout);
            }
        }
        if layouts.len() == count {
            let what = format!("layouts: `{name}` is no built-in layout (known: {known})");
            object.fail_with(Error::new(ErrorCode::InvalidLayout, what));
        }
    }
    layouts
}

fn limits(object: &mut Object<'_, '_>, limits: &mut Limits) {
    let Some(node) = object.member("limits") else { return };
    let outer = object.enter(node, ", limits");
    object.done(&["bodyBytes", "depth", "idsPerField", "textBytesPerField"]);
    for (name, limit) in [
        ("bodyBytes", &mut limits.body_bytes),
        ("depth", &mut limits.depth),
        ("idsPerField", &mut limits.ids_per_field),
        ("textBytesPerField", &mut limits.text_bytes_per_field),
    ] {
        *limit = whole_number(object, name).unwrap_or(*limit);
    }
    object.leave(outer);
}

fn whole_number(object: &mut Object<'_, '_>, name: &str) -> Option<usize> {
    let node = object.member(name)?;
    let number = std::str::from_utf8(object.json.raw(node)).ok().and_then(|text| text.parse().ok());
    if number.is_none() {
        object.wrong(name, "a whole number below 2^32", node);
    }
    number
}
