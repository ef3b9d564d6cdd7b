//! The CPU time of a program that is not ours: the system's own accounting of it and of all that it has started.

/// Processes of an engine that are counted, at most.
#[cfg(target_os = "linux")]
const PROCESSES_MAX: usize = 64;

/// User and system time of a process and its descendants, in seconds; those that have ended count for the parent that
/// waited for them. `None` where the system does not say.
#[cfg(target_os = "linux")]
pub fn seconds(process: u32) -> Option<f64> {
    let (mut left, mut sum) = (vec![process], None);
    let mut counted = 0;
    while let Some(process) = left.pop().filter(|_| counted < PROCESSES_MAX) {
        counted += 1;
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}"));
        let Some(own) = read("stat").ok().as_deref().and_then(ticks) else { continue };
        // In /proc a second has a hundred ticks on every machine.
        *sum.get_or_insert(0.0) += own as f64 / 100.0;
        let children = read(&format!("task/{process}/children")).unwrap_or_default();
        left.extend(children.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
    }
    sum
}

#[cfg(not(target_os = "linux"))]
pub fn seconds(_: u32) -> Option<f64> {
    None
}

/// Fields 14 to 17 of a line of /proc/N/stat; the name before them may hold anything, brackets too.
#[cfg(target_os = "linux")]
fn ticks(stat: &str) -> Option<u64> {
    let (_, after) = stat.rsplit_once(')')?;
    let fields: Vec<u64> = after.split_whitespace().skip(11).take(4).filter_map(|n| n.parse().ok()).collect();
    (fields.len() == 4).then(|| fields.iter().sum())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_any_name() {
        let stat = "7 (a ) b (c) S 1 7 7 0 -1 4194560 100 200 0 0 11 12 13 14 20 0 1 0 5 6 7";
        assert_eq!(ticks(stat), Some(50));
        assert_eq!(ticks("7 (cut"), None);
        assert_eq!(ticks("7 (cut) S 1 2"), None);
    }

    #[test]
    fn this_process_has_used_some_and_nobody_none() {
        let spent = std::hint::black_box((0..20_000_000u64).fold(0, |a, b| a ^ b.wrapping_mul(b)));
        assert!(seconds(std::process::id()).is_some_and(|seconds| seconds > 0.0), "{spent}");
        assert_eq!(seconds(u32::MAX), None);
    }
}
