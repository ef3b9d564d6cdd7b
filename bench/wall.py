#!/usr/bin/env python3
"""SameGame board 1 at equal wall time: one thread, two independent searches, one search shared by two threads, and two
that show each other their best (which takes a time in which the highest level has iterations: 20s 3).

Means over seeds with 95 % intervals, and of the differences from one thread, seed by seed. Run it with nothing else
running, after `cargo build --release`. Usage: bench/wall.py [seeds] [time] [level]
"""
import json, math, statistics, subprocess, sys, tempfile
from pathlib import Path

sortie = Path(__file__).resolve().parent.parent / "target/release/sortie"
seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
time = sys.argv[2] if len(sys.argv) > 2 else "2500ms"
level = sys.argv[3] if len(sys.argv) > 3 else "4"
FORMS = {
    "one thread": "--threads 1 --best-of 1",
    "root, two threads": "--threads 2 --best-of 2",
    "shared:1, two threads": "--threads 2 --parallel shared:1 --workers 8",
    "islands:5, two threads": "--threads 2 --parallel islands:5 --workers 2",
}


def score(options, seed):
    with tempfile.TemporaryDirectory() as folder:
        command = f"solve samegame/1 --level {level} --time {time} --seed {seed} {options} --out {folder}/run --json -q"
        return json.loads(subprocess.check_output([sortie, *command.split()]))["score"]


def told(values):
    half = 2.09 * statistics.stdev(values) / math.sqrt(len(values)) if len(set(values)) > 1 else 0
    return f"{statistics.mean(values):7.0f} +- {half:.0f}"


scores = {form: [] for form in FORMS}
for seed in range(1, seeds + 1):
    for form, options in FORMS.items():
        scores[form].append(score(options, seed))
for form, values in scores.items():
    than = {other: told([a - b for a, b in zip(values, scores[other])]) for other in list(FORMS)[:2] if other != form}
    print(f"{form:24}", told(values), *(f"  more than {other}: {by}" for other, by in than.items()))
