#!/usr/bin/env bash
# The Python package: its wheel is built, installed in a fresh environment and tested there, with its examples and its
# tutorial; mypy reads the package and the examples strictly. `SORTIE=program` has the tests compare it with the command.
#
#     ci/python.sh              all of it
#     ci/python.sh wheel        the wheel for a release, in python/dist
#
# It needs Rust and a Python from 3.10 on (PYTHON names another than python3), and fetches maturin, mypy and pytest once,
# into the target folder. The crate is a workspace of its own, so that nothing else is built again for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh

here=$PWD
python=${PYTHON:-python3}
environment=$tools/python-1
fresh=$target/python-fresh

main() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "$python is older than Python 3.10: set PYTHON"
    into "$environment" install_tools || die "maturin, mypy and pytest could not be installed: see the lines above"
    cd python
    if [[ ${1:-} = wheel ]]; then
        "$environment/bin/python" -m maturin build --locked --release --out dist
        return
    fi
    rm -rf "$fresh.wheels"
    "$environment/bin/python" -m maturin build --locked --profile quick --out "$fresh.wheels"
    install_fresh
    say "types"
    "$environment/bin/python" -m mypy --python-executable "$fresh/bin/python" sortie_search examples bench.py
    say "tests"
    # From elsewhere: what is tested is what was installed.
    (cd "$fresh" && PYTHONDONTWRITEBYTECODE=1 bin/python -m pytest -q -p no:cacheprovider "$here/python/tests")
    # Formats and lints of the crate, which no other step sees.
    cargo fmt --check
    cargo clippy --profile quick --locked -- -D warnings
}

install_tools() {
    "$python" -m venv "$1" && "$1/bin/python" -m pip install --quiet --disable-pip-version-check \
        'maturin>=1.9,<2' 'mypy>=1.10' 'pytest>=8' numpy networkx
}

# An environment with the wheel and what its tests need, and nothing that was there before.
install_fresh() {
    rm -rf "$fresh"
    "$python" -m venv --without-pip "$fresh"
    "$environment/bin/python" -m pip --python "$fresh/bin/python" install --quiet --disable-pip-version-check \
        "$fresh.wheels"/sortie_search-*.whl pytest networkx
}

main "$@"
