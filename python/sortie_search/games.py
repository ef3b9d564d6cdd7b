"""Games for two: ``analyse``, ``match`` and ``prove``, for ours and for classes of yours."""

from __future__ import annotations

import json
import math
import random
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any, Union

from . import _native, guided, pages, processes
from .guided import Prior
from .instance import Searchable, of, words
from .stopping import Stop

#: A player: the name of a preset, or its parameters (``{"preset": "plain", "c": 0.7}``).
Player = Union[str, dict[str, Any]]
#: What a move of a match costs, if nothing is said.
PLAYOUTS = 400
#: Positions that a class with ``playouts`` is given at once, where there are playouts enough.
IN_FLIGHT = 256


@dataclass(frozen=True)
class Line:
    """A move of a position and what is expected to follow it. ``value`` is the first side's, from 0 to 1."""

    moves: list[str]
    visits: int
    value: float
    proved: str | None


@dataclass(frozen=True)
class Thought:
    """What a search thinks of a position. ``value`` is the first side's, from 0 to 1; ``proved`` names the winner."""

    best: Any
    value: float
    proved: str | None
    lines: list[Line] = field(repr=False)
    playouts: int
    nodes: int
    seconds: float

    def _repr_html_(self) -> str:
        shown = [(" ".join(line.moves[:8]), f"{line.value:.3f} of {line.visits:,}") for line in self.lines[:8]]
        return pages.table([("best", str(self.best)), ("value", f"{self.value:.3f}"), *shown])


@dataclass(frozen=True)
class MatchResult:
    """A match, as the first player sees it. ``moves`` has the words of every game."""

    wins: int
    draws: int
    losses: int
    playouts: tuple[int, int]
    moves: list[list[str]] = field(repr=False)
    #: Whether it was stopped before its last game.
    stopped: bool = False

    @property
    def games(self) -> int:
        """Games that were finished."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """What the first player got, from 0 to 1."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        """Where its true score is, in 95 of 100 matches (Wilson)."""
        n, z = self.games, 1.959964
        if n == 0:
            return 0.0, 1.0
        centre = (self.score + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(self.score * (1 - self.score) / n + z * z / (4 * n * n))
        return max(0.0, centre - half), min(1.0, centre + half)

    def _repr_html_(self) -> str:
        return pages.match(self)


@dataclass(frozen=True)
class Proof:
    """What is proved of a position: ``winner`` is 0, 1, "draw" or None where nothing is; ``value`` the first side's."""

    winner: int | str | None
    value: float | None
    jobs: int


def player(given: Player) -> str:
    """A player as JSON."""
    return json.dumps({"preset": given} if isinstance(given, str) else given)


def budget(stop: Stop | None) -> str:
    """What a move may cost."""
    limits = (stop or Stop(playouts=PLAYOUTS)).limits()
    if unknown := [name for name in limits if name in ("target", "patience")]:
        raise ValueError(f"{unknown[0]} is no budget of a move: expected playouts, seconds or cpu_seconds")
    return json.dumps(limits)


def _proved(given: Any) -> str | None:
    if given is None:
        return None
    return "draw" if given == "draw" else str(given["win"])


def analyse(
    game: Searchable,
    *,
    moves: str | Iterable[Any] = (),
    start: str | None = None,
    stop: Stop | None = None,
    player: Player = "default",
    threads: int = 1,
    seed: int = 1,
    copy: bool = True,
    on: Callable[[Thought], object] | None = None,
    prior: Prior | None = None,
    batch: int = 64,
    c: float = 1.25,
) -> Thought:
    """Thinks about the position after some moves. Ctrl-C ends it, with what it thinks by then.

    With ``prior`` a class of yours is searched by PUCT without playouts: ``prior(states, moves)`` is asked about up to
    ``batch`` positions at once, and answers with the priors of the moves of each and with its value for player 0.
    """
    native, ours = of(game, copy)
    if prior is not None:
        if ours is not None or not copy:
            raise TypeError("a prior is for a class of yours whose play returns new states")
        given = moves.split() if isinstance(moves, str) else native.words(list(moves))
        return _guided(game, native, given, prior, stop or Stop(seconds=2.0), batch, c)
    spelt = words(moves) if ours is not None or isinstance(moves, str) else native.words(list(moves))
    stop = stop or Stop(seconds=2.0)
    if ours is None:
        spec = _yours(player, game, copy, stop)
    else:
        spec = {"preset": player} if isinstance(player, str) else dict(player)
        if threads > 1:
            spec["threads"] = threads
    tell = None if on is None else lambda text: on(_thought(text, native, ours is None))
    text = native.think(json.dumps(spec), spelt, budget(stop), seed, start, tell)
    return _thought(text, native, ours is None)


