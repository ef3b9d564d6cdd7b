//! Progress on stderr: one live line on a terminal, plain lines elsewhere.

use crate::duration;
use crate::output::{count, score};
use crossterm::terminal;
use sortie_runs::scribe::{Status, Teller};
use std::io::{IsTerminal, Write};

/// A live line is redrawn so often.
const LIVE_SECONDS: f64 = 0.2;
/// A plain line at least so often.
const PLAIN_SECONDS: f64 = 5.0;

#[derive(PartialEq)]
enum Mode {
    Silent,
    Plain,
    Live,
}

/// The teller.
pub struct Progress {
    mode: Mode,
    told_seconds: f64,
    kept_seconds: f64,
    drawn: bool,
}

impl Progress {
    /// Live, plain or not at all.
    pub fn new(quiet: bool, seconds: f64) -> Progress {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let mode = match quiet {
            true => Mode::Silent,
            false if std::io::stderr().is_terminal() && !dumb => Mode::Live,
            false => Mode::Plain,
        };
        Progress { mode, told_seconds: seconds, kept_seconds: seconds, drawn: false }
    }

    /// Time passes, and this is how it stands: told when it is due.
    pub fn show(&mut self, seconds: f64, text: impl FnOnce() -> String) {
        let due = match self.mode {
            Mode::Silent => return,
            Mode::Plain => PLAIN_SECONDS,
            Mode::Live => LIVE_SECONDS,
        };
        if seconds - self.told_seconds < due {
            return;
        }
        self.told_seconds = seconds;
        let text = text();
        if self.mode == Mode::Plain {
            return self.line(&text);
        }
        // A line that wraps could not be redrawn.
        let width = terminal::size().map_or(80, |(columns, _)| columns as usize).max(10);
        let text: String = text.chars().take(width - 1).collect();
        let _ = write!(std::io::stderr(), "\r\x1b[2K{text}");
        let _ = std::io::stderr().flush();
        self.drawn = true;
    }

    /// A line that stays, above the live one. Warnings are said even when silent.
    pub fn line(&mut self, text: &str) {
        self.clear();
        crate::output::say(text);
    }

    /// Takes the live line away.
    pub fn clear(&mut self) {
        if self.drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
            let _ = std::io::stderr().flush();
            self.drawn = false;
        }
    }
}

impl Teller for Progress {
    /// A better solution is on disk.
    fn improved(&mut self, best: f64, stream: u32, seconds: f64) {
        // On a terminal the live line shows the best; only now and then is one kept, at growing distances.
        let keep = match self.mode {
            Mode::Silent => false,
            Mode::Plain => true,
            Mode::Live => seconds >= 1.0 && seconds >= 1.5 * self.kept_seconds,
        };
        if keep {
            self.kept_seconds = seconds;
            self.line(&format!("{:>9}  best {} (stream {stream})", duration::show(seconds), score(best)));
        }
    }

    /// Time passes.
    fn tick(&mut self, status: &Status) {
        self.show(status.seconds, || status_line(status));
    }

    fn line(&mut self, text: &str) {
        Progress::line(self, text);
    }

    fn clear(&mut self) {
        Progress::clear(self);
    }
}

fn status_line(status: &Status) -> String {
    let best = status.best.map_or("-".to_string(), score);
    let mut text = format!(
        "{:>9}  best {best}  {} playouts  {}/s",
        duration::show(status.seconds),
        count(status.playouts),
        count(status.rate as u64),
    );
    if let Some(left) = status.left {
        text += &format!("  {} left", duration::show(left));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_it_all() {
        let status =
            Status { best: Some(2871.0), playouts: 1234567, rate: 61000.4, seconds: 20.2, left: Some(40.0) };
        assert_eq!(status_line(&status), "   20.2 s  best 2871  1,234,567 playouts  61,000/s  40.0 s left");
        let bare = Status { best: None, left: None, ..status };
        assert_eq!(status_line(&bare), "   20.2 s  best -  1,234,567 playouts  61,000/s");
    }
}
