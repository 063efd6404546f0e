//! Nanoseconds since 1970 as dates.

/// The time as ISO 8601 with microseconds, in UTC: `2026-11-29T13:52:11.372411Z`.
pub(super) fn iso(unix_nano: u64) -> String {
    let micros = unix_nano / 1000;
    let seconds = micros / 1_000_000;
    let (year, month, day) = date(seconds / 86_400);
    let mut text = String::new();
    for (number, width, after) in [
        (year, 4, '-'),
        (month, 2, '-'),
        (day, 2, 'T'),
        (seconds / 3600 % 24, 2, ':'),
        (seconds / 60 % 60, 2, ':'),
        (seconds % 60, 2, '.'),
        (micros % 1_000_000, 6, 'Z'),
    ] {
        let digits = number.to_string();
        for _ in digits.len()..width {
            text.push('0');
        }
        text.push_str(&digits);
        text.push(after);
    }
    text
}

/// Year, month and day of a day since 1970. Years begin in March here, so that a leap day is the last of its year (Howard
/// Hinnant's `civil_from_days`).
fn date(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let of_era = day % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let (month_of_year, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = day / 146_097 * 400 + year_of_era + next_year;
    (year, month_of_year, of_year - (153 * month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_399, "2000-02-28T23:59:59"),
            (951_782_400, "2000-02-29T00:00:00"),
            (951_868_800, "2000-03-01T00:00:00"),
            (1_795_959_821, "2026-11-29T13:43:41"),
            (4_107_542_399, "2100-02-28T23:59:59"),
            (4_107_542_400, "2100-03-01T00:00:00"),
        ] {
            assert_eq!(iso(seconds * 1_000_000_000), format!("{expected}.000000Z"));
        }
        assert_eq!(iso(1_795_959_821_263_328_487), "2026-11-29T13:43:41.263328Z");
        assert_eq!(iso(u64::MAX), "2554-07-21T23:34:33.709551Z");
    }
}
