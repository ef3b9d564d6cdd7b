//! Numbers, times and states for people.

use crate::kind::Kind;
use crate::summary::{State, Summary};

/// A score: whole numbers whole, others to at most four decimals.
pub fn score(score: f64) -> String {
    if score == score.trunc() && score.abs() < 1e15 {
        return grouped(&format!("{}", score as i64));
    }
    let text = format!("{score:.4}");
    grouped(text.trim_end_matches('0').trim_end_matches('.'))
}

/// A count in groups of three.
pub fn count(n: f64) -> String {
    grouped(&format!("{:.0}", n.round()))
}

/// Thousands apart by a narrow blank from five digits on, where they begin to be hard to read.
fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut out = sign.to_string();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && digits.len() > 4 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out = out + "." + rest;
    }
    out
}

/// A number in little room: `950`, `12.3k`, `4.56M`.
pub fn brief(n: f64) -> String {
    let (value, unit) = match n.abs() {
        x if x >= 1e12 => return format!("{n:.2e}"),
        x if x >= 1e9 => (n / 1e9, "G"),
        x if x >= 1e6 => (n / 1e6, "M"),
        x if x >= 1e4 => (n / 1e3, "k"),
        _ => return count(n),
    };
    let digits = if value.abs() < 10.0 { 2 } else { usize::from(value.abs() < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// A span of time: `0.8 s`, `1m 20s`, `3h 04m`, `2d 5h`.
pub fn time(seconds: f64) -> String {
    let s = seconds.max(0.0);
    match s {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{}m {:02}s", (s / 60.0) as u64, s as u64 % 60),
        s if s < 86400.0 => format!("{}h {:02}m", (s / 3600.0) as u64, s as u64 / 60 % 60),
        s => format!("{}d {}h", (s / 86400.0) as u64, s as u64 / 3600 % 24),
    }
}

/// Seconds since 1970 of a time such as `2026-11-16T07:00:00Z`.
pub fn utc_seconds(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = three::<i64>(date, '-')?;
    let [hour, minute, second] = three::<f64>(time, ':')?;
    let sound = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !sound
        || !(0.0..24.0).contains(&hour)
        || !(0.0..60.0).contains(&minute)
        || !(0.0..61.0).contains(&second)
    {
        return None;
    }
    // Years begin in March, so that a leap day is the last of its year; 719,468 days lie before 1970 then.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

fn three<T: std::str::FromStr>(text: &str, between: char) -> Option<[T; 3]> {
    let parts: Vec<T> = text.split(between).map_while(|part| part.parse().ok()).collect();
    parts.try_into().ok().filter(|_| text.matches(between).count() == 2)
}

/// How long ago.
pub fn ago(seconds: f64) -> String {
    match seconds {
        s if s < 5.0 => "now".into(),
        s if s < 60.0 => format!("{s:.0} s ago"),
        s if s < 3600.0 => format!("{:.0} min ago", s / 60.0),
        s if s < 86400.0 => format!("{:.0} h ago", s / 3600.0),
        s => format!("{:.0} d ago", s / 86400.0),
    }
}

/// Whether two scores are the same but for rounding: best known scores are written with a few digits.
pub fn same_score(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-9
}

/// How far a score is below the best known, as a share of that.
pub fn gap_share(best: f64, known: f64) -> f64 {
    (known - best) / known.abs().max(1e-9)
}

/// How far a score is from the best known, in words.
pub fn gap(best: f64, known: f64) -> String {
    if same_score(best, known) {
        return "equals the best known".into();
    }
    if best > known {
        return format!("better than the best known, {}", score(known));
    }
    format!("{} below the best known, {}", gap_percent(best, known), score(known))
}

/// The same as a share.
pub fn gap_percent(best: f64, known: f64) -> String {
    let share = 100.0 * gap_share(best, known);
    if share.abs() >= 1000.0 { "far".into() } else { format!("{share:.1} %") }
}

/// How a run stands, in a sentence.
pub fn state(run: &Summary) -> String {
    match run.state {
        State::Running => "A process is at work in this folder.".into(),
        State::Stopped => "It was asked to stop; `sortie resume` goes on with it.".into(),
        State::Interrupted => {
            "It ended without a word (killed, or the machine went down); `sortie resume` goes on with it."
                .into()
        }
        State::Unknown => "Nobody is at work in this folder.".into(),
        State::Finished if run.kind == Kind::Prove => match run.reason.as_deref().unwrap_or("decided") {
            "decided" => "The question is decided.".into(),
            "jobs" => "The jobs are used up; it is not decided.".into(),
            other => format!("It ended: {other}."),
        },
        State::Finished if run.kind != Kind::Solve => "All that was asked for is done.".into(),
        State::Finished => match run.reason.as_deref().unwrap_or("done") {
            "done" => "The search is done.".into(),
            "playouts" => "The playouts are used up.".into(),
            "time" => "The time is up.".into(),
            "cpu-time" => "The CPU time is used up.".into(),
            "target" => "The target is reached.".into(),
            "patience" => "No improvement for too long.".into(),
            other => format!("It ended: {other}."),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([3145.0, -1650.25, 12345.0, -0.0].map(score), ["3145", "-1650.25", "12,345", "0"]);
        assert_eq!([950.0, 12_340.0, 4_560_000.0, 123e9].map(brief), ["950", "12.3 k", "4.56 M", "123 G"]);
        assert_eq!(
            [0.84, 59.0, 80.0, 11_045.0, 190_000.0].map(time),
            ["0.8 s", "59 s", "1m 20s", "3h 04m", "2d 4h"]
        );
        assert_eq!([1.0, 90.0, 7200.0].map(ago), ["now", "2 min ago", "2 h ago"]);
        assert_eq!(utc_seconds("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(utc_seconds("2024-02-29T12:00:01.5Z"), Some(1_709_208_001.5));
        for bad in
            ["", "2024-02-29", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z", "x-y-zT1:2:3Z", "1-1T0:0:0Z"]
        {
            assert_eq!(utc_seconds(bad), None, "{bad}");
        }
        assert_eq!(gap(75.0, 100.0), "25.0 % below the best known, 100");
        assert!(gap(101.0, 100.0).starts_with("better"));
    }
}
