"""Connect Four whose playouts are done over numpy arrays: hundreds of positions in flight, played out in one call.

The search asks ``play``, ``moves`` and ``outcome`` in the tree alone; what a playout costs is shared by all of a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import sortie_search as so

# The stones of who moves, all stones, how many: the columns have seven bits each, the topmost always empty.
State = tuple[int, int, int]
COLUMNS = range(7)
TOPS = np.uint64(sum(1 << (7 * c + 5) for c in COLUMNS))
#: Moves the bits 0, 7, 14, ... 42 of a word to 42, 43, ... 48.
GATHER = np.uint64(sum(1 << (42 - 6 * c) for c in COLUMNS))
#: A number that all counts of free columns divide.
DRAWN = 420


def _drawn() -> Any:
    """By the columns that are full, as seven bits, and a number below DRAWN: the lowest bit of a free column, drawn fairly."""
    table = np.zeros((128, DRAWN), np.uint64)
    for full in range(127):
        free = [c for c in COLUMNS if not full >> c & 1]
        table[full] = [1 << 7 * free[i % len(free)] for i in range(DRAWN)]
    return table


TABLE = _drawn()


class ConnectFour:
    """The game, a state at a time: all that is needed."""

    def initial(self) -> State:
        return (0, 0, 0)

    def moves(self, state: State) -> list[int]:
        if self.outcome(state) is not None:
            return []
        return [c for c in COLUMNS if not state[1] >> (7 * c + 5) & 1]

    def play(self, state: State, move: int) -> State:
        own, stones, n = state
        return (stones ^ own, stones | stones + (1 << 7 * move), n + 1)

    def to_move(self, state: State) -> int:
        return state[2] % 2

    def outcome(self, state: State) -> float | None:
        last = state[0] ^ state[1]
        for d in (1, 6, 7, 8):
            pairs = last & last >> d
            if pairs & pairs >> 2 * d:
                return float(state[2] % 2)
        return 0.5 if state[2] == 42 else None


class Vectorised(ConnectFour):
    """And many at once."""

    def playouts(self, states: list[State], seed: int) -> Any:
        """What random games from these positions are worth to player 0."""
        chance = np.random.default_rng(seed)
        own, stones, n = (np.array(part, np.uint64) for part in zip(*states))
        values = np.full(len(states), 0.5)
        live = np.arange(len(states))
        while live.size:
            full = (((stones & TOPS) >> np.uint64(5)) * GATHER >> np.uint64(42)) & np.uint64(127)
            bit = TABLE[full, chance.integers(0, DRAWN, live.size)]
            own, stones, n = stones ^ own, stones | (stones + bit), n + np.uint64(1)
            mover = stones ^ own
            won = np.zeros(live.size, np.uint64)
            for d in (1, 6, 7, 8):
                pairs = mover & (mover >> np.uint64(d))
                won |= pairs & (pairs >> np.uint64(2 * d))
            values[live[won != 0]] = (n & np.uint64(1))[won != 0]
            on = (won == 0) & (n < np.uint64(42))
            own, stones, n, live = own[on], stones[on], n[on], live[on]
        return values


def main() -> so.Thought:
    game = Vectorised()
    so.check(game, sequences=5)
    # Three in a row, open at both ends: the second player has to lose.
    thought = so.analyse(game, moves=[3, 3, 2, 2], stop=so.playouts(20_000), seed=1)
    print(f"after 3 3 2 2: column {thought.best}, worth {thought.value:.2f}; proved: {thought.proved}")
    return thought


if __name__ == "__main__":
    main()
