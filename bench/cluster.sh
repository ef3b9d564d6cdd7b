#!/usr/bin/env bash
# A search spread over MPI processes: on one machine against threads, and between two hosts that are really apart: two
# network namespaces, joined by a veth with and without a limit on the bandwidth (`tc tbf`), then by a wire that takes
# time (bench/wire.c). Playouts per second are by the clock, so run it with nothing else running. Needs root for the
# namespaces, a C compiler for the wire, and a build with the feature `mpi` on Open MPI. Usage: bench/cluster.sh [form] [seconds a run] [repeats] [path of lab]
set -euo pipefail
cd "$(dirname "$0")/.."
form=${1:-tds}
seconds=${2:-3}
repeats=${3:-3}
sortie=$(realpath "${4:-target/release/lab}")
game=loa/8
folder=$(mktemp -d)

mpi=(mpirun --allow-run-as-root --oversubscribe --bind-to none)

# median COMMAND...: playouts per second of the middle run, and the bytes of its records.
median() {
    local i
    for ((i = 0; i < repeats; i++)); do
        "$@" --json 2>/dev/null |
            sed -E 's/.*"playouts_per_second":([0-9.]+).*/\1 &/; s/^([0-9.]+) .*"bytes_a_record":([0-9.]+).*/\1 \2/; s/^([0-9.]+) .*\{.*/\1 -/'
    done | sort -n | sed -n "$(((repeats + 1) / 2))p"
}

row() { # name command...
    printf '%-44s %10s playouts/s  %s bytes a record\n' "$1" $(median "${@:2}")
}

analyse=("$sortie" analyse "$game" --time "${seconds}s" --lines 1)
row "2 threads, one tree" "${analyse[@]}" --player default:threads=2
row "$form, 2 threads" "${analyse[@]}" --player "$form[nodes=2]:default"
row "$form, 2 processes" mpirun --allow-run-as-root -np 2 "${analyse[@]}" --player "$form:default" --engine mpi
for engine in "" "${mpi[*]} -np 2"; do
    $engine "$sortie" bench messages ${engine:+--engine mpi}
done

if [[ $EUID != 0 ]]; then
    echo "two hosts: skipped, network namespaces need root"
    exit
fi
wire=
away() {
    [[ -z $wire ]] || kill "$wire" 2>/dev/null || true
    ip netns del sortie-a 2>/dev/null || true
    ip netns del sortie-b 2>/dev/null || true
    rm -rf "$folder"
}
trap away EXIT
for host in a b; do
    ip netns add "sortie-$host"
    ip -n "sortie-$host" link set lo up
done
# join DEVICE DEVICE NET: addresses for the two ends of whatever joins the hosts.
join() {
    ip -n sortie-a addr add "$3.1/24" dev "$1"
    ip -n sortie-b addr add "$3.2/24" dev "$2"
    ip -n sortie-a link set "$1" up
    ip -n sortie-b link set "$2" up
}
# What mpirun calls in place of ssh: it drops options and the name of the host and starts the rest over there.
cat >"$folder/agent" <<'AGENT'
#!/usr/bin/env bash
while [[ $1 == -* ]]; do shift; done
shift
exec ip netns exec sortie-b unshare -u bash -c "hostname host-b; $*"
AGENT
chmod +x "$folder/agent"
# apart NAME NET: a row for one process on each host, over that net.
apart() {
    row "$form, 2 hosts, $1" ip netns exec sortie-a unshare -u bash -c 'hostname host-a; exec "$@"' bash \
        "${mpi[@]}" --host "$2.1:1,$2.2:1" --mca plm_rsh_agent "$folder/agent" \
        --mca oob_tcp_if_include "$2.0/24" --mca btl_tcp_if_include "$2.0/24" --mca btl tcp,self --mca pml ob1 \
        "${analyse[@]}" --player "$form:default" --engine mpi
}

ip link add veth-a netns sortie-a type veth peer name veth-b netns sortie-b
join veth-a veth-b 10.77.1
apart veth 10.77.1
for rate in 100mbit 10mbit 1mbit; do
    ip netns exec sortie-a tc qdisc replace dev veth-a root tbf rate $rate burst 32kbit latency 50ms
    ip netns exec sortie-b tc qdisc replace dev veth-b root tbf rate $rate burst 32kbit latency 50ms
    apart "veth of $rate" 10.77.1
done

cc -O2 -o "$folder/wire" bench/wire.c
number=1
for micros in 0 100 500 2000 10000; do
    number=$((number + 1))
    "$folder/wire" $micros sortie-a$number sortie-b$number >"$folder/ready" &
    wire=$!
    until grep -q ready "$folder/ready"; do sleep 0.1; done
    ip link set sortie-a$number netns sortie-a
    ip link set sortie-b$number netns sortie-b
    join sortie-a$number sortie-b$number 10.77.$number
    apart "a wire of $micros us each way" 10.77.$number
    kill $wire
    wait $wire 2>/dev/null || true
    wire=
done
