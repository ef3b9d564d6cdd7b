#!/usr/bin/env bash
# The fuzz targets for a night, guided by coverage, on stable: fuzz/night.sh HOURS [TARGET...]. What goes wrong is written
# into fuzz/regressions and ends the night with code 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
hours=${1:?hours, as in fuzz/night.sh 8}
shift
# Counters alone: nobody reads a profile. They are compiled into a folder of their own.
export RUSTFLAGS="${RUSTFLAGS:-} -C instrument-coverage --cfg fuzz_coverage" LLVM_PROFILE_FILE=/dev/null
exec nice -n 19 cargo run --profile quick -p sortie-fuzz --target-dir target/fuzz -- --hours "$hours" "$@"
