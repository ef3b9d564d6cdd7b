#!/usr/bin/env bash
# Drills on a simulated disk, from a fresh seed, and on a real one: kill -9, a disk that fills up, a folder that becomes read-only. Nothing that was announced may be
# lost, and the answer must be the undisturbed one.
#
#     ci/drills.sh [TIMES]     TIMES: how often kill -9 strikes [5]; the bar of the project is 50
#
# The last two need a name space of mounts of their own (unshare and setpriv of util-linux, as any user where the system
# allows it). Where it does not they are skipped, and say so, unless CI is "true".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. ci/common.sh
times=${1:-5}
build
export SORTIE=$sortie

"$lab" drill disk --seeds 4
"$lab" drill schedules --schedules 20
"$lab" drill schedules --ranks --schedules 20
"$lab" drill resume --times "$times"

if ! unshare -rm true 2>/dev/null; then
    [[ ${CI:-} != true ]] || { echo "ci/drills.sh: unshare -rm is not allowed here" >&2; exit 1; }
    echo "SKIPPED: a full disk and a read-only folder, because unshare -rm is not allowed here"
    exit 0
fi

HOME_OF_DRILL=$(mktemp -d)
export HOME_OF_DRILL
trap 'rm -rf "$HOME_OF_DRILL"' EXIT
unshare -rm bash -euo pipefail <<'DRILL'
cd "$HOME_OF_DRILL"
solve=(solve samegame/1 --level 3 --iterations 60 --seed 7 --best-of 1 --threads 1 --checkpoint-every 10ms --json)
"$SORTIE" "${solve[@]}" --quiet --out whole > whole.json
moves() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["moves"])' "$1"; }

# drill NAME COMMAND: begins a run in disk/run, gives the command once it has found something, and looks at its end.
drill() {
    # Without this right even the owner of everything is held to permissions.
    setpriv --bounding-set=-dac_override "$SORTIE" "${solve[@]}" --out disk/run > run.json 2> run.err &
    local pid=$!
    until [[ -e disk/run/best.record && -e disk/run/checkpoint ]]; do sleep 0.01; done
    # It stands still meanwhile: what happens to the disk happens in the middle of the run, however quick that is.
    kill -STOP "$pid"
    [[ ! -e disk/run/result.json ]] || { echo "FAILED: $1: the run ended before its turn"; exit 1; }
    "${@:2}"
    kill -CONT "$pid"
    wait "$pid" || { cat run.err; echo "FAILED: $1: the run did not end well"; exit 1; }
    grep -q 'warning: cannot write' run.err || { cat run.err; echo "FAILED: $1: it was not told"; exit 1; }
    [[ $(moves run.json) == "$(moves whole.json)" ]] || { echo "FAILED: $1: another answer"; exit 1; }
    "$SORTIE" verify disk/run > /dev/null || { echo "FAILED: $1: the record on the disk is broken"; exit 1; }
    printf '%-20s ok: told, searched on, same answer; the record on the disk is whole\n' "$1"
}

mkdir disk
mount -t tmpfs -o size=512k tmpfs disk
fill() { head -c 1M /dev/zero > disk/other 2>/dev/null || true; }
drill "a full disk" fill
rm disk/other
"$SORTIE" resume disk/run --quiet --json > again.json
[[ $(moves again.json) == "$(moves whole.json)" ]] || { echo "FAILED: with room again: another answer"; exit 1; }
"$SORTIE" verify disk/run > /dev/null
echo "room again           ok: resumed, same answer"
umount disk

drill "a read-only folder" chmod 555 disk/run
chmod 755 disk/run
"$SORTIE" resume disk/run --quiet --json > again.json
[[ $(moves again.json) == "$(moves whole.json)" ]] || { echo "FAILED: writable again: another answer"; exit 1; }
echo "writable again       ok: resumed, same answer"
DRILL
echo "all drills went well"
