//! What once went wrong, what the corpus holds, and some hundreds of new inputs for every target. `SORTIE_SEED=N` repeats
//! those of a run that failed.

use sortie_fuzz::{TARGETS, attempt, fresh_seed, inputs, run};

/// New inputs for a target.
const INPUTS: u64 = 250;

#[test]
fn what_once_went_wrong_goes_well_now_and_so_does_the_corpus() {
    let mut tried = 0;
    for target in TARGETS {
        for kind in ["regressions", "corpus"] {
            for (name, input) in inputs(kind, target.name) {
                assert_eq!(attempt(target, &input, false), Ok(()), "{kind}/{}/{name}", target.name);
                tried += 1;
            }
        }
    }
    assert!(tried >= TARGETS.len(), "every target has something to begin with: {tried}");
}

#[test]
fn new_inputs_are_answered_without_a_panic_and_in_bounded_memory() {
    let seed = fresh_seed();
    println!("SORTIE_SEED={seed} repeats this");
    for target in TARGETS {
        let tried = run(target, seed, false, &mut |n| n >= INPUTS);
        let wrong: Vec<String> = tried
            .wrong
            .iter()
            .map(|(wrong, input)| format!("{wrong:?}: {:?}", String::from_utf8_lossy(input)))
            .collect();
        assert!(wrong.is_empty(), "{}, SORTIE_SEED={seed}: {}", target.name, wrong.join("\n"));
        assert_eq!(tried.inputs, INPUTS, "{}", target.name);
    }
}
