"""Run folders: read, go on with, verify. The command's (`sortie solve`) and this module's are the same."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, folder, pages
from .instance import Instance, Searchable, of, open
from .solving import Result, Watch, run
from .solving import picture as drawn
from .stopping import Stop

#: How much a claimed score may differ from that of its moves, relatively.
TOLERANCE = 1e-9


class Run:
    """The folder of a search, as it is now."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not (self.path / folder.SPEC).is_file():
            raise folder.FolderError(f"{self.path}: not a run folder (it has no {folder.SPEC})")

    @cached_property
    def spec(self) -> dict[str, Any]:
        """What it was told."""
        spec: dict[str, Any] = json.loads(_native.toml_json(folder.read_text(self.path / folder.SPEC)))
        return spec

    @property
    def instance(self) -> str:
        """What was searched."""
        return str(self.spec["instance"])

    @property
    def is_python(self) -> bool:
        """Whether its problem is a class of Python's."""
        return self.instance.startswith(folder.DOMAIN + "/")

    @property
    def result(self) -> dict[str, Any] | None:
        """How it ended, if it has."""
        file = self.path / folder.RESULT
        return json.loads(folder.read_text(file)) if file.is_file() else None

    @property
    def state(self) -> str:
        """finished, stopped (Ctrl-C), running or interrupted."""
        if (result := self.result) is not None:
            return "stopped" if result.get("reason") == "asked" else "finished"
        return "running" if folder.is_locked(self.path) else "interrupted"

    @property
    def record(self) -> tuple[str, float, dict[str, str], list[str]] | None:
        """The best record: instance, score, where it came from, moves."""
        file = self.path / folder.RECORD
        return folder.read_record(folder.read_text(file), str(file)) if file.is_file() else None

    @property
    def best(self) -> float | None:
        """The best score."""
        record = self.record
        return None if record is None else record[1]

    @property
    def moves(self) -> list[str]:
        """The moves of the best."""
        record = self.record
        return [] if record is None else record[3]

    def _lines(self) -> list[dict[str, Any]]:
        lines = []
        file = self.path / folder.EVENTS
        if file.is_file():
            for line in folder.read_text(file).splitlines():
                try:
                    event = json.loads(line)
                except ValueError:
                    continue  # A crash may leave a line unfinished.
                if isinstance(event, dict):
                    lines.append(event)
        return lines

    @property
    def events(self) -> Any:
        """What happened: a DataFrame where pandas is there, else a list of dicts."""
        lines = self._lines()
        try:
            import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError:
            return lines
        return pandas.DataFrame(lines)

    @property
    def curve(self) -> npt.NDArray[np.float64]:
        """The best score over time: rows of seconds and score."""
        points = [(e["seconds"], e["score"]) for e in self._lines() if e.get("event") == "improved"]
        return np.array(points, dtype=np.float64).reshape(-1, 2)

    @cached_property
    def opened(self) -> Instance:
        """Its instance; of ours only."""
        text = self.path / folder.INSTANCE
        if self.is_python:
            raise folder.FolderError(f"{self.path}: its problem is a class of Python's")
        copy = folder.read_text(text) if text.is_file() else None
        return Instance(self.instance, _native.Instance.open(self.instance, copy), copy)

    @property
    def picture(self) -> str | None:
        """The best as SVG, where it can be drawn."""
        try:
            if self.is_python:
                native, _ = of(*folder.find(str(self.path)))
                return drawn(native.object, native.replay(self.moves)[1])
            picture: str | None = self.opened.native.position(self.moves, False)["picture"]
            return picture
        except Exception:
            return None

    def _repr_svg_(self) -> str | None:
        return self.picture

    def _repr_html_(self) -> str:
        curve = self.curve
        end = float(curve[-1, 0]) if len(curve) else 0.0
        rows = [
            ("run", str(self.path)), ("instance", self.instance), ("state", self.state), ("best", pages.number(self.best)),
            ("search", pages.describe(self.spec["search"])), ("moves", pages.moves(self.moves)),
        ]  # fmt: skip
        return pages.table(rows) + pages.curve([(float(s), float(v)) for s, v in curve], end) + (self.picture or "")

    def __repr__(self) -> str:
        return f"<Run {self.path}: {self.instance}, {self.state}, best {self.best}>"


