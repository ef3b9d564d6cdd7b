"""Searches that are asked what to evaluate and told what came of it: ``Tree`` and ``Policy``.

Whoever evaluates may be anybody: threads, processes, machines; answers may come in any order, hundreds may be in flight,
and what is lost is given back. What is in flight counts as it does in our own searches, so that a large batch does not all
go one way.
"""

from __future__ import annotations

import html
import json
import os
import pickle
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from . import _native
from .folder import replace

#: The first bytes of saved trees and policies; the number is the version of the format.
TREE_MAGIC = b"sortie tree 1\n"
POLICY_MAGIC = b"sortie policy 1\n"
#: Nodes of a picture.
PICTURE_NODES = 60


@dataclass(frozen=True)
class Job:
    """A node to be evaluated; in a grown tree a node to make a child of (``make``). It can be pickled."""

    id: int
    node: int
    #: The node's state, if it was given one.
    state: Any
    #: The moves from the root to the node.
    moves: tuple[Any, ...]
    #: In a grown tree: the answer is a new child of this node.
    make: bool = False


@dataclass(frozen=True)
class Counts:
    """Where the jobs are: ``asked == told + in_flight + dropped``."""

    asked: int
    told: int
    in_flight: int
    dropped: int
    nodes: int


@dataclass(frozen=True)
class Node:
    """A node: ``mean`` and ``best`` are of all answers below it, ``value`` is its own, ``proven`` its exact value."""

    id: int
    state: Any = field(repr=False)
    moves: tuple[Any, ...]
    visits: int
    in_flight: int
    mean: float | None
    best: float | None
    value: float | None
    proven: float | None
    prior: float
    second: bool

    @property
    def move(self) -> Any:
        """The move that leads here."""
        return self.moves[-1] if self.moves else None


