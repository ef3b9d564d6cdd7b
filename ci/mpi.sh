#!/usr/bin/env bash
# The MPI engine on a real MPI, with several processes on this machine: the port keeps its promises, every form plays
# games to their end with 2 and 4 processes, garbage is refused, and a process that is killed ends the job as
# docs/cluster.md says. It installs what is missing where it may. Usage: ci/mpi.sh [openmpi|mpich]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mpi=${1:-openmpi}
target=${CARGO_TARGET_DIR:-$PWD/target}
# What is built for another MPI is kept apart; the first shares its libraries with the other scripts here.
[[ $mpi = openmpi ]] || target=$target/$mpi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

main() {
    packages
    # The command itself need not be fast here, only what it calls.
    MPICC=mpicc.$mpi cargo build --profile quick --locked --target-dir "$target" \
        --config 'profile.quick.package.sortie-cli.opt-level=0' \
        -p sortie-cli -p sortie-rank --features sortie-cli/mpi --bin sortie --example drill
    sortie=$target/quick/sortie
    drill=$target/quick/examples/drill
    for processes in 2 4; do
        say "conformance of the port, $processes processes"
        run 120 "$processes" "$drill" conform
    done
    garbage
    local form
    for form in $("$sortie" list | sed '1,/^FORMS/d' | awk '/^[a-z]/ { print $1 }'); do
        for processes in 2 4; do
            game "$form" "$processes"
        done
    done
    killed
}

packages() {
    case $mpi in
    openmpi) launch=(mpirun.openmpi --oversubscribe --bind-to none) ;;
    mpich) launch=(mpiexec.mpich) ;;
    *) die "$mpi: expected openmpi or mpich" ;;
    esac
    [[ $mpi != openmpi || $EUID != 0 ]] || launch+=(--allow-run-as-root)
    if ! command -v "${launch[0]}" >/dev/null || ! command -v "mpicc.$mpi" >/dev/null ||
        ! compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null; then
        [[ $EUID = 0 ]] && command -v apt-get >/dev/null ||
            die "missing: $mpi with its headers, and libclang (Debian: openmpi-bin libopenmpi-dev libclang-dev)"
        local names=(openmpi-bin libopenmpi-dev)
        [[ $mpi = openmpi ]] || names=(mpich libmpich-dev)
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${names[@]}" libclang-dev
    fi
}

# run SECONDS PROCESSES COMMAND...
run() {
    timeout -k 5 "$1" "${launch[@]}" -np "$2" "${@:3}"
}

# Frames that are no frames, of an old version, that claim two GiB and that have them.
garbage() {
    say "garbage"
    run 120 2 "$drill" garbage 2>"$folder/log" || die "garbage: $(cat "$folder/log")"
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
    run 240 "$2" "$sortie" match loa/8 --player "$1:default:memory=16" --player "$1:plain:memory=16" --games 2 \
        --limit 20playouts --plies 20 --concurrency 1 --out "$out" --quiet --engine mpi >"$folder/told"
    [[ $(grep -c '^folder' "$folder/told") = 1 ]] || die "only process 0 is to print: $(cat "$folder/told")"
    [[ $(grep -c '"reason":"\(rules\|length\)"' "$out/games.jsonl") = 2 ]] || die "$1: $(cat "$out/games.jsonl")"
}

# A process is killed in mid-search: the job ends, and the match goes on from its journal.
killed() {
    say "a process is killed"
    local out=$folder/killed
    local players=(--player tds:plain:memory=16 --player default:memory=16)
    run 240 2 "$sortie" match tictactoe/3 "${players[@]}" --games 40 --limit 400playouts --concurrency 1 --out "$out" \
        --quiet --engine mpi >/dev/null 2>"$folder/log" &
    local job=$! tries=0
    until [[ -f $out/games.jsonl && $(wc -l <"$out/games.jsonl") -ge 2 ]]; do
        sleep 0.2
        ((++tries < 600)) || die "no game is played: $(cat "$folder/log")"
    done
    kill -9 "$(rank 1 "$out")"
    local code=0
    wait "$job" || code=$?
    [[ $code != 0 ]] || die "a job with a process killed says that all is well"
    local before
    before=$(wc -l <"$out/games.jsonl")
    ((before < 40)) || die "all games were played before the process was killed"
    echo "the job ended with code $code and $before games; it goes on"
    run 240 2 "$sortie" resume "$out" --quiet --engine mpi >/dev/null
    [[ $(wc -l <"$out/games.jsonl") = 40 ]] || die "$(wc -l <"$out/games.jsonl") games"
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

say() {
    printf -- '-- %s\n' "$*"
}

die() {
    echo "ci/mpi.sh: $*" >&2
    exit 1
}

main
