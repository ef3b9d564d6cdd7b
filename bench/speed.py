#!/usr/bin/env python3
"""Two builds of this program, and programs of others, side by side: every ratio in the documentation is a line of one run
of this script.

    bench/speed.py --old OLD --new NEW [--naive PROGRAM] [--peers PROGRAM] [--peer ROW=COMMAND]... [ROW...]

Rounds in turn: each round runs every row with each of its programs, one right after the other, so that a busy minute hits
them alike; a ratio is taken within a round, and the table has medians and ranges of rounds. Rates are per second of CPU
time, but for rows of several threads, which are told both ways: per second of CPU time of all threads, times the threads
(what they would do each with a core to itself, though they meet only while both run), and by the clock.

    --rounds N        rounds in turn (5)
    --seconds S       CPU time of a run (2)
    --instructions    count instructions a playout under valgrind's callgrind as well, once: they repeat, time does not
    --json FILE       all runs as JSON

OLD and NEW are `lab` of two commits, built with the same profile (where there is no `lab` yet, `sortie`; `--instructions`
looks for `sortie` beside them). PROGRAM of `--naive` is bench/naive, of `--peers`
bench/peers; a COMMAND of `--peer` is any program whose output begins with its playouts per CPU second.
Rows without a name given: all whose programs are there.
"""
import argparse, json, os, re, resource, shlex, statistics, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Row: instance and search of `sortie bench playouts`.
PLAYOUTS = {
    "samegame": "samegame/1 --search nrpa --level 2",
    "morpion-5D": "morpion/5D --search nrpa --level 2",
    "morpion-5T": "morpion/5T --search nrpa --level 2",
    "snake-8": "snake/8 --search nrpa --level 2",
    "vrptw-R101": "vrptw/R101 --search nrpa --level 2",
    "samegame-sample": "samegame/1 --search sample",
}
# Row: game, player and simulations of `sortie bench search`, and threads.
SEARCHES = {
    "connect4": ("connect4", "plain", 400_000, 1),
    "connect4-two": ("connect4", "plain:threads=2", 800_000, 2),
    "loa": ("loa", "plain", 40_000, 1),
    "loa-two": ("loa", "plain:threads=2", 80_000, 2),
}
# Row: game and simulations of `peers run`, who is measured against arbor.
PEERS = {"connect4-arbor": ("connect4", 400_000), "loa-arbor": ("loa", 60_000)}


