//! The program as its tests run it: in a folder of its own, with a bound on everything.

use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Nothing in these tests takes so long unless it hangs.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// A folder in which the program is run.
pub struct Home(TempDir);

/// What a run of the program came to.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    pub fn new() -> Home {
        Home(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).expect("a file of the test");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command line, apart by spaces.
    pub fn command(&self, line: &str) -> Command {
        self.command_of(&line.split(' ').collect::<Vec<_>>())
    }

    pub fn command_of(&self, words: &[&str]) -> Command {
        let mut command = Command::new(crate::PROGRAM);
        command.args(words).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, line: &str) -> Ran {
        Ran::from(self.command(line).output().expect("the program starts"))
    }

    /// Runs a command that must end well, and reads the one JSON object it prints.
    pub fn json(&self, line: &str) -> Value {
        let ran = self.run(line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
        ran.json()
    }

    pub fn spawn(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }

    /// Names in the folder, sorted.
    #[allow(dead_code)] // not every program is tested by them
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder of the test");
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Ran {
    pub fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// The one JSON object on stdout.
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one line of JSON: {}", self.stdout);
        serde_json::from_str(&self.stdout).expect("JSON")
    }
}

/// Waits until something is so; a hang fails the test.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < DEADLINE, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for the end of a program; a hang fails the test.
pub fn finish(mut child: Child) -> Ran {
    // The pipes are small: somebody must read them meanwhile.
    let out = drain(child.stdout.take().expect("piped"));
    let err = drain(child.stderr.take().expect("piped"));
    let mut status = None;
    until("the program to end", || {
        status = child.try_wait().expect("a child");
        status.is_some()
    });
    let output = Output {
        status: status.expect("ended"),
        stdout: out.join().expect("read"),
        stderr: err.join().expect("read"),
    };
    Ran::from(output)
}

fn drain(mut from: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("a pipe");
        bytes
    })
}

#[cfg(unix)]
pub fn interrupt(child: Child, signal: &str) -> Ran {
    let sent = std::process::Command::new("kill")
        .args([signal, &child.id().to_string()])
        .stdout(Stdio::null())
        .status()
        .expect("kill");
    assert!(sent.success());
    finish(child)
}
