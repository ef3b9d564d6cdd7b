"""Classes that tests and benchmarks search."""

from __future__ import annotations

from typing import Any

Sack = tuple[int, int, int]


class Knapsack:
    """Things with weights and values, each taken or left."""

    def __init__(self, n: int = 30, room: int = 90) -> None:
        self.things = [(5 + (i * 7) % 11, 3 + (i * 5) % 13) for i in range(n)]
        self.room = room

    def initial(self) -> Sack:
        return (0, 0, 0)

    def moves(self, state: Sack) -> list[int]:
        i, weight, _ = state
        if i == len(self.things):
            return []
        return [0, 1] if weight + self.things[i][0] <= self.room else [0]

    def play(self, state: Sack, move: int) -> Sack:
        i, weight, value = state
        return (i + 1, weight + move * self.things[i][0], value + move * self.things[i][1])

    def score(self, state: Sack) -> float:
        return state[2]

    def code(self, state: Sack, move: int) -> Any:
        return (state[0], move)

    def optimum(self) -> int:
        """By dynamic programming."""
        best = [0] * (self.room + 1)
        for weight, value in self.things:
            for room in range(self.room, weight - 1, -1):
                best[room] = max(best[room], best[room - weight] + value)
        return best[self.room]


class InPlace:
    """The same with a state that is changed."""

    def __init__(self) -> None:
        self.sack = Knapsack(20, 60)

    def initial(self) -> list[int]:
        return [0, 0, 0]

    def moves(self, state: list[int]) -> list[int]:
        return self.sack.moves((state[0], state[1], state[2]))

    def play(self, state: list[int], move: int) -> list[int]:
        state[:] = self.sack.play((state[0], state[1], state[2]), move)
        return state

    def score(self, state: list[int]) -> float:
        return state[2]

    def code(self, state: list[int], move: int) -> Any:
        return (state[0], move)


Board = tuple[int, ...]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe:
    """The game; a state is nine cells: 0 empty, 1 and 2 the players."""

    def initial(self) -> Board:
        return (0,) * 9

    def moves(self, state: Board) -> list[int]:
        if self.outcome(state) is not None:
            return []
        return [i for i in range(9) if state[i] == 0]

    def play(self, state: Board, move: int) -> Board:
        cells = list(state)
        cells[move] = self.to_move(state) + 1
        return tuple(cells)

    def to_move(self, state: Board) -> int:
        return sum(1 for cell in state if cell) % 2

    def outcome(self, state: Board) -> float | None:
        for a, b, c in LINES:
            if state[a] and state[a] == state[b] == state[c]:
                return 1.0 if state[a] == 1 else 0.0
        return None if 0 in state else 0.5
