//! Date and time of ISO 8601, as backends write them: `2026-11-29T14:44:21.386003Z`, `2026-11-29 14:44:21+01:00`.

/// Most digits of a fraction of a second.
const MOST_DIGITS: usize = 9;

/// Nanoseconds since 1970. Nothing for a text that is no date and time, one without an offset, of which nobody knows when
/// it is, one before 1970, and one after the year 2554.
pub(super) fn parse(text: &[u8]) -> Option<u64> {
    let mut rest = text;
    let year = number(&mut rest, 4)?;
    let month = number(after(&mut rest, b"-")?, 2)?;
    let day = number(after(&mut rest, b"-")?, 2)?;
    let hour = number(after(&mut rest, b"T t")?, 2)?;
    let minute = number(after(&mut rest, b":")?, 2)?;
    let second = number(after(&mut rest, b":")?, 2)?;
    let mut nano = 0;
    if after(&mut rest, b".,").is_some() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > MOST_DIGITS {
            return None;
        }
        nano = number(&mut rest, digits)? * 10i64.pow((MOST_DIGITS - digits) as u32);
    }
    let offset = offset(rest)?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // A leap second is the first one of the next minute.
    if !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset;
    let seconds = u64::try_from(minutes * 60 + second).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nano as u64)
}

/// The minutes of an offset that is all there is.
fn offset(mut text: &[u8]) -> Option<i64> {
    if let b"Z" | b"z" = text {
        return Some(0);
    }
    let sign = if text.first() == Some(&b'-') { -1 } else { 1 };
    let hours = number(after(&mut text, b"+-")?, 2)?;
    after(&mut text, b":");
    let minutes = if text.is_empty() { 0 } else { number(&mut text, 2)? };
    (text.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Takes a number of so many digits from the front.
fn number(text: &mut &[u8], digits: usize) -> Option<i64> {
    let (number, rest) = text.split_at_checked(digits)?;
    *text = rest;
    let mut value = 0;
    for digit in number {
        value = value * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
    }
    Some(value)
}

/// Takes one of some bytes from the front.
fn after<'t, 'b>(text: &'t mut &'b [u8], bytes: &[u8]) -> Option<&'t mut &'b [u8]> {
    let (first, rest) = text.split_first()?;
    if !bytes.contains(first) {
        return None;
    }
    *text = rest;
    Some(text)
}

/// Days from the first of January 1970, in the calendar that begins its years in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let days = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + days - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_are_those_of_python() {
        // `int(datetime.fromisoformat(text).timestamp())`, and the fraction.
        for (text, seconds, nano) in [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("1970-01-01T00:00:00+00:00", 0, 0),
            ("2026-11-29T14:44:21.386003Z", 1_795_963_461, 386_003_000),
            ("2026-11-29T14:45:16.551Z", 1_795_963_516, 551_000_000),
            ("2026-11-29T15:44:21.386003+01:00", 1_795_963_461, 386_003_000),
            ("2026-11-29 09:14:21.386003123-0530", 1_795_963_461, 386_003_123),
            ("2024-02-29T23:59:60Z", 1_709_251_200, 0),
            ("2000-02-29T00:00:00+00", 951_782_400, 0),
            ("2100-03-01T00:00:00Z", 4_107_542_400, 0),
            ("1970-01-01T01:00:00+01:00", 0, 0),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(seconds * 1_000_000_000 + nano), "{text}");
        }
        assert_eq!(parse(b"2554-07-21T23:34:33.709551615Z"), Some(u64::MAX));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2026",
            "2026-11-29",
            "2026-11-29T14:44:21",
            "2026-11-29T14:44Z",
            "2026-13-29T14:44:21Z",
            "2026-00-29T14:44:21Z",
            "2026-11-31T14:44:21Z",
            "2023-02-29T14:44:21Z",
            "2026-11-29T24:44:21Z",
            "2026-11-29T14:44:21.Z",
            "2026-11-29T14:44:21.1234567890Z",
            "2026-11-29T14:44:21Zjunk",
            "2026-11-29T14:44:21+1",
            "2026-11-29T14:44:21+01:0",
            "2026-11-29T14:44:21+25:00",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+00:01",
            "2554-07-21T23:34:33.709551616Z",
            "9999-12-31T23:59:59Z",
            "-026-11-29T14:44:21Z",
            "2026-11-29T1\u{e9}:4:21Z",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
