#!/usr/bin/env bash
# The oldest Rust that the manifest promises (rust-version) compiles all crates with their default features. rustup fetches
# it if it is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh

version=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! cargo "+$version" --version 2>/dev/null; then
    command -v rustup >/dev/null || die "Rust $version is missing and there is no rustup to install it with"
    rustup toolchain install "$version" --profile minimal --no-self-update
fi
cargo "+$version" check --workspace --locked --target-dir "$target/msrv"
