//! The wire format of protocol buffers: fields read with every length checked, and written. Nothing is decoded that is
//! not asked for, so fields that no schema knows stay as they are.

/// The wire types that OTLP has.
pub(super) const VARINT: u8 = 0;
pub(super) const FIXED64: u8 = 1;
pub(super) const BYTES: u8 = 2;
const FIXED32: u8 = 5;

/// One field of a message: where it begins, and where its content is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub number: u32,
    pub wire: u8,
    /// Where the field begins, with its number, and where that ends.
    pub at: usize,
    pub after_number: usize,
    pub start: usize,
    pub end: usize,
    /// The value of a varint.
    pub value: u64,
}

/// Reads the field at `at` of a message that ends at `end`, or says what is wrong with it.
pub(super) fn field(bytes: &[u8], at: usize, end: usize) -> Result<Field, &'static str> {
    let bytes = bytes.get(..end).unwrap_or_default();
    let (tag, start) = varint(bytes, at).ok_or(BAD_NUMBER)?;
    let number = u32::try_from(tag >> 3).unwrap_or(0);
    if number == 0 || number >= 1 << 29 {
        return Err("a field has no number");
    }
    let mut field = Field { number, wire: tag as u8 & 7, at, after_number: start, start, end: start, value: 0 };
    let length = match field.wire {
        VARINT => {
            (field.value, field.end) = varint(bytes, start).ok_or(BAD_NUMBER)?;
            return Ok(field);
        }
        FIXED64 => 8,
        FIXED32 => 4,
        BYTES => {
            let (length, start) = varint(bytes, start).ok_or(BAD_NUMBER)?;
            field.start = start;
            usize::try_from(length).unwrap_or(usize::MAX)
        }
        3 | 4 => return Err("a group, which no OTLP message has"),
        _ => return Err("a field has a type that does not exist"),
    };
    if length > bytes.len() - field.start {
        return Err("a length goes past the end of what holds it");
    }
    field.end = field.start + length;
    Ok(field)
}

const BAD_NUMBER: &str = "a number is cut off or too long";

/// Passes over values of a list that are integers of up to 35 bits or doubles and nothing else, as ids, masks and
/// log-probabilities are: tells of each the integer, if it is one. Gives where that ends.
pub(super) fn numbers(bytes: &[u8], mut at: usize, end: usize, tell: &mut dyn FnMut(Option<u64>)) -> usize {
    // The first field of the list, its length, and in it the field of an integer or of a double.
    while let Some(eight) = bytes.get(at..end).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*eight);
        let length = (word >> 8 & 0xFF) as usize;
        let next = at + 2 + length;
        match word & 0xFF_00FF {
            0x18_000A if (2..=6).contains(&length) => {
                let varint = word >> 24;
                if (!varint & 0x80_8080_8080).trailing_zeros() as usize != 8 * length - 9 || next > end {
                    break;
                }
                let digits = varint & ((1 << (8 * length - 8)) - 1);
                let low = digits & 0x7F | digits >> 1 & 0x3F80 | digits >> 2 & 0x1F_C000;
                tell(Some(low | digits >> 3 & 0xFE0_0000 | digits >> 4 & 0x7_F000_0000));
            }
            0x21_000A if length == 9 && next <= end => tell(None),
            _ => break,
        }
        at = next;
    }
    at
}

/// The varint at `at`, and where it ends.
#[inline(always)]
pub(super) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    match bytes.get(at) {
        Some(&byte) if byte < 0x80 => Some((u64::from(byte), at + 1)),
        _ => long_varint(bytes, at),
    }
}

fn long_varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for i in 0..10 {
        let byte = *bytes.get(at + i)?;
        value |= u64::from(byte & 0x7F) << (7 * i);
        if byte < 0x80 {
            return Some((value, at + i + 1));
        }
    }
    None
}

/// The field at `at` of a message that was checked, if it has one there; `at` moves behind it.
pub(super) fn next(bytes: &[u8], at: &mut usize, end: usize) -> Option<Field> {
    let field = if *at < end { field(bytes, *at, end).ok()? } else { return None };
    *at = field.end;
    Some(field)
}

