"""``solve``: a search of a problem, ours or yours, and what it found."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native, folder, pages, processes
from .instance import Instance, Searchable, of
from .problem import ProblemError
from .progress import Progress
from .stopping import Stop

#: A search that was given no end and no size lasts so long, as in the command.
FIRST_MINUTE = 60.0
#: Seeds that are drawn stay short enough to be typed.
DRAWN_SEED_MAX = 1_000_000_000
#: Streams save their state so often, in seconds, where somebody can go on with it.
CHECKPOINT_SECONDS = 1.0

Watch = Callable[["Improvement"], object]


@dataclass(frozen=True)
class Improvement:
    """A new best: its score, the words of its moves, who found it and when."""

    score: float
    words: list[str]
    stream: int
    playouts: int
    seconds: float


@dataclass(frozen=True)
class Result:
    """What a search found. ``moves`` are objects of your class, or words of ours."""

    score: float | None
    moves: list[Any]
    words: list[str]
    state: Any
    playouts: int
    seconds: float
    cpu_seconds: float
    #: Why it ended: done, playouts, time, cpu-time, target, patience or asked (Ctrl-C).
    reason: str
    seed: int
    search: dict[str, Any]
    #: New bests as they came: seconds, playouts of their stream, score.
    history: list[tuple[float, int, float]] = field(repr=False)
    facts: dict[str, float] = field(default_factory=dict)
    text: str = field(default="", repr=False)
    picture: str | None = field(default=None, repr=False)
    folder: str | None = None
    instance: str | None = None

    @property
    def playouts_per_second(self) -> float:
        """Playouts a second of wall time."""
        return self.playouts / self.seconds if self.seconds > 0 else 0.0

    def _repr_svg_(self) -> str | None:
        return self.picture

    def _repr_html_(self) -> str:
        return pages.result(self)


def parameters(search: str, given: dict[str, Any], suits: str | None) -> dict[str, Any]:
    """The search with its parameters; the error says what it has."""
    if search == "auto" or (search == "" and not given):
        base: dict[str, Any] = json.loads(suits) if suits else {"name": "nrpa"}
        if base["name"] == "nrpa":
            base.update(given)
        elif given:
            base = {"name": "nrpa", **given}
    else:
        base = {"name": (search or "nrpa").replace("_", "-"), **given}
    done: dict[str, Any] = json.loads(_native.search_json(json.dumps(base)))
    return done


def divide(spec: dict[str, Any], streams: int | None, threads: int, workers: int) -> int:
    """How many streams there are, as in the command: one of a search that is parallel in itself."""
    if spec.get("parallel", "none") != "none":
        return streams or 1
    return streams or max(threads, workers)


def solve(
    problem: Searchable,
    *,
    search: str = "",
    stop: Stop | None = None,
    seed: int | None = None,
    threads: int = 1,
    streams: int | None = None,
    workers: int = 1,
    out: str | os.PathLike[str] | None = None,
    on: Watch | None = None,
    progress: bool | None = None,
    copy: bool = True,
    cache: int = 200_000,
    **given: Any,
) -> Result:
    """Searches for the best sequence of moves.

    ``problem`` is a name (``"samegame/1"``), an opened instance or an object of your own. ``search`` is nrpa, hd-nrpa,
    beam-nrpa, nmcs, beam, own or sample, with its parameters as further arguments (``level=3``); without both it is what
    suits the problem. ``stop`` ends it (``so.seconds(20) | so.target(99)``); without one it lasts a minute, or one whole
    search where its level or width was given. Ctrl-C ends it too, and what was found is returned.

    Ours run on ``threads``, with the interpreter free. An object of yours runs here, or in ``workers`` processes. The same
    seed, search, streams and playouts give the same moves, on any number of threads or workers, and those of the command.
    ``out`` is a new run folder; ``on`` is told of every new best; ``copy=False``: ``play`` changes the state it is given.
    """
    native, ours = of(problem, copy, cache)
    if native.is_game:
        raise TypeError("a game for two is analysed or matched, not solved")
    if threads < 1 or workers < 1:
        raise ValueError("threads and workers: expected a number from 1 on")
    spec = parameters(search, given, native.suits)
    limits = (stop or Stop()).limits()
    sized = "level" in given or "width" in given
    if not limits and (spec["name"] in ("sample", "own") or not sized):
        limits = {"seconds": FIRST_MINUTE}
    if seed is None:
        seed = random.SystemRandom().randrange(DRAWN_SEED_MAX)
    if ours is not None and workers > 1:
        raise ValueError("workers are for classes of yours: ours run on threads")
    if ours is None and threads > 1:
        raise ValueError("a class of yours runs in workers (processes), not on threads")
    asked = {
        "search": spec,
        "seed": seed,
        "streams": divide(spec, streams, threads, workers),
        "threads": threads,
        "limits": limits,
    }
    name = ours.name if ours is not None else folder.name_of(problem)
    book = None
    if out is not None:
        text = ours.text if ours is not None else None
        book = folder.Book.create(os.fspath(out), name, asked, text, None if ours is not None else problem, copy)
    return run(problem, native, ours, asked, book, workers, on, progress, copy, cache)


def run(
    problem: Any,
    native: _native.Instance,
    ours: Instance | None,
    asked: dict[str, Any],
    book: folder.Book | None,
    workers: int,
    on: Watch | None,
    progress: bool | None,
    copy: bool,
    cache: int,
) -> Result:
    """Runs what was asked, from its beginning or from the checkpoint of its folder."""
    sink = Sink(on, book, Progress(progress, asked["limits"]))
    asked = dict(asked)
    resume: list[bytes] = []
    if book is not None:
        resume = book.streams
        asked |= {"seconds_before": book.seconds, "cpu_seconds_before": book.cpu_seconds}
    if book is not None or workers > 1:
        asked["checkpoint_every"] = CHECKPOINT_SECONDS
    try:
        if workers > 1:
            report = processes.solve(problem, asked, resume, workers, sink, copy, cache)
        else:
            report = native.solve(json.dumps(asked), sink, resume)
        result = conclude(native, ours, asked, report, sink, book)
    finally:
        sink.progress.close()
        if book is not None:
            book.close()
    fault = report["fault"]
    if fault is not None:
        raise failed(problem, fault, result) from fault
    return result


def failed(problem: Any, fault: BaseException, result: Result) -> ProblemError:
    """The exception of a search whose class raised one."""
    where = getattr(fault, "__notes__", None) or []
    place = f" {where[-1]}" if where else ""
    found = "nothing was found before" if result.score is None else f"the best before it has score {result.score:g} (.result)"
    return ProblemError(f"{type(fault).__name__}{place}: {fault}; {found}", result)


class Sink:
    """Takes the events of a search as they come."""

    def __init__(self, on: Watch | None, book: folder.Book | None, progress: Progress) -> None:
        self.on = on
        self.book = book
        self.progress = progress
        self.history: list[tuple[float, int, float]] = []
        self.playouts: dict[int, int] = {}
        best = book.best if book is not None else None
        self.best = best if best is not None else float("-inf")

    def __call__(self, events: Sequence[tuple[Any, ...]]) -> None:
        for event in events:
            kind = event[0]
            if kind == "improved":
                _, stream, score, words, playouts, seconds = event
                if score <= self.best:
                    continue
                self.best = score
                self.history.append((seconds, playouts, score))
                if self.book is not None:
                    self.book.improved(stream, score, words, playouts, seconds)
                if self.on is not None:
                    self.on(Improvement(score, words, stream, playouts, seconds))
            elif kind == "progress":
                self.playouts[event[1]] = event[2]
            elif self.book is not None:
                self.book.take(event)
        if self.book is not None:
            self.book.tick(sum(self.playouts.values()))
        self.progress.show(self.best, sum(self.playouts.values()))


def conclude(
    native: _native.Instance,
    ours: Instance | None,
    asked: dict[str, Any],
    report: dict[str, Any],
    sink: Sink,
    book: folder.Book | None,
) -> Result:
    """The end: what was found is replayed by the rules, and kept."""
    words: list[str] | None = report["words"]
    score: float | None = report["score"]
    if book is not None and book.best is not None and (score is None or book.best > score):
        score, words = book.best, book.words
    moves: list[Any] = list(words or [])
    state: Any = None
    shown: dict[str, Any] = {"text": "", "picture": None, "facts": {}}
    if words is not None and ours is not None:
        shown = native.position(words, True)
        score = shown["score"]
    elif words is not None and score is not None:
        moves, state, shown = replayed(native, words, score, report)
    result = Result(
        score=score,
        moves=moves,
        words=words or [],
        state=state,
        playouts=report["playouts"],
        seconds=report["seconds"],
        cpu_seconds=report["cpu_seconds"],
        reason=report["reason"],
        seed=asked["seed"],
        search=asked["search"],
        history=sink.history,
        facts=shown["facts"],
        text=shown["text"],
        picture=shown["picture"],
        folder=book.path if book is not None else None,
        instance=ours.name if ours is not None else None,
    )
    if book is not None:
        book.finish(result, report, ours.best_known if ours is not None else None)
    return result


def replayed(
    native: _native.Instance, words: list[str], score: float, report: dict[str, Any]
) -> tuple[list[Any], Any, dict[str, Any]]:
    """Plays what was found by the class anew. A class that does not say the same twice is told so, once."""
    moves: list[Any] = list(words)
    state: Any = None
    shown: dict[str, Any] = {"text": "", "picture": None, "facts": {}}
    try:
        moves, state, left = native.replay(words)
        if left:
            raise ValueError(f"the moves stop though '{left[0]}' is legal")
        again = float(native.object.score(state))
        if not again == score:
            raise ValueError(f"score said {score:g} in the search and says {again:g} of the same moves now")
        shown = native.position(words, True)
        shown["picture"] = picture(native.object, state)
    except Exception as error:
        if report["fault"] is None:
            if hasattr(error, "add_note"):
                error.add_note("in a replay of the best: initial, moves, play and score must say the same every time")
            report["fault"] = error
    return moves, state, shown


def picture(problem: Any, state: Any) -> str | None:
    """What the class draws of a state, if that is SVG."""
    render = getattr(problem, "render", None)
    drawn = render(state) if callable(render) else None
    return drawn if isinstance(drawn, str) and drawn.lstrip().startswith("<") else None
