//! What may happen to any long command with a folder: it is asked to stop, or the disk is full. `LONG` has the commands.

use crate::LONG;
use crate::home::{Home, finish, interrupt, until};

fn lines(home: &Home, file: &str) -> usize {
    std::fs::read_to_string(home.path(file)).map_or(0, |text| text.lines().count())
}

#[cfg(unix)]
#[test]
fn sigterm_is_the_first_ctrl_c_and_resume_goes_on() {
    for (command, log) in LONG {
        let home = Home::new();
        let child = home.spawn(&format!("{command} --out run"));
        until("the first line of its log", || lines(&home, &format!("run/{log}")) > 0);
        let ran = interrupt(child, "-TERM");
        assert_eq!(ran.code, 0, "{command}: {}", ran.stderr);
        let before = home.read(&format!("run/{log}"));
        assert!(
            ran.stderr.contains("stopped") && ran.stderr.contains("resume run"),
            "{command}: {}",
            ran.stderr
        );
        assert!(before.ends_with('\n'), "{command}: whole lines");
        let ran = home.run("resume run --quiet");
        assert!([0, 1].contains(&ran.code), "{command}: {} {}", ran.code, ran.stderr);
        let after = home.read(&format!("run/{log}"));
        assert!(after.starts_with(&before) && after.len() > before.len(), "{command}: it went on");
        let again = home.run("resume run --quiet");
        assert_eq!(
            (again.code, home.read(&format!("run/{log}"))),
            (ran.code, after),
            "{command}: all was done"
        );
    }
}

/// A limit on the size of files stands for a full disk: from some moment on nothing can be written any more.
#[cfg(target_os = "linux")]
pub fn fill(child: &std::process::Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(1), maximum: Some(1) };
    prlimit(Pid::from_raw(child.id() as i32), Resource::Fsize, limit).expect("a limit on our own child");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_a_log_with_what_was_found() {
    for (command, log) in LONG {
        let home = Home::new();
        let child = home.spawn(&format!("{command} --quiet --json --out run"));
        until("the first line of its log", || lines(&home, &format!("run/{log}")) > 0);
        let before = home.read(&format!("run/{log}"));
        fill(&child);
        let ran = finish(child);
        assert_eq!(ran.code, 2, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("cannot write"), "{command}: {}", ran.stderr);
        assert!(!ran.stdout.is_empty(), "{command}: what was found is printed");
        if !command.starts_with("paper") {
            let found: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one object");
            assert!(found["instance"].is_string(), "{command}: {found}");
        }
        assert!(home.read(&format!("run/{log}")).starts_with(&before), "{command}: nothing is lost");
        let ran = home.run("resume run --quiet");
        assert!([0, 1].contains(&ran.code), "{command}: {}", ran.stderr);
    }
}
