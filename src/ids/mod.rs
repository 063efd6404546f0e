//! Token ids out of any JSON value, or the reason why not. Nothing is guessed: a value that is not ids in one of
//! the listed spellings is refused with what was wrong and where.

mod printed;

use std::borrow::Cow;

use crate::base64;
use crate::json::number::{self, NotAnId};
use crate::json::{Json, lossy, python_to_json, short_digits, skip_space, string_content, value_end};
#[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
use crate::json::{MOST_IDS, ids_run};
use crate::report::FieldReport;
use crate::view::Tree as _;
use printed::numpy_scalar;

/// Token ids of one field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Ids {
    pub ids: Vec<u32>,
    /// For a list of lists: where each row ends in `ids`.
    pub rows: Option<Vec<usize>>,
    /// How the ids were spelled, if not as a list of integers.
    pub converted: Option<Spelling>,
}

impl Ids {
    /// A list of integers.
    pub(crate) fn list(ids: Vec<u32>) -> Ids {
        Ids { ids, ..Ids::default() }
    }

    /// Adds a list to a list of lists, of at most `max` ids.
    pub(crate) fn push_row(&mut self, mut row: Ids, max: MaxIds) -> Result<(), Box<Refusal>> {
        if row.rows.is_some() {
            return Err(Refusal::new("nested_too_deep", "one of several texts is of a list of lists itself"));
        }
        if row.ids.len() > max.saturating_sub(self.ids.len()) {
            return Err(too_many(max));
        }
        self.converted = self.converted.or(row.converted);
        self.ids.append(&mut row.ids);
        let end = self.ids.len();
        self.rows.get_or_insert_default().push(end);
        Ok(())
    }

    /// The rows of a list of lists, or the one list.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u32]> {
        let ends: &[usize] = self.rows.as_deref().unwrap_or(std::slice::from_ref(&ONE_ROW));
        let mut start = 0;
        ends.iter().map(move |&end| {
            let end = end.min(self.ids.len());
            let row = &self.ids[start..end];
            start = end;
            row
        })
    }
}

/// Stands for the end of the only row.
static ONE_ROW: usize = usize::MAX;

/// A spelling of ids that is not a JSON list of integers. The first that was met is named in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    JsonString,
    DecimalStrings,
    IntegralFloats,
    OtlpValues,
    NumpyArray,
    NumpyScalars,
    PythonList,
    SingleInteger,
    Base64Int32,
    TokenIdStrings,
}

impl Spelling {
    /// The name in the report.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Spelling::JsonString => "json_string",
            Spelling::DecimalStrings => "decimal_strings",
            Spelling::IntegralFloats => "integral_floats",
            Spelling::OtlpValues => "otlp_values",
            Spelling::NumpyArray => "numpy_array",
            Spelling::NumpyScalars => "numpy_scalars",
            Spelling::PythonList => "python_list",
            Spelling::SingleInteger => "single_integer",
            Spelling::Base64Int32 => "base64_int32",
            Spelling::TokenIdStrings => "token_id_strings",
        }
    }
}

/// How a layout says that a value is encoded; such values are never recognised by their looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Base64 of little-endian 32-bit integers.
    Base64Int32,
    /// Strings `token_id:N`.
    TokenIdStrings,
}

/// Why a value is not taken as ids: a stable code, and the detail for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub reason: &'static str,
    pub detail: String,
}

impl Refusal {
    /// A pointer, so that a `Result` is small where it is passed on.
    pub(crate) fn new(reason: &'static str, detail: impl Into<String>) -> Box<Refusal> {
        Box::new(Refusal { reason, detail: detail.into() })
    }

    /// Tells why a field is skipped.
    pub(crate) fn report(self, field: &mut FieldReport) {
        field.reason = Some(self.reason);
        field.detail = Some(self.detail);
    }
}

/// Most ids that one value may hold; more is refused before memory is taken for them.
pub(crate) type MaxIds = usize;

/// Reads the ids of a JSON value, given its text.
pub(crate) fn read(json: &[u8], encoding: Option<Encoding>, max: MaxIds) -> Result<Ids, Box<Refusal>> {
    let mut reader = Reader { out: Ids::default(), max, encoding };
    if encoding == Some(Encoding::Base64Int32) {
        reader.base64(json)?;
    } else {
        reader.value(json, 0)?;
    }
    Ok(reader.out)
}

