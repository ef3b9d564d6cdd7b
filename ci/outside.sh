#!/usr/bin/env bash
# Strangers' crates outside the repository: a problem and a game as `sortie new` writes them, and Golomb rulers by the recipe of
# CONTRIBUTING.md. They build, pass their tests, and are the whole command, workers of a grid included. What is killed here
# cannot end by itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh
root=$PWD

main() {
    build
    nats_server
    work=$(mktemp -d)
    trap 'leave' EXIT
    cd "$work"
    write
    # One build for the three. What others wrote is there already: same settings, same versions.
    export CARGO_TARGET_DIR=$target
    cargo test --offline --workspace
    cargo build --offline --workspace
    problem
    game
    worker
    refused
    echo "outside: rulers, a problem and a game of strangers are at home"
}

# The three crates as one workspace. Ours are compiled without optimisation: what is tried here is whether all of it works.
write() {
    "$sortie" new my-problem --path "$root"
    "$sortie" new my-game --game --path "$root"
    "$sortie" new golomb --path "$root"
    cp "$root/examples/golomb/src/main.rs" golomb/src/
    # What the recipe's own tests need is in its manifest, as somebody else would write it.
    sed -i -e '/^# Searches are slow/,$d' -e 's#^sortie = { path = \(.*\) }#sortie = { path = \1, features = ["grid", "mariadb", "neural", "mpi"] }#' \
        ./*/Cargo.toml
    cp "$root/Cargo.lock" .
    {
        printf '[workspace]\nmembers = ["golomb", "my-game", "my-problem"]\nresolver = "3"\n\n'
        sed -n '/^\[profile.dev\]/,/^$/p' "$root/Cargo.toml"
        sed -n 's/^\(sortie[a-z-]*\) = { path.*/[profile.dev.package.\1]\nopt-level = 0/p' "$root/Cargo.toml"
    } >Cargo.toml
}

# Rulers: killed, resumed, verified, drawn.
problem() {
    local mine=$CARGO_TARGET_DIR/debug/golomb
    "$mine" list | grep -q "^golomb"
    "$mine" list | grep -q "^samegame"
    # A target that no ruler has: this run ends when it is killed.
    "$mine" solve golomb/8 --target 1 --time 10h --out run --quiet &
    child=$!
    until_true 300 "no ruler was found" found run
    kill -9 "$child"
    wait "$child" || true
    child=
    "$mine" verify run
    "$mine" show run
    # One that every ruler of eight marks has.
    sed -i 's/^target = .*/target = -889/' run/spec.toml
    "$mine" resume run --json >resumed.json
    grep -q '"reason": *"target"' resumed.json
    "$mine" verify run
    "$mine" report run --out report.html >/dev/null
    "$mine" serve . --port 0 >address 2>serve.log &
    child=$!
    until_true 60 "the pages are not served" grep -q http address
    python3 - "$(head -1 address)" <<'PY'
import sys, urllib.request
page = urllib.request.urlopen(sys.argv[1] + "/run/run", timeout=60).read().decode()
assert "golomb/8" in page, page[:400]
drawing = urllib.request.urlopen(sys.argv[1] + "/run/run/frame", timeout=60).read().decode()
assert "<svg" in drawing and "ruler" in drawing, drawing[:400]
PY
    kill "$child"
    wait "$child" || true
    child=
    "$CARGO_TARGET_DIR/debug/my-problem" solve my-problem/20 --playouts 200 --out mine --quiet
    "$CARGO_TARGET_DIR/debug/my-problem" verify mine
}

found() {
    kill -0 "$child" && [[ -s $1/best.record ]]
}

game() {
    local mine=$CARGO_TARGET_DIR/debug/my-game
    "$mine" match my-game/21 --player default --player random --games 4 --limit 200playouts --out match --quiet >/dev/null
    "$mine" verify match
    "$mine" prove my-game/21 --out proof --proof win.proof --quiet >proved
    grep -q "first wins" proved
    "$mine" verify win.proof
}

# A stranger's game is proved by a worker of the stranger's, and by one only: ours does not know the game, and says so.
worker() {
    local mine=$CARGO_TARGET_DIR/debug/my-game url
    url=nats://127.0.0.1:$(free_port)
    "$sortie" broker --listen "${url#nats://}" --store broker >broker.log 2>&1 &
    helpers+=($!)
    until_true 60 "the broker does not listen" listens "${url##*:}"
    "$sortie" worker --grid "$url" --cores 1 --name ours >ours.log 2>&1 &
    helpers+=($!)
    "$mine" worker --grid "$url" --cores 1 --name theirs >theirs.log 2>&1 &
    helpers+=($!)
    "$mine" prove my-game/21 --job-nodes 2 --grid "$url" --out far --proof far.proof --json --quiet >far.json
    grep -q '"value": *"first wins"' far.json
    "$mine" verify far.proof
    grep -q '"theirs"' far/workers.jsonl
}

refused() {
    local code=0
    "$sortie" new my-problem 2>said || code=$?
    [[ $code == 2 ]] && grep -q "nothing was changed" said
    code=0
    "$sortie" new samegame 2>said || code=$?
    [[ $code == 2 ]] && grep -q "already" said
}

helpers=()
child=
leave() {
    kill -9 $child "${helpers[@]}" 2>/dev/null || true
    rm -rf "$work"
}

main
