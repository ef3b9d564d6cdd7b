#!/usr/bin/env bash
# A release: what is unreleased in CHANGELOG.md gets a version and a date, the manifest its version, the commit its tag, and
# the command is packed for this machine's kind with checksums. Nothing leaves the machine: the last lines say what to push
# and to publish.
#
#     ci/release.sh VERSION           all of it; the tree must be clean, and ci/check.sh green
#     ci/release.sh archive           only the archive, of what is checked out, into target/release-archives
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/common.sh

out=$target/release-archives

main() {
    case ${1:-} in
    archive) archive ;;
    [0-9]*.[0-9]*.[0-9]*) release "$1" ;;
    *) die "expected a version such as 0.2.0, or archive" ;;
    esac
}

release() {
    local version=$1
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || die "$version: expected MAJOR.MINOR.PATCH"
    [[ -z $(git status --porcelain) ]] || die "the tree is not clean"
    ! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "v$version is there already"
    python3 - "$version" "$(date -u +%F)" <<'END_OF_PYTHON'
import re, sys
version, day = sys.argv[1:]

def change(path, pattern, new, count=1):
    with open(path) as file:
        text = file.read()
    text, times = re.subn(pattern, new, text, flags=re.M)
    if times < count:
        sys.exit(f"{path}: nothing like {pattern}")
    with open(path, "w") as file:
        file.write(text)

change("CHANGELOG.md", r"^## Unreleased$", f"## Unreleased\n\n## {version}, {day}")
with open("Cargo.toml") as file:
    old = re.search(r'^version = "(.*)"$', file.read(), re.M).group(1)
change("Cargo.toml", rf'^version = "{re.escape(old)}"$', f'version = "{version}"')
# Crates of the workspace need each other in just this version.
change("Cargo.toml", rf'(path = "[^"]*", version = )"=?{re.escape(old)}"', rf'\g<1>"{version}"')
change("CITATION.cff", r"^version: .*\n(date-released: .*\n)?", f"version: {version}\ndate-released: {day}\n")
END_OF_PYTHON
    cargo update --workspace --quiet
    ci/package.sh
    # Optimisation must not change an answer: the signature is that of the tests.
    cargo test --profile quick --locked -p sortie --test signature
    archive
    git commit -qam "Version $version"
    git tag -a "v$version" -m "Sortie $version" -m "$(notes "$version")"
    say "tagged v$version. What is left:"
    echo "git push origin HEAD v$version"
    echo "cargo publish --workspace --locked"
    echo "and $out/* with the release"
}

# notes VERSION: what the changelog says about it.
notes() {
    awk -v title="## $1" 'index($0, title) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md
}

# One folder in a .tar.gz: the command, its manual pages and completions, licences, the changelog. Files come in one order
# with one time and one owner, so that the same commit gives the same bytes.
archive() {
    cargo build --release --locked --features grid,mariadb,neural --bin sortie
    local program=$target/release/sortie kind version name stage
    kind=$(rustc -vV | sed -n 's/^host: //p')
    version=$("$program" --version | awk '{ print $2 }')
    name=sortie-$version-$kind
    stage=$(mktemp -d)
    mkdir -p "$stage/$name/completions" "$out"
    cp "$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE CITATION.cff "$stage/$name"
    "$program" man --dir "$stage/$name/man"
    local shell
    for shell in bash zsh fish; do
        "$program" completions "$shell" >"$stage/$name/completions/sortie.$shell"
    done
    tar --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner -C "$stage" -cf - "$name" |
        gzip -9n >"$out/$name.tar.gz"
    rm -rf "$stage"
    (cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256" && sha256sum -c "$name.tar.gz.sha256")
}

main "$@"