def timed(command):
    """Runs a command: output, seconds of CPU time and by the clock."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, cpu, time.monotonic() - begun


def playouts(program, row, seconds):
    told = json.loads(timed([program, "bench", "playouts", *PLAYOUTS[row].split(), "--seconds", str(seconds), "--seed", "1", "--json"])[0])
    return {"rate": told["playouts_per_cpu_second"], "score": told["score"], "memory": told["max_rss_mb"]}


def search(program, row):
    game, player, simulations, threads = SEARCHES[row]
    told = json.loads(timed([program, "bench", "search", game, "--player", player, "--playouts", str(simulations), "--repeat", "1", "--json"])[0])
    return {"rate": threads * told["playouts_per_cpu_second"], "clock": told["playouts_per_second"], "memory": told.get("max_rss_mb")}


def first_number(command):
    return {"rate": float(re.search(r"[0-9.]+", timed(command)[0])[0])}


def peer(program, name, row):
    game, simulations = PEERS[row]
    told = json.loads(timed([program, "run", name, game, str(simulations)])[0])
    return {"rate": told["rate"], "memory": told["max_rss_mb"]}


def instructions(program, row):
    """Instructions a playout. What a run does once is left out by taking the difference of a long and a short one."""
    def total(n):
        with tempfile.NamedTemporaryFile() as out:
            if row in PLAYOUTS:
                what = [str(Path(program).with_name("sortie")), "solve", *PLAYOUTS[row].split(), "--playouts", str(n), "--threads", "1", "--best-of", "1", "--seed", "1", "-q", "--out"]
                folder = tempfile.mkdtemp()
                what.append(os.path.join(folder, "run"))
            else:
                game, player, _, _ = SEARCHES[row]
                what = [program, "bench", "search", game, "--player", player, "--playouts", str(n), "--repeat", "1"]
            command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *what]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
            return int(re.search(r"Collected : (\d+)", done.stderr)[1])
    short, long = (10_000, 30_000) if row in SEARCHES else (1000, 4000)
    return (total(long) - total(short)) / (long - short)


def main():
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("old", "new", "naive", "peers", "json"):
        read.add_argument(f"--{name}")
    read.add_argument("--peer", action="append", default=[], metavar="ROW=COMMAND")
    read.add_argument("--rounds", type=int, default=5)
    read.add_argument("--seconds", type=float, default=2)
    read.add_argument("--instructions", action="store_true")
    read.add_argument("rows", nargs="*")
    args = read.parse_args()
    ours = {name: program for name, program in (("old", args.old), ("new", args.new)) if program}
    if not ours:
        read.error("give --new, or --old and --new")
    foreign = dict(word.split("=", 1) for word in args.peer)
    if args.naive:
        foreign.setdefault("samegame", f"{args.naive} crates/domains/instances/samegame/standard20.txt 1")
    rows = args.rows or [*PLAYOUTS, *SEARCHES, *(PEERS if args.peers else [])]

    # (row, program) -> a run a round.
    runs = {}
    for _ in range(args.rounds):
        for row in rows:
            programs = {}
            if row in PLAYOUTS:
                programs = {name: lambda program=program: playouts(program, row, args.seconds) for name, program in ours.items()}
            elif row in SEARCHES:
                programs = {name: lambda program=program: search(program, row) for name, program in ours.items()}
            elif row in PEERS and args.peers:
                programs = {name: lambda name=name: peer(args.peers, name, row) for name in ("arbor", "sortie")}
            else:
                read.error(f"no row '{row}', or no program for it")
            if row in foreign:
                programs["peer"] = lambda: first_number(shlex.split(foreign[row]))
            for name, run in programs.items():
                runs.setdefault((row, name), []).append(run())
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)

    def told(values, digits):
        return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"

    def compare(row, a, b, what="rate"):
        ratios = [x[what] / y[what] for x, y in zip(runs[row, a], runs[row, b])]
        return told(ratios, 2)

    print(f"medians and ranges of {args.rounds} rounds in turn, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for (row, name), all_runs in runs.items():
        line = f"{row:16} {name:7} {told([run['rate'] for run in all_runs], 0)} a CPU second"
        if "clock" in all_runs[0]:
            line += f", {told([run['clock'] for run in all_runs], 0)} by the clock"
        if all_runs[0].get("memory"):
            line += f", {max(run['memory'] for run in all_runs):.1f} MB"
        if "score" in all_runs[0]:
            line += f", best {all_runs[0]['score']:g}"
        print(line)
    print()
    for row in rows:
        names = {name for r, name in runs if r == row}
        pairs = [("new", "old"), ("new", "peer"), ("sortie", "arbor")]
        for a, b in pairs:
            if a in names and b in names:
                print(f"{row:16} {a} / {b:6} {compare(row, a, b)}")
    for two, one in (("connect4-two", "connect4"), ("loa-two", "loa")):
        for name in ours:
            if (two, name) in runs and (one, name) in runs:
                for what in ("rate", "clock"):
                    ratios = [x[what] / y[what] for x, y in zip(runs[two, name], runs[one, name])]
                    print(f"{two:16} {name}: two threads / one, {'CPU time' if what == 'rate' else 'by the clock'} {told(ratios, 2)}")
    if args.instructions:
        print()
        for row in rows:
            if row in PLAYOUTS or SEARCHES.get(row, (0, 0, 0, 2))[3] == 1:
                counts = {name: instructions(program, row) for name, program in ours.items()}
                of = " / ".join(f"{name} {count:,.0f}" for name, count in counts.items())
                less = f", old / new {counts['old'] / counts['new']:.2f}" if len(counts) == 2 else ""
                print(f"{row:16} instructions a playout: {of}{less}")
    if args.json:
        Path(args.json).write_text(json.dumps([{"row": row, "program": name, "runs": r} for (row, name), r in runs.items()], indent=1))


main()
