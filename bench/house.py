#!/usr/bin/env python3
"""The house in numbers: lines and public names of every crate, and the CPU seconds that a change costs to compile.

    bench/house.py [--check] [TREE]     TREE: another checkout to look at [this one]

Public names are those that the front page of a crate's documentation shows: public modules, and the names of `pub use` at the
root that are not hidden; beside them how many different ones there are on
all its pages, those of the public modules included. With --check a file of a rank form, of NRPA and of a page is touched in turn, and what `cargo check`
of the command then takes is measured as CPU time of all its processes, so that a busy machine does not matter much.
"""

import argparse
import os
import re
import resource
import subprocess

TOUCHED = [
    ("canopy", ["crates/rank/src/forms/canopy/mod.rs", "crates/core/src/rank/canopy/mod.rs"]),
    ("NRPA", ["crates/core/src/search/nrpa.rs"]),
    ("a page", ["crates/web/src/pages/study.rs"]),
]


def sources(crate):
    for folder, _, files in os.walk(os.path.join(crate, "src")):
        for name in files:
            if name.endswith(".rs"):
                yield os.path.join(folder, name)


def lines(crate):
    return sum(sum(1 for _ in open(path)) for path in sources(crate))


def names(path):
    """The names on the page of a module, and the public modules among them."""
    text = re.sub(r"#\[doc\(hidden\)\]\npub [^;{]*(\{[^}]*\})?;?", "", open(path).read())
    shown = re.findall(r"^pub (?:mod|(?:const |unsafe )*fn|struct|enum|trait|const|static|type) (\w+)", text, re.M)
    for item in re.findall(r"^pub use ([^;]*);", text, re.M):
        used = item.split("{")[1].rstrip(" \n}").split(",") if "{" in item else [item]
        shown += [name.split("::")[-1].split(" as ")[-1].strip() for name in used if name.strip()]
    return shown, re.findall(r"^pub mod (\w+);", text, re.M)


def pages(crate):
    """The names on the front page of a crate, and the different ones on all its pages."""
    path = os.path.join(crate, "src", "lib.rs")
    if not os.path.exists(path):
        return None
    front, modules = names(path)
    every, left = set(front), [(os.path.dirname(path), module) for module in modules]
    while left:
        folder, module = left.pop()
        files = [os.path.join(folder, f"{module}.rs"), os.path.join(folder, module, "mod.rs")]
        shown, below = names(next(file for file in files if os.path.exists(file)))
        every.update(shown)
        left += [(os.path.join(folder, module), name) for name in below]
    return len(front), len(every)


def check(tree):
    command = ["cargo", "check", "--quiet", "--locked"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=tree, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("tree", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    args = parser.parse_args()
    crates = os.path.join(args.tree, "crates")
    print("| crate | lines | public names | on all pages |\n|---|---|---|---|")
    total = 0
    for name in sorted(os.listdir(crates)):
        crate = os.path.join(crates, name)
        total += lines(crate)
        shown, all_pages = pages(crate) or ("binary", "")
        print(f"| {name} | {lines(crate):,} | {shown} | {all_pages} |")
    print(f"| all | {total:,} | | |")
    if not args.check:
        return
    check(args.tree)
    print("\n| touched | CPU seconds |\n|---|---|")
    for what, paths in TOUCHED:
        path = next(os.path.join(args.tree, path) for path in paths if os.path.exists(os.path.join(args.tree, path)))
        os.utime(path)
        print(f"| {what} | {check(args.tree):.1f} |", flush=True)


if __name__ == "__main__":
    main()
