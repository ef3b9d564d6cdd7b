"""A search of a class of yours in several processes: the streams are divided among them, their events come back here.

A worker that is killed is begun again from the last it told of its streams. Workers take no Ctrl-C: this process does, and
tells them.
"""

from __future__ import annotations

import json
import multiprocessing
import pickle
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from . import _native

#: A worker that dies more often than this is not begun again.
DEATHS_MAX = 3
#: How long this process waits before it looks at the clock.
TURN = 0.05
#: What a worker that was told to stop is given, in seconds, before it is ended: a call of the class may take long.
GRACE = 5.0


class WorkerDied(RuntimeError):
    """A worker process died again and again."""


class RemoteTraceback(Exception):
    """The traceback of an exception in another process, as text."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


def context() -> Any:
    """Where processes come from: forks where there are any, so that classes of notebooks are known to them."""
    fork = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    return multiprocessing.get_context("fork" if fork else "spawn")


class Worker:
    """A process and what it has told."""

    def __init__(self, number: int, streams: list[int]) -> None:
        self.number = number
        self.streams = streams
        self.best = float("-inf")
        self.words: list[str] = []
        self.deaths = 0
        self.checkpoints: dict[int, bytes] = {}
        self.process: Any = None
        self.pipe: Connection | None = None
        self.report: dict[str, Any] | None = None
        self.told_at: float | None = None

    def begin(self, problem: Any, asked: dict[str, Any], copy: bool, cache: int) -> None:
        """Starts the process, from the checkpoints there are."""
        here, there = context().Pipe()
        asked = asked | {"only": self.streams, "streams": asked["streams"], "threads": 1}
        args = (there, here, problem, json.dumps(asked), list(self.checkpoints.values()), copy, cache)
        self.process = context().Process(target=_work, args=args, daemon=True)
        with warnings.catch_warnings():
            # The child only runs this search; threads of the parent are not its business.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        there.close()
        self.pipe = here

    def tell(self, word: str) -> None:
        """Says one word to the process, if it is there."""
        if self.pipe is not None:
            try:
                self.pipe.send(word)
            except OSError:
                pass


def _work(
    there: Connection, here: Connection, problem: Any, asked: str, resume: list[bytes], copy: bool, cache: int
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    here.close()

    told = False

    def on(events: list[Any]) -> None:
        nonlocal told
        if events:
            there.send(("events", events))
        while not told and there.poll():
            if there.recv() == "stop":
                told = True
                raise KeyboardInterrupt

    try:
        native = _native.Instance.hosted(problem, not copy, cache)
        report = native.solve(asked, on, resume)
        fault = report["fault"]
        report["fault"] = None if fault is None else pack(fault)
        there.send(("end", report))
    except (EOFError, OSError):
        pass  # Nobody listens any more.
    except BaseException as error:
        there.send(("failed", pack(error)))
    there.close()


def pack(error: BaseException) -> tuple[bytes | None, str]:
    """An exception on its way to another process: itself, if it can be sent, and its traceback."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        packed = pickle.dumps(error)
        pickle.loads(packed)
        return packed, text
    except Exception:
        return None, text


def unpack(packed: tuple[bytes | None, str]) -> BaseException:
    """The exception, with its traceback as its cause."""
    error: BaseException = pickle.loads(packed[0]) if packed[0] else RuntimeError(packed[1].strip().splitlines()[-1])
    error.__cause__ = RemoteTraceback(packed[1])
    return error


def solve(
    problem: Any,
    asked: dict[str, Any],
    resume: list[bytes],
    workers: int,
    sink: Callable[[list[Any]], object],
    copy: bool,
    cache: int,
) -> dict[str, Any]:
    """Runs the streams in so many processes; a report as the native search gives it."""
    workers = min(workers, asked["streams"])
    begun = time.monotonic()
    limits = dict(asked["limits"])
    if "cpu_seconds" in limits:
        limits["cpu_seconds"] = limits["cpu_seconds"] / workers
    asked = asked | {"limits": limits}
    crew = [Worker(w, list(range(w, asked["streams"], workers))) for w in range(workers)]
    known = {_native.stream_of(bytes_): bytes_ for bytes_ in resume}
    for worker in crew:
        worker.checkpoints = {s: known[s] for s in worker.streams if s in known}
        worker.begin(problem, asked, copy, cache)
    fault: BaseException | None = None
    stopping = False
    reached = False

    def stop() -> None:
        for worker in crew:
            worker.tell("stop")
            worker.told_at = worker.told_at or time.monotonic()

    try:
        while any(worker.report is None for worker in crew):
            try:
                turn(crew, sink, asked, problem, copy, cache)
                target = limits.get("target")
                reached = reached or target is not None and any(w.best >= target for w in crew)
            except KeyboardInterrupt:
                stopping = True
            except Exception as error:
                fault = fault or error
            faults = [w.report["fault"] for w in crew if w.report is not None and w.report["fault"] is not None]
            if fault is None and faults:
                fault = faults[0]
            if stopping or reached or fault is not None:
                stop()
    finally:
        for worker in crew:
            if worker.process.is_alive() and worker.report is None:
                worker.process.kill()
            worker.process.join()
            if worker.pipe is not None:
                worker.pipe.close()
    report = merge([worker.report for worker in crew if worker.report is not None])
    if stopping:
        report["reason"] = "asked"
    elif reached and fault is None:
        report["reason"] = "target"
    report["fault"] = fault
    report["seconds"] = asked.get("seconds_before", 0.0) + time.monotonic() - begun
    return report


