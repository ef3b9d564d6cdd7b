#!/usr/bin/env bash
# The quality tables of docs/results.md: mean, spread and CPU time of whole searches over seeds 1, 2, 3 ...
# Usage: bench/quality.sh INSTANCE LEVEL RUNS [more arguments of sortie solve]     e.g. bench/quality.sh morpion/5D 2 30
set -euo pipefail
cd "$(dirname "$0")/.."
instance=$1 level=$2 runs=$3
shift 3
cargo build --release --quiet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work instance level
one() {
    target/release/sortie solve "$instance" --level "$level" --threads 1 --best-of 1 --seed "$1" --json --quiet \
        --out "$work/$1" "${@:2}" |
        sed -E 's/.*"score":([-0-9.e]+).*"cpu_seconds":([0-9.]+).*/\1 \2/'
}
export -f one
seq "$runs" | xargs -P "$(nproc)" -I{} bash -c 'one "$@"' _ {} "$@" |
    awk -v name="$instance level $level" '
        { n++; s += $1; q += $1 * $1; c += $2; if (n == 1 || $1 > hi) hi = $1; if (n == 1 || $1 < lo) lo = $1 }
        END { m = s / n; sd = n > 1 ? sqrt((q - n * m * m) / (n - 1)) : 0
              printf "%s: mean %.1f (sd %.1f, %g to %g) of %d runs, %.1f CPU s each\n", name, m, sd, lo, hi, n, c / n }'
