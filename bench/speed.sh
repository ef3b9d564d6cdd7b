#!/usr/bin/env bash
# The speed table of docs/results.md: playouts per CPU second of one thread, and a plainly written NRPA as a yardstick
# of the machine, all in the same minutes. Run it with nothing else running. Usage: bench/speed.sh [seconds a row]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-5}
cargo build --release --quiet -p sortie-lab
cargo build --release --quiet --manifest-path bench/naive/Cargo.toml --target-dir target/naive
lab=target/release/lab

row() { # instance search level
    local level=(--level "$3")
    [ "$2" = sample ] && level=()
    "$lab" bench playouts "$1" --search "$2" "${level[@]}" --seconds "$seconds" --seed 1 --json |
        sed -E 's/.*"playouts_per_cpu_second":([0-9.]+).*/\1/' | xargs printf '%-14s %-7s %s  %12.0f\n' "$1" "$2" "$3"
}

printf '%-14s %-7s %s  %12s\n' instance search L playouts/s
row samegame/1 nrpa 2
printf '%-14s %-7s %s  %12s  (bench/naive: the same search, written the plain way)\n' samegame/1 naive 2 \
    "$(target/naive/release/naive instances/samegame/standard20.txt 1 | cut -d' ' -f1)"
row morpion/5D nrpa 2
row morpion/5T nrpa 2
row snake/8 nrpa 2
row snake/8 sample 0
row vrptw/R101 nrpa 2
row samegame/1 sample 0
