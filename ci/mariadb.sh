#!/usr/bin/env bash
# The store of proved positions on a real MariaDB, which this script installs where it may and starts in a
# temporary folder: the suite that the embedded store passes, a server killed in mid-write, and the command with --db mysql://.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. ci/common.sh
server=$PWD/bench/mariadb.sh
home=$(mktemp -d)
folder=$home/server
trap '"$server" stop "$folder"; rm -rf "$home"' EXIT

url=$("$server" start "$folder")
export SORTIE_MARIADB=${url/sortie/NAME} SORTIE_MARIADB_CRASH="$server crash $folder" SORTIE_ROOT=$PWD

echo "-- the suite"
cargo test "${everything[@]}" --test suite
echo "-- the server is killed in mid-write"
cargo test "${everything[@]}" --test suite -- --ignored the_server_killed

echo "-- the command"
build
cd "$home"
"$sortie" prove breakthrough/4x4 --db "$url" --quiet --job-nodes 300 --out first
"$sortie" prove breakthrough/4x4 --db "$url" --quiet --job-nodes 300 --proof win.proof --out second
"$sortie" verify win.proof
"$sortie" db check "$url" --all
"$sortie" db export "$url" --out all.jsonl
"$sortie" db import copy.db all.jsonl
"$lab" bench db --db "$url" --positions 20000
