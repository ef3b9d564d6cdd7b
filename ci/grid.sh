#!/usr/bin/env bash
# The grid for real: a NATS server, a client, honest and dishonest workers as processes of their own. Workers are killed
# and stopped, answers come twice and wrong, the server is killed and comes back, the client is killed and resumed. The
# value must be that of a search on threads, its proof must check, and no job may be lost.
# It fetches a server with pip if there is none. Usage: ci/grid.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. ci/common.sh
folder=$(mktemp -d)
processes=()

# A game whose proof takes some tens of thousands of jobs. All that is killed here has to happen before it ends: while
# somebody waits for time to pass, the client is stopped, and in between only a few hundred jobs are done.
position=(breakthrough/4x4 --job-nodes 6 --jobs 1000000 --memory 16)
# Seconds: the lease, and what is longer than one.
lease=1
longer=2.5

main() {
    build
    rogue=$examples/rogue
    nats_server
    say "on threads, to compare"
    "$sortie" prove "${position[@]}" --workers 2 --quiet --json --out "$folder/threads" >"$folder/threads.json"
    start_broker
    drill
    check
    hang
    engines
    islands
    tls
}

start_broker() {
    port=${port:-$(free_port)}
    url=nats://127.0.0.1:$port
    start broker "$sortie" broker --listen "127.0.0.1:$port" --store "$folder/store"
    until_true 60 "the broker does not listen" listens "$port"
}

drill() {
    local out=$folder/run
    start watch "$rogue" watch "$url"
    start client "$sortie" prove "${position[@]}" --grid "$url" --quorum 2 --lease ${lease}s --proof "$folder/game.proof" \
        --json --out "$out"
    start a "$sortie" worker --grid "$url" --cores 1 --name a
    start b "$sortie" worker --grid "$url" --cores 2 --name b
    start c "$sortie" worker --grid "$url" --cores 1 --name c
    start twice "$rogue" twice "$url" twice
    start wrong "$rogue" wrong "$url" wrong

    answers 100
    say "worker a is killed with jobs in hand"
    kill -9 "${pid[a]}"
    say "the server is killed and comes back"
    kill -9 "${pid[broker]}"
    until_true 60 "worker b does not notice" grep -q 'the engine is gone' "$folder/b.log"
    start_broker
    more 100
    say "worker b is stopped for longer than its lease"
    # It may have nothing in hand at that moment, which only a redelivery can tell: then once more.
    local seen
    for _ in {1..20}; do
        seen=$(wc -l <"$folder/watch.out")
        kill -STOP "${pid[b]}"
        kill -STOP "${pid[client]}"
        sleep $longer
        [[ $(wc -l <"$folder/watch.out") = "$seen" ]] || break
        kill -CONT "${pid[b]}"
        kill -CONT "${pid[client]}"
        more 20
    done
    say "the client is killed and resumed"
    kill -9 "${pid[client]}"
    wait "${pid[client]}" 2>/dev/null || true
    [[ ! -e $out/result.json ]] || die "the search ended before its client was killed"
    start client "$sortie" resume "$out" --json
    more 100
    say "worker b goes on, and another one joins"
    kill -CONT "${pid[b]}"
    start d "$sortie" worker --grid "$url" --cores 1 --name d
    local code=0
    wait "${pid[client]}" || code=$?
    [[ $code = 0 ]] || die "the client ended with code $code: $(tail -3 "$folder/client.log")"
    say "worker c drains"
    kill -TERM "${pid[c]}"
    code=0
    wait "${pid[c]}" || code=$?
    [[ $code = 0 ]] || die "a worker that was told to leave ended with code $code"
}

check() {
    local told=$folder/client.out
    python3 - "$folder/threads.json" "$told" <<'END'
import json, sys
threads, grid = (json.loads(open(path).read().strip().splitlines()[-1]) for path in sys.argv[1:])
tally = grid["grid"]
assert grid["ended"] == "decided" and grid["value"] == threads["value"], (threads["value"], grid["value"])
assert grid["jobs"]["lost"] == 0 and grid["jobs"]["faulty"] == 0, grid["jobs"]
assert tally["late"] > 0, "an answer that came twice was not noticed"
assert tally["refuted"] > 0, "no false claim was found"
print("value", grid["value"], "as on threads; session 2:", json.dumps(tally))
END
    "$sortie" verify "$folder/game.proof"
    cat "$folder"/client*.log | grep -q 'wrong is refused from now on' || die "the liar was not refused"
    [[ $(wc -l <"$folder/run/workers.jsonl") -ge 6 ]] || die "workers.jsonl: $(cat "$folder/run/workers.jsonl")"
    local again
    again=$(wc -l <"$folder/watch.out")
    say "$again answers came after a lost lease"
    ((again > 0)) || die "nothing was delivered again, though workers died"
}

