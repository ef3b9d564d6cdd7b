"""How a search is going: one line in a terminal, a bar in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

#: So often at most, in seconds.
EVERY = 0.2
#: A search shorter than this shows nothing.
PATIENCE = 0.5


class Progress:
    """Where progress goes. ``wanted`` is True, False or None: where somebody can see it."""

    def __init__(self, wanted: bool | None, limits: dict[str, float]) -> None:
        self.limits = limits
        self.begun = time.monotonic()
        self.shown_at = self.begun + PATIENCE - EVERY
        self.handle: Any = None
        self.wrote = False
        notebook = _notebook() if wanted is not False else None
        self.notebook: Any = notebook
        self.terminal = notebook is None and (wanted is True or (wanted is None and sys.stderr.isatty()))

    def show(self, best: float, playouts: int) -> None:
        """Shows it, not too often."""
        now = time.monotonic()
        if now - self.shown_at < EVERY or not (self.terminal or self.notebook):
            return
        self.shown_at = now
        spent = now - self.begun
        shown = "nothing yet" if best == float("-inf") else f"best {best:g}"
        line = f"{shown}  {playouts:,} playouts  {playouts / spent:,.0f}/s  {spent:.0f} s"
        share = self.share(spent, playouts)
        if self.terminal:
            self.wrote = True
            sys.stderr.write(f"\r\x1b[2K{line}" + (f"  {share:.0%}" if share is not None else ""))
            sys.stderr.flush()
        else:
            bar = "<progress/>" if share is None else f'<progress max="1" value="{share:.3f}"/>'
            page = {"text/html": f"<div>{bar} {line}</div>", "text/plain": line}
            if self.handle is None:
                self.handle = self.notebook(page, raw=True, display_id=True)
            else:
                self.handle.update(page, raw=True)

    def share(self, spent: float, playouts: int) -> float | None:
        """How much of the search is over, where a limit tells."""
        shares = []
        if "seconds" in self.limits:
            shares.append(spent / max(self.limits["seconds"], 1e-9))
        if "playouts" in self.limits:
            shares.append(playouts / self.limits["playouts"])
        return min(1.0, max(shares)) if shares else None

    def close(self) -> None:
        """Takes the line away."""
        if self.wrote:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
        if self.handle is not None:
            self.handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _notebook() -> Any:
    """What displays in a notebook, if this is one."""
    shell: Any = sys.modules.get("IPython")
    if shell is None:
        return None
    ask: Any = getattr(shell, "get_ipython")
    kernel = ask()
    if kernel is None or type(kernel).__name__ != "ZMQInteractiveShell":
        return None
    return getattr(shell, "display").display
