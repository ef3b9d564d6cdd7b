#!/usr/bin/env bash
# The pages of `sortie serve` in a real browser: Debian's Chromium, driven by chromedriver from Python.
#
#     ci/browser.sh [FOLDER]     FOLDER: screenshots of the pages go there, to be looked at
#
# What is missing it installs with apt. Where that cannot be done the step is skipped, unless CI is "true".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

profile=${SORTIE_PROFILE:-release}
target=${CARGO_TARGET_DIR:-$PWD/target}

skip() {
    [[ ${CI:-} != true ]] || { echo "ci/browser.sh: $*" >&2; exit 1; }
    echo "SKIPPED: $*"
    exit 0
}

command -v python3 >/dev/null || skip "there is no python3"
if ! command -v chromedriver >/dev/null || ! command -v chromium >/dev/null; then
    command -v apt-get >/dev/null || skip "there is no chromium with chromedriver, and no apt-get to install them with"
    echo "chromium is missing: apt-get installs it"
    { apt-get update -qq && apt-get install -y -qq chromium chromium-driver >/dev/null; } || skip "chromium could not be installed"
fi
cargo build --profile "$profile" --locked -p sortie
PYTHONDONTWRITEBYTECODE=1 python3 ci/browser/test.py "$target/$profile/sortie" "$@"
