#!/usr/bin/env python3
"""Two ranks of canopy against two threads on one tree: playouts a second of Lines of Action, in turn.

A round is a search of each kind, two seconds; the ratios are to the two threads of the same round. Run it with nothing
else running, after `cargo build --release --features mpi`. Usage: bench/processes.py [rounds] [path of sortie]
"""
import json, math, os, statistics, subprocess, sys
from pathlib import Path

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
sortie = sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parent.parent / "target/release/sortie"
mpirun = ["mpirun", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
KINDS = {
    "two threads, one tree": ([], "default:threads=2", []),
    "canopy, two threads": ([], "canopy[nodes=2]", []),
    "canopy, two processes": ([*mpirun, "-np", "2"], "canopy[nodes=2]", ["--engine", "mpi"]),
    "the same, crowded": ([*mpirun, "--oversubscribe", "--bind-to", "none", "-np", "2"], "canopy[nodes=2]", ["--engine", "mpi"]),
}


def rate(launch, player, options):
    command = [*launch, sortie, "analyse", "loa/8", "--player", player, "--time", "2s", "--json", *options]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(answer.strip().splitlines()[-1])["playouts_per_second"]


rates = {kind: [] for kind in KINDS}
for _ in range(rounds):
    for kind, how in KINDS.items():
        rates[kind].append(rate(*how))
reference = next(iter(rates.values()))
for kind, values in rates.items():
    ratios = [value / other for value, other in zip(values, reference)]
    half = 2.26 * statistics.stdev(ratios) / math.sqrt(rounds) if rounds > 1 else 0
    print(f"{kind:24} {statistics.mean(values):9.0f} playouts/s", end="")
    print(f"  {statistics.mean(ratios):.3f} +- {half:.3f}  ({min(ratios):.2f} to {max(ratios):.2f})")
