"""The run folder of a search in Python, written by the same code as the command's (docs/formats.md).

The folder of a class of yours has ``python.json`` besides, which names the class: from it ``resume`` and ``verify`` make an
object again.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from .solving import Result

SPEC, EVENTS, RECORD, CHECKPOINT, RESULT = "spec.toml", "events.jsonl", "best.record", "checkpoint", "result.json"
INSTANCE, LOCK, PYTHON = "instance.txt", "lock", "python.json"
#: The word before the slash of an instance that is a class of yours.
DOMAIN = "python"
#: A progress event and a checkpoint so often, in seconds.
EVERY = 1.0
#: No text file of a folder is larger than this.
TEXT_BYTES_MAX = 64 << 20


class FolderError(OSError):
    """A run folder that cannot be used, and why."""


def name_of(problem: Any) -> str:
    """How a record names a class of yours."""
    kind = type(problem)
    module = kind.__module__
    if module == "__main__":
        main = getattr(sys.modules["__main__"], "__file__", None)
        module = Path(main).stem if main else "__main__"
    return f"{DOMAIN}/{module}:{kind.__qualname__}"


def replace(path: Path, data: bytes) -> None:
    """Replaces a file: a reader, or a crash, meets the old one or the new one."""
    beside = path.with_name(f".{path.name}.tmp")
    with open(beside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError:
        return  # Where folders cannot be opened there is nothing to do.
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def is_locked(path: Path) -> bool:
    """Whether a process is at work in a folder, as far as its lock tells."""
    try:
        import fcntl

        with open(path / LOCK, "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False


def read_record(text: str, where: str = "record") -> tuple[str, float, dict[str, str], list[str]]:
    """The instance, the claimed score, further lines and the moves of a record."""
    try:
        instance, score, fields, words = _native.record_read(text)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return instance, score, dict(fields), words


def read_text(path: Path) -> str:
    """A text file of a folder."""
    if path.stat().st_size > TEXT_BYTES_MAX:
        raise FolderError(f"{path}: larger than {TEXT_BYTES_MAX >> 20} MiB")
    return path.read_text(encoding="utf-8", errors="replace")


class Book:
    """A run folder that this process writes."""

    def __init__(self, path: str, native: _native.Book, asked: dict[str, Any]) -> None:
        self.path = path
        self.native = native
        self.asked = asked
        self.best: float | None = None
        self.words: list[str] = []
        if (kept := native.best()) is not None:
            self.best, self.words = kept
        self.seconds, self.cpu_seconds, self.streams = native.standing()
        self.begun = time.monotonic()
        self.cpu_begun = time.process_time()
        self.tick_at = self.begun + EVERY

    @classmethod
    def create(
        cls, path: str, instance: str, asked: dict[str, Any], text: str | None, problem: Any, copy: bool
    ) -> Book:
        """A new folder."""
        native = _native.Book.create(path, instance, json.dumps(asked), text)
        if problem is not None:
            about = {"format": 1, "instance": instance, "copy": copy, **whereabouts(problem)}
            native.write(PYTHON, (json.dumps(about, indent=1) + "\n").encode())
        return cls(path, native, asked)

    @classmethod
    def reopen(cls, path: str) -> Book:
        """The folder of an earlier session."""
        native = _native.Book.open(path)
        spec = json.loads(native.spec())
        asked = {key: spec[key] for key in ("search", "seed", "streams", "threads", "limits")}
        return cls(path, native, asked)

    def limit(self, limits: dict[str, float]) -> None:
        """Other limits; time is counted from now on."""
        if "seconds" in limits:
            limits["seconds"] += self.seconds
        if "cpu_seconds" in limits:
            limits["cpu_seconds"] += self.cpu_seconds
        self.asked["limits"] = limits
        self.native.limit(json.dumps(limits))
        self.streams = self.native.standing()[2]

    def spent(self) -> tuple[float, float]:
        """Wall and CPU time of all sessions."""
        wall = self.seconds + time.monotonic() - self.begun
        return wall, self.cpu_seconds + time.process_time() - self.cpu_begun

    def improved(self, stream: int, score: float, words: list[str], playouts: int, seconds: float) -> None:
        """A new best: on the disk first, then announced."""
        self.keep(score, words, stream, playouts)
        self.native.improved(stream, score, playouts, seconds)

    def keep(self, score: float, words: list[str], stream: int, playouts: int) -> None:
        """Makes this the best record."""
        from .pages import describe

        fields = [
            ("search", describe(self.asked["search"])),
            ("seed", str(self.asked["seed"])),
            ("stream", f"{stream} of {self.asked['streams']}"),
            ("playouts", str(playouts)),
        ]
        self.native.keep(score, words, fields)
        self.best, self.words = score, words

    def take(self, event: tuple[Any, ...]) -> None:
        """Another event of the search."""
        if event[0] == "checkpoint":
            self.native.take(event[2])

    def tick(self, playouts: int) -> None:
        """Once a second: how it is going, and where the streams stand."""
        if time.monotonic() >= self.tick_at:
            self.tick_at = time.monotonic() + EVERY
            self.native.progress(*self.spent(), playouts, self.best)

    def finish(self, result: Result, report: dict[str, Any], best_known: float | None) -> None:
        """The end; after an exception there is no result, and the run can go on."""
        for stream in report["streams"]:
            self.native.take(stream)
        if result.score is not None and (self.best is None or result.score > self.best or not self.words):
            self.keep(result.score, result.words, 0, result.playouts)
        self.native.progress(*self.spent(), result.playouts, self.best)
        if report["fault"] is None and result.score is not None:
            spent = (result.playouts, result.seconds, result.cpu_seconds)
            self.native.finish(result.score, result.words, *spent, result.reason, best_known, result.facts)

    def close(self) -> None:
        """Lets go of the folder."""
        self.native.close()


def whereabouts(problem: Any) -> dict[str, Any]:
    """Where the class of an object can be found again."""
    kind = type(problem)
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    return {"module": kind.__module__, "class": kind.__qualname__, "file": os.path.abspath(file) if file else None}


def find(where: str) -> tuple[Any, bool]:
    """An object of the class that a folder names, made without arguments, and whether its states are copied."""
    path = Path(where) / PYTHON
    if not path.is_file():
        raise FolderError(f"{where}: its problem is not a class of Python's")
    about = json.loads(read_text(path))
    name, kind = about["module"], about["class"]
    expected = f"give the object: problem={kind}(...)"
    try:
        module = sys.modules.get(name) if name != "__main__" else None
        if module is None and name != "__main__" and importlib.util.find_spec(name) is not None:
            module = importlib.import_module(name)
        if module is None:
            module = _by_file(about["file"])
        found: Any = module
        for part in kind.split("."):
            found = getattr(found, part)
        return found(), about["copy"]
    except FolderError:
        raise
    except Exception as error:
        raise FolderError(f"{where}: no object of {name}.{kind} can be made ({error}): {expected}") from error


def _by_file(file: str | None) -> Any:
    if not file or not os.path.isfile(file):
        raise FolderError(f"the module of the class is not there ({file}): give problem=")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None or spec.loader is None:
        raise FolderError(f"{file}: not a module of Python's: give problem=")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
