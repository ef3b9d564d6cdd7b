//! The accounts under random schedules: loss, duplicates, lies. An answer is a number; the job `n` has the answer `n`,
//! even answers are claims, and odd ones opinions.

use super::*;

struct Even;

impl Judge<u64, u64> for Even {
    fn claims(&self, answer: &u64) -> bool {
        answer.is_multiple_of(2)
    }
    fn agree(&self, a: &u64, b: &u64) -> bool {
        a == b
    }
    fn contradict(&self, a: &u64, b: &u64) -> bool {
        a != b
    }
    fn opinion(&self, answer: u64) -> Option<u64> {
        Some(answer + 1) // odd: an opinion
    }
    fn recheck(&self, job: &u64) -> Option<u64> {
        Some(*job)
    }
}

fn all(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn hear(
    desk: &mut Desk<u64, u64>,
    present: &BTreeSet<String>,
    worker: &str,
    job: u64,
    answer: Result<u64, &str>,
) -> Ruling<u64> {
    let answer = answer.map_err(str::to_string);
    desk.hear(Heard { job, attempt: 1, worker, answer, present }, &Even)
}

fn desk(quorum: u32, recheck: f64) -> Desk<u64, u64> {
    let mut desk = Desk::new(Trust { quorum, recheck }, 1);
    for job in 0..40 {
        desk.issue(job, job, 0.0);
        assert_eq!(desk.send(job, 0.0), Some((1, Vec::new())));
    }
    desk
}

#[test]
fn an_answer_counts_once_whoever_brings_it() {
    let (mut desk, present) = (desk(1, 0.0), all(&["a", "b"]));
    assert_eq!(hear(&mut desk, &present, "a", 2, Ok(2)), Ruling::Take(2));
    for worker in ["a", "b"] {
        assert_eq!(hear(&mut desk, &present, worker, 2, Ok(9)), Ruling::Wait);
    }
    assert_eq!(hear(&mut desk, &present, "a", 999, Ok(0)), Ruling::Wait);
    assert_eq!((desk.tally.taken, desk.tally.late, desk.len()), (1, 3, 39));
}

#[test]
fn a_quorum_is_of_different_workers() {
    let (mut desk, present) = (desk(2, 0.0), all(&["a", "b", "c"]));
    assert_eq!(hear(&mut desk, &present, "a", 3, Ok(3)), Ruling::Take(3), "an opinion needs nobody else");
    assert_eq!(hear(&mut desk, &present, "a", 2, Ok(2)), Ruling::Again);
    assert_eq!(desk.send(2, 1.0), Some((2, vec!["a".to_string()])));
    assert_eq!(hear(&mut desk, &present, "a", 2, Ok(2)), Ruling::Wait, "the same worker again");
    assert_eq!(hear(&mut desk, &present, "b", 2, Ok(2)), Ruling::Take(2));
    // Nobody else is there, or they do not agree: our own solver settles it.
    assert_eq!(hear(&mut desk, &all(&["a"]), "a", 4, Ok(4)), Ruling::Check);
    assert_eq!(desk.checked(4, Some(4), &Even), Ruling::Take(4));
    assert_eq!(hear(&mut desk, &present, "a", 6, Ok(8)), Ruling::Again);
    assert_eq!(hear(&mut desk, &present, "b", 6, Ok(6)), Ruling::Check);
    assert_eq!(hear(&mut desk, &present, "c", 6, Ok(6)), Ruling::Wait, "it is being checked");
    assert_eq!(desk.checked(6, Some(6), &Even), Ruling::Take(6));
    assert_eq!((desk.tally.confirmed, desk.tally.rechecked, desk.tally.refuted), (1, 2, 1));
}

#[test]
fn what_is_not_checked_is_an_opinion() {
    let (mut desk, present) = (desk(1, 1e-9), all(&["a"]));
    assert_eq!(hear(&mut desk, &present, "a", 2, Ok(2)), Ruling::Take(3));
    // Our own solver cannot tell: an opinion again.
    let (mut desk, present) = (self::desk(1, 1.0), all(&["a"]));
    assert_eq!(hear(&mut desk, &present, "a", 2, Ok(2)), Ruling::Check);
    assert_eq!(desk.checked(2, None, &Even), Ruling::Take(3));
    assert_eq!(desk.tally.doubted, 1);
}

#[test]
fn blame_needs_several_disagreements_and_then_answers_are_refused() {
    let (mut desk, present) = (desk(1, 1.0), all(&["liar", "honest"]));
    for (job, blames) in [(2, 1), (4, 2), (6, 3)] {
        assert_eq!(hear(&mut desk, &present, "liar", job, Ok(100)), Ruling::Check);
        assert!(desk.expelled.is_empty() && desk.refused().is_empty());
        assert_eq!(desk.checked(job, Some(job), &Even), Ruling::Take(job));
        assert_eq!(desk.tally.refuted, blames);
    }
    assert_eq!(desk.refused(), ["liar"]);
    assert_eq!(desk.expelled[0].0, "liar");
    // It swallowed a job: once more for somebody else, and only once.
    assert_eq!(hear(&mut desk, &present, "liar", 8, Ok(8)), Ruling::Again);
    assert_eq!(desk.send(8, 1.0), Some((2, vec!["liar".to_string()])));
    assert_eq!(hear(&mut desk, &present, "liar", 8, Ok(8)), Ruling::Wait);
    assert_eq!(hear(&mut desk, &present, "honest", 8, Ok(8)), Ruling::Check);
}

#[test]
fn a_job_that_fails_goes_to_others_first() {
    let (mut desk, present) = (desk(1, 0.0), all(&["a", "b", "c", "d"]));
    assert_eq!(hear(&mut desk, &present, "a", 2, Err("no")), Ruling::Again);
    assert_eq!(hear(&mut desk, &present, "a", 2, Err("no")), Ruling::Wait);
    assert_eq!(hear(&mut desk, &present, "b", 2, Err("no")), Ruling::Again);
    assert_eq!(hear(&mut desk, &present, "c", 2, Err("no")), Ruling::Lost("no".into()));
    assert_eq!(hear(&mut desk, &all(&["a"]), "a", 3, Err("no")), Ruling::Lost("no".into()));
    // One good answer clears the name; many failures in a row do not.
    assert_eq!(hear(&mut desk, &present, "a", 5, Ok(5)), Ruling::Take(5));
    for job in 6..6 + u64::from(FAILURES_MAX) {
        assert!(desk.refused().is_empty(), "{job}");
        hear(&mut desk, &present, "a", job, Err("broken"));
    }
    assert_eq!(desk.refused(), ["a"]);
}

#[test]
fn what_nobody_is_at_is_stale() {
    let mut desk = desk(1, 0.0);
    desk.seen(7, 25.0);
    let stale = desk.stale(30.0, 10.0, 100.0);
    assert!(stale.len() == 39 && !stale.contains(&7));
    assert_eq!(desk.stale(101.0, 1e9, 100.0).len(), 40, "whoever holds them that long does not answer");
    desk.forget(7);
    assert_eq!((desk.len(), desk.send(7, 1.0)), (39, None));
}

/// Workers that vanish, answer twice, late and wrongly, in any order: every job ends, once, and no lie is a claim.
#[test]
fn no_schedule_lets_a_lie_through_or_loses_a_job() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed, 0);
        let trust = Trust { quorum: 1 + rng.below(3) as u32, recheck: rng.unit() };
        let trust =
            if trust.quorum == 1 { Trust { recheck: trust.recheck.max(0.1), ..trust } } else { trust };
        let mut desk = Desk::new(trust, seed);
        // Worker 0 lies whenever it can; one liar cannot make a quorum.
        let names = ["liar", "b", "c", "d"];
        let present = all(&names);
        let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
        let mut queue: Vec<u64> = Vec::new();
        let mut checks: Vec<u64> = Vec::new();
        for job in 0..30 {
            desk.issue(job, job, 0.0);
            desk.send(job, 0.0);
            queue.push(job);
        }
        let mut now = 0.0;
        while !desk.is_empty() {
            now += 1.0;
            assert!(now < 1e5, "seed {seed} hangs");
            if queue.is_empty() && checks.is_empty() {
                // Everything got lost: what is stale is sent again.
                for job in desk.stale(now, 0.5, 1e9) {
                    desk.send(job, now);
                    queue.push(job);
                }
            }
            let (job, ruling) = if !checks.is_empty() && rng.below(3) == 0 {
                let job = checks.swap_remove(rng.below(checks.len()));
                (job, desk.checked(job, Some(job), &Even))
            } else if !queue.is_empty() {
                let at = rng.below(queue.len());
                // A tenth is lost, a tenth comes twice.
                let job = if rng.below(10) == 0 { queue[at] } else { queue.swap_remove(at) };
                if rng.below(10) == 0 {
                    continue;
                }
                let who = rng.below(names.len());
                let answer = if who == 0 { 1000 + 2 * job } else { job };
                let answer = if rng.below(20) == 0 { Err("failed") } else { Ok(answer) };
                (job, hear(&mut desk, &present, names[who], job, answer))
            } else {
                continue;
            };
            match ruling {
                Ruling::Wait => {}
                Ruling::Take(answer) => assert_eq!(taken.insert(job, answer), None, "seed {seed}: twice"),
                Ruling::Again => {
                    desk.send(job, now);
                    queue.push(job);
                }
                Ruling::Check => checks.push(job),
                // The source would hand it out again.
                Ruling::Lost(_) => {
                    desk.issue(job, job, now);
                    desk.send(job, now);
                    queue.push(job);
                }
            }
        }
        assert_eq!(taken.len(), 30, "seed {seed}");
        for (job, answer) in taken {
            assert!(
                answer == job || answer % 2 == 1,
                "seed {seed}: the lie {answer} passed for a claim of {job}"
            );
        }
    }
}
