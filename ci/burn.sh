#!/usr/bin/env bash
# Training by burn: its gradients against ours on the processor, and the command with it. No part of ci/check.sh, since
# the framework takes minutes to compile; GPUs run the same code. Usage: ci/burn.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo clippy -p sortie-neural --features burn --all-targets --locked -- -D warnings
cargo test -p sortie-neural --features burn --lib --locked train::
