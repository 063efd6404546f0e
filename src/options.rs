//! The options of JavaScript callers, read from JSON.

use crate::enrich::{EnrichOptions, Existing};
use crate::formats::Format;
use crate::json::{Json, Object};
use crate::layouts::Layout;
use crate::limits::Limits;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

const KNOWN: [&str; 7] = ["format", "layouts", "existing", "skipSpecialTokens", "messages", "ids", "limits"];

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
        let invalid = |what: String| Error::new(ErrorCode::InvalidOptions, what);
        let mut json = Json::parse(text, 64)
            .map_err(|scan| invalid(format!("options: not JSON: {} at byte {}", scan.what, scan.at)))?;
        let mut object = Object::open(&mut json, Json::ROOT, "options", ErrorCode::InvalidOptions)?;
        object.done(&KNOWN)?;
        let mut options = EnrichOptions::default();
        if let Some(format) = object.choice("format", &Format::NAMES)? {
            options.format = format;
        }
        if let Some(existing) =
            object.choice("existing", &[("keep", Existing::Keep), ("replace", Existing::Replace)])?
        {
            options.existing = existing;
        }
        options.decode.skip_special_tokens = object.boolean("skipSpecialTokens")?.unwrap_or(false);
        // The only values there are so far, so that callers can name them.
        object.choice("ids", &[("keep", ())])?;
        if object.boolean("messages")? == Some(true) {
            return Err(object.error("`messages` can only be false: no format that is read has messages"));
        }
        options.limits = limits(&mut object)?;
        if let Some(node) = object.member("layouts")
            && object.json.str(node).as_deref() != Some("auto")
        {
            options.layouts = layouts(&mut object, node)?;
            options.expect_ids = true;
        }
        Ok(options)
    }
}

/// A list of layouts, each the name of a built-in one or an object; one alone may stand without its list.
fn layouts(object: &mut Object<'_, '_>, node: NodeId) -> Result<Vec<Layout>, Error> {
    let nodes = match object.json.kind(node) {
        Kind::Array => object.json.elements(node),
        _ => vec![node],
    };
    let mut layouts = Vec::new();
    for (i, node) in nodes.into_iter().enumerate() {
        match object.json.str(node) {
            Some(name) => {
                let builtin = Layout::builtin();
                let named: Vec<_> =
                    builtin.iter().filter(|layout| layout.name() == name || name == "auto").cloned().collect();
                if named.is_empty() {
                    let mut known: Vec<_> = builtin.iter().map(Layout::name).collect();
                    known.dedup();
                    let what = format!("layouts: `{name}` is no built-in layout (known: {})", known.join(", "));
                    return Err(Error::new(ErrorCode::InvalidLayout, what));
                }
                layouts.extend(named);
            }
            None => layouts.push(Layout::from_value(object.json, node, &format!("layouts[{i}]"))?),
        }
    }
    Ok(layouts)
}

fn limits(object: &mut Object<'_, '_>) -> Result<Limits, Error> {
    let mut limits = Limits::default();
    let Some(node) = object.member("limits") else { return Ok(limits) };
    let mut object = Object::open(object.json, node, "options, limits", ErrorCode::InvalidOptions)?;
    let fields = [
        ("bodyBytes", &mut limits.body_bytes),
        ("depth", &mut limits.depth),
        ("idsPerField", &mut limits.ids_per_field),
        ("textBytesPerField", &mut limits.text_bytes_per_field),
    ];
    object.done(&fields.each_ref().map(|(name, _)| *name))?;
    for (name, limit) in fields {
        let Some(node) = object.member(name) else { continue };
        match std::str::from_utf8(object.json.raw(node)).ok().and_then(|text| text.parse().ok()) {
            Some(number) => *limit = number,
            None => return object.wrong(name, "a whole number", node),
        }
    }
    Ok(limits)
}
