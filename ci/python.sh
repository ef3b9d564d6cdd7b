#!/usr/bin/env bash
# The Python package: its module is compiled, the package tested with it, its examples and its tutorial run; mypy reads the
# package and the examples strictly.
#
#     ci/python.sh              all of it; SORTIE names the command that the tests compare it with, if not target/debug/sortie
#     ci/python.sh wheel        the wheel of a release, in python/dist, installed in a fresh environment and tested there
#
# It needs Rust and a Python from 3.10 on (PYTHON names another than python3), and fetches mypy and pytest once, and maturin
# for a wheel, into the target folder. The crate is a workspace of its own: the procedural macros of PyO3 want features of
# libraries that the rest does without, and below which everything would be compiled again. So its dependencies are compiled
# here, unoptimised, which is what the tests need.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh

here=$PWD
python=${PYTHON:-python3}
environment=$tools/python-2
package=$target/python-package

# The interpreter brings its symbols with it: no libpython is wanted to link with.
export PYO3_BUILD_EXTENSION_MODULE=1
export PYTHONDONTWRITEBYTECODE=1

main() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "$python is older than Python 3.10: set PYTHON"
    PYO3_PYTHON=$(command -v "$python")
    export PYO3_PYTHON
    case ${1:-all} in
    all) all ;;
    wheel) wheel ;;
    *) die "$1: expected nothing or wheel" ;;
    esac
}

all() {
    into "$environment" new_environment mypy pytest || die "mypy and pytest could not be installed: see the lines above"
    local settings=(--manifest-path python/Cargo.toml --locked --target-dir "$target/python")
    cargo fmt --manifest-path python/Cargo.toml --check
    cargo build "${settings[@]}"
    cargo clippy "${settings[@]}" --quiet -- -D warnings
    # A copy: the sources stay free of what is compiled.
    rm -rf "$package"
    mkdir -p "$package"
    cp -r python/sortie_search "$package"
    cp "$target/python/debug/lib_native."[ds][oy]* "$package/sortie_search/_native.abi3.so"
    say "types"
    (cd python && "$environment/bin/python" -m mypy --cache-dir "$target/python/mypy" sortie_search examples bench.py)
    PYTHONPATH=$package run_tests "$environment/bin/python"
}

wheel() {
    into "$environment-maturin" new_environment 'maturin>=1.9.4,<2' || die "maturin could not be installed: see the lines above"
    rm -rf python/dist "$target/python-fresh"
    (cd python && "$environment-maturin/bin/python" -m maturin build --locked --release --target-dir "$target/python" --out dist)
    new_environment python/dist/sortie_search-*.whl pytest "$target/python-fresh"
    run_tests "$target/python-fresh/bin/python"
}

# new_environment PACKAGE... FOLDER
new_environment() {
    local folder=${*: -1}
    "$python" -m venv "$folder" &&
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check numpy networkx "${@:1:$#-1}"
}

# run_tests PYTHON: from elsewhere, so that what is tested is what was installed.
run_tests() {
    local command=${SORTIE:-$target/debug/sortie}
    [[ -x $command ]] || command=
    say "tests, with ${command:-no command} beside them"
    (cd "$target" && SORTIE=$command "$1" -m pytest -q -p no:cacheprovider "$here/python/tests")
}

main "$@"
