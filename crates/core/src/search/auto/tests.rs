use super::*;
use crate::domain::Domain;
use crate::run::{Control, Event, Limits, StopReason};
use crate::search::trial::{end, optimum, resumes_exactly_within, tree};
use crate::toy::{LeftMove, Tree};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

fn auto() -> Search {
    Search::Auto(Auto {})
}

#[test]
fn a_problem_with_moves_play_and_score_alone_is_solved() {
    let left = end(&LeftMove { depth: 60 }, &auto(), Some(20_000), 1);
    assert_eq!((left.playouts, left.best.expect("played").score), (20_000, 60.0));
    let tree = tree(9);
    assert_eq!(end(&tree, &auto(), Some(60_000), 1).best.expect("played").score, optimum(&tree));
}

#[test]
fn a_budget_of_playouts_gives_the_same_answer_again() {
    let tree = tree(8);
    assert_eq!(end(&tree, &auto(), Some(5_000), 3), end(&tree, &auto(), Some(5_000), 3));
}

#[test]
fn it_resumes_exactly() {
    resumes_exactly_within(&LeftMove { depth: 40 }, &auto(), 12_000, 5);
    resumes_exactly_within(&tree(7), &auto(), 12_000, 5);
}

#[test]
fn a_run_without_limits_comes_to_an_end() {
    let end = end(
        &Tree { children: vec![vec![1, 2], vec![], vec![]], scores: vec![0.0, 1.0, 2.0] },
        &auto(),
        None,
        1,
    );
    assert_eq!((end.best.expect("played").score, end.ended), (2.0, Some(StopReason::Done)));
}

/// Left of both halves at once: a form in which one move stands for two.
struct Halves(LeftMove);

impl Domain for Halves {
    type State = <LeftMove as Domain>::State;
    type Move = bool;
    fn initial(&self) -> Self::State {
        self.0.initial()
    }
    fn moves(&self, state: &Self::State, out: &mut Vec<bool>) {
        self.0.moves(state, out)
    }
    fn play(&self, state: &mut Self::State, mv: bool) {
        self.0.play(state, mv)
    }
    fn show(&self, state: &Self::State) -> String {
        self.0.show(state)
    }
    fn show_move(&self, state: &Self::State, mv: bool) -> String {
        self.0.show_move(state, mv)
    }
}

impl Problem for Halves {
    /// Nothing but all of them counts: no search finds it but through the form.
    fn score(&self, state: &Self::State) -> f64 {
        if state.1 == self.0.depth { 1.0 } else { 0.0 }
    }
    fn code(&self, state: &Self::State, mv: bool) -> u64 {
        self.0.code(state, mv)
    }
    fn forms(&self) -> Vec<Box<dyn Form<bool> + '_>> {
        let depth = self.0.depth;
        let lift = move |_: &LeftMove, end: &(u32, u32)| vec![end.1 == depth / 20; depth as usize];
        vec![Box::new(Lifted { name: "blocks", problem: LeftMove { depth: depth / 20 }, lift })]
    }
}

#[test]
fn what_is_found_in_another_form_is_a_solution_of_the_whole() {
    let problem = Halves(LeftMove { depth: 200 });
    let end = end(&problem, &auto(), Some(20_000), 1);
    assert_eq!(end.best.as_ref().expect("played").score, 1.0);
    assert_eq!(end.best.expect("played").moves.len(), 200);
    resumes_exactly_within(&problem, &auto(), 9_000, 4);
}

#[test]
fn it_says_what_it_does_and_why() {
    let (stop, said) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let observer = |event| {
        if let Event::Course { text, .. } = event {
            said.lock().unwrap().push(text);
        }
    };
    let control = Control::new(Limits::playouts(20_000), &stop, &observer);
    let mut run = Run::new(&control, 1, 0, 1);
    auto().run(&LeftMove { depth: 80 }, &mut run);
    let said = said.into_inner().unwrap();
    assert!(!said.is_empty() && said.len() < 20, "{said:?}");
    assert!(said.iter().all(|line| line.contains("% of the time: it has found ")), "{said:?}");
}

/// Nothing counts but what is nearly all left: no search finds it, but one that is shown a solution.
struct Cliff(LeftMove);

impl Domain for Cliff {
    type State = <LeftMove as Domain>::State;
    type Move = bool;
    fn initial(&self) -> Self::State {
        self.0.initial()
    }
    fn moves(&self, state: &Self::State, out: &mut Vec<bool>) {
        self.0.moves(state, out)
    }
    fn play(&self, state: &mut Self::State, mv: bool) {
        self.0.play(state, mv)
    }
    fn show(&self, state: &Self::State) -> String {
        self.0.show(state)
    }
    fn show_move(&self, state: &Self::State, mv: bool) -> String {
        self.0.show_move(state, mv)
    }
}

impl Problem for Cliff {
    fn score(&self, state: &Self::State) -> f64 {
        if state.1 + 10 >= self.0.depth { state.1.into() } else { 0.0 }
    }
    fn code(&self, state: &Self::State, mv: bool) -> u64 {
        self.0.code(state, mv)
    }
}

#[test]
fn it_looks_around_a_solution_that_it_is_given() {
    let depth = 200;
    let nearly: Vec<String> =
        (0..depth).map(|i| if i == 90 { "right" } else { "left" }.to_string()).collect();
    let found = |start: Option<Vec<String>>| {
        let stop = AtomicBool::new(false);
        let mut control = Control::new(Limits::playouts(12_000), &stop, &|_| {});
        control.start = start;
        let mut run = Run::new(&control, 1, 0, 1);
        auto().run(&Cliff(LeftMove { depth }), &mut run);
        run.finish().best.expect("played").score
    };
    assert_eq!((found(Some(nearly)), found(None)), (200.0, 0.0));
}
