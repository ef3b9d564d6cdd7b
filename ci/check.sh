#!/usr/bin/env bash
# All that must hold before a change goes in. People and CI run this same script; it stops at the first failure and
# ends with the time of every step.
#
# It needs bash, git, cargo and a C linker. What else is missing it fetches: rustfmt and clippy through rustup, mdBook
# into the target folder, an MPI, two engines, MariaDB and Chromium as Debian's packages, a NATS server with pip. Only the
# book and the pages may be skipped, when mdBook or Chromium cannot be had and CI is not "true".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mdbook_version=0.5.4
target=${CARGO_TARGET_DIR:-$PWD/target}
mdbook=mdbook

main() {
    command -v cargo >/dev/null || die "cargo is missing: install Rust, see https://rustup.rs"
    step tools tools
    step format cargo fmt --all --check
    step clippy cargo clippy --workspace --all-targets --locked -- -D warnings
    step tests cargo test --workspace --locked
    step neural neural
    step build cargo build --release --locked
    step signature signature
    step api-docs env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
    step book book
    step recipes ci/recipe.sh
    step mpi ci/mpi.sh openmpi
    step engines ci/engines.sh
    step grid ci/grid.sh
    step mariadb ci/mariadb.sh
    step drills ci/drills.sh
    step browser ci/browser.sh
    current=
}

tools() {
    cargo --version
    component rustfmt cargo-fmt
    component clippy cargo-clippy
    if command -v mdbook >/dev/null; then
        return
    fi
    mdbook=$target/tools/bin/mdbook
    if [[ $("$mdbook" --version 2>/dev/null) == "mdbook v$mdbook_version" ]]; then
        return
    fi
    echo "mdBook is missing: building version $mdbook_version into $target/tools"
    if ! cargo install mdbook --version "$mdbook_version" --no-default-features --locked --root "$target/tools"; then
        [[ ${CI:-} != true ]] || die "mdBook could not be built"
        mdbook=
    fi
}

# component NAME PROGRAM: a part of the Rust toolchain and the program that shows it is there.
component() {
    if ! "$2" --version 2>/dev/null; then
        command -v rustup >/dev/null || die "$1 is missing and there is no rustup to install it with"
        echo "$1 is missing: rustup adds it"
        rustup component add "$1"
    fi
}

# The networks themselves are tested with the workspace; here is the command that has them.
neural() {
    cargo clippy -p sortie --features neural --all-targets --locked -- -D warnings
    cargo test -p sortie --features neural --locked -- learning:: policy::
}

# In the tests it was the test build: optimisation must not change an answer. Not the release build: to link the libraries
# into one more program there takes as long as all of this, which the next steps want as well.
signature() {
    cargo test --profile quick --locked --config 'profile.quick.package.sortie.opt-level=0' -p sortie --test signature
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
    rows+=("$(printf '%-10s %4d s  %s' "$1" $((SECONDS - start)) "${note:-ok}")")
}

summary() {
    local code=$?
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

die() {
    echo "ci/check.sh: $*" >&2
    exit 1
}

main
