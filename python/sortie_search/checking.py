"""``check``: whether a class keeps its word, tried on random sequences. Each finding is a sentence."""

from __future__ import annotations

import copy as copying
import math
import pickle
import random
import time
from dataclasses import dataclass
from typing import Any

from . import _native
from .problem import CheckError

#: Sentences of one kind.
FINDINGS_MAX = 8


@dataclass(frozen=True)
class Checked:
    """What a check saw of a class that keeps its word."""

    sequences: int
    longest: int
    branching: float
    steps_per_second: float
    #: Whether the object can be pickled: workers need that where processes are not forked (macOS, Windows).
    picklable: bool


class _Findings:
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def add(self, sentence: str) -> None:
        """Once each."""
        if sentence not in self.sentences and len(self.sentences) < FINDINGS_MAX:
            self.sentences.append(sentence)


def check(problem: Any, *, sequences: int = 20, seed: int = 1, copy: bool = True, steps_max: int = 100_000) -> Checked:
    """Plays random sequences and looks at everything twice. Raises ``CheckError`` with what is wrong."""
    name = type(problem).__name__
    native = _native.Instance.hosted(problem, not copy, 1024)
    game = native.is_game
    found = _Findings()
    chance = random.Random(seed)
    longest = 0
    steps = choices = 0
    begun = time.perf_counter()
    for _ in range(sequences):
        state = _call(found, problem, "initial")
        length = 0
        if found.sentences:
            break
        while True:
            ended = _outcome(found, problem, state, name) if game else False
            moves = _moves(found, problem, state, name)
            if found.sentences:
                break
            _look(found, problem, state, moves, name, game, ended)
            if game and ended and moves:
                found.add(f"{name}.moves lists moves of a game that has an outcome")
            if game and not ended and not moves:
                found.add(f"{name}: no moves and no outcome: who has no move must have won, lost or drawn")
            if found.sentences or not moves:
                break
            steps += 1
            choices += len(moves)
            move = chance.choice(moves)
            state = _play(found, problem, state, move, name, copy)
            length += 1
            if found.sentences:
                break
            if length > steps_max:
                found.add(f"a sequence of {steps_max} moves has no end: is there one?")
                break
        if found.sentences:
            break
        if not game:
            _score(found, problem, state, name)
        if found.sentences:
            break
        longest = max(longest, length)
    if found.sentences:
        raise CheckError(found.sentences)
    if longest == 0:
        raise CheckError([f"{name}.moves of the initial state lists nothing: there is nothing to search"])
    spent = time.perf_counter() - begun
    try:
        picklable = bool(pickle.dumps(problem))
    except Exception:
        picklable = False
    return Checked(sequences, longest, choices / max(steps, 1), steps / spent, picklable)


def _call(found: _Findings, problem: Any, method: str, *args: Any) -> Any:
    try:
        return getattr(problem, method)(*args)
    except Exception as error:
        found.add(f"{type(problem).__name__}.{method} raises {type(error).__name__}: {error}")
        return None


def _same(a: Any, b: Any) -> bool:
    """Whether two states are equal, as far as that can be told."""
    try:
        equal = a == b
        return bool(equal.all()) if hasattr(equal, "all") else bool(equal)
    except Exception:
        return True


def _frozen(state: Any) -> Any:
    try:
        return copying.deepcopy(state)
    except Exception:
        return state


def _moves(found: _Findings, problem: Any, state: Any, name: str) -> list[Any]:
    before = _frozen(state)
    listed = _call(found, problem, "moves", state)
    again = _call(found, problem, "moves", state)
    if found.sentences:
        return []
    try:
        first, second = list(listed), list(again)
    except TypeError:
        found.add(f"{name}.moves returns {type(listed).__name__}: expected a list of moves")
        return []
    if first != second:
        found.add(f"{name}.moves lists other moves when it is asked again: the list may depend on the state only")
    if not _same(before, state):
        found.add(f"{name}.moves changes the state it is given")
    for move in first:
        try:
            hash(move)
        except TypeError:
            found.add(f"{name}.moves lists {move!r}, which cannot be hashed: use a tuple")
            return []
    if len(set(first)) != len(first):
        found.add(f"{name}.moves lists a move twice")
    return first


