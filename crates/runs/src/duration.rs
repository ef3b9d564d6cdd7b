//! Times as people write and read them: `500ms`, `20s`, `1h30m`.

/// No run is meant to last longer than this: about 30 years.
const SECONDS_MAX: f64 = 1e9;

/// Units, longest name first among those with a common beginning.
const UNITS: [(&str, f64); 6] =
    [("us", 1e-6), ("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];

/// Reads a time in seconds.
pub fn parse(text: &str) -> Result<f64, String> {
    let expected = "expected a number and a unit, as in 500ms, 20s, 4m or 1h30m";
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(expected.into());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| expected)?;
        // A zero needs no unit to be told what is wrong with it.
        let unit = UNITS.iter().find(|(name, _)| tail.starts_with(name));
        let (name, factor) =
            unit.or((number == 0.0 && tail.is_empty()).then_some(&UNITS[1])).ok_or(expected)?;
        seconds += number * factor;
        rest = tail.get(name.len()..).unwrap_or("");
    }
    if seconds <= 0.0 {
        return Err("expected a time above 0, as in 20s".into());
    }
    if seconds > SECONDS_MAX {
        return Err("expected less than 30 years".into());
    }
    Ok(seconds)
}

/// Writes a time: `0.42 s`, `12.3 s`, `4m 05s`, `2h 10m`, `3d 04h`.
pub fn show(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        _ if seconds < 9.995 => format!("{seconds:.2} s"),
        _ if seconds < 99.95 => format!("{seconds:.1} s"),
        0..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        3600..86400 => format!("{}h {:02}m", whole / 3600, whole / 60 % 60),
        _ => format!("{}d {:02}h", whole / 86400, whole / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        for (text, seconds) in [
            ("20s", 20.0),
            ("4m", 240.0),
            ("1h", 3600.0),
            ("500ms", 0.5),
            ("1.5s", 1.5),
            ("1h30m", 5400.0),
            ("2d", 172800.0),
        ] {
            assert_eq!(parse(text), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        for text in ["", "20", "s", "0", "0s", "-5s", "1..2s", "5 s", "5x", "99999999h", "1e9s", "5é", "."] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_written() {
        let shown = [0.418, 12.34, 99.96, 125.0, 7800.0, 3.0 * 86400.0 + 4.0 * 3600.0].map(show);
        assert_eq!(shown, ["0.42 s", "12.3 s", "1m 40s", "2m 05s", "2h 10m", "3d 04h"]);
    }
}
