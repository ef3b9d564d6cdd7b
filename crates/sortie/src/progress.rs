//! Progress on stderr: one live line on a terminal, plain lines elsewhere.

use crate::duration;
use crate::hook::Hook;
use crate::output::count;
use crate::source::Instance;
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
        let mode = match quiet {
            true => Mode::Silent,
            false if is_live() => Mode::Live,
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
        redraw(&text);
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
            erase();
            self.drawn = false;
        }
    }
}

/// Who tells people of a run: scores in the words of its domain, and a command that is run whenever there is a better one.
pub struct RunTeller<'a> {
    instance: &'a Instance,
    progress: Progress,
    hook: Option<Hook>,
}

impl<'a> RunTeller<'a> {
    /// Tells of a run of this instance.
    pub fn new(instance: &'a Instance, progress: Progress, hook: Option<Hook>) -> RunTeller<'a> {
        RunTeller { instance, progress, hook }
    }
}

impl Teller for RunTeller<'_> {
    fn improved(&mut self, best: f64, stream: u32, seconds: f64) {
        if let Some(hook) = &mut self.hook {
            hook.improved(best);
        }
        let progress = &mut self.progress;
        // On a terminal the live line shows the best; only now and then is one kept, at growing distances.
        let keep = match progress.mode {
            Mode::Silent => false,
            Mode::Plain => true,
            Mode::Live => seconds >= 1.0 && seconds >= 1.5 * progress.kept_seconds,
        };
        if keep {
            progress.kept_seconds = seconds;
            let best = self.instance.told(best);
            progress.line(&format!("{:>9}  best {best} (stream {stream})", duration::show(seconds)));
        }
    }

    fn tick(&mut self, status: &Status) {
        if let Some(trouble) = self.hook.as_mut().and_then(|hook| hook.run(false)) {
            self.progress.line(&trouble);
        }
        let live = self.progress.mode == Mode::Live;
        let best = || status.best.map_or("-".to_string(), |best| self.instance.told(best));
        let text = || if live { live_line(status, &best(), columns()) } else { status_line(status, &best()) };
        self.progress.show(status.seconds, text);
    }

    /// One stream is enough to read: the others do much the same.
    fn course(&mut self, stream: u32, text: &str) {
        if stream == 0 && self.progress.mode != Mode::Silent {
            self.progress.line(text);
        }
    }

    fn line(&mut self, text: &str) {
        self.progress.line(text);
    }

    fn clear(&mut self) {
        if let Some(trouble) = self.hook.as_mut().and_then(|hook| hook.run(true)) {
            self.progress.line(&trouble);
        }
        self.progress.clear();
    }
}

/// Whether stderr is a terminal on which a line can be drawn again.
pub fn is_live() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stderr().is_terminal() && !dumb
}

/// Columns of the terminal.
pub fn columns() -> usize {
    terminal::size().map_or(80, |(columns, _)| columns as usize).max(10)
}

/// Draws the live line again. One that wraps could not be redrawn.
pub fn redraw(text: &str) {
    let text: String = text.chars().take(columns() - 1).collect();
    let _ = write!(std::io::stderr(), "\r\x1b[2K{text}");
    let _ = std::io::stderr().flush();
}

/// Takes the live line away.
pub fn erase() {
    let _ = write!(std::io::stderr(), "\r\x1b[2K");
    let _ = std::io::stderr().flush();
}

/// The line for a terminal so wide: what is over as a bar, where it can be told, and what fits of the rest, the most
/// telling first.
fn live_line(status: &Status, best: &str, columns: usize) -> String {
    let mut parts = vec![format!("best {best}")];
    if let Some(left) = status.left {
        parts.push(format!("{} left", duration::show(left)));
    }
    parts.push(format!("{}/s", count(status.rate as u64)));
    parts.push(format!("{} playouts", count(status.playouts)));
    let over = status.left.map(|left| status.seconds / (status.seconds + left).max(1e-9));
    let mut text = match over {
        Some(over) if columns >= 60 => {
            let cells = if columns >= 100 { 20 } else { 10 };
            let full = ((over * cells as f64) as usize).min(cells);
            format!("{}{} {:>3.0} %", "█".repeat(full), "░".repeat(cells - full), 100.0 * over)
        }
        Some(over) => format!("{:>3.0} %", 100.0 * over),
        None => duration::show(status.seconds),
    };
    for part in parts {
        if text.chars().count() + 2 + part.chars().count() < columns {
            text += &format!("  {part}");
        }
    }
    text
}

fn status_line(status: &Status, best: &str) -> String {
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
        let best = "2871 points";
        assert_eq!(
            status_line(&status, best),
            "   20.2 s  best 2871 points  1,234,567 playouts  61,000/s  40.0 s left"
        );
        assert_eq!(
            live_line(&status, best, 100),
            "██████░░░░░░░░░░░░░░  34 %  best 2871 points  40.0 s left  61,000/s  1,234,567 playouts"
        );
        assert_eq!(live_line(&status, best, 40), " 34 %  best 2871 points  40.0 s left");
        for columns in 10..120 {
            assert!(live_line(&status, best, columns).chars().count() < columns, "{columns}");
        }
        let bare = Status { left: None, ..status };
        assert_eq!(status_line(&bare, "-"), "   20.2 s  best -  1,234,567 playouts  61,000/s");
    }
}
