#!/usr/bin/env bash
# Other crates' tree searches beside ours on the same games: simulations per CPU second, and memory. What is compared
# and how fairly stands at the top of bench/peers/src/main.rs. Usage: bench/peers.sh [repeats] [threads]
# Threads above 1 add rows for searches of one tree by several threads: worth a look only with nothing else running.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}/peers
cargo build --release --locked --quiet --manifest-path bench/peers/Cargo.toml --target-dir "$target"
"$target/release/peers" table "${1:-5}" "${2:-1}"
