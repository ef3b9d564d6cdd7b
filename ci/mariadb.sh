#!/usr/bin/env bash
# The store of proved positions on a real MariaDB, which this script installs where it may and starts in the target
# folder: the suite that the embedded store passes, a server killed in mid-write, and the command with --db mysql://.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

server=$PWD/bench/mariadb.sh
target=${CARGO_TARGET_DIR:-$PWD/target}
folder=$target/mariadb
home=$(mktemp -d)
trap '"$server" stop "$folder"; rm -rf "$folder" "$home"' EXIT

rm -rf "$folder"
url=$("$server" start "$folder")
export SORTIE_MARIADB=${url/sortie/NAME} SORTIE_MARIADB_CRASH="$server crash $folder" SORTIE_ROOT=$PWD

echo "-- the suite"
cargo test --locked -p sortie-store --features mariadb --test suite
echo "-- the server is killed in mid-write"
cargo test --locked -p sortie-store --features mariadb --test suite -- --ignored the_server_killed

echo "-- the command"
# As ci/grid.sh builds it: once for both.
cargo build --profile quick --locked --config 'profile.quick.package.sortie.opt-level=0' -p sortie -p sortie-grid \
    --features sortie/grid,sortie/mariadb,sortie-grid/nats --bin sortie --example rogue
sortie=$target/quick/sortie
cd "$home"
"$sortie" prove breakthrough/4x4 --db "$url" --quiet --job-nodes 300 --out first
"$sortie" prove breakthrough/4x4 --db "$url" --quiet --job-nodes 300 --proof win.proof --out second
"$sortie" verify win.proof
"$sortie" db check "$url" --all
"$sortie" db export "$url" --out all.jsonl
"$sortie" db import copy.db all.jsonl
"$sortie" bench db --db "$url" --positions 20000
