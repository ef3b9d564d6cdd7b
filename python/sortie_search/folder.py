"""The run folder, written as the command writes it (docs/formats.md): spec, events, best record, checkpoint, result.

A record is on the disk before it is announced, whole files are replaced, and one process at a time holds the lock. The
folder of a search of a class of yours has ``python.json`` besides, which names the class.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    from .solving import Result

SPEC, EVENTS, RECORD, CHECKPOINT, RESULT = "spec.toml", "events.jsonl", "best.record", "checkpoint", "result.json"
INSTANCE, LOCK, PYTHON = "instance.txt", "lock", "python.json"
#: The version of the folder's format.
FORMAT = 1
#: The word before the slash of an instance that is a class of yours.
DOMAIN = "python"
#: A progress event and a checkpoint so often, in seconds.
EVERY = 1.0
#: Lines of records are wrapped here.
WRAP = 100
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


def now() -> str:
    """UTC, as records have it."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def tidy(value: float) -> float | int:
    """A number as JSON has it: whole ones without a point."""
    return int(value) if value == int(value) and abs(value) < 1e15 else value


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


def lock(path: Path) -> Any:
    """Takes the lock of a folder."""
    file = open(path / LOCK, "ab")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass  # Then it is up to the user.
    except BlockingIOError:
        file.close()
        raise FolderError(f"{path}: another process is working on this run") from None
    except OSError:
        pass  # Some network file systems have no locks.
    return file


def record(instance: str, score: float, fields: dict[str, str], words: list[str]) -> str:
    """A record as text."""
    lines = ["sortie record 1", f"instance = {instance}", f"score = {tidy(score)!r}"]
    lines += [f"{key} = {' '.join(value.split())}" for key, value in fields.items()]
    line = ""
    lines.append("")
    for word in words:
        if line and len(line) + 1 + len(word) > WRAP:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line]) + "\n"


def read_record(text: str, where: str = "record") -> tuple[str, float, dict[str, str], list[str]]:
    """The instance, the claimed score, further lines and the moves of a record."""
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "sortie record 1":
        raise ValueError(f"{where}:1: not a record: expected 'sortie record 1'")
    fields: dict[str, str] = {}
    at = 1
    while at < len(lines) and lines[at].strip():
        key, equals, value = lines[at].partition("=")
        if not equals:
            raise ValueError(f"{where}:{at + 1}: expected 'key = value' or an empty line")
        fields[key.strip()] = value.strip()
        at += 1
    if "instance" not in fields or "score" not in fields:
        raise ValueError(f"{where}:{at}: the header has no instance or no score")
    instance = fields.pop("instance")
    try:
        score = float(fields.pop("score"))
    except ValueError:
        raise ValueError(f"{where}: the score is not a number") from None
    return instance, score, fields, " ".join(lines[at:]).split()


