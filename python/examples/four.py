"""A small game for two: four in a row on five columns, played by UCT against a weaker copy of itself, and analysed."""

from __future__ import annotations

import sortie_search as so

# The columns, each from its bottom up.
State = tuple[str, ...]
WIDTH, HEIGHT = 5, 4


class Four:
    def initial(self) -> State:
        return ("",) * WIDTH

    def moves(self, state: State) -> list[int]:
        if self.outcome(state) is not None:
            return []
        return [c for c in range(WIDTH) if len(state[c]) < HEIGHT]

    def play(self, state: State, move: int) -> State:
        stone = "xo"[self.to_move(state)]
        return (*state[:move], state[move] + stone, *state[move + 1 :])

    def to_move(self, state: State) -> int:
        return sum(map(len, state)) % 2

    def outcome(self, state: State) -> float | None:
        grid = [column.ljust(HEIGHT, ".") for column in state]
        for stone, value in (("x", 1.0), ("o", 0.0)):
            for c in range(WIDTH):
                for r in range(HEIGHT):
                    for dc, dr in ((1, 0), (0, 1), (1, 1), (1, -1)):
                        ends = c + 3 * dc < WIDTH and 0 <= r + 3 * dr < HEIGHT
                        if ends and all(grid[c + i * dc][r + i * dr] == stone for i in range(4)):
                            return value
        return 0.5 if all(len(column) == HEIGHT for column in state) else None

    def render(self, state: State) -> str:
        grid = [column.ljust(HEIGHT, ".") for column in state]
        return "\n".join(" ".join(grid[c][r] for c in range(WIDTH)) for r in reversed(range(HEIGHT)))


def main() -> so.MatchResult:
    game = Four()
    so.check(game, sequences=5)
    thought = so.analyse(game, moves=[2, 0, 2, 0], stop=so.playouts(300))
    print(f"after c a c a: column {thought.best}, worth {thought.value:.2f}; proved: {thought.proved}")
    played = so.match(game, stops=(so.playouts(60), so.playouts(5)), games=4, seed=1)
    low, high = played.interval
    print(f"60 playouts a move against 5: {played.score:.0%} ({low:.0%} to {high:.0%}) of {played.games} games")
    return played


if __name__ == "__main__":
    main()