def runs(path: str | os.PathLike[str] = "runs") -> list[Run]:
    """The searches below a folder, the latest first."""
    top = Path(path)
    if not top.is_dir():
        raise folder.FolderError(f"{top}: no such folder")
    found = [Run(spec.parent) for spec in top.rglob(folder.SPEC)]
    return sorted(found, key=lambda run: (run.path / folder.SPEC).stat().st_mtime, reverse=True)


def resume(
    path: str | os.PathLike[str],
    *,
    problem: Searchable | None = None,
    stop: Stop | None = None,
    workers: int = 1,
    on: Watch | None = None,
    progress: bool | None = None,
    cache: int = 200_000,
) -> Result:
    """Goes on with a run where its checkpoint stands, after Ctrl-C, a crash or ``kill -9``.

    ``problem`` is the object of a class of yours, where it needs arguments; without it one is made. ``stop`` replaces the
    run's limits.
    """
    where = os.fspath(path)
    yours = Run(where).is_python
    copy = True
    if yours:
        if problem is None:
            problem, copy = folder.find(where)
        else:
            copy = json.loads(folder.read_text(Path(where) / folder.PYTHON))["copy"]
            if folder.name_of(problem).split(":")[-1] != Run(where).instance.split(":")[-1]:
                raise TypeError(f"{where} is a run of {Run(where).instance}, not of {folder.name_of(problem)}")
        native, ours = of(problem, copy, cache)
    else:
        ours = Run(where).opened
        native = ours.native
    book = folder.Book.reopen(where)
    try:
        ended = Run(where).result
        if ended is not None and ended.get("reason") != "asked" and stop is None:
            raise folder.FolderError(f"{where}: this run has ended ({ended['reason']}); give stop= to go on")
        if stop is not None:
            book.limit(stop.limits())
        book.native.go_on()
    except BaseException:
        book.close()
        raise
    return run(problem, native, ours, book.asked, book, workers, on, progress, copy, cache)


def verify(
    given: str | os.PathLike[str] | Result | Run, *, problem: Searchable | None = None, copy: bool = True
) -> float:
    """Replays a solution by the rules alone and returns its score; raises ValueError where it is not what it claims.

    ``given`` is a record (its file or its text), a run folder or a result; ``problem`` is needed for records of a class of
    yours that stand alone.
    """
    where = None
    if isinstance(given, Result):
        instance, score, words = given.instance, given.score, given.words
        if score is None:
            raise ValueError("the result has no solution")
    else:
        if isinstance(given, Run):
            given = given.path
        text = os.fspath(given)
        if "\n" not in text:
            path = Path(text)
            where = path if path.is_dir() else path.parent
            path = path / folder.RECORD if path.is_dir() else path
            text = folder.read_text(path)
        instance, score, _, words = folder.read_record(text)
    if problem is None and instance is not None and instance.startswith(folder.DOMAIN + "/"):
        if where is None:
            raise ValueError(f"the rules of {instance} are a class of yours: give problem=")
        problem, copy = folder.find(str(where))
    if problem is None:
        if instance is None:
            raise ValueError("the rules are a class of yours: give problem=")
        kept = where / folder.INSTANCE if where is not None else None
        text_ = folder.read_text(kept) if kept is not None and kept.is_file() else None
        problem = open(instance, text=text_) if text_ is not None else open(instance)
    native, ours = of(problem, copy)
    if ours is not None:
        found: float = native.position(words, True)["score"]
    else:
        _, state, left = native.replay(words)
        if left:
            raise ValueError(f"the moves stop though '{left[0]}' is legal")
        found = float(native.object.score(state))
    if abs(found - score) > TOLERANCE * max(abs(found), abs(score)):
        raise ValueError(f"the record claims {score:g} and its moves score {found:g}")
    return found
