#!/usr/bin/env bash
# A search spread over MPI processes: on one machine against threads, and between two hosts that are really apart: two
# network namespaces joined by a veth, with and without a limit on the bandwidth (`tc tbf`). Playouts per second are
# by the clock, so run it with nothing else running. Needs root for the namespaces and a build with the feature `mpi`
# on Open MPI. Usage: bench/cluster.sh [form] [seconds a run] [repeats] [path of sortie]
set -euo pipefail
cd "$(dirname "$0")/.."
form=${1:-tds}
seconds=${2:-3}
repeats=${3:-3}
sortie=$(realpath "${4:-target/release/sortie}")
game=loa/8
net=10.77.1
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
row "$form, 2 processes" "${mpi[@]}" -np 2 "${analyse[@]}" --player "$form:default" --engine mpi
for engine in "" "${mpi[*]} -np 2"; do
    $engine "$sortie" bench messages ${engine:+--engine mpi}
done

if [[ $EUID != 0 ]]; then
    echo "two hosts: skipped, network namespaces need root"
    exit
fi
away() {
    ip netns del sortie-a 2>/dev/null || true
    ip netns del sortie-b 2>/dev/null || true
    rm -rf "$folder"
}
trap away EXIT
for host in a b; do
    ip netns add "sortie-$host"
    ip -n "sortie-$host" link set lo up
done
ip link add veth-a netns sortie-a type veth peer name veth-b netns sortie-b
ip -n sortie-a addr add $net.1/24 dev veth-a
ip -n sortie-b addr add $net.2/24 dev veth-b
ip -n sortie-a link set veth-a up
ip -n sortie-b link set veth-b up
# What mpirun calls in place of ssh: it drops options and the name of the host and starts the rest over there.
cat >"$folder/agent" <<'AGENT'
#!/usr/bin/env bash
while [[ $1 == -* ]]; do shift; done
shift
exec ip netns exec sortie-b unshare -u bash -c "hostname host-b; $*"
AGENT
chmod +x "$folder/agent"
apart=(ip netns exec sortie-a unshare -u bash -c 'hostname host-a; exec "$@"' bash
    "${mpi[@]}" --host $net.1:1,$net.2:1 --mca plm_rsh_agent "$folder/agent"
    --mca oob_tcp_if_include $net.0/24 --mca btl_tcp_if_include $net.0/24 --mca btl tcp,self --mca pml ob1
    "${analyse[@]}" --player "$form:default" --engine mpi)
row "$form, 2 hosts (veth)" "${apart[@]}"
for rate in 100mbit 10mbit 1mbit; do
    ip netns exec sortie-a tc qdisc replace dev veth-a root tbf rate $rate burst 32kbit latency 50ms
    ip netns exec sortie-b tc qdisc replace dev veth-b root tbf rate $rate burst 32kbit latency 50ms
    row "$form, 2 hosts, $rate" "${apart[@]}"
done
