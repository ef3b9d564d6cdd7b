#!/usr/bin/env bash
# Follows the recipes of CONTRIBUTING.md on a copy of the sources, so that the text itself is what is tested.
# A block of code counts if one of these comments stands in the line above it:
#
#   <!-- recipe: new FILE -->                 the block is the file
#   <!-- recipe: before "TEXT" in FILE -->    the block goes above the one line that holds TEXT
#   <!-- recipe: after "TEXT" in FILE -->     or below it
#   <!-- recipe: run -->                      the block is commands; a test among them must have run something
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/sortie
mkdir "$copy"

main() {
    # With their times, so that cargo sees what has not changed.
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        if [[ -e $file ]]; then printf '%s\0' "$file"; fi
    done | tar --null -T - -cf - | tar -xf - -C "$copy"
    # Other crates than the real ones in cargo's eyes: they share the target folder and must not take their places.
    sed -i.bak 's/^version = .*/version = "0.0.0-recipe"/' "$copy/Cargo.toml"
    # They are compiled twice, and search for a moment only.
    local manifest name
    for manifest in "$copy"/crates/*/Cargo.toml; do
        name=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$manifest" | head -1)
        # The manifest says it of some already.
        grep -qF "[profile.dev.package.$name]" "$copy/Cargo.toml" ||
            printf '\n[profile.dev.package.%s]\nopt-level = 0\n' "$name" >>"$copy/Cargo.toml"
    done

    local n=0 line where
    while IFS= read -r line <&3; do
        n=$((n + 1))
        [[ $line =~ ^'<!-- recipe: '(.*)' -->'$ ]] || continue
        where=${BASH_REMATCH[1]}
        # An example of a crate is built and tested with it.
        [[ $where != */examples/* ]] || continue
        block "$n" >"$work/block"
        [[ -s $work/block ]] || die "line $n: no block of code follows"
        echo "-- CONTRIBUTING.md:$n: $where"
        follow "$n" "$where"
    done 3<CONTRIBUTING.md
    ((found)) || die "no recipes"
}

found=0

follow() {
    local file text side
    if [[ $2 == run ]]; then
        (cd "$copy" && bash -euo pipefail "$work/block") 2>&1 | tee "$work/log"
        if grep -q '^cargo test' "$work/block"; then
            grep -q '^test .* ok$' "$work/log" || die "line $1: no test ran"
        fi
        found=1
    elif [[ $2 =~ ^new\ (.+)$ ]]; then
        file=$copy/${BASH_REMATCH[1]}
        [[ ! -e $file ]] || die "line $1: ${BASH_REMATCH[1]} is there already"
        cp "$work/block" "$file"
    elif [[ $2 =~ ^(before|after)\ \"(.+)\"\ in\ (.+)$ ]]; then
        side=${BASH_REMATCH[1]} text=${BASH_REMATCH[2]} file=$copy/${BASH_REMATCH[3]}
        [[ $(grep -cF -- "$text" "$file") == 1 ]] || die "line $1: not one line with '$text' in ${BASH_REMATCH[3]}"
        SIDE=$side TEXT=$text awk -v block="$work/block" '
            function insert(   line) { while ((getline line < block) > 0) print line }
            { here = index($0, ENVIRON["TEXT"]) }
            here && ENVIRON["SIDE"] == "before" { insert() }
            { print }
            here && ENVIRON["SIDE"] == "after" { insert() }' "$file" >"$work/new"
        cp "$work/new" "$file"
    else
        die "line $1: cannot follow '$2'"
    fi
}

# The block of code that begins in the line after this one.
block() {
    awk -v at="$1" 'NR == at + 1 && /^```/ { inside = 1; next } /^```/ { if (inside) exit } inside' CONTRIBUTING.md
}

die() {
    echo "ci/recipe.sh: CONTRIBUTING.md: $*" >&2
    exit 1
}

main