# A worker whose jobs never end: each is given back, and when two threads of its one core hang it gives up. Then another
# one, which runs only when nobody else wants the processor, does all of them.
hang() {
    say "the workers leave; a worker hangs in every job"
    end b d
    kill -9 "${pid[twice]}" "${pid[wrong]}"
    wait "${pid[twice]}" "${pid[wrong]}" 2>/dev/null || true
    start slow "$sortie" prove nim/20 --job-nodes 2 --grid "$url" --lease ${lease}s --job-time 1s --json --out "$folder/slow"
    start hung "$rogue" hang "$url" hung
    local code=0
    wait "${pid[hung]}" || code=$?
    [[ $code = 2 ]] || die "a worker that hangs ended with code $code"
    [[ $(grep -c 'hangs and is given back' "$folder/hung.log") = 2 ]] || die "$(cat "$folder/hung.log")"
    grep -q 'every core hangs' "$folder/hung.log" || die "$(cat "$folder/hung.log")"
    start nice "$sortie" worker --grid "$url" --cores 1 --name nice --nice
    finish slow
    expect slow '"second wins"' value
    [[ $(ps -o ni= -p "${pid[nice]}") -eq 19 ]] || die "--nice: priority $(ps -o ni= -p "${pid[nice]}")"
    end nice
}

