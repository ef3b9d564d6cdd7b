"""A tree search of a class of yours that asks a function of Python about many positions at once: priors and values, as a
network gives them, in place of playouts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .asking import Job, Tree

#: A function that is asked: states, and the moves of each; what it says is a pair: for each state the priors of its moves, and
#: its value for player 0, from 0 to 1.
Prior = Callable[[list[Any], list[list[Any]]], "tuple[Sequence[Sequence[float]], Sequence[float]]"]


def grow(game: Any, root: Any, prior: Prior, limits: dict[str, Any], batch: int, c: float) -> tuple[Tree, int, float]:
    """A tree grown within limits, how many positions the function was asked about, and the seconds."""
    if batch < 1:
        raise ValueError("batch: expected a number from 1 on")
    tree = Tree(root, prior=True, c=c, players=2, values=(0.0, 1.0))
    states: dict[tuple[Any, ...], Any] = {(): root}
    begun, cpu_begun = time.perf_counter(), time.process_time()
    asked = 0
    while asked < limits.get("playouts", float("inf")):
        spent = time.perf_counter() - begun >= limits.get("seconds", float("inf"))
        if spent or time.process_time() - cpu_begun >= limits.get("cpu_seconds", float("inf")):
            break
        jobs = tree.ask(int(min(batch, limits.get("playouts", batch) - asked)))
        if not jobs:
            break
        asked += len(jobs)
        try:
            _answer(game, tree, jobs, states, prior)
        except KeyboardInterrupt:
            break
    return tree, asked, time.perf_counter() - begun


def _answer(game: Any, tree: Tree, jobs: list[Job], states: dict[tuple[Any, ...], Any], prior: Prior) -> None:
    """Answers jobs: ends by the rules, all others by one call of the function."""
    open_: list[Job] = []
    for job in jobs:
        if job.moves not in states:
            states[job.moves] = game.play(states[job.moves[:-1]], job.moves[-1])
        outcome = game.outcome(states[job.moves])
        if outcome is None:
            open_.append(job)
        else:
            tree.tell(job, float(outcome), exact=True)
    if not open_:
        return
    at = [states[job.moves] for job in open_]
    moves = [list(game.moves(state)) for state in at]
    priors, values = prior(at, moves)
    if len(priors) != len(at) or len(values) != len(at):
        raise ValueError(f"the prior answers {len(priors)} and {len(values)} of {len(at)} states")
    for job, state, legal, weights, value in zip(open_, at, moves, priors, values):
        if len(weights) != len(legal):
            raise ValueError(f"the prior gives {len(weights)} priors for {len(legal)} moves")
        to_move = 1 if game.to_move(state) == 1 else 0
        tree.tell(job, float(value), children=legal, priors=[float(w) for w in weights], to_move=to_move)  # type: ignore[arg-type]