/// How often JSON may stand in a string in JSON.
const MAX_JSON_IN_STRINGS: usize = 2;

struct Reader {
    out: Ids,
    max: MaxIds,
    encoding: Option<Encoding>,
}

impl Reader {
    fn value(&mut self, json: &[u8], in_strings: usize) -> Result<(), Box<Refusal>> {
        let start = skip_space(json, 0);
        match json.get(start) {
            Some(b'[') => self.list(&json[start..]),
            Some(b'"') => self.string(&string_content(json).unwrap_or_default(), in_strings),
            Some(b'{') if self.otlp_array(json)? => Ok(()),
            _ => {
                self.convert(Spelling::SingleInteger);
                self.item(json, None)
            }
        }
    }

    /// A list of ids, or of lists of ids.
    fn list(&mut self, json: &[u8]) -> Result<(), Box<Refusal>> {
        let mut kinds = (false, false);
        let mut at = skip_space(json, 1);
        let mut index = 0;
        self.out.ids.reserve((json.len() / 6).min(self.max - self.out.ids.len().min(self.max)));
        while json.get(at).is_some_and(|&byte| byte != b']') {
            let room = if kinds.1 { 0 } else { self.max - self.out.ids.len().min(self.max) };
            #[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
            if room >= MOST_IDS {
                let mut batch = [0; MOST_IDS];
                let (next, count) = ids_run(json, at, &mut batch);
                if count > 0 {
                    self.out.ids.extend_from_slice(batch.get(..count).unwrap_or_default());
                    kinds.0 = true;
                    (at, index) = (next, index + count);
                    continue;
                }
            }
            // The common case first, without a look at anything else: a few digits, a comma, perhaps a space.
            let (mut batch, mut count) = ([0; 64], 0);
            for place in batch.iter_mut().take(room) {
                let Some((len, id)) = short_digits(json, at).filter(|(len, _)| json.get(at + len) == Some(&b','))
                else {
                    break;
                };
                *place = id;
                count += 1;
                at += len + 1;
                at += usize::from(json.get(at) == Some(&b' '));
            }
            self.out.ids.extend_from_slice(batch.get(..count).unwrap_or_default());
            kinds.0 |= count > 0;
            index += count;
            if count == batch.len() {
                continue;
            }
            if matches!(json.get(at), None | Some(b']' | b' ' | b'\n' | b'\r' | b'\t')) {
                at = skip_space(json, at);
                continue;
            }
            let (end, id) = plain_integer(json, at);
            if let Some(id) = id {
                self.push(id)?;
                kinds.0 = true;
                at = end;
            } else {
                let end = value_end(json, at);
                let item = &json[at..end];
                if item.first() == Some(&b'[') {
                    kinds.1 = true;
                    self.row(item, index)?;
                } else {
                    kinds.0 = true;
                    self.item(item, Some(index))?;
                }
                at = end;
            }
            if kinds == (true, true) {
                return Err(Refusal::new("mixed_nesting", format!("item {index}: ids and lists of ids in one list")));
            }
            index += 1;
            at = skip_space(json, at);
            if json.get(at) == Some(&b',') {
                at = skip_space(json, at + 1);
            }
        }
        Ok(())
    }

    /// One list of a list of lists.
    fn row(&mut self, json: &[u8], row: usize) -> Result<(), Box<Refusal>> {
        let mut inner =
            Reader { out: Ids::default(), max: self.max.saturating_sub(self.out.ids.len()), encoding: self.encoding };
        inner.list(json).map_err(|refusal| Refusal::new(refusal.reason, format!("row {row}, {}", refusal.detail)))?;
        if inner.out.rows.is_some() {
            return Err(Refusal::new("nested_too_deep", format!("row {row} is a list of lists itself")));
        }
        if let Some(spelling) = inner.out.converted {
            self.convert(spelling);
        }
        self.out.ids.append(&mut inner.out.ids);
        let end = self.out.ids.len();
        self.out.rows.get_or_insert_default().push(end);
        Ok(())
    }

