#!/usr/bin/env bash
# The pages of `sortie serve` in a real browser: Debian's Chromium, driven by chromedriver from Python.
#
#     ci/browser.sh [FOLDER]     FOLDER: screenshots of the pages go there, to be looked at
#
# What is missing it installs with apt. Where that cannot be done the step is skipped, unless CI is "true".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. ci/common.sh

skip() {
    [[ ${CI:-} != true ]] || { echo "ci/browser.sh: $*" >&2; exit 1; }
    echo "SKIPPED: $*"
    exit 0
}

command -v python3 >/dev/null || skip "there is no python3"
if ! command -v chromedriver >/dev/null || ! command -v chromium >/dev/null; then
    packages chromium chromium-driver || skip "there is no chromium with chromedriver, and they could not be installed"
fi
build
PYTHONDONTWRITEBYTECODE=1 python3 ci/browser/test.py "$lab" "$@"
