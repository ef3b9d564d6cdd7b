//! A program on pipes that never block us. One thread writes, one reads, one drains its error output; between them and
//! us stand bounded channels, so an engine that reads nothing or writes without end fills no memory. It is ended with
//! all it has started when this is dropped.

use super::family;
use sortie_core::play::Fault;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What an engine may write for one move.
const BYTES_MAX: u64 = 4 << 20;
/// Longer lines are cut.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Lines that wait to be read or written; an engine ahead of us by more has to wait.
const LINES_MAX: usize = 64;
/// What is kept of the last line of its error output.
const COMPLAINT_CHARS: usize = 200;
/// How long it is given to end on its own after `quit`, and to be told dead from merely silent.
const LEAVE: Duration = Duration::from_millis(200);

struct Heard {
    text: String,
    bytes: u64,
}

/// A running engine.
pub struct Child {
    process: std::process::Child,
    /// What all that it starts has in its environment.
    #[cfg_attr(not(unix), allow(dead_code))]
    mark: String,
    to: SyncSender<String>,
    from: Receiver<Heard>,
    complaint: Arc<Mutex<String>>,
    drain: JoinHandle<()>,
    /// Bytes since `begin`.
    bytes: u64,
}

impl Child {
    /// Starts a program. The error is one line.
    pub fn start(command: &[String]) -> Result<Child, String> {
        let (program, arguments) = command.split_first().ok_or("no program is named")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: Ctrl-C is ours alone, and what it starts ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mark = family::mark();
        command.env(family::VARIABLE, &mark);
        let mut process = command
            .spawn()
            .map_err(|error| format!("cannot start '{program}' ({})", crate::source::plain(&error)))?;
        let mut stdin = process.stdin.take().expect("piped");
        let stdout = process.stdout.take().expect("piped");
        let stderr = process.stderr.take().expect("piped");
        let (to, lines) = sync_channel::<String>(LINES_MAX);
        thread::spawn(move || {
            for line in lines {
                if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        });
        let (heard, from) = sync_channel(LINES_MAX);
        thread::spawn(move || {
            read_lines(stdout, |text, bytes| heard.send(Heard { text, bytes }).is_ok());
        });
        let complaint = Arc::new(Mutex::new(String::new()));
        let last = complaint.clone();
        let drain = thread::spawn(move || {
            read_lines(stderr, |text, _| {
                if !text.trim().is_empty() {
                    let kept = text.trim().chars().take(COMPLAINT_CHARS).collect();
                    *last.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = kept;
                }
                true
            });
        });
        Ok(Child { process, mark, to, from, complaint, drain, bytes: 0 })
    }

    /// A new move begins: its output is counted from here.
    pub fn begin(&mut self) {
        self.bytes = 0;
    }

    /// Sends a line. An engine that has read none of the last many lines does not listen any more.
    pub fn say(&mut self, line: &str) -> Result<(), Fault> {
        match self.to.try_send(format!("{line}\n")) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(Fault::Hung(0)),
            // Its input is closed: it ended, or it will be found silent.
            Err(TrySendError::Disconnected(_)) => Ok(()),
        }
    }

    /// The next line, without the line break; none if there is none within `wait`.
    pub fn hear(&mut self, wait: Duration) -> Result<Option<String>, Fault> {
        match self.from.recv_timeout(wait) {
            Ok(heard) => {
                self.bytes += heard.bytes;
                if self.bytes > BYTES_MAX {
                    return Err(Fault::Flooded(BYTES_MAX));
                }
                Ok(Some(heard.text))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Fault::Crashed(self.obituary())),
        }
    }

    /// The CPU time that it and what it started have taken, where the system says so.
    pub fn cpu_seconds(&self) -> Option<f64> {
        super::cpu::seconds(self.process.id())
    }

    /// How it ended, with its last words.
    fn obituary(&mut self) -> String {
        let mut text = match briefly(|| self.process.try_wait().ok().flatten()) {
            Some(status) => status.to_string(),
            None => "it closed its output".into(),
        };
        briefly(|| self.drain.is_finished().then_some(()));
        let complaint = self.complaint.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !complaint.is_empty() {
            text += &format!(" ({complaint})");
        }
        text
    }

