#!/usr/bin/env python3
"""How good searches are, without games: what they say of positions beside what a long search says.

Positions 8, 15 and 22 moves into the games of a match; those proved are left out. For every player: the mean error of
its value, the share of its visits on the move of the long search, how often it plays that move, what the long search
thinks is lost by the move played, and the cross-entropy of its visits; with 95 % intervals from drawing the positions
anew. The long search is done once and kept beside the games.

Usage: bench/positions.py GAMES.jsonl 'SPEC LIMIT'...     SPEC is a player, LIMIT `25ms` or `6500playouts`
e.g.   bench/positions.py runs/strength-64-15-25/games.jsonl 'default 6500playouts' \
           'canopy[nodes=64,threads=12,engine=virtual,slower=100]:default:memory=8 25ms'
SORTIE names the program (target/release/sortie), PLAYOUTS the length of the long search (600000).
"""
import json, math, os, random, statistics, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

SORTIE = os.environ.get("SORTIE", "target/release/sortie")
LONG = os.environ.get("PLAYOUTS", "600000") + "playouts"
PLIES = (8, 15, 22)


def analyse(instance, moves, player, limit):
    how = ["--playouts", limit[: -len("playouts")]] if limit.endswith("playouts") else ["--time", limit]
    command = [SORTIE, "analyse", instance, "--moves", moves, "--player", player, *how, "--lines", "1000", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)


def all_of(positions, player, limit):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda position: analyse(*position, player, limit), positions))


def measure(short, long):
    """Error, share, agreement, regret, cross-entropy of one search."""
    ours = {line["move"]: line["visits"] for line in short["lines"]}
    theirs = {line["move"]: line for line in long["lines"]}
    visits, long_visits = sum(ours.values()), sum(line["visits"] for line in theirs.values())
    best, played = long["best"], short["best"]
    # Half a visit more for every move: nobody is sure of what he has not tried.
    seen = lambda move: (ours.get(move, 0) + 0.5) / (visits + 0.5 * len(theirs))
    return (
        abs(short["value"] - long["value"]),
        ours.get(best, 0) / visits,
        float(played == best),
        max(0.0, theirs[best]["value"] - theirs.get(played, {"value": 0.0})["value"]),
        -sum(line["visits"] / long_visits * math.log(seen(move)) for move, line in theirs.items()),
    )


def interval(values):
    draws = random.Random(1)
    means = sorted(statistics.mean(draws.choices(values, k=len(values))) for _ in range(1000))
    return f"{statistics.mean(values):.4f} ({means[25]:.4f} to {means[974]:.4f})"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    games = [json.loads(line) for line in open(sys.argv[1])]
    positions = [
        (game["instance"], " ".join(game["moves"][:ply]))
        for game in games
        for ply in PLIES
        if ply < len(game["moves"]) - 4
    ]
    kept = f"{sys.argv[1]}.{LONG}"
    if not os.path.exists(kept):
        with open(kept + ".new", "w") as file:
            json.dump(all_of(positions, "default:memory=1024", LONG), file)
        os.rename(kept + ".new", kept)
    long = json.load(open(kept))
    if len(long) != len(positions):
        sys.exit(f"{kept} is of other games: remove it")
    for argument in sys.argv[2:]:
        player, limit = argument.rsplit(" ", 1)
        short = all_of(positions, player, limit)
        open_ones = [(s, l) for s, l in zip(short, long) if not s["proved"] and not l["proved"]]
        columns = zip(*(measure(s, l) for s, l in open_ones))
        playouts = statistics.mean(s["playouts"] for s, _ in open_ones)
        print(f"{player}, {limit}: {len(open_ones)} positions, {playouts:.0f} playouts")
        for name, column in zip(("error", "share", "agreement", "regret", "cross-entropy"), columns):
            print(f"  {name:14}{interval(column)}", flush=True)


if __name__ == "__main__":
    main()
