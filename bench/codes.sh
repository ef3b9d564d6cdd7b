#!/usr/bin/env bash
# SameGame: policies that know a group by its tiles against the papers' way, by its cells. The same playouts for both, so
# other work on the machine does not matter. Usage: bench/codes.sh [PLAYOUTS] [SEEDS] (200000 1)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
playouts=${1:-200000}
seeds=${2:-1}
sortie=${SORTIE:-target/release/sortie}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

score() {
    "$sortie" solve "samegame/$1:codes=$2" --level 5 --repetitions 8 --best-of 1 --threads 1 --seed "$3" \
        --playouts "$playouts" --quiet --json --out "$runs/$1-$2-$3" |
        python3 -c 'import json, sys; print(int(json.load(sys.stdin)["score"]))'
}

for board in $(seq 20); do
    for seed in $(seq "$seeds"); do
        echo "$board $seed $(score "$board" cells "$seed") $(score "$board" tiles "$seed")"
    done
done | python3 -c '
import statistics, sys
rows = [[int(word) for word in line.split()] for line in sys.stdin]
for board, seed, cells, tiles in rows:
    print(f"board {board:2} seed {seed}: cells {cells} tiles {tiles}")
gains = [tiles - cells for _, _, cells, tiles in rows]
half = 1.96 * statistics.stdev(gains) / len(gains) ** 0.5
print(f"cells {sum(r[2] for r in rows)}, tiles {sum(r[3] for r in rows)}: {statistics.mean(gains):+.0f} a board, 95 % +- {half:.0f}")
'