def toml(value: Any) -> str:
    """A plain value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return json.dumps(str(value), ensure_ascii=False)


def identity(instance: str, asked: dict[str, Any]) -> str:
    """What a checkpoint must agree with to belong to a spec."""
    search = _native.search_json(json.dumps(asked["search"]))
    return f"{instance} {search} seed {asked['seed']} streams {asked['streams']}"


def read_text(path: Path) -> str:
    """A text file of a folder."""
    if path.stat().st_size > TEXT_BYTES_MAX:
        raise FolderError(f"{path}: larger than {TEXT_BYTES_MAX >> 20} MiB")
    return path.read_text(encoding="utf-8", errors="replace")


class Book:
    """A run folder that this process writes."""

    def __init__(self, path: Path, held: Any, instance: str, asked: dict[str, Any]) -> None:
        self.path = str(path)
        self.instance = instance
        self.asked = asked
        self.best: float | None = None
        self.words: list[str] = []
        self.checkpoints: dict[int, bytes] = {}
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.resumed = False
        self.dirty = False
        self.held = held
        self.begun = time.monotonic()
        self.cpu_begun = time.process_time()
        self.tick_at = self.begun + EVERY
        self.torn = False
        events = path / EVENTS
        if events.is_file() and events.stat().st_size:
            with open(events, "rb") as file:
                file.seek(-1, os.SEEK_END)
                self.torn = file.read(1) != b"\n"
        self.log = open(events, "a", encoding="utf-8")

    @classmethod
    def create(
        cls, where: str, instance: str, asked: dict[str, Any], text: str | None, problem: Any, copy: bool
    ) -> Book:
        """A new folder."""
        path = Path(where)
        if (path / SPEC).exists():
            raise FolderError(f"{path} already holds a run: sortie_search.resume({where!r}) goes on with it")
        if path.exists() and any(entry.name not in (LOCK, f".{SPEC}.tmp") for entry in path.iterdir()):
            raise FolderError(f"{path} is not empty: give another out")
        path.mkdir(parents=True, exist_ok=True)
        held = lock(path)
        if problem is not None:
            about = {"format": FORMAT, "instance": instance, "copy": copy, **whereabouts(problem)}
            replace(path / PYTHON, (json.dumps(about, indent=1) + "\n").encode())
        if text is not None:
            replace(path / INSTANCE, text.encode())
        write_spec(path, instance, asked)
        book = cls(path, held, instance, asked)
        spec = {key: asked[key] for key in ("search", "seed", "streams", "threads", "limits")}
        book.event("started", time=now(), instance=instance, **spec, version=_native.version)
        return book

    @classmethod
    def reopen(cls, where: str) -> Book:
        """The folder of an earlier session."""
        path = Path(where)
        if not (path / SPEC).is_file():
            raise FolderError(f"{path}: not a run folder (it has no {SPEC})")
        held = lock(path)
        spec = json.loads(_native.toml_json(read_text(path / SPEC)))
        if spec.get("format") != FORMAT:
            raise FolderError(f"{path / SPEC}: format {spec.get('format')} is of another version: expected {FORMAT}")
        asked = {key: spec[key] for key in ("search", "seed", "streams", "threads")}
        asked["limits"] = spec.get("limits", {})
        book = cls(path, held, spec["instance"], asked)
        book.resumed = True
        saved = path / CHECKPOINT
        if saved.is_file():
            read = _native.checkpoint_read(saved.read_bytes())
            if read is not None and read[0] == identity(book.instance, asked):
                _, book.seconds, book.cpu_seconds, streams = read
                book.checkpoints = {_native.stream_of(stream): stream for stream in streams}
        if (path / RECORD).is_file():
            _, book.best, _, book.words = read_record(read_text(path / RECORD), str(path / RECORD))
        return book

    @property
    def streams(self) -> list[bytes]:
        """Where the streams stood."""
        return [self.checkpoints[stream] for stream in sorted(self.checkpoints)]

    def spent(self) -> tuple[float, float]:
        """Wall and CPU time of all sessions."""
        wall = self.seconds + time.monotonic() - self.begun
        return wall, self.cpu_seconds + time.process_time() - self.cpu_begun

    def event(self, kind: str, **keys: Any) -> None:
        """Appends an event."""
        line = json.dumps({"event": kind, **keys}, ensure_ascii=False)
        self.log.write(("\n" if self.torn else "") + line + "\n")
        self.torn = False
        self.log.flush()

    def improved(self, stream: int, score: float, words: list[str], playouts: int, seconds: float) -> None:
        """A new best: on the disk first, then announced."""
        self.keep(score, words, stream, playouts)
        self.event("improved", seconds=round(seconds, 6), stream=stream, score=tidy(score), playouts=playouts)

    def keep(self, score: float, words: list[str], stream: int, playouts: int) -> None:
        """Makes this the best record."""
        from .pages import describe

        fields = {
            "search": describe(self.asked["search"]),
            "seed": str(self.asked["seed"]),
            "stream": f"{stream} of {self.asked['streams']}",
            "playouts": str(playouts),
            "found": now(),
            "version": f"sortie {_native.version}",
        }
        replace(Path(self.path) / RECORD, record(self.instance, score, fields, words).encode())
        self.best, self.words = score, words

    def take(self, event: tuple[Any, ...]) -> None:
        """Another event of the search."""
        if event[0] == "checkpoint":
            self.checkpoints[event[1]] = event[2]
            self.dirty = True

    def tick(self, playouts: int) -> None:
        """Once a second: how it is going, and where the streams stand."""
        if time.monotonic() < self.tick_at:
            return
        self.tick_at = time.monotonic() + EVERY
        seconds, cpu = self.spent()
        best = None if self.best is None else tidy(self.best)
        self.event("progress", seconds=round(seconds, 6), cpu_seconds=round(cpu, 6), playouts=playouts, best=best)
        self.checkpoint()

    def checkpoint(self) -> None:
        """Writes where the streams stand."""
        if self.dirty:
            seconds, cpu = self.spent()
            data = _native.checkpoint_bytes(identity(self.instance, self.asked), seconds, cpu, self.streams)
            replace(Path(self.path) / CHECKPOINT, data)
            self.dirty = False

    def finish(self, result: Result, report: dict[str, Any]) -> None:
        """The end."""
        for stream in report["streams"]:
            self.checkpoints[_native.stream_of(stream)] = stream
            self.dirty = True
        if result.score is not None and (self.best is None or result.score > self.best or not self.words):
            self.keep(result.score, result.words, 0, result.playouts)
        self.checkpoint()
        if report["fault"] is not None:
            self.event("failed", time=now(), error=f"{type(report['fault']).__name__}: {report['fault']}")
            return
        if result.score is None:
            return
        seconds, cpu = round(result.seconds, 6), round(result.cpu_seconds, 6)
        search = dict(result.search)
        best_known = None
        summary: dict[str, Any] = {
            "domain": self.instance.split("/")[0],
            "instance": self.instance,
            "search": search.pop("name"),
            "parameters": search,
            "seed": result.seed,
            "streams": self.asked["streams"],
            "threads": self.asked["threads"],
            "limits": self.asked["limits"],
            "score": tidy(result.score),
            "best_known": best_known,
            "moves": result.words,
            "playouts": result.playouts,
            "playouts_per_second": round(result.playouts_per_second),
            "seconds": seconds,
            "cpu_seconds": cpu,
            "reason": result.reason,
            "folder": self.path,
            "record": str(Path(self.path) / RECORD),
            "version": _native.version,
        }
        for name, value in result.facts.items():
            summary.setdefault(name, tidy(value))
        self.event(
            "finished", time=now(), seconds=seconds, cpu_seconds=cpu, playouts=result.playouts,
            score=tidy(result.score), reason=result.reason,
        )  # fmt: skip
        replace(Path(self.path) / RESULT, (json.dumps(summary, indent=2, ensure_ascii=False) + "\n").encode())

    def go_on(self) -> None:
        """Another session begins."""
        (Path(self.path) / RESULT).unlink(missing_ok=True)
        best = None if self.best is None else tidy(self.best)
        keys = {"seconds": round(self.seconds, 6), "best": best, "threads": self.asked["threads"]}
        self.event("resumed", time=now(), playouts=0, **keys)

    def close(self) -> None:
        """Lets go of the folder."""
        self.log.flush()
        os.fsync(self.log.fileno())
        self.log.close()
        self.held.close()


def write_spec(path: Path, instance: str, asked: dict[str, Any]) -> None:
    """Writes what the run was told."""
    lines = ["# Everything needed to repeat this run.", f"format = {FORMAT}", f"sortie = {toml(_native.version)}"]
    lines.append(f"instance = {toml(instance)}")
    lines += [f"{key} = {asked[key]}" for key in ("seed", "streams", "threads")]
    for table in ("search", "limits"):
        lines += ["", f"[{table}]", *(f"{key} = {toml(value)}" for key, value in asked[table].items())]
    replace(path / SPEC, ("\n".join(lines) + "\n").encode())


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