class Tree:
    """A tree search that asks for evaluations.

    ``ask`` gives jobs, ``tell`` takes what came of them: a value, and of a tree that lists its children which ones there
    are. With ``width`` the tree grows instead (progressive widening): a node with n visits has about ``width * n **
    growth`` children, each made by a job. Values are rewards, larger is better; ``values`` is their range where it is
    known (then a best possible value is proved at once), else what was seen so far. With ``players=2`` the sides move in
    turn, or as ``tell(to_move=)`` says, and values are the first one's. ``greed`` weighs the best value below a node beside
    the mean. ``noisy``: evaluations of an end differ, so it is asked for again.
    """

    def __init__(
        self,
        root: Any = None,
        *,
        prior: bool = False,
        c: float | None = None,
        values: tuple[float, float] | None = None,
        players: Literal[1, 2] = 1,
        width: float | None = None,
        growth: float = 0.5,
        noisy: bool = False,
        counting: Literal["mixed", "unobserved", "virtual-loss", "ignore"] = "mixed",
        greed: float = 0.0,
    ) -> None:
        if players not in (1, 2):
            raise ValueError("players: expected 1 or 2")
        rules = {
            "c": c if c is not None else (1.25 if prior else 0.7),
            "prior": prior,
            "range": values,
            "two": players == 2,
            "grown": None if width is None else (width, growth),
            "noisy": noisy,
            "counting": counting,
            "greed": greed,
        }
        self._grown = width is not None
        self._native = _native.Grove(json.dumps(rules), root)

    def ask(self, n: int = 1) -> list[Job]:
        """Up to ``n`` jobs. Fewer, where nothing more can be asked for before answers come; none ever, where all is
        proved."""
        if n < 0:
            raise ValueError("n: expected a number from 0 on")
        grown = self._grown
        return [Job(id, node, state, moves, grown and made) for id, node, state, moves, made in self._native.ask(n)]

    def tell(
        self,
        job: Job | int,
        value: float,
        *,
        children: Sequence[Hashable] | None = None,
        states: Sequence[Any] | None = None,
        priors: Sequence[float] | None = None,
        state: Any = None,
        move: Any = None,
        exact: bool = False,
        to_move: Literal[0, 1] | None = None,
    ) -> int:
        """The answer of a job; returns its node.

        ``children`` are the moves from there, ``states`` and ``priors`` theirs; none: it is an end. In a grown tree
        ``state`` and ``move`` are the new child's. ``exact``: the value is the true one.
        """
        id = job if isinstance(job, int) else job.id
        moves = [] if children is None else list(children)
        after = [] if states is None else list(states)
        weights = [] if priors is None else [float(p) for p in priors]
        if self._grown and (moves or after or weights):
            raise ValueError("a grown tree has no children to list: tell state= and move=")
        second = None if to_move is None else to_move == 1
        grown = (move, state) if self._grown else None
        return self._native.tell(id, float(value), moves, after, weights, exact, second, grown)

    def drop(self, job: Job | int) -> bool:
        """Gives a job back that nobody will answer; false if it is not out."""
        return self._native.drop_job(job if isinstance(job, int) else job.id)

    def out(self) -> list[Job]:
        """The jobs that are out: after a ``load``, those to be evaluated again or dropped."""
        return [Job(id, node, state, moves, self._grown and made) for id, node, state, moves, made in self._native.out()]

    @property
    def counts(self) -> Counts:
        """Where the jobs are."""
        return Counts(*self._native.counts())

    def __len__(self) -> int:
        return self._native.counts()[4]

    def node(self, id: int = 0) -> Node:
        """A node; 0 is the root."""
        visits, flying, total, best, proven, prior, value, second = self._native.node(id)
        state, moves = self._native.place(id)
        seen = visits > 0
        mean = total / visits if seen else None
        return Node(id, state, moves, visits, flying, mean, best if seen else None, value, proven, prior, second)

    def children(self, id: int = 0) -> list[Node]:
        """The children of a node, most visited first."""
        return sorted((self.node(child) for child in self._native.children(id)), key=lambda n: -n.visits)

    def best(self) -> Node | None:
        """The node with the best value of its own, of one player; of two, the end of the main line."""
        id = self._native.best()
        return None if id is None else self.node(id)

    def line(self) -> list[Node]:
        """The main line: from the root along the most visited children."""
        return [self.node(id) for id in self._native.line()]

    @property
    def proven(self) -> float | None:
        """The exact value of the root, where it is proved."""
        return self._native.node(0)[4]

    def audit(self) -> None:
        """Raises what is wrong with the accounts, if anything is."""
        if (wrong := self._native.audit()) is not None:
            raise AssertionError(wrong)

    def to_networkx(self) -> Any:
        """The tree as a networkx.DiGraph; the numbers of nodes are attributes, moves those of edges."""
        import networkx  # type: ignore[import-untyped, import-not-found, unused-ignore]

        graph = networkx.DiGraph()
        for id in range(len(self)):
            node = self.node(id)
            keys = ("visits", "in_flight", "mean", "best", "value", "proven", "prior", "state")
            graph.add_node(id, **{key: getattr(node, key) for key in keys})
            for child in self._native.children(id):
                graph.add_edge(id, child, move=self._native.place(child)[1][-1])
        return graph

    def __getstate__(self) -> tuple[bytes, list[Any], list[Any], bool]:
        return (*self._native.save(), self._grown)

    def __setstate__(self, state: tuple[bytes, list[Any], list[Any], bool]) -> None:
        bytes_, states, moves, self._grown = state
        self._native = _native.Grove.load(bytes_, states, moves)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tree to a file, whole or not at all. States and moves are pickled."""
        replace(Path(path), TREE_MAGIC + pickle.dumps(self.__getstate__()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tree:
        """Reads what ``save`` wrote. As with every pickle: only files that you trust."""
        data = Path(path).read_bytes()
        if not data.startswith(TREE_MAGIC):
            raise ValueError(f"{os.fspath(path)}: not a tree of this version")
        tree = cls.__new__(cls)
        tree.__setstate__(pickle.loads(data[len(TREE_MAGIC) :]))
        return tree

    def __repr__(self) -> str:
        counts = self.counts
        return f"<Tree of {counts.nodes} nodes, {counts.told} told, {counts.in_flight} in flight>"

    @property
    def picture(self) -> str:
        """The most visited part of the tree, as SVG."""
        return _picture(self)

    def _repr_svg_(self) -> str:
        return self.picture


def _picture(tree: Tree) -> str:
    """Nodes in levels, the children of a node beside each other; the width of an edge is its share of the visits."""
    shown: dict[int, tuple[Node, int | None]] = {0: (tree.node(0), None)}
    open_: list[int] = [0]
    while open_ and len(shown) < PICTURE_NODES:
        open_.sort(key=lambda id: shown[id][0].visits)
        at = open_.pop()
        for child in tree.children(at)[:5]:
            if child.visits and len(shown) < PICTURE_NODES:
                shown[child.id] = (child, at)
                open_.append(child.id)
    children: dict[int, list[int]] = {}
    for id, (_, above) in shown.items():
        if above is not None:
            children.setdefault(above, []).append(id)
    place: dict[int, tuple[float, int]] = {}
    leaves = 0

    def lay(id: int, depth: int) -> float:
        nonlocal leaves
        below = [lay(child, depth + 1) for child in children.get(id, [])]
        if below:
            x = sum(below) / len(below)
        else:
            x = float(leaves)
            leaves += 1
        place[id] = (x, depth)
        return x

    lay(0, 0)
    step, drop = 46, 56
    depth = max(d for _, d in place.values())
    width, height = max(leaves, 1) * step + 20, depth * drop + 60
    total = max(shown[0][0].visits, 1)
    parts = []
    for id, (node, above) in shown.items():
        x, y = 20 + place[id][0] * step, 24 + place[id][1] * drop
        if above is not None:
            px, py = 20 + place[above][0] * step, 24 + place[above][1] * drop
            thick = 0.5 + 5 * node.visits / total
            parts.append(f'<line x1="{px:.0f}" y1="{py}" x2="{x:.0f}" y2="{y}" stroke="#8b949e" stroke-width="{thick:.1f}"/>')
            parts.append(f'<text x="{(px + x) / 2:.0f}" y="{(py + y) / 2}" fill="#57606a">{html.escape(str(node.move))[:12]}</text>')
    for id, (node, _) in shown.items():
        x, y = 20 + place[id][0] * step, 24 + place[id][1] * drop
        fill = "#1a7f37" if node.proven is not None else "#1f6feb"
        mean = "" if node.mean is None else f"{node.mean:.3g}"
        parts.append(f'<circle cx="{x:.0f}" cy="{y}" r="5" fill="{fill}"/>')
        parts.append(f'<text x="{x + 7:.0f}" y="{y + 4}">{node.visits}: {mean}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 60:.0f}" height="{height}" font-size="9" '
        f'font-family="sans-serif">{"".join(parts)}</svg>'
    )


@dataclass(frozen=True)
class Drawn:
    """A sequence to be scored. It can be pickled if its state can."""

    id: int
    moves: list[Any]
    words: list[str]
    #: The state at its end.
    state: Any


class Policy:
    """NRPA that asks for scores: ``ask`` gives sequences of a class of yours, ``tell`` takes their scores.

    The class needs ``initial``, ``moves`` and ``play``; a ``score`` is not called. One answer is one iteration, so with one
    sequence at a time this is ``solve(search="nrpa")`` to the last bit; with n in flight the policy lags n answers behind.
    """

    def __init__(
        self,
        problem: Any,
        *,
        level: int = 2,
        iterations: int = 100,
        alpha: float = 1.0,
        bias: bool | None = None,
        seed: int = 1,
        copy: bool = True,
    ) -> None:
        bias = hasattr(problem, "bias") if bias is None else bias
        rules = {"level": level, "iterations": iterations, "alpha": alpha, "bias": bias, "seed": seed}
        self._problem = problem
        self._copy = copy
        self._native = _native.Nest(problem, json.dumps(rules), not copy)

    def ask(self, n: int = 1) -> list[Drawn]:
        """``n`` sequences, drawn by the policy as it is now."""
        return [Drawn(*asked) for asked in self._native.ask(n)]

    def tell(self, sequence: Drawn | int, score: float) -> None:
        """The score of a sequence: higher is better."""
        self._native.tell(sequence if isinstance(sequence, int) else sequence.id, float(score))

    def drop(self, sequence: Drawn | int) -> bool:
        """Gives a sequence back that nobody will score; false if it is not out."""
        return self._native.drop_sequence(sequence if isinstance(sequence, int) else sequence.id)

    def out(self) -> list[Drawn]:
        """The sequences that are out."""
        return [Drawn(*asked) for asked in self._native.out()]

    @property
    def counts(self) -> Counts:
        """Where the sequences are; ``nodes`` are whole searches that came to their end."""
        return Counts(*self._native.counts())

    @property
    def best(self) -> tuple[float, list[str]] | None:
        """The best score that was told, and the words of its moves."""
        return self._native.best()

    def __getstate__(self) -> tuple[Any, bytes, bool]:
        return self._problem, self._native.save(), self._copy

    def __setstate__(self, state: tuple[Any, bytes, bool]) -> None:
        self._problem, bytes_, self._copy = state
        self._native = _native.Nest.load(self._problem, bytes_, not self._copy)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy to a file, whole or not at all; the problem is not in it."""
        replace(Path(path), POLICY_MAGIC + self._native.save())

    @classmethod
    def load(cls, path: str | os.PathLike[str], problem: Any, *, copy: bool = True) -> Policy:
        """Reads what ``save`` wrote, for the same problem."""
        data = Path(path).read_bytes()
        if not data.startswith(POLICY_MAGIC):
            raise ValueError(f"{os.fspath(path)}: not a policy of this version")
        policy = cls.__new__(cls)
        policy.__setstate__((problem, data[len(POLICY_MAGIC) :], copy))
        return policy

    def __repr__(self) -> str:
        counts = self.counts
        return f"<Policy: {counts.told} told, {counts.in_flight} in flight>"
