#!/usr/bin/env bash
# Whether every crate can be published: all are packed in the order in which they need each other, what is packed holds all
# that is built from, metadata is complete, and every dependency has a licence and a source that deny.toml allows.
#
#     ci/package.sh          packs, and looks at what is in it
#     ci/package.sh verify   also builds every package by itself, from what is in it: minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
settings=(--workspace --locked --allow-dirty --target-dir "$target/package")
[[ ${1:-} = verify ]] || settings+=(--no-verify)

cargo metadata --format-version 1 --locked --features "$features" >"$folder/metadata.json"
cargo package "${settings[@]}" --quiet
for name in $(python3 ci/package.py names "$folder/metadata.json"); do
    cargo package --locked --allow-dirty --quiet --list -p "$name" >"$folder/$name.list"
done
python3 ci/package.py check "$folder/metadata.json" "$folder" deny.toml
