"""What a problem or a game of your own looks like. The classes are for type checkers and readers: any object with these
methods will do.

Optional methods of both: ``key(state)`` (something hashable, equal where all that follows is equal; the state itself where
it can be hashed), ``render(state)`` (text, or SVG), ``word(move)`` (a move as one word of a record).
Of a problem: ``code(state, move)`` (what a policy learns by; the move itself), ``bias(state, move)`` (added to the weight),
``promise(state)`` (for beam search: how good a position looks). Of a game: ``playouts(states, seed)`` (random games from all of
these states at once, over arrays: what each was worth to player 0, from 0 to 1; the same for the same seed).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

S = TypeVar("S")
M = TypeVar("M")


class Problem(Protocol[S, M]):
    """A sequence of moves to find, scored at its end: higher is better."""

    @abstractmethod
    def initial(self) -> S:
        """The state at the start; with ``copy=False`` a new object every time."""

    @abstractmethod
    def moves(self, state: S) -> Sequence[M]:
        """What may be done: hashable moves, in an order that depends on the state only. None: the end."""

    @abstractmethod
    def play(self, state: S, move: M) -> S:
        """The state after a move, a new one; with ``copy=False`` the same object, changed."""

    @abstractmethod
    def score(self, state: S) -> float:
        """How good an end is."""


class Game(Protocol[S, M]):
    """A game for two, without chance or secrets."""

    @abstractmethod
    def initial(self) -> S:
        """The state at the start."""

    @abstractmethod
    def moves(self, state: S) -> Sequence[M]:
        """The legal moves; none once the game is over."""

    @abstractmethod
    def play(self, state: S, move: M) -> S:
        """The state after a move."""

    @abstractmethod
    def to_move(self, state: S) -> int:
        """Whose move it is: 0, who begins, or 1."""

    @abstractmethod
    def outcome(self, state: S) -> float | None:
        """None while the game goes on; then what it is worth to player 0: 1, 0.5 or 0."""


class ProblemError(Exception):
    """A class of yours failed in a search. ``__cause__`` is its exception, ``result`` what was found before."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class CheckError(Exception):
    """What ``check`` found wrong with a class: ``findings`` are sentences."""

    def __init__(self, findings: list[str]) -> None:
        super().__init__("\n".join(["the class breaks its word:", *(f"- {finding}" for finding in findings)]))
        self.findings = findings
