"""Programs written word by word, with an evaluation that is slow: a language model or a simulator in your case, a sleep and
a known function here. The same search twice: with futures, and with asyncio.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

import sortie_search as so

WORDS = ["x", "+", "*", "1", "2", "end"]
LENGTH = 7
SECONDS = 0.001


def evaluate(program: tuple[str, ...]) -> tuple[float, list[float]]:
    """How well a program computes 2 * x + 1, from 0 to 1, and how likely each next word is: what a model would say."""
    time.sleep(SECONDS)
    text = " ".join(word for word in program if word != "end")
    try:
        error = sum(abs(eval(text, {"x": x}) - (2 * x + 1)) for x in range(4)) if text else 99.0
        value = 1 / (1 + error)
    except (SyntaxError, TypeError):
        value = 0.0
    number = not program or program[-1] in "+*"
    return value, [1.0 if (word in ("x", "1", "2")) == number else 0.1 for word in WORDS]


def children(program: tuple[str, ...]) -> list[str]:
    return [] if program[-1:] == ("end",) or len(program) == LENGTH else WORDS


def with_futures(answers: int, at_once: int) -> so.Tree:
    tree = so.Tree(prior=True, values=(0, 1), greed=0.5)
    with ThreadPoolExecutor(at_once) as pool:
        flying: dict[Future[tuple[float, list[float]]], so.Job] = {}
        while tree.counts.told < answers:
            for job in tree.ask(at_once - len(flying)):
                flying[pool.submit(evaluate, job.moves)] = job
            if not flying:
                break  # All is proved: a value of 1 cannot be beaten.
            done = next(as_completed(flying))
            job = flying.pop(done)
            value, priors = done.result()
            below = children(job.moves)
            tree.tell(job, value, children=below, priors=priors if below else None)
    return tree


async def with_asyncio(answers: int, at_once: int) -> so.Tree:
    tree = so.Tree(prior=True, values=(0, 1), greed=0.5)

    async def work() -> None:
        while tree.counts.told < answers and tree.proven is None:
            for job in tree.ask(1):
                value, priors = await asyncio.to_thread(evaluate, job.moves)
                below = children(job.moves)
                tree.tell(job, value, children=below, priors=priors if below else None)
            await asyncio.sleep(0)

    await asyncio.gather(*(work() for _ in range(at_once)))
    return tree


def main(answers: int = 300, at_once: int = 16) -> list[so.Node]:
    best = []
    for tree in (with_futures(answers, at_once), asyncio.run(with_asyncio(answers, at_once))):
        node = tree.best()
        assert node is not None and node.value is not None
        print(f"{' '.join(node.moves)}: {node.value:.2f}, after {tree.counts.told} evaluations")
        best.append(node)
    return best


if __name__ == "__main__":
    main()
