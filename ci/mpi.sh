#!/usr/bin/env bash
# The MPI engine on a real MPI, with several processes on this machine: the port keeps its promises, every form plays
# games to their end with 2 and 4 processes, garbage is refused, and a process that is killed ends the job as
# docs/cluster.md says. It installs what is missing where it may. Usage: ci/mpi.sh [openmpi|mpich]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh

mpi=${1:-openmpi}
# What is built for another MPI is kept apart.
if [[ $mpi != openmpi ]]; then
    target=$target/$mpi
    export CARGO_TARGET_DIR=$target MPICC=mpicc.$mpi
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

main() {
    case $mpi in
    openmpi) launch=(mpirun.openmpi --oversubscribe --bind-to none) ;;
    mpich) launch=(mpiexec.mpich) ;;
    *) die "$mpi: expected openmpi or mpich" ;;
    esac
    [[ $mpi != openmpi || $EUID != 0 ]] || launch+=(--allow-run-as-root)
    mpi_install "$mpi"
    build
    drill=$examples/drill
    for processes in 2 4; do
        say "conformance of the port, $processes processes"
        run 240 "$processes" "$drill" conform
    done
    garbage
    local form
    for form in $("$sortie" list | sed '1,/^FORMS/d' | awk '/^[a-z]/ { print $1 }'); do
        for processes in 2 4; do
            game "$form" "$processes"
        done
    done
    killed_searching
    killed_between
}

# run SECONDS PROCESSES COMMAND...: the seconds are a bound for what hangs.
run() {
    timeout -k 5 "$1" "${launch[@]}" -np "$2" "${@:3}"
}

# Frames that are no frames, of an old version, that claim two GiB and that have them.
garbage() {
    say "garbage"
    run 240 2 "$drill" garbage 2>"$folder/log" || die "garbage: $(cat "$folder/log")"
    local line
    for line in 'not a frame of this protocol' 'protocol version 0: expected 1' \
        'a frame of 2147483648 bytes: expected at most' 'a frame of 81938 bytes: expected at most 81937'; do
        grep -q "rank 1: from rank 0: $line" "$folder/log" || die "garbage: no line '$line' in $(cat "$folder/log")"
    done
}

# game FORM PROCESSES: a pair of games of Lines of Action, a gang against a gang, to the end by the rules.
game() {
    say "$1 on $2 processes plays Lines of Action"
    local out=$folder/$1-$2
    run 600 "$2" "$sortie" match loa/8 --player "$1:default:memory=16" --player "$1:plain:memory=16" --games 2 \
        --limit 20playouts --plies 20 --concurrency 1 --out "$out" --quiet --engine mpi >"$folder/told"
    [[ $(grep -c '^folder' "$folder/told") = 1 ]] || die "only process 0 is to print: $(cat "$folder/told")"
    [[ $(grep -c '"reason":"\(rules\|length\)"' "$out/games.jsonl") = 2 ]] || die "$1: $(cat "$out/games.jsonl")"
}

# A process is killed in mid-search: the job ends. The search has more playouts before it than any machine does in the time
# that this may take, and it has begun when the one who moves first has been asked.
killed_searching() {
    say "a process is killed in mid-search"
    local out=$folder/endless
    engine endless
    run 600 2 "$sortie" match tictactoe/3 --player "text[timeout=600s]:/bin/sh $folder/endless.sh" --player tds:plain:memory=16 \
        --games 2 --limit 1000000000000playouts --concurrency 1 --out "$out" --quiet --engine mpi >/dev/null 2>"$folder/log" &
    local job=$!
    until_true 300 "nobody moves" lines "$folder/endless.asked" 1
    strike "$job" "$out"
    [[ ! -s $out/games.jsonl ]] || die "a game that cannot end has ended: $(cat "$out/games.jsonl")"
}

# A process is killed between searches: the match goes on from its journal. Games end until the engine at the other side of
# the board keeps its twenty-first move to itself.
killed_between() {
    say "a process is killed between searches, and the match goes on"
    local out=$folder/gated
    engine gated
    echo 20 >"$folder/gated.allowed"
    run 600 2 "$sortie" match tictactoe/3 --player "text[timeout=600s]:/bin/sh $folder/gated.sh" --player tds:plain:memory=16 \
        --games 40 --limit 400playouts --concurrency 1 --out "$out" --quiet --engine mpi >/dev/null 2>"$folder/log" &
    local job=$!
    until_true 300 "the gate is not reached" lines "$folder/gated.asked" 21
    strike "$job" "$out"
    local before
    before=$(wc -l <"$out/games.jsonl")
    # A game has at most five moves of the engine's.
    ((before >= 4 && before < 40)) || die "$before games before a gate at move 21"
    echo "$before games are kept; the match goes on"
    echo 1000000 >"$folder/gated.allowed"
    run 600 2 "$sortie" resume "$out" --programs --quiet --engine mpi >/dev/null
    [[ $(grep -c '"reason":"rules"' "$out/games.jsonl") = 40 ]] || die "not 40 games by the rules: $(cat "$out/games.jsonl")"
}

# engine NAME: a player that makes the first legal move, writes a line into NAME.asked for every question, and waits with
# its answer while it has been asked more often than NAME.allowed says.
engine() {
    echo 1000000 >"$folder/$1.allowed"
    cat >"$folder/$1.sh" <<END
while read -r line; do
    echo asked >>"$folder/$1.asked"
    while [ \$(wc -l <"$folder/$1.asked") -gt \$(cat "$folder/$1.allowed") ]; do sleep 0.1; done
    legal=\${line#*legal=}
    echo "\${legal%%[!a-z0-9]*}"
done
END
}

# strike JOB WORD: kills rank 1 of a job that cannot end by itself, which must not say that all is well.
strike() {
    local code=0
    kill -0 "$1" || die "the job is over before anybody was killed: $(cat "$folder/log")"
    kill -9 "$(rank 1 "$2")"
    wait "$1" || code=$?
    [[ $code != 0 && $code != 124 ]] || die "a job with a process killed ended with code $code: $(cat "$folder/log")"
    echo "the job ended with code $code"
}

# rank N WORD: the process that is rank N of the job with this word in its command line.
rank() {
    local pid
    for pid in $(pgrep -f -- "$2"); do
        if [[ $(readlink "/proc/$pid/exe") = "$(realpath "$sortie")" ]] &&
            tr '\0' '\n' <"/proc/$pid/environ" | grep -qxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1"; then
            echo "$pid"
            return
        fi
    done
    die "rank $1 is not to be found"
}

main
