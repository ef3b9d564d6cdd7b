#!/usr/bin/env bash
# Engines of others in jobs, for real: Stockfish (UCI) and GNU Go (GTP) from Debian's packages do jobs and leave out the
# moves they are told to leave out; an engine that ignores that is refused with the evidence; one that hangs, crashes,
# floods or lies ends as docs/engines.md says. It installs what is missing where it may. Usage: ci/engines.sh [SORTIE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. ci/common.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# What the engine that hangs does, by a number that no other process has.
nap=98765.$$

main() {
    find_engines || { packages stockfish gnugo && find_engines; } || die "missing: stockfish and gnugo (Debian's packages)"
    command -v python3 >/dev/null || die "missing: python3"
    if [[ -n ${1:-} ]]; then sortie=$1; else build; fi
    sortie=$(realpath "$sortie")
    scripts
    cd "$folder"

    say "Stockfish does jobs, from the start and from other positions"
    probe 0 stockfish "uci:$stockfish" --nodes 5000 --jobs 20
    expect stockfish 'd["accepted"] and len(d["jobs"]) == 20 and len(d["probe"]["questions"]) == 15'
    expect stockfish 'all(j["best"] not in j["exclude"] and j["nodes"] > 0 for j in d["jobs"])'
    expect stockfish 'len({j["best"] for j in d["jobs"] if not j["moves"]}) > 2'
    # With the mate in one left out it plays something else.
    local mate="6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"
    probe 0 mate "uci:$stockfish" --nodes 5000 --jobs 4 --position "$mate"
    expect mate 'd["probe"]["questions"][0]["answer"] == "a1a8"'
    expect mate 'd["probe"]["questions"][1]["answer"] != "a1a8" and d["jobs"][0]["status"] == "bw"'
    # Of two processes at once each is asked for its own.
    probe 0 threads "uci[Threads=2,Hash=16]:$stockfish" --nodes 20000 --jobs 4 --moves "e2e4 e7e5"
    expect threads 'd["accepted"]'

    say "GNU Go does jobs"
    probe 0 gnugo "gtp[boardsize=9,level=1]:$gnugo --mode gtp" --jobs 12
    expect gnugo 'd["accepted"] and d["probe"]["way"] == "restricted_genmove" and len(d["jobs"]) == 12'
    expect gnugo 'all(j["best"] not in j["exclude"] and j["status"] for j in d["jobs"])'

    say "an engine that ignores exclusion is refused, with the evidence"
    probe 1 deaf "text:/bin/sh deaf" nim/21
    expect deaf 'd["probe"]["refusal"] == {"why": "ignored", "moves": [], "exclude": ["2"], "answer": "2", "value": None}'
    refused "without 2 it plays 2" prove nim/21 --player "text:/bin/sh deaf" --quiet
    # The same of an engine that can do it and is kept from it.
    probe 1 filtered "uci:/bin/sh filtered" --nodes 1000
    expect filtered 'd["probe"]["refusal"]["why"] == "ignored"'

    say "engines that hang, crash and flood"
    probe 1 hang "text[timeout=1s,time=100ms]:/bin/sh hang" nim/21
    expect hang '"no answer within 2 s" in d["probe"]["refusal"]["fault"]'
    if pgrep -f "^sleep $nap\$" >/dev/null; then
        die "what the hanging engine started still runs"
    fi
    probe 1 crash "text:/bin/sh crash" nim/21
    expect crash '"exit status: 3 (oops)" in d["probe"]["refusal"]["fault"]'
    probe 1 flood "uci:/bin/sh flood" nim/21
    expect flood '"bytes of output" in d["probe"]["refusal"]["fault"]'

    say "an engine that lies"
    prove liar 0 nim/12 --job-nodes 2 --player "text:/bin/sh liar"
    expect liar 'd["value"] == "second wins" and d["jobs"]["doubted"] > 0'
    # One that crashes now and then costs jobs and nothing else.
    prove frail 0 nim/12 --job-nodes 2 --player "text:/bin/sh frail"
    expect frail 'd["value"] == "second wins"'

    say "our own engine, through UCI"
    prove own 0 tictactoe/3 --job-nodes 20 --job-playouts 20 --player "uci:$sortie engine tictactoe/3"
    expect own 'd["value"] == "a draw"'
    echo "all engines did as documented"
}

# Debian keeps games where not everybody's PATH leads.
find_engines() {
    stockfish=$(PATH=$PATH:/usr/games command -v stockfish) && gnugo=$(PATH=$PATH:/usr/games command -v gnugo)
}

# Engines that answer line by line: the first legal move that is not left out, with something else before or after.
scripts() {
    line_engine() {
        cat >"$folder/$1" <<SCRIPT
IFS='	'
while read -r moves exclude legal rest; do
    exclude=" \${exclude#exclude=} " best=
    IFS=' '
    for word in \${legal#legal=}; do
        case \$exclude in *" \$word "*) ;; *) best=\${best:-\$word} ;; esac
    done
    n=\$((n + 1))
    $2
    IFS='	'
done
SCRIPT
    }
    line_engine deaf 'echo 2'
    line_engine hang "sleep $nap"
    line_engine crash 'echo oops >&2; exit 3'
    line_engine liar 'echo "$best 1.0 win"'
    line_engine frail 'if [ $((n % 17)) = 0 ]; then exit 3; fi; echo $best'
    printf '%s\n' 'while read -r word rest; do' \
        'case $word in uci) echo uciok ;; isready) echo readyok ;; go) cat /dev/zero ;; esac' done >"$folder/flood"
    # Stockfish behind somebody who drops searchmoves.
    printf '%s\n' "sed -u 's/ searchmoves.*//' | $stockfish" >"$folder/filtered"
}

# probe CODE NAME ARGUMENTS...: runs `sortie probe` into NAME.json and compares its exit code.
probe() {
    local code=0
    timeout 600 "$sortie" probe "${@:3}" --json >"$2.json" 2>"$2.err" || code=$?
    [[ $code = "$1" ]] || die "$2: exit code $code instead of $1: $(cat "$2.json" "$2.err")"
}

# prove NAME CODE ARGUMENTS...
prove() {
    local code=0
    timeout 600 "$sortie" prove "${@:3}" --quiet --json --out "run-$1" >"$1.json" 2>"$1.err" || code=$?
    [[ $code = "$2" ]] || die "$1: exit code $code instead of $2: $(cat "$1.json" "$1.err")"
}

# refused TEXT ARGUMENTS...: misuse that is told so.
refused() {
    local code=0
    timeout 600 "$sortie" "${@:2}" >refused.txt 2>&1 || code=$?
    [[ $code = 2 ]] && grep -qF -- "$1" refused.txt || die "expected '$1': $(cat refused.txt)"
}

# expect NAME EXPRESSION: a Python expression over d, the JSON of NAME.
expect() {
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1.json" ||
        die "$1: not so: $2 ($(head -c 2000 "$1.json"))"
}

main "$@"