def _look(found: _Findings, problem: Any, state: Any, moves: list[Any], name: str, game: bool, ended: bool) -> None:
    """The optional methods."""
    for move in moves[:16]:
        if hasattr(problem, "code") and not game:
            codes = [_call(found, problem, "code", state, move) for _ in range(2)]
            try:
                if codes[0] != codes[0]:
                    found.add(f"{name}.code returns nan: two moves with it would never be the same")
                elif hash(codes[0]) != hash(codes[1]) or codes[0] != codes[1]:
                    found.add(f"{name}.code of a move is another when it is asked again")
            except TypeError:
                found.add(f"{name}.code returns {codes[0]!r}, which cannot be hashed")
        if hasattr(problem, "bias") and not game:
            _number(found, _call(found, problem, "bias", state, move), f"{name}.bias")
    if hasattr(problem, "promise") and not game:
        _number(found, _call(found, problem, "promise", state), f"{name}.promise")
    if hasattr(problem, "key"):
        try:
            hash(_call(found, problem, "key", state))
        except TypeError:
            found.add(f"{name}.key returns something that cannot be hashed")
    if hasattr(problem, "render") and not isinstance(_call(found, problem, "render", state), str):
        found.add(f"{name}.render returns no text")
    if game and not ended and hasattr(problem, "playouts"):
        _playouts(found, problem, state, name)
    if game and not ended and _call(found, problem, "to_move", state) not in (0, 1):
        found.add(f"{name}.to_move returns {problem.to_move(state)!r}: expected 0 or 1")


def _playouts(found: _Findings, problem: Any, state: Any, name: str) -> None:
    """Many at once: a value for each, and the same with the same seed."""
    first, second = (_call(found, problem, "playouts", [state] * 3, 1) for _ in range(2))
    if found.sentences:
        return
    try:
        values = [float(value) for value in first]
        again = [float(value) for value in second]
    except TypeError:
        found.add(f"{name}.playouts returns {type(first).__name__}: expected a number for every state")
        return
    if len(values) != 3:
        found.add(f"{name}.playouts returns {len(values)} values for 3 states")
    for value in values:
        if not 0 <= value <= 1:
            found.add(f"{name}.playouts returns {value}: expected what a game is worth to player 0, from 0 to 1")
    if values != again:
        found.add(f"{name}.playouts returns other values with the same seed")


def _number(found: _Findings, value: Any, what: str) -> None:
    try:
        if not math.isfinite(value):
            found.add(f"{what} returns {value}: expected a finite number")
    except TypeError:
        found.add(f"{what} returns {value!r}: expected a number")


def _play(found: _Findings, problem: Any, state: Any, move: Any, name: str, copy: bool) -> Any:
    before = _frozen(state)
    after = _call(found, problem, "play", state, move)
    if found.sentences:
        return None
    if not copy:
        if after is not None and after is not state:
            found.add(f"{name}.play returns another state: with copy=False it changes the one it is given")
        return state
    if after is None:
        found.add(f"{name}.play returns None: return the new state, or say copy=False if it changes the one it is given")
    elif not _same(before, state):
        found.add(f"{name}.play changes the state it is given: return a new one, or say copy=False")
    elif not _same(after, _call(found, problem, "play", state, move)) and getattr(type(after), "__eq__") is not object.__eq__:
        found.add(f"{name}.play leads to another state when it is asked again")
    return after


def _outcome(found: _Findings, problem: Any, state: Any, name: str) -> bool:
    outcome = _call(found, problem, "outcome", state)
    if outcome is not None and outcome not in (0, 0.5, 1):
        found.add(f"{name}.outcome returns {outcome!r}: expected None, 1, 0.5 or 0")
    return outcome is not None


def _score(found: _Findings, problem: Any, state: Any, name: str) -> None:
    score = _call(found, problem, "score", state)
    if found.sentences:
        return
    _number(found, score, f"{name}.score")
    if not found.sentences and _call(found, problem, "score", state) != score:
        found.add(f"{name}.score of a state is another when it is asked again")