def _guided(game: Any, native: _native.Instance, given: list[str], prior: Prior, stop: Stop, batch: int, c: float) -> Thought:
    _, root, _ = native.replay(given)
    if game.outcome(root) is not None:
        raise ValueError("the game is over there")
    tree, asked, seconds = guided.grow(game, root, prior, json.loads(budget(stop)), batch, c)
    names = {1.0: "first", 0.0: "second", 0.5: "draw"}
    lines = []
    for child in tree.children():
        below, at = [child], child
        while at.visits and (rest := tree.children(at.id)) and rest[0].visits:
            at = rest[0]
            below.append(at)
        proved = None if child.proven is None else names.get(child.proven)
        lines.append(Line(native.words([n.move for n in below]), child.visits, child.mean if child.mean is not None else 0.5, proved))
    top = tree.line()
    mean, proven = tree.node().mean, tree.proven
    value = proven if proven is not None else (0.5 if mean is None else mean)
    best = top[1].move if len(top) > 1 else None
    return Thought(best, value, None if proven is None else names.get(proven), lines, asked, len(tree), seconds)


def _yours(player: Player, game: Any, copy: bool, stop: Stop | None) -> dict[str, Any]:
    """A player of a class: none knows categories of moves, and moves drawn at random are as good as any. One that plays
    many positions out at once gets as many as the search can do with."""
    spec: dict[str, Any] = {"knowledge": "none", "draws": 1, "unprune_first": 0}
    if copy and callable(getattr(game, "playouts", None)):
        playouts = (stop or Stop(playouts=PLAYOUTS)).limits().get("playouts")
        spec["in_flight"] = IN_FLIGHT if playouts is None else max(1, min(IN_FLIGHT, int(playouts) // 16))
    given = {"preset": player} if isinstance(player, str) else player
    return {**spec, **given, "threads": 1}


def _thought(text: str, native: _native.Instance, yours: bool) -> Thought:
    told = json.loads(text)
    lines = [Line(line["moves"], line["visits"], line["value"], _proved(line["proved"])) for line in told["lines"]]
    best = told["best"]
    if yours and best is not None:
        best = native.move(best)
    return Thought(
        best, told["value"], _proved(told["proved"]), lines, told["playouts"], told["nodes"], told["seconds"]
    )


def match(
    game: Searchable,
    first: Player = "default",
    second: Player = "plain",
    *,
    games: int = 20,
    stop: Stop | None = None,
    stops: tuple[Stop, Stop] | None = None,
    seed: int | None = None,
    threads: int = 1,
    workers: int = 1,
    opening: int = 2,
    copy: bool = True,
) -> MatchResult:
    """Plays games between two players, in pairs: the same opening of so many random moves, colours swapped.

    ``stop`` is what a move may cost (400 playouts); ``stops`` are two of them. Ours are played on ``threads``, games of a
    class of yours in ``workers`` processes. Ctrl-C ends it, with the games that were finished.
    """
    native, ours = of(game, copy)
    if not native.is_game:
        raise TypeError("this is a problem for one, not a game for two")
    if games < 1:
        raise ValueError("games: expected a number from 1 on")
    limits = stops or (stop, stop)
    if ours is None:
        first, second = _yours(first, game, copy, limits[0]), _yours(second, game, copy, limits[1])
    budgets = (budget(limits[0]), budget(limits[1]))
    seed = random.SystemRandom().randrange(1_000_000_000) if seed is None else seed
    tasks = [_Task(g, (player(first), player(second)), budgets, seed, opening) for g in range(games)]
    if ours is None and workers > 1:
        ends, stopped = _in_processes(game, tasks, workers, copy)
    elif ours is not None and threads > 1:
        ends, stopped = _on_threads(native, tasks, threads)
    else:
        ends, stopped = _here(native, tasks)
    done = [end for end in ends if end.value is not None]
    wins = sum(end.value == 1.0 for end in done)
    draws = sum(end.value == 0.5 for end in done)
    playouts = (sum(end.playouts[0] for end in ends), sum(end.playouts[1] for end in ends))
    return MatchResult(wins, draws, len(done) - wins - draws, playouts, [end.moves for end in done], stopped)


@dataclass(frozen=True)
class _Task:
    """A game to be played; in odd ones the second player begins."""

    number: int
    players: tuple[str, str]
    budgets: tuple[str, str]
    seed: int
    opening: int

    def play(self, native: _native.Instance, stop: _native.Stop) -> _End:
        chance = random.Random(self.seed * 1_000_003 + self.number // 2)
        opened: list[str] = []
        for _ in range(self.opening):
            legal = native.position(opened, False)["legal"]
            if not legal:
                break
            tried = [*opened, chance.choice(legal)]
            if not native.position(tried, False)["legal"]:
                break
            opened = tried
        swap = self.number % 2 == 1
        order = (lambda pair: (pair[1], pair[0])) if swap else (lambda pair: pair)
        seed = (self.seed + self.number) & 0x7FFF_FFFF_FFFF_FFFF
        moves, value, playouts = native.play_game(order(self.players), order(self.budgets), opened, seed, stop)
        if swap and value is not None:
            value = 1.0 - value
        return _End(self.number, moves, value, order(playouts))


@dataclass(frozen=True)
class _End:
    number: int
    moves: list[str]
    value: float | None
    playouts: tuple[int, int]


def _here(native: _native.Instance, tasks: Sequence[_Task]) -> tuple[list[_End], bool]:
    ends: list[_End] = []
    stop = _native.Stop()
    for task in tasks:
        try:
            ends.append(task.play(native, stop))
        except KeyboardInterrupt:
            return ends, True
        if ends[-1].value is None:
            return ends, True
    return ends, False


def _on_threads(native: _native.Instance, tasks: Sequence[_Task], threads: int) -> tuple[list[_End], bool]:
    stop = _native.Stop()
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(task.play, native, stop) for task in tasks]
        try:
            return [future.result() for future in futures], False
        except KeyboardInterrupt:
            stop.set()
            for future in futures:
                future.cancel()
    return [future.result() for future in futures if not future.cancelled()], True


def _in_processes(game: Any, tasks: Sequence[_Task], workers: int, copy: bool) -> tuple[list[_End], bool]:
    """Each process takes one game after the other. A game whose process dies is played again, but not for ever."""
    waiting = list(reversed(tasks))
    ends: list[_End] = []
    deaths = 0
    crew: dict[Any, tuple[Any, _Task]] = {}

    def hire() -> None:
        here, there = processes.context().Pipe()
        process = processes.context().Process(target=_play, args=(there, here, game, copy), daemon=True)
        process.start()
        there.close()
        give(here, process)

    def give(pipe: Any, process: Any) -> None:
        if not waiting:
            pipe.send(None)
            pipe.close()
            process.join()
            return
        task = waiting.pop()
        crew[pipe] = (process, task)
        pipe.send(task)

    try:
        for _ in range(min(workers, len(tasks))):
            hire()
        while crew:
            ready: list[Any] = list(wait(list(crew)))
            for pipe in ready:
                process, task = crew.pop(pipe)
                try:
                    kind, what = pipe.recv()
                except (EOFError, OSError):
                    process.join()
                    deaths += 1
                    if deaths > processes.DEATHS_MAX:
                        raise processes.WorkerDied(f"worker processes died {deaths} times in this match") from None
                    waiting.append(task)
                    hire()
                    continue
                if kind == "failed":
                    raise processes.unpack(what)
                ends.append(what)
                give(pipe, process)
    except KeyboardInterrupt:
        return sorted(ends, key=lambda end: end.number), True
    finally:
        for process, _ in crew.values():
            process.kill()
            process.join()
    return sorted(ends, key=lambda end: end.number), False


def _play(there: Any, here: Any, game: Any, copy: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    here.close()
    try:
        native, _ = of(game, copy)
        stop = _native.Stop()
        while (task := there.recv()) is not None:
            there.send(("end", task.play(native, stop)))
    except (EOFError, OSError):
        pass  # Nobody listens any more.
    except BaseException as error:
        there.send(("failed", processes.pack(error)))


def prove(
    game: Searchable,
    *,
    moves: str | Iterable[Any] = (),
    start: str | None = None,
    jobs: int | None = None,
    nodes: int = 100_000,
    threads: int = 1,
    seed: int = 1,
    copy: bool = True,
) -> Proof:
    """Who wins, proved, by a tree of jobs of so many positions each; nothing is proved where the jobs do not suffice."""
    native, ours = of(game, copy)
    spelt = words(moves) if ours is not None or isinstance(moves, str) else native.words(list(moves))
    value, done = native.prove(spelt, start, jobs, nodes, threads, seed)
    winners: dict[float | None, int | str] = {1.0: 0, 0.0: 1, 0.5: "draw"}
    return Proof(winners.get(value), value, done)