def turn(crew: list[Worker], sink: Any, asked: dict[str, Any], problem: Any, copy: bool, cache: int) -> None:
    """Takes what has come, and begins again who has died."""
    pipes = {worker.pipe: worker for worker in crew if worker.report is None and worker.pipe is not None}
    ready: list[Any] = list(wait(list(pipes), TURN))
    for pipe in ready:
        worker = pipes[pipe]
        try:
            kind, what = pipe.recv()
        except (EOFError, OSError):
            died(worker, asked, problem, copy, cache)
            continue
        if kind == "events":
            for event in what:
                if event[0] == "checkpoint":
                    worker.checkpoints[event[1]] = event[2]
                elif event[0] == "improved":
                    if event[2] > worker.best:
                        worker.best, worker.words = event[2], event[3]
            sink(what)
        elif kind == "end":
            what["fault"] = None if what["fault"] is None else unpack(what["fault"])
            worker.report = what
        else:
            worker.report = broken_off(worker, unpack(what))
    if not ready:
        sink([])
    now = time.monotonic()
    for worker in pipes.values():
        if worker.told_at is not None and now - worker.told_at > GRACE and worker.report is None:
            # It is deep in a call of the class. What it told before is kept.
            worker.process.kill()
            worker.report = broken_off(worker, None)


def died(worker: Worker, asked: dict[str, Any], problem: Any, copy: bool, cache: int) -> None:
    """Begins a worker again that is no more; too often, and it is a fault."""
    worker.process.join()
    code = worker.process.exitcode
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    if worker.told_at is not None:
        worker.report = broken_off(worker, None)
        return
    worker.deaths += 1
    if worker.deaths > DEATHS_MAX:
        error = WorkerDied(f"worker process {worker.number} died {worker.deaths} times, last by {how}")
        worker.report = broken_off(worker, error)
        return
    warnings.warn(f"worker process {worker.number} died ({how}) and is begun again", RuntimeWarning, stacklevel=2)
    if worker.pipe is not None:
        worker.pipe.close()
    worker.begin(problem, asked, copy, cache)


def broken_off(worker: Worker, fault: BaseException | None) -> dict[str, Any]:
    """The report of a worker that could not give one: what it told before."""
    report = nothing(fault)
    if worker.words or worker.best > float("-inf"):
        report["score"], report["words"] = worker.best, worker.words
    return report


def nothing(fault: BaseException | None) -> dict[str, Any]:
    """A report of nothing."""
    return {
        "score": None, "words": None, "playouts": 0, "reason": "asked", "seconds": 0.0, "cpu_seconds": 0.0,
        "streams": [], "ends": [], "fault": fault,
    }  # fmt: skip


def merge(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """One report of several: the best of all streams, of equals that of the lowest."""
    merged = nothing(None)
    ends = sorted((end for report in reports for end in report["ends"]), key=lambda end: end[0])
    for _, score, words in ends:
        if score is not None and score != float("-inf") and (merged["score"] is None or score > merged["score"]):
            merged["score"], merged["words"] = score, words
    for report in reports:
        if report["score"] is not None and (merged["score"] is None or report["score"] > merged["score"]):
            merged["score"], merged["words"] = report["score"], report["words"]
        merged["playouts"] += report["playouts"]
        merged["cpu_seconds"] += report["cpu_seconds"]
        merged["streams"] += report["streams"]
    reasons = [report["reason"] for report in reports]
    order = ["asked", "target", "time", "cpu-time"]
    merged["reason"] = next((r for r in order if r in reasons), reasons[0] if reasons else "done")
    merged["ends"] = ends
    return merged