/// Appends a varint of at least `width` bytes.
pub(super) fn varint_into(mut value: u64, width: usize, out: &mut Vec<u8>) {
    let mut count = 1;
    while value >= 0x80 || count < width {
        out.push(value as u8 | 0x80);
        value >>= 7;
        count += 1;
    }
    out.push(value as u8);
}

/// Appends a field that has a length.
pub(super) fn bytes_into(number: u32, content: &[u8], out: &mut Vec<u8>) {
    varint_into(u64::from(number << 3 | u32::from(BYTES)), 0, out);
    varint_into(content.len() as u64, 0, out);
    out.extend_from_slice(content);
}

/// The length of a message that grew, for the place of the old one. An old one that was longer than it had to be stays
/// as long as it can.
pub(super) fn new_length(old_width: usize, old: usize, new: usize) -> Vec<u8> {
    let mut out = Vec::new();
    varint_into(old as u64, 0, &mut out);
    let width = if old_width > out.len() { old_width } else { 0 };
    out.clear();
    varint_into(new as u64, width, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_read_as_they_are_written() {
        for value in [0, 1, 0x7F, 0x80, 0x3FFF, 0x4000, u64::from(u32::MAX), u64::MAX] {
            for width in [0, 1, 5, 9] {
                let mut bytes = Vec::new();
                varint_into(value, width, &mut bytes);
                assert!(bytes.len() >= width);
                assert_eq!(varint(&bytes, 0), Some((value, bytes.len())));
                assert_eq!(varint(&bytes[..bytes.len() - 1], 0), None);
            }
        }
        assert_eq!(varint(&[0x80; 11], 0), None);
    }

    #[test]
    fn fields_stay_inside_what_holds_them() {
        let what = |bytes: &[u8]| field(bytes, 0, bytes.len()).err().unwrap_or("nothing");
        assert!(what(&[0x0A, 0x05, 1]).contains("past the end"));
        assert!(what(&[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]).contains("past the end"));
        assert!(what(&[0x09, 1, 2, 3]).contains("past the end"));
        assert!(what(&[0x0D, 1, 2]).contains("past the end"));
        assert!(what(&[0x0A]).contains("cut off"));
        assert!(what(&[0x00, 1]).contains("no number"));
        assert!(what(&[0x0B]).contains("group"));
        assert!(what(&[0x0E]).contains("does not exist"));
        assert_eq!(what(&[0x0A, 0x02, 1, 2]), "nothing");
    }

    #[test]
    fn numbers_are_passed_over_as_fields_are() {
        let mut list = Vec::new();
        let mut expected = Vec::new();
        for bits in 0..35 {
            for value in [1u64 << bits, (1 << bits) - 1] {
                let mut int = vec![0x18];
                varint_into(value, 0, &mut int);
                bytes_into(1, &int, &mut list);
                bytes_into(1, &[&[0x21], &value.to_le_bytes()[..]].concat(), &mut list);
                expected.extend([Some(value), None]);
            }
        }
        // A number of more bits ends it.
        let mut long = vec![0x18];
        varint_into(1 << 35, 0, &mut long);
        bytes_into(1, &long, &mut list);
        let passed = |list: &[u8], end: usize| {
            let mut told = Vec::new();
            let behind = numbers(list, 0, end, &mut |number| told.push(number));
            let (mut at, mut fields) = (0, 0);
            while at < behind {
                at = field(list, at, end).unwrap().end;
                fields += 1;
            }
            assert_eq!((at, fields), (behind, told.len()));
            told
        };
        assert_eq!(passed(&list, list.len()), expected);
        for end in 0..list.len() {
            assert!(expected.starts_with(&passed(&list, end)));
        }
        for bad in [[0x0A, 2, 0x18, 0x80, 1, 0, 0, 0], [0x0A, 3, 0x18, 1, 1, 0, 0, 0], [0x0A, 2, 0x10, 1, 0, 0, 0, 0]] {
            assert_eq!(passed(&bad, 8), []);
        }
    }

    #[test]
    fn lengths_stay_as_long_as_they_were_if_that_was_a_choice() {
        assert_eq!(new_length(1, 3, 5), [5]);
        assert_eq!(new_length(3, 3, 5), [0x85, 0x80, 0]);
        assert_eq!(new_length(1, 100, 200), [0xC8, 1]);
        assert_eq!(new_length(2, 200, 100), [100]);
    }
}
