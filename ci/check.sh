#!/usr/bin/env bash
# All that must hold before a change goes in. People and CI run this same script; it stops at the first failure and ends
# with the time of every step.
#
#     ci/check.sh          everything
#     ci/check.sh quick    for people at work: format, lints and unit tests; it fetches nothing but rustfmt and clippy
#
# It needs bash, git, cargo, a C linker and python3. What else is missing it fetches: rustfmt and clippy through rustup,
# mdBook into the target folder, an MPI, two engines, MariaDB, Chromium and Rocq as Debian's packages, a NATS server with pip.
# Only the book and the pages may be skipped, when mdBook or Chromium cannot be had and CI is not "true"; they say so.
#
# All steps build the same crates with the same features and profile (ci/common.sh), so that nothing is compiled twice; the
# exceptions are named below. Studies, training by burn (ci/burn.sh) and releases (ci/release.sh) are no part of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh

mdbook_version=0.5.4
mdbook=mdbook

main() {
    command -v cargo >/dev/null || die "cargo is missing: install Rust, see https://rustup.rs"
    case ${1:-all} in
    quick) quick ;;
    all) all ;;
    *) die "$1: expected nothing or quick" ;;
    esac
    current=
}

quick() {
    step tools components
    step format cargo fmt --all --check
    step clippy cargo clippy "${portable[@]}" --all-targets -- -D warnings
    step tests cargo test "${portable[@]}" --lib --bins
}

all() {
    step tools tools
    step format cargo fmt --all --check
    step clippy cargo clippy "${everything[@]}" --all-targets -- -D warnings
    step tests cargo test "${everything[@]}"
    step programs programs
    # These build nothing, and wait as much as they compute: they go on beside what compiles.
    beside package ci/package.sh
    beside mpi ci/mpi.sh openmpi
    beside engines ci/engines.sh
    beside proofs ci/proofs.sh
    beside grid ci/grid.sh
    beside mariadb ci/mariadb.sh
    beside drills ci/drills.sh
    beside browser ci/browser.sh
    start
    step default default
    step api-docs env RUSTDOCFLAGS="-D warnings" cargo doc "${everything[@]}" --no-deps
    step book book
    step python ci/python.sh
    step outside ci/outside.sh
    join
}

components() {
    cargo --version
    component rustfmt cargo-fmt
    component clippy cargo-clippy
}

tools() {
    components
    # One call for all packages: each script below would ask for its own.
    local names=()
    mpi_ready || names+=(openmpi-bin libopenmpi-dev libclang-dev)
    PATH=$PATH:/usr/games command -v stockfish gnugo >/dev/null || names+=(stockfish gnugo)
    PATH=$PATH:/usr/sbin command -v mariadbd >/dev/null || names+=(mariadb-server)
    command -v chromium chromedriver >/dev/null || names+=(chromium chromium-driver)
    command -v coqc >/dev/null || names+=(coq)
    if ((${#names[@]})); then
        packages "${names[@]}" || echo "they could not be installed: the steps that need them will say so"
        export MPICC=${MPICC:-mpicc.openmpi}
    fi
    mpi_install
    if command -v mdbook >/dev/null; then
        return
    fi
    mdbook=$tools/mdbook-$mdbook_version/bin/mdbook
    if ! into "$tools/mdbook-$mdbook_version" install_mdbook; then
        [[ ${CI:-} != true ]] || die "mdBook could not be built"
        mdbook=
    fi
}

install_mdbook() {
    echo "mdBook is missing: building version $mdbook_version into $tools"
    # The figures of a release are not wanted here, only a program that runs.
    cargo install mdbook --version "$mdbook_version" --no-default-features --locked --debug --root "$1"
}

# component NAME PROGRAM: a part of the Rust toolchain and the program that shows it is there.
component() {
    if ! "$2" --version 2>/dev/null; then
        command -v rustup >/dev/null || die "$1 is missing and there is no rustup to install it with"
        echo "$1 is missing: rustup adds it"
        rustup component add "$1"
    fi
}

# The programs with all features, where no other build replaces them.
programs() {
    build
    export BUILT=$target/programs SORTIE=$target/programs/sortie
    rm -rf "$BUILT"
    mkdir -p "$BUILT/examples"
    cp "$sortie" "$lab" "$BUILT"
    cp "$examples/drill" "$examples/rogue" "$BUILT/examples"
}

# The command as most people build it, without features: it compiles, and what is not in it says so. The crates below it are
# tried as the tests have built them. Whether optimisation changes an answer is asked by ci/release.sh, whose build takes
# minutes.
default() {
    cargo check --locked
    local below=(--workspace --locked --features sortie-grid/nats,sortie-rank/mpi,sortie-store/mariadb)
    cargo clippy "${below[@]}" --all-targets -- -D warnings
    cargo test "${below[@]}" --test program -- a_build_without database::
}

book() {
    if [[ -z $mdbook ]]; then
        note="SKIPPED: no mdBook"
        return
    fi
    "$mdbook" build docs --dest-dir "$target/book"
}

rows=()
current=
note=

# step NAME COMMAND...
step() {
    current=$1
    note=
    local start=$SECONDS
    printf '\n== %s: %s\n' "$1" "${*:2}"
    "${@:2}"
    rows+=("$(row "$1" $((SECONDS - start)) "${note:-ok}")")
}

row() {
    printf '%-10s %4d s  %s' "$@"
}

steps_beside=()
beside=
notes=

# beside NAME SCRIPT [WORD...]: a step for `start`, which goes through them one after the other in the background; `join` waits
# for the last one and prints what they said.
beside() {
    steps_beside+=("$*")
}

start() {
    notes=$(mktemp -d)
    # A group of its own, to be ended with all that it started.
    set -m
    go_beside >"$notes/said" 2>&1 &
    beside=$!
    set +m
}

go_beside() {
    local name command start
    for one in "${steps_beside[@]}"; do
        read -r name command <<<"$one"
        start=$SECONDS
        printf '\n== %s: %s (beside)\n' "$name" "$command"
        echo "$name" >"$notes/current"
        # shellcheck disable=SC2086
        $command
        row "$name" $((SECONDS - start)) ok >>"$notes/rows"
        echo >>"$notes/rows"
    done
    rm "$notes/current"
}

join() {
    local code=0
    current=beside
    wait "$beside" || code=$?
    beside=
    cat "$notes/said"
    mapfile -t -O ${#rows[@]} rows <"$notes/rows"
    if [[ $code != 0 ]]; then
        current=$(cat "$notes/current")
        exit "$code"
    fi
}

summary() {
    local code=$?
    if [[ -n $beside ]]; then
        kill -TERM -- "-$beside" 2>/dev/null || true
        wait "$beside" 2>/dev/null || true
        cat "$notes/said"
    fi
    [[ -z $notes ]] || rm -rf "$notes"
    printf '\n'
    if ((${#rows[@]})); then
        printf '%s\n' "${rows[@]}"
    fi
    if [[ $code != 0 || -n $current ]]; then
        printf '%-10s %6s  FAILED (%d s in all)\n' "${current:-check}" "" "$SECONDS" >&2
        exit $((code ? code : 1))
    fi
    printf 'all is well (%d s in all)\n' "$SECONDS"
}
trap summary EXIT

main "$@"
