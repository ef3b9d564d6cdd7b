"""When a search ends: conditions that are joined by ``|``, whichever comes first."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True)
class Stop:
    """When a search ends, besides when it is done. ``a | b`` ends at whichever comes first."""

    playouts: int | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    target: float | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ValueError(f"{name} {value!r}: expected a finite number")
            if name in ("playouts", "patience") and (not isinstance(value, int) or value < 1):
                raise ValueError(f"{name} {value!r}: expected a whole number from 1 on")
            if name in ("seconds", "cpu_seconds") and value < 0:
                raise ValueError(f"{name} {value!r}: expected a number from 0 on")

    def __or__(self, other: Stop) -> Stop:
        if not isinstance(other, Stop):
            return NotImplemented
        joined = {}
        for field in fields(self):
            given = [v for v in (getattr(self, field.name), getattr(other, field.name)) if v is not None]
            joined[field.name] = min(given) if given else None
        return Stop(**joined)

    def limits(self) -> dict[str, float]:
        """What was given, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def seconds(n: float) -> Stop:
    """So much wall time."""
    return Stop(seconds=n)


def cpu_seconds(n: float) -> Stop:
    """So much CPU time, of all threads and worker processes together."""
    return Stop(cpu_seconds=n)


def playouts(n: int) -> Stop:
    """So many playouts, of all streams together; of a player, simulations a move."""
    return Stop(playouts=n)


def target(score: float) -> Stop:
    """A score that is good enough."""
    return Stop(target=score)


def patience(n: int) -> Stop:
    """So many playouts of a stream without an improvement."""
    return Stop(patience=n)