    /// One id that is not plain digits; `at` says where it stands in a list.
    fn item(&mut self, json: &[u8], at: Option<usize>) -> Result<(), Box<Refusal>> {
        let refuse = |reason, what: &str| Err(Refusal::new(reason, format!("{} is {what}", place(at))));
        match json.first() {
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => {
                let id = self.number(json, at)?;
                self.push(id)
            }
            Some(b'"') => self.string_item(&string_content(json).unwrap_or_default(), at),
            Some(b'{') => match otlp_integer(json) {
                Some(digits) if is_decimal(&digits) => {
                    self.convert(Spelling::OtlpValues);
                    let id = self.number(&digits, at)?;
                    self.push(id)
                }
                _ => refuse("not_ids", "an object"),
            },
            Some(b'n') => refuse("null_inside", "null"),
            Some(b't' | b'f') => refuse("boolean_inside", "a boolean"),
            _ => refuse("not_ids", "not an id"),
        }
    }

    /// One id in a string: decimal digits, `np.int64(5)`, `token_id:5` where the layout says so.
    fn string_item(&mut self, content: &[u8], at: Option<usize>) -> Result<(), Box<Refusal>> {
        let (digits, spelling) = if self.encoding == Some(Encoding::TokenIdStrings) {
            (content.strip_prefix(b"token_id:"), Spelling::TokenIdStrings)
        } else if let Some(digits) = numpy_scalar(content) {
            (Some(digits), Spelling::NumpyScalars)
        } else {
            (Some(content), Spelling::DecimalStrings)
        };
        match digits.filter(|digits| is_decimal(digits)) {
            Some(digits) => {
                self.convert(spelling);
                let id = self.number(digits, at)?;
                self.push(id)
            }
            None => {
                let reason = if content == b"..." { "truncated_at_source" } else { "not_ids" };
                Err(Refusal::new(reason, format!("{} is the string {}", place(at), shorten(content))))
            }
        }
    }

    fn number(&mut self, digits: &[u8], at: Option<usize>) -> Result<u32, Box<Refusal>> {
        let reason = match number::id(digits) {
            Ok(id) => {
                if !is_decimal(digits) {
                    self.convert(Spelling::IntegralFloats);
                }
                return Ok(id);
            }
            Err(NotAnId::Negative) => "negative",
            Err(NotAnId::Fractional) => "fractional",
            Err(NotAnId::OutOfRange) => "out_of_range",
            Err(NotAnId::NotFinite) => "not_ids",
        };
        Err(Refusal::new(reason, format!("{} is {}", place(at), shorten(digits))))
    }

    /// A string that holds ids: JSON, a printed NumPy array, the text of a Python list, one decimal number.
    fn string(&mut self, content: &[u8], in_strings: usize) -> Result<(), Box<Refusal>> {
        let text = content.trim_ascii();
        if in_strings == MAX_JSON_IN_STRINGS {
            return Err(Refusal::new("not_ids", "the value is JSON in a string more than twice"));
        }
        if self.encoding == Some(Encoding::TokenIdStrings) || is_decimal(text) || numpy_scalar(text).is_some() {
            return self.string_item(text, None);
        }
        if matches!(text.first(), Some(b'[' | b'"')) && is_json(text) {
            self.convert(Spelling::JsonString);
            return self.value(text, in_strings + 1);
        }
        let literal = if matches!(text.first(), Some(b'[' | b'(')) { python_to_json(text) } else { None };
        if let Some(json) = literal.filter(|json| is_json(json)) {
            self.convert(Spelling::PythonList);
            return self.value(&json, in_strings + 1);
        }
        let Some(items) = printed::array(text)? else {
            return Err(Refusal::new("not_ids", format!("the value is the string {}", shorten(content))));
        };
        self.convert(Spelling::NumpyArray);
        for (index, digits) in items {
            let id = self.number(digits, Some(index))?;
            self.push(id)?;
        }
        Ok(())
    }

