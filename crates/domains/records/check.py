#!/usr/bin/env python3
"""Checks the words of circuit-codes.txt by the definition alone; needs nothing but Python 3.

A line is: snake or coil, dimension, spread, length, source, word. The word has one hexadecimal digit an edge, the
dimension that it flips. Two vertices must be at least as far apart in the cube as the lesser of the spread and their
distance along the path; along a coil that is the shorter way round. `check.py --decimal` prints the words with the
dimensions as decimal numbers, `check.py FILE` reads another file.
"""
import os
import sys


def fault(kind, dimension, spread, length, word):
    """What is wrong with a word, or None."""
    flips = [int(digit, 16) for digit in word]
    if len(flips) != length:
        return f"has {len(flips)} edges"
    if max(flips) >= dimension:
        return "leaves the cube"
    vertices = [0]
    for flip in flips:
        vertices.append(vertices[-1] ^ 1 << flip)
    closed = kind == "coil"
    if closed and vertices.pop() != 0:
        return "is not closed"
    for j, v in enumerate(vertices):
        for i in range(j):
            along = min(j - i, length - j + i) if closed else j - i
            if bin(v ^ vertices[i]).count("1") < min(along, spread):
                return f"comes too near to itself: vertices {i} and {j}"
    return None


def main():
    names = [name for name in sys.argv[1:] if name != "--decimal"]
    path = names[0] if names else os.path.join(os.path.dirname(os.path.abspath(__file__)), "circuit-codes.txt")
    good = bad = 0
    with open(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("#") or not line.strip():
                continue
            kind, dimension, spread, length, source, word = line.split()
            what = f"{kind} ({dimension}, {spread}) of length {length}"
            wrong = fault(kind, int(dimension), int(spread), int(length), word)
            if wrong:
                bad += 1
                print(f"{path}:{number}: {what} {wrong}")
                continue
            good += 1
            if "--decimal" in sys.argv:
                print(f"{what}, {source}:", *(int(digit, 16) for digit in word))
    print(f"{good} words hold, {bad} do not")
    return 1 if bad or not good else 0


sys.exit(main())
