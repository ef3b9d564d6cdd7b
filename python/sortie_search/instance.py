"""What is searched: one of the built-in domains by its name, or an object of your own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Union

from . import _native
from .problem import Game, Problem

#: A file larger than this is no instance.
FILE_BYTES_MAX = 16 << 20

#: What can be searched: a name as in "samegame/1", an opened instance, an object of your own.
Searchable = Union[str, "Instance", Problem[Any, Any], Game[Any, Any]]


class Instance:
    """One of the built-in domains' instances, opened."""

    def __init__(self, name: str, native: _native.Instance, text: str | None) -> None:
        self.name = name
        self.text = text
        self.native = native

    @property
    def is_game(self) -> bool:
        """Whether it is a game for two."""
        return self.native.is_game

    @property
    def best_known(self) -> float | None:
        """The best score known."""
        return self.native.best_known

    def __repr__(self) -> str:
        return f"<sortie {self.name}>"

    def __reduce__(self) -> Any:
        return _opened, (self.name, self.text)

    def _repr_svg_(self) -> str | None:
        picture: str | None = self.native.position([], False)["picture"]
        return picture


def _opened(name: str, text: str | None) -> Instance:
    return Instance(name, _native.Instance.open(name, text), text)


def open(
    name: str,
    path: str | os.PathLike[str] | None = None,
    *,
    text: str | None = None,
    customers: Any = None,
    vehicles: int = 25,
    capacity: int = 200,
    board: Any = None,
    **options: Any,
) -> Instance:
    """Opens an instance: ``open("samegame/1")``, ``open("samegame", "mine.txt")``, ``open("coil/10-3", symmetric="on")``,
    ``open("vrptw", customers=frame_or_path, vehicles=25, capacity=200)``, ``open("samegame", board=rows)``.
    """
    if customers is not None:
        if isinstance(customers, (str, os.PathLike)):
            path = customers
        else:
            text = solomon(customers, vehicles, capacity)
    if board is not None:
        text = "".join(" ".join(str(int(cell)) for cell in row) + "\n" for row in board)
    if path is not None:
        text = _read(path)
        name = f"{name}/{os.fspath(path)}"
    elif text is not None and "/" not in name:
        name = f"{name}/instance.txt"
    if options:
        name += ":" + ",".join(f"{key.replace('_', '-')}={_option(value)}" for key, value in options.items())
    bare = name.split("/", 1)
    if len(bare) == 1:
        # A game's usual board.
        examples = [entry[4] for entry in _native.domains() if entry[0] == name]
        if examples and examples[0]:
            name = examples[0][0]
    elif text is None:
        file = Path(re.sub(r":[^/]*=[^/]*$", "", bare[1]))
        if file.is_file():
            text = _read(file)
    return _opened(name, text)


def _option(value: Any) -> str:
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _read(path: str | os.PathLike[str]) -> str:
    file = Path(path)
    if file.stat().st_size > FILE_BYTES_MAX:
        raise ValueError(f"{file}: larger than {FILE_BYTES_MAX >> 20} MiB")
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not a text file (not UTF-8)") from None


#: The columns of customers, and other names that they are known by.
COLUMNS = (
    ("x", "xcoord", "x_coord"),
    ("y", "ycoord", "y_coord"),
    ("demand",),
    ("ready", "ready_time", "readytime", "tw_start"),
    ("due", "due_date", "duedate", "due_time", "tw_end"),
    ("service", "service_time", "servicetime"),
)


def solomon(customers: Any, vehicles: int = 25, capacity: int = 200) -> str:
    """Customers as a file of Solomon's: a DataFrame, or rows of x, y, demand, ready, due, service; the depot first."""
    rows: list[Sequence[float]]
    if hasattr(customers, "columns"):
        found = {re.sub(r"[\s.]+", "_", str(c).strip().lower()): c for c in customers.columns}
        picked = []
        for names in COLUMNS:
            known = [found[n] for n in names if n in found]
            if not known:
                raise ValueError(f"customers: no column {names[0]}; expected x, y, demand, ready, due, service")
            picked.append([float(v) for v in customers[known[0]]])
        rows = list(zip(*picked))
    else:
        rows = [[float(v) for v in row] for row in customers]
        if rows and len(rows[0]) == 7:
            rows = [row[1:] for row in rows]
    if len(rows) < 2 or any(len(row) != 6 for row in rows):
        raise ValueError("customers: expected rows of x, y, demand, ready, due, service, the depot first")
    lines = ["customers", "", "VEHICLE", "NUMBER CAPACITY", f"{vehicles} {capacity}", "", "CUSTOMER"]
    lines += ["CUST NO. XCOORD. YCOORD. DEMAND READY-TIME DUE-DATE SERVICE-TIME", ""]
    lines += [" ".join([str(i), *(_number(v) for v in row)]) for i, row in enumerate(rows)]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def of(problem: Searchable, copy: bool = True, cache: int = 200_000) -> tuple[_native.Instance, Instance | None]:
    """The native instance behind anything that can be searched, and the opened one if it is of ours."""
    if isinstance(problem, str):
        problem = open(problem)
    if isinstance(problem, Instance):
        return problem.native, problem
    if isinstance(problem, type):
        raise TypeError(f"{problem.__name__} is a class: give an object of it, {problem.__name__}()")
    return _native.Instance.hosted(problem, not copy, cache), None


def domains() -> dict[str, str]:
    """The built-in domains, each with a line about it."""
    return {entry[0]: entry[1] for entry in _native.domains()}


def words(moves: str | Iterable[str]) -> list[str]:
    """Moves as words: a text or a list."""
    return moves.split() if isinstance(moves, str) else [str(word) for word in moves]