    /// Asks it to leave and gives it a moment.
    pub fn leave(&mut self) {
        if self.say("quit").is_ok() {
            briefly(|| self.process.try_wait().ok().flatten());
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // First the group, then the wait: the leader's number, which is the group's, is not given away before that.
        #[cfg(unix)]
        if let Some(group) = rustix::process::Pid::from_raw(self.process.id() as i32) {
            family::end(self.process.id(), &self.mark, || {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            });
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits a moment for something to be there.
fn briefly<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let found = look();
        if found.is_some() || start.elapsed() >= LEAVE {
            return found;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Hands on line after line with the bytes it took, until the end of the stream or until `take` says no. Longer lines
/// are handed on in cuts, so that a line without an end is counted too.
fn read_lines(stream: impl Read, mut take: impl FnMut(String, u64) -> bool) {
    let mut reader = BufReader::new(stream);
    let mut inside_long_line = false;
    loop {
        let mut bytes = Vec::new();
        match reader.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(n) => {
                let text = String::from_utf8_lossy(&bytes);
                // The rest of a line that was cut is no line.
                let text = if inside_long_line { "" } else { text.trim_end_matches(['\n', '\r']) };
                inside_long_line = bytes.last() != Some(&b'\n');
                if !take(text.to_string(), n as u64) {
                    return;
                }
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Child {
        Child::start(&["/bin/sh", "-c", script].map(String::from)).expect("a shell")
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn lines_come_and_go() {
        let mut child = shell("read a; echo \"got $a\"; read b; echo oops >&2; exit 3");
        child.say("hello").unwrap();
        assert_eq!(child.hear(LONG), Ok(Some("got hello".into())));
        assert_eq!(child.hear(Duration::from_millis(1)), Ok(None));
        child.say("bye").unwrap();
        let Err(Fault::Crashed(why)) = child.hear(LONG) else { panic!("it ended") };
        assert!(why.contains('3'), "{why}");
    }

    #[test]
    fn output_without_an_end_is_counted_with_and_without_lines() {
        for script in ["yes", "cat /dev/zero"] {
            let mut child = shell(script);
            let mut lines = 0;
            let fault = loop {
                match child.hear(LONG) {
                    Ok(_) => lines += 1,
                    Err(fault) => break fault,
                }
            };
            assert_eq!(fault, Fault::Flooded(BYTES_MAX));
            assert!(lines > 50);
        }
    }

    #[test]
    fn who_reads_nothing_does_not_hold_us_up() {
        let mut child = shell("sleep 1000");
        let long = "x".repeat(100_000);
        let refused = (0..200).find_map(|_| child.say(&long).err());
        assert_eq!(refused, Some(Fault::Hung(0)));
    }

    #[test]
    fn what_it_started_ends_with_it() {
        ends_with_it("sleep 1000 & echo $!; wait");
    }

    /// Defect 11: a child that left its group, and its parents too, ran on.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_that_calls_setsid_ends_with_it() {
        ends_with_it("setsid sh -c 'echo $$; exec sleep 1000' & wait");
        ends_with_it("(setsid sh -c 'echo $$; exec sleep 1000' &); sleep 1000");
        ends_with_it("setsid env -i sh -c 'echo $$; exec sleep 1000' & wait");
    }

    /// Whether the process whose number a script says first is gone with the engine.
    fn ends_with_it(script: &str) {
        let mut child = shell(script);
        let sleeper = child.hear(LONG).unwrap().unwrap();
        drop(child);
        let alive =
            || Command::new("kill").args(["-0", &sleeper]).stderr(Stdio::null()).status().unwrap().success();
        // Orphans are reaped by somebody else, in a moment; a zombie still has its number.
        let start = Instant::now();
        let zombie =
            || std::fs::read_to_string(format!("/proc/{sleeper}/stat")).is_ok_and(|s| s.contains(") Z "));
        while alive() && !zombie() {
            assert!(start.elapsed() < LONG, "{sleeper} still runs");
            thread::yield_now();
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_refused() {
        let error = Child::start(&["/nowhere/engine".to_string()]).err().unwrap();
        assert!(error.contains("/nowhere/engine"), "{error}");
        assert!(Child::start(&[]).is_err());
    }
}
