use super::*;

fn count(limits: Limits) -> (u64, Option<StopReason>) {
    let stop = AtomicBool::new(false);
    let control = Control::new(limits, &stop, &|_| {});
    let mut run = Run::new(&control, 1, 0, 1);
    while !run.stopped() {
        run.count_playout();
        run.offer(run.playouts().min(100) as f64, Vec::new);
    }
    let end = run.finish();
    (end.playouts, end.ended)
}

#[test]
fn counted_limits_are_exact() {
    assert_eq!(
        count(Limits { playouts: Some(1000), ..Limits::default() }),
        (1000, Some(StopReason::Playouts))
    );
    assert_eq!(count(Limits { patience: Some(500), ..Limits::default() }), (600, Some(StopReason::Patience)));
    assert_eq!(count(Limits { target: Some(50.0), ..Limits::default() }), (50, Some(StopReason::Target)));
}

#[test]
fn a_witness_sees_all_that_is_offered_and_not_only_the_best() {
    struct Seen(Mutex<Vec<(f64, Vec<String>)>>);
    impl Witness for Seen {
        fn saw(&self, score: f64, moves: &dyn Fn() -> Vec<String>) {
            self.0.lock().unwrap().push((score, moves()));
        }
    }
    let (stop, seen) = (AtomicBool::new(false), Seen(Mutex::new(Vec::new())));
    let mut control = Control::new(Limits::default(), &stop, &|_| {});
    control.witness = Some(&seen);
    let mut run = Run::new(&control, 1, 0, 1);
    for score in [3.0, 1.0, 3.0, 4.0] {
        run.count_playout();
        run.offer(score, || vec![score.to_string()]);
    }
    let offered = [3.0, 1.0, 3.0, 4.0].map(|score: f64| (score, vec![score.to_string()]));
    assert_eq!(*seen.0.lock().unwrap(), offered);
    assert_eq!(run.best_score(), 4.0);
}

#[test]
fn playouts_are_shared_among_streams() {
    let stop = AtomicBool::new(false);
    let control = Control::new(Limits { playouts: Some(10), ..Limits::default() }, &stop, &|_| {});
    let shares: Vec<u64> = (0..4).map(|s| Run::new(&control, 1, s, 4).playouts_max).collect();
    assert_eq!(shares, [3, 3, 2, 2]);
}
