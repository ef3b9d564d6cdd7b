"""``python -m sortie_search verify DIR``, ``resume DIR`` and ``runs DIR``: what the command cannot do for classes of Python."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any

from .problem import ProblemError
from .run import resume, runs, verify
from .stopping import seconds


def main(words: list[str] | None = None) -> int:
    """Runs a command; 0 is well, 1 not verified, 2 misuse."""
    parser = argparse.ArgumentParser(prog="python -m sortie_search", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in [("verify", "replay the best of a run, or a record"), ("resume", "go on with a run")]:
        command = commands.add_parser(name, help=about)
        command.add_argument("path")
        command.add_argument("--problem", help="MODULE:EXPRESSION, as in knapsack:Knapsack(30)")
        if name == "resume":
            command.add_argument("--seconds", type=float, help="this much longer")
            command.add_argument("--workers", type=int, default=1)
    listing = commands.add_parser("runs", help="the runs below a folder")
    listing.add_argument("path", nargs="?", default="runs")
    given = parser.parse_args(words)
    try:
        if given.command == "runs":
            for run in runs(given.path):
                print(f"{run.path}  {run.instance}  {run.state}  best {run.best}")
            return 0
        problem = evaluate(given.problem) if given.problem else None
        if given.command == "verify":
            score = verify(given.path, problem=problem)
            print(f"OK  score {score:g}  {given.path}")
            return 0
        stop = None if given.seconds is None else seconds(given.seconds)
        result = resume(given.path, problem=problem, stop=stop, workers=given.workers)
        print(f"score {result.score}  {result.reason}  {given.path}")
        return 0
    except ProblemError as error:
        print(f"sortie-search: {error}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"{given.path}: WRONG  {error}", file=sys.stderr)
        return 1
    except (OSError, TypeError) as error:
        print(f"sortie-search: {error}", file=sys.stderr)
        return 2


def evaluate(text: str) -> Any:
    """An object, as the command line names it."""
    name, colon, expression = text.partition(":")
    if not colon:
        raise TypeError(f"--problem {text}: expected MODULE:EXPRESSION")
    sys.path.insert(0, os.getcwd())
    return eval(expression, vars(importlib.import_module(name)))


if __name__ == "__main__":
    sys.exit(main())
