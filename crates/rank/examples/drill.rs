//! Drills for a real MPI, for ci/mpi.sh: `mpirun -np 4 drill conform`, `mpirun -np 2 drill garbage`, and
//! `mpirun -np 2 drill search`, which takes six seconds, to see what happens when a process is killed meanwhile.

use sortie_core::toy::Nim;
use sortie_core::{AnyGame, AnyPlayer, Boxed, Budget, Origin, Uct};
use sortie_rank::mpi::World;
use sortie_rank::{Engine, FRAME_MAX, Gang, GangPlayer, Plan, RankId, conform};
use sortie_rank::{Errand, Serve};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    let drill = std::env::args().nth(1).unwrap_or_default();
    let world = match World::start() {
        Ok(world) => world,
        Err(why) => {
            eprintln!("drill: {why}");
            return ExitCode::from(2);
        }
    };
    let done = match (world.me(), drill.as_str()) {
        (RankId(0), "conform") => conformance(&world),
        (RankId(0), "garbage") => garbage(&world),
        (RankId(0), "search") => search(&world),
        (RankId(0), _) => Err(format!("'{drill}': expected conform, garbage or search")),
        _ => world.work(&|origin| open(origin), &|line| eprintln!("drill: {line}")),
    };
    if let Err(why) = &done {
        eprintln!("drill: {why}");
    }
    if !world.leave() {
        eprintln!("drill: the others did not leave");
        world.abort(3);
    }
    ExitCode::from(u8::from(done.is_err()))
}

fn open(origin: &Origin) -> Result<Box<dyn AnyGame>, String> {
    match origin.name.as_str() {
        "nim/21" => Ok(Box::new(Boxed::new(Nim { heap: 21 }))),
        other => Err(format!("there is no {other}")),
    }
}

fn conformance(world: &World) -> Result<(), String> {
    // Several gangs, one after the other and two at a time.
    for _ in 0..2 {
        let mut port = world.open(&Errand::Conform)?;
        let seen = conform(&mut port, RankId(0), world.size())?;
        println!("conform: {} ranks, {} frames, {} bytes", world.size(), seen.frames, seen.bytes);
    }
    let ports = [world.open(&Errand::Conform)?, world.open(&Errand::Conform)?];
    std::thread::scope(|scope| {
        let size = world.size();
        let check = |mut port| scope.spawn(move || conform(&mut port, RankId(0), size).map(drop));
        ports.map(check).into_iter().try_for_each(|check| check.join().expect("it does not panic"))
    })
}

/// Rank 1 is sent what nobody should send, and must go on as if nothing had been.
fn garbage(world: &World) -> Result<(), String> {
    let game = open(&Origin { name: "nim/21".into(), text: None })?;
    let gang = Gang { nodes: world.size(), ..Gang::default() };
    let plan = Plan { gang, uct: Uct { memory: 1, ..Uct::plain() }, seed: 1 };
    let nowhere = Serve::new(Origin { name: "chess".into(), text: None }, &plan);
    match world.open(&Errand::Serve(Box::new(nowhere))) {
        Err(why) if why.contains("there is no chess") => {}
        other => return Err(format!("a game that nobody has: {:?}", other.map(drop))),
    }
    let errand = Errand::Serve(Box::new(Serve::new(Origin { name: "nim/21".into(), text: None }, &plan)));
    let mut port = world.open(&errand)?;
    let mut old = b"SoR\x00".to_vec();
    old.extend_from_slice(&[0; 12]);
    // It says that two GiB follow.
    let mut boaster = b"SoR\x01".to_vec();
    boaster.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0]);
    for frame in [vec![0xff; 40], Vec::new(), old, boaster, vec![7; FRAME_MAX], vec![0; i32::MAX as usize]] {
        let length = frame.len();
        port.send_unchecked(RankId(1), frame).map_err(|_| format!("{length} bytes could not be sent"))?;
    }
    let mut player =
        GangPlayer::new(&*game, &plan, Engine::Remote(Box::new(port))).map_err(|e| e.to_string())?;
    let thought = player
        .think(&Budget::playouts(300), &AtomicBool::new(false), &mut |_| {})
        .map_err(|fault| fault.to_string())?;
    let report = thought.gang.clone().unwrap_or_default();
    if thought.best.is_none() || report.home != 300 || report.note.is_some() {
        return Err(format!("a search after garbage: {thought:?}"));
    }
    println!("garbage: {} simulations, best {}", report.home, thought.best.unwrap_or_default());
    Ok(())
}

fn search(world: &World) -> Result<(), String> {
    let origin = Origin { name: "nim/21".into(), text: None };
    let gang = Gang { nodes: world.size(), ..Gang::default() };
    let plan = Plan { gang, uct: Uct { memory: 1, ..Uct::plain() }, seed: 1 };
    let game = open(&origin)?;
    let port = world.open(&Errand::Serve(Box::new(Serve::new(origin, &plan))))?;
    let mut player =
        GangPlayer::new(&*game, &plan, Engine::Remote(Box::new(port))).map_err(|e| e.to_string())?;
    let budget = Budget { seconds: Some(6.0), ..Budget::default() };
    let thought =
        player.think(&budget, &AtomicBool::new(false), &mut |_| {}).map_err(|fault| fault.to_string())?;
    let note = thought.gang.and_then(|gang| gang.note).unwrap_or_default();
    println!("search: best {} after {:.1} s; {note}", thought.best.unwrap_or_default(), thought.seconds);
    Ok(())
}