    /// `{"arrayValue": {"values": [{"intValue": "5"}, ...]}}`, an attribute's value as OTLP/JSON has it.
    fn otlp_array(&mut self, json: &[u8]) -> Result<bool, Box<Refusal>> {
        let Some(array) = only_member(json, &["arrayValue", "array_value"]) else { return Ok(false) };
        match only_member(array, &["values"]) {
            Some(values) if values.first() == Some(&b'[') => self.list(values)?,
            // An empty array has no member at all.
            _ if array.iter().all(|byte| b"{} \t\r\n".contains(byte)) => {}
            _ => return Ok(false),
        }
        self.convert(Spelling::OtlpValues);
        Ok(true)
    }

    fn base64(&mut self, json: &[u8]) -> Result<(), Box<Refusal>> {
        let refuse = |detail: String| Err(Refusal::new("not_ids", detail));
        let Some(content) = string_content(json) else {
            return refuse("the layout says base64, but the value is not a string".into());
        };
        if content.len() / 4 * 3 / 4 > self.max {
            return Err(too_many(self.max));
        }
        let Some(bytes) = base64::decode(content.trim_ascii()) else {
            return refuse("the value is not base64".into());
        };
        if bytes.len() % 4 != 0 {
            return refuse(format!("{} bytes of base64 are not whole 32-bit integers", bytes.len()));
        }
        self.convert(Spelling::Base64Int32);
        for (index, int) in bytes.chunks_exact(4).enumerate() {
            let id = i32::from_le_bytes([int[0], int[1], int[2], int[3]]);
            let id = u32::try_from(id).map_err(|_| Refusal::new("negative", format!("item {index} is {id}")))?;
            self.push(id)?;
        }
        Ok(())
    }

    fn push(&mut self, id: u32) -> Result<(), Box<Refusal>> {
        if self.out.ids.len() >= self.max {
            return Err(too_many(self.max));
        }
        self.out.ids.push(id);
        Ok(())
    }

    fn convert(&mut self, spelling: Spelling) {
        self.out.converted.get_or_insert(spelling);
    }
}

/// Where an id stands, for a message.
fn place(at: Option<usize>) -> String {
    at.map_or("the value".into(), |index| format!("item {index}"))
}

pub(crate) fn too_many(max: MaxIds) -> Box<Refusal> {
    Refusal::new("limit_exceeded", format!("the field has more than {max} ids (limit `idsPerField`)"))
}

/// A run of digits at `at` that is an id by itself: where it ends, and the id if it is one.
#[inline(always)]
fn plain_integer(json: &[u8], at: usize) -> (usize, Option<u32>) {
    match short_digits(json, at) {
        Some((len, id)) if !matches!(json.get(at + len), Some(b'.' | b'e' | b'E')) => (at + len, Some(id)),
        _ => long_integer(json, at),
    }
}

fn long_integer(json: &[u8], at: usize) -> (usize, Option<u32>) {
    let mut end = at;
    let mut value = 0u64;
    // Ten digits hold every u32, so the sum cannot overflow.
    while let Some(&digit @ b'0'..=b'9') = json.get(end) {
        if end - at == 10 {
            return (end, None);
        }
        value = value * 10 + u64::from(digit - b'0');
        end += 1;
    }
    let is_whole = end > at && !matches!(json.get(end), Some(b'.' | b'e' | b'E'));
    (end, if is_whole { u32::try_from(value).ok() } else { None })
}

fn is_decimal(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn is_json(text: &[u8]) -> bool {
    Json::parse(text, 64).is_ok()
}

/// The digits of `{"intValue": 5}` or `{"intValue": "5"}`.
fn otlp_integer(json: &[u8]) -> Option<Vec<u8>> {
    let value = only_member(json, &["intValue", "int_value"])?;
    Some(string_content(value).map_or_else(|| value.to_vec(), Cow::into_owned))
}

/// The value of the one member of an object, if it has one of these keys.
fn only_member<'j>(json: &'j [u8], keys: &[&str]) -> Option<&'j [u8]> {
    let mut tree = Json::parse(json, 64).ok()?;
    let value = keys.iter().find_map(|key| tree.member(Json::ROOT, key))?;
    let is_only = tree.pairs(Json::ROOT).count() == 1;
    is_only.then(|| &json[tree.range(value)])
}

/// The first characters of a value, for a message.
fn shorten(text: &[u8]) -> String {
    const MOST: usize = 40;
    let text = lossy(text[..text.len().min(4 * MOST)].to_vec());
    let short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}
