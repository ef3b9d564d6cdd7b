//! The calendar in UTC, for names of folders and the dates in records. Proleptic Gregorian, no leap seconds.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as `2026-11-15T21:30:00Z`.
pub fn now() -> String {
    let [year, month, day, hour, minute, second] = civil(unix_seconds());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Now, as `20261115-213000`.
pub fn stamp() -> String {
    let [year, month, day, hour, minute, second] = civil(unix_seconds());
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Year, month, day, hour, minute, second.
fn civil(unix_seconds: u64) -> [u64; 6] {
    let (mut days, second) = (unix_seconds / 86400, unix_seconds % 86400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    [year, month as u64 + 1, days + 1, second / 3600, second / 60 % 60, second % 60]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        assert_eq!(civil(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(civil(951_782_400), [2000, 2, 29, 0, 0, 0]);
        assert_eq!(civil(1_000_000_000), [2001, 9, 9, 1, 46, 40]);
        assert_eq!(civil(4_107_542_399), [2100, 2, 28, 23, 59, 59]);
        assert_eq!(civil(4_107_542_400), [2100, 3, 1, 0, 0, 0]);
    }
}