# Engines of others at the worker's side, and the database at the client's.
engines() {
    say "an engine that hangs is killed; one that ignores exclusion, or was not offered, does no jobs"
    cat >"$folder/engine.sh" <<'END'
# The first legal move that is not excluded; the twentieth answer does not come, once.
n=0
IFS='	'
while read -r a b c d; do
    exclude=" ${b#exclude=} " best=
    IFS=' '
    for word in ${c#legal=}; do case $exclude in *" $word "*) ;; *) best=${best:-$word} ;; esac done
    n=$((n + 1))
    if [ "$n" = 20 ] && [ ! -e "$1" ]; then echo $$ >"$1"; sleep 1000; fi
    echo "$best 0.6"
    IFS='	'
done
END
    printf 'while read -r line; do echo 2; done\n' >"$folder/deaf.sh"
    local good="text[timeout=1s]:/bin/sh $folder/engine.sh $folder/hung.pid" deaf="text:/bin/sh $folder/deaf.sh"
    start none "$sortie" worker --grid "$url" --cores 1 --name none
    start deaf "$sortie" worker --grid "$url" --cores 1 --name deaf --player "$deaf"
    start good "$sortie" worker --grid "$url" --cores 1 --name good --player "$good"
    start refused "$sortie" prove nim/20 --job-nodes 2 --grid "$url" --player "$deaf" --json --out "$folder/refused"
    until_true 60 "the engine was not tried" grep -q 'it plays excluded moves' "$folder/deaf.log"
    kill -TERM "${pid[refused]}"
    wait "${pid[refused]}" || true
    [[ ! -s $folder/refused/jobs.jsonl ]] || die "an engine that ignores exclusion did jobs"
    local proof=(nim/20 --job-nodes 2 --grid "$url" --player "$good" --db "$folder/proved.db" --json)
    start engine "$sortie" prove "${proof[@]}" --out "$folder/engine"
    finish engine
    expect engine '"second wins"' value
    grep -q 'it wants the engine' "$folder/none.log" || die "$(cat "$folder/none.log")"
    grep -q 'it is started again' "$folder/good.log" || die "$(cat "$folder/good.log")"
    ! kill -0 "$(cat "$folder/hung.pid")" 2>/dev/null || die "the engine that hung is alive"
    say "the same again: the database of the client knows it"
    start again "$sortie" prove "${proof[@]}" --out "$folder/again"
    finish again
    expect again '"second wins"' value
    expect again 1 database spared
    expect again 0 grid issued
    "$sortie" db check "$folder/proved.db" --all
    end none deaf good
}

# Calls of islands over the grid bring what they bring on threads.
islands() {
    say "islands"
    local search=(samegame/1 --level 2 --iterations 12 --parallel islands:3 --workers 3 --seed 7 --quiet --json)
    start e "$sortie" worker --grid "$url" --cores 1 --name e
    start f "$sortie" worker --grid "$url" --cores 1 --name f
    "$sortie" solve "${search[@]}" --threads 2 --out "$folder/here" >"$folder/here.out"
    start there "$sortie" solve "${search[@]}" --grid "$url" --out "$folder/there"
    finish there
    python3 - "$folder/here.out" "$folder/there.out" <<'END'
import json, sys
here, there = (json.loads(open(path).read().strip().splitlines()[-1]) for path in sys.argv[1:])
for key in ["score", "moves", "playouts", "reason"]:
    assert here[key] == there[key], (key, here[key], there[key])
print("score", here["score"], "after", here["playouts"], "playouts, as on threads")
END
    end e f
}

# A server with a certificate: whoever knows who made it gets in, others are told why not.
tls() {
    say "tls"
    local ca=$folder/ca code=0
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$ca.key" -out "$ca.pem" -days 2 -subj /CN=ca 2>"$folder/openssl.log"
    openssl req -newkey rsa:2048 -nodes -keyout "$ca-leaf.key" -out "$ca-leaf.csr" -subj /CN=localhost 2>>"$folder/openssl.log"
    openssl x509 -req -in "$ca-leaf.csr" -CA "$ca.pem" -CAkey "$ca.key" -CAcreateserial -days 2 -out "$ca-leaf.pem" \
        -extfile <(printf 'subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n') 2>>"$folder/openssl.log"
    # The server of before may be a while in leaving its port.
    kill -9 "${pid[broker]}"
    port=$(free_port)
    cat >"$folder/tls.conf" <<END
listen: 127.0.0.1:$port
jetstream { store_dir: "$folder/tls-store" }
tls { cert_file: "$ca-leaf.pem", key_file: "$ca-leaf.key" }
END
    start tls nats-server -c "$folder/tls.conf"
    until_true 60 "the server with a certificate does not listen" listens "$port"
    local secure=tls://127.0.0.1:$port
    "$sortie" prove nim/8 --grid "$secure" --quiet --out "$folder/stranger" >"$folder/stranger.log" 2>&1 || code=$?
    [[ $code = 2 ]] && grep -q 'certificate' "$folder/stranger.log" || die "code $code: $(cat "$folder/stranger.log")"
    start g env SSL_CERT_FILE="$ca.pem" "$sortie" worker --grid "$secure" --cores 1 --name g
    start friend env SSL_CERT_FILE="$ca.pem" "$sortie" prove nim/8 --job-nodes 2 --grid "$secure" --json --out "$folder/friend"
    finish friend
    expect friend '"second wins"' value
    end g
}

# finish NAME: waits for a process, which must end well.
finish() {
    local code=0
    wait "${pid[$1]}" || code=$?
    [[ $code = 0 ]] || die "$1 ended with code $code: $(tail -3 "$folder/$1.log")"
}

# end NAME...: workers leave.
end() {
    local name
    for name in "$@"; do
        kill -TERM "${pid[$name]}"
        finish "$name"
    done
}

# expect NAME JSON KEY...: what the result of a client says there.
expect() {
    python3 - "$folder/$1.out" "${@:2}" <<'END'
import json, sys
found = json.loads(open(sys.argv[1]).read().strip().splitlines()[-1])
for key in sys.argv[3:]:
    found = found[key]
assert found == json.loads(sys.argv[2]), (sys.argv[3:], found, sys.argv[2])
END
}

declare -A pid

# start NAME COMMAND...: in the background, with its output in files.
start() {
    local name=$1 number=1
    [[ ! -e $folder/$name.log ]] || { number=2 && mv "$folder/$name.log" "$folder/$name-$number.log"; }
    "${@:2}" >"$folder/$name.out" 2>"$folder/$name.log" &
    pid[$name]=$!
    processes+=($!)
}

# answers N: waits until the journal has so many; more N: so many more than now.
answers() {
    until_true 300 "there are no $1 answers: $(tail -n 2 "$folder"/*.log)" lines "$folder/run/jobs.jsonl" "$1"
}
more() {
    answers $(($(wc -l <"$folder/run/jobs.jsonl") + $1))
}

clean() {
    local code=$? process
    for process in "${processes[@]}"; do
        kill -CONT "$process" 2>/dev/null || true
        kill -9 "$process" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    if [[ $code != 0 && -n ${KEEP:-} ]]; then cp -r "$folder" "$KEEP"; fi
    rm -rf "$folder"
    exit "$code"
}
trap clean EXIT

main
