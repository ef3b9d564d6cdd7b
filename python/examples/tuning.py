"""Hyper-parameters by ask and tell: a tree that grows where the answers are good. Here training is a known function; put
yours in its place, in as many threads, processes or machines as you have.
"""

from __future__ import annotations

import math
import random
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

import sortie_search as so

# Rate (as a power of ten), layers, dropout.
Setting = tuple[float, float, float]


def train(setting: Setting) -> float:
    """The accuracy: best at a rate of 10^-3, five layers and a dropout of 0.2."""
    rate, layers, dropout = setting
    return 0.95 * math.exp(-((rate + 3) ** 2) / 2 - (layers - 5) ** 2 / 20 - (dropout - 0.2) ** 2 / 0.3)


def near(setting: Setting, depth: int, chance: random.Random) -> Setting:
    """A setting beside another, the closer the deeper we are."""
    reach = 0.5**depth
    rate, layers, dropout = setting
    return (
        min(0.0, max(-6.0, rate + 2 * reach * chance.gauss(0, 1))),
        min(12.0, max(1.0, layers + 4 * reach * chance.gauss(0, 1))),
        min(0.9, max(0.0, dropout + 0.4 * reach * chance.gauss(0, 1))),
    )


def main(trials: int = 200, at_once: int = 8) -> so.Node:
    chance = random.Random(1)
    start: Setting = (-1.0, 2.0, 0.5)
    tree = so.Tree(root=start, width=3, growth=0.4, values=(0, 1), greed=0.5, c=0.3)
    flying: dict[Future[float], tuple[so.Job, Setting]] = {}
    with ThreadPoolExecutor(at_once) as pool:

        def begin() -> None:
            for job in tree.ask(at_once - len(flying)):
                setting: Setting = near(job.state, len(job.moves), chance) if job.make else job.state
                flying[pool.submit(train, setting)] = (job, setting)

        begin()
        while tree.counts.told < trials:
            done = next(as_completed(flying))
            job, setting = flying.pop(done)
            if done.exception() is not None:
                tree.drop(job)  # This one was lost; the tree asks for another.
            else:
                tree.tell(job, done.result(), state=setting, move=setting)
            begin()
    best = tree.best()
    assert best is not None and best.value is not None
    shown = ", ".join(f"{name} {value:.2f}" for name, value in zip(("rate 10^", "layers", "dropout"), best.state))
    print(f"accuracy {best.value:.3f} with {shown}, after {tree.counts.told} trainings")
    return best


if __name__ == "__main__":
    main()
