#!/usr/bin/env bash
# SameGame, two ways to search against each other on all boards, from the same seeds:
#
#     bench/samegame.sh codes [PLAYOUTS] [SEEDS]      policies that know a group by its cells, the papers' way, and by its
#                                                     tiles, at equal playouts (200000, 1 seed)
#     bench/samegame.sh improve [SECONDS] [SEEDS]     without local search and with it, at equal CPU time (25, 1 seed)
#
# Playouts and CPU time are the same whatever else the machine does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1:-} in
codes)
    limit=(--playouts "${2:-200000}")
    names=(cells tiles) options=(":codes=cells" ":codes=tiles")
    ;;
improve)
    limit=(--cpu-time "${2:-25}s")
    names=(plain improve) options=("" " --improve")
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
seeds=${3:-1}
sortie=${SORTIE:-target/release/sortie}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

# score BOARD WAY SEED
score() {
    # What follows the board is a part of its name, or an option.
    read -ra what <<<"samegame/$1${options[$2]}"
    "$sortie" solve "${what[@]}" --level 5 --repetitions 8 --best-of 1 --threads 1 --seed "$3" "${limit[@]}" \
        --quiet --json --out "$runs/$1-$2-$3" |
        python3 -c 'import json, sys; print(int(json.load(sys.stdin)["score"]))'
}

for board in $(seq 20); do
    for seed in $(seq "$seeds"); do
        echo "$board $seed $(score "$board" 0 "$seed") $(score "$board" 1 "$seed")"
    done
done | python3 -c '
import statistics, sys
names, gains, sums = sys.argv[1:], [], [0, 0]
for line in sys.stdin:
    board, seed, *scores = (int(word) for word in line.split())
    print(f"board {board:2} seed {seed}: {names[0]} {scores[0]} {names[1]} {scores[1]}", flush=True)
    gains.append(scores[1] - scores[0])
    sums = [a + b for a, b in zip(sums, scores)]
half = 1.96 * statistics.stdev(gains) / len(gains) ** 0.5
print(f"{names[0]} {sums[0]}, {names[1]} {sums[1]}: {statistics.mean(gains):+.0f} a board, 95 % +- {half:.0f}")
' "${names[@]}"
