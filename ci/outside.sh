#!/usr/bin/env bash
# A stranger's problem and a stranger's game in crates outside the repository, written by `sortie new`: they build, pass
# their tests, and are the whole command. What is killed here cannot end by itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh
root=$PWD

main() {
    build
    work=$(mktemp -d)
    trap 'rm -rf "$work"; [[ -z ${child:-} ]] || kill -9 "$child" 2>/dev/null || true' EXIT
    cd "$work"
    # With the settings of the check their libraries are those that it has built already.
    export CARGO_TARGET_DIR=$target
    make my-problem
    make my-game --game
    problem
    game
    refused
    echo "outside: a problem and a game of strangers are at home"
}

make() {
    "$sortie" new "$@" --path "$root"
    (
        cd "$1"
        cp "$root/Cargo.lock" .
        sed -i -e '/^# Searches are slow/,/^opt-level/d' -e "s#^sortie = { path = \(.*\) }#sortie = { path = \1, features = [\"grid\", \"mariadb\", \"neural\", \"mpi\"] }#" Cargo.toml
        printf '[profile.dev]\nopt-level = 2\ndebug = "line-tables-only"\n\n[profile.dev.package.sortie]\nopt-level = 0\n' >>Cargo.toml
        cargo test --offline
        cargo build --offline
    )
}

problem() {
    local mine=$CARGO_TARGET_DIR/debug/my-problem
    "$mine" list | grep -q "^my-problem"
    "$mine" list | grep -q "^samegame"
    # A target that no solution has: this run ends when it is killed.
    "$mine" solve my-problem/60 --target 1 --time 10h --out run --quiet &
    child=$!
    until [[ -s run/best.record ]]; do
        kill -0 "$child"
        sleep 0.05
    done
    kill -9 "$child"
    wait "$child" || true
    child=
    "$mine" verify run
    "$mine" show run
    sed -i 's/^target = .*/target = -1/' run/spec.toml
    "$mine" resume run --json >resumed.json
    grep -q '"reason": *"target"' resumed.json
    "$mine" verify run
    "$mine" report run --out report.html >/dev/null
    "$mine" serve . --port 0 >address 2>serve.log &
    child=$!
    until grep -q http address; do
        kill -0 "$child"
        sleep 0.05
    done
    python3 - "$(head -1 address)" <<'PY'
import sys, urllib.request
page = urllib.request.urlopen(sys.argv[1] + "/run/run", timeout=60).read().decode()
assert "my-problem/60" in page, page[:400]
PY
    kill "$child"
    wait "$child" || true
    child=
}

game() {
    local mine=$CARGO_TARGET_DIR/debug/my-game
    "$mine" match my-game/21 --player default --player random --games 4 --limit 200playouts --out match --quiet >/dev/null
    "$mine" verify match
    "$mine" prove my-game/21 --out proof --proof win.proof --quiet >proved
    grep -q "first wins" proved
    "$mine" verify win.proof
}

refused() {
    local code=0
    "$sortie" new my-problem 2>said || code=$?
    [[ $code == 2 ]] && grep -q "nothing was changed" said
    code=0
    "$sortie" new samegame 2>said || code=$?
    [[ $code == 2 ]] && grep -q "already" said
}

main
