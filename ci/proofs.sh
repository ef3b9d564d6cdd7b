#!/usr/bin/env bash
# Certificates and checkers that share nothing with us: proofs/check.c and proofs/hex.c are compiled and go through the
# certificates that are kept in proofs/ and through new ones; damaged and forged ones are refused, by them and by
# `sortie verify`.
# Where Rocq (Coq) is at hand its checker is proved and goes through exported strategies, too.
# Usage: ci/proofs.sh [SORTIE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

. ci/common.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

main() {
    command -v cc >/dev/null || die "missing: cc"
    command -v python3 >/dev/null || die "missing: python3"
    if [[ -n ${1:-} ]]; then sortie=$1; else build; fi
    sortie=$(realpath "$sortie")
    for checker in check hex; do
        (($(wc -l <"proofs/$checker.c") <= 300)) || die "proofs/$checker.c has more than 300 lines"
        cc -O2 -std=c99 -pedantic -Wall -Wextra -Werror -o "$folder/$checker" "proofs/$checker.c"
    done

    say "the certificates that are kept"
    "$folder/check" proofs/small/*.cert >"$folder/kept"
    "$folder/hex" proofs/hex/*.cert >>"$folder/kept"
    "$sortie" verify proofs/*/*.cert >/dev/null
    echo "$(wc -l <"$folder/kept") hold"

    say "new ones"
    cd "$folder"
    make nim nim/21 "first wins"
    make lost nim/20 "second wins"
    make three tictactoe/3 "first draws at least"
    make third tictactoe/3 "second draws at least"
    make rows breakthrough/4x4 "first wins"
    make four connect4/7x6 "first wins" --moves "g e e g f f a f c d c a f"
    # By a tree of jobs, without a claim.
    "$sortie" prove tictactoe/3 --moves a1 --certificate jobs.cert --out jobs --quiet >/dev/null
    mkdir lines
    "$sortie" prove hex/4 --moves d1 --certificate lines/jobs.cert --out hexes --quiet >/dev/null
    make lines/a1 hex/4 "second wins" --moves a1
    make lines/e2 hex/5 "first wins" --moves e2
    ./check ./*.cert
    ./hex lines/*.cert
    "$sortie" verify ./*.cert lines/*.cert

    say "a claim that does not hold gives no certificate"
    if "$sortie" prove hex/4 --moves a1 --claim "first wins" --certificate false.cert --quiet 2>said; then
        die "a false claim was certified"
    fi
    grep -q "the claim does not hold here" said && [[ ! -e false.cert ]] || die "$(cat said)"

    say "every flipped bit is refused"
    flip third.cert ./check
    flip lines/e2.cert ./hex
    if "$sortie" verify flipped/0 flipped/99 flipped/999 >/dev/null 2>&1; then
        die "verify takes a flipped bit"
    fi

    say "forgeries with a checksum that fits are refused, with the place"
    forge short 'body = body[: len(body) // 2]' "there is no answer here"
    forge other 'text = text.replace(b"draws at least", b"wins")' "."
    forge side 'text = text.replace(b"second draws", b"first draws")' "."
    forge long 'body += b"more"' "."
    forge bits 'text = re.sub(rb"bits = \d+", b"bits = 1", text)' "."
    forge count 'text = re.sub(rb"positions = \d+", b"positions = 9", text)' "."
    forge missing 'body = body[: len(body) // 2]' "." lines/e2.cert ./hex
    forge loser 'text = text.replace(b"first wins", b"second wins")' "." lines/e2.cert ./hex
    forge opening 'text = text.replace(b"moves = e2", b"moves = a1")' "." lines/e2.cert ./hex
    forge rest 'body += b"more"' "." lines/e2.cert ./hex

    say "Rocq"
    rocq
}

# Strategies as terms, for the checker that is proved in proofs/rocq/Strategy.v.
rocq() {
    if ! command -v coqc >/dev/null && ! packages coq; then
        [[ ${CI:-} != true ]] || die "coqc is missing (Debian: coq)"
        echo "coqc is missing (Debian: coq): nothing was checked there"
        return
    fi
    mkdir rocq
    cp "$OLDPWD/proofs/rocq/Strategy.v" rocq
    term nim nim/21
    term draw tictactoe/3 --moves "b2 a1 c3 a3"
    term hex hex/3 --moves a1
    (cd rocq && for file in Strategy nim draw hex; do coqc -q -Q . Sortie "$file.v"; done)
    # Another strategy proves nothing.
    sed -i '0,/Play 0/s//Play 1/' rocq/nim.v
    if (cd rocq && coqc -q -Q . Sortie nim.v >said 2>&1); then die "Rocq takes a strategy that loses"; fi
}

# term NAME INSTANCE OPTIONS...
term() {
    "$sortie" prove "$2" "${@:3}" --proof "$1.proof" --out "run-$1" --quiet >/dev/null
    "$sortie" convert "$1.proof" --to rocq --out "rocq/$1.v"
}

# make NAME INSTANCE CLAIM OPTIONS...
make() {
    "$sortie" prove "$2" --claim "$3" --certificate "$1.cert" --job-nodes 100000 --quiet "${@:4}" >/dev/null
}

# flip FILE CHECKER: every file that differs in one bit must be refused.
flip() {
    rm -rf flipped
    mkdir flipped
    python3 - "$1" <<'PYTHON'
import sys
whole = open(sys.argv[1], "rb").read()
for bit in range(8 * len(whole)):
    one = bytearray(whole)
    one[bit // 8] ^= 1 << bit % 8
    open(f"flipped/{bit}", "wb").write(one)
PYTHON
    if find flipped -type f -print0 | xargs -0 -n 500 "$2" 2>/dev/null | grep OK; then
        die "$2 takes a flipped bit"
    fi
}

# forge NAME CHANGE PATTERN [FILE CHECKER]: changes the text or the body of a certificate; the checker must refuse it with
# these words.
forge() {
    local file=${4:-third.cert} checker=${5:-./check}
    python3 - "$1" "$2" "$file" <<'PYTHON'
import re, sys
text, rest = open(sys.argv[3], "rb").read().split(b"\n\n", 1)
body = rest[:-8]
exec(sys.argv[2])
whole = text + b"\n\n" + body
checksum = 0xCBF29CE484222325
for byte in whole:
    checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
open("forged-" + sys.argv[1], "wb").write(whole + checksum.to_bytes(8, "big"))
PYTHON
    if "$checker" "forged-$1" 2>said; then die "$checker takes the forgery '$1'"; fi
    grep -q "layer [0-9]*, position [0-9]*" said && grep -q "$3" said || die "forgery '$1': $(cat said)"
    if "$sortie" verify "forged-$1" >said 2>&1; then die "verify takes the forgery '$1'"; fi
    grep -q "layer [0-9]*, position [0-9]*" said || die "forgery '$1': $(cat said)"
}

main "$@"
