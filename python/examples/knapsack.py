"""Things with a weight and a value, and a sack that holds so much: a problem in one class, searched by NRPA."""

from __future__ import annotations

import sortie_search as so

# How far we are, the weight, the value.
State = tuple[int, int, int]


class Knapsack:
    """Each thing in turn is taken (1) or left (0)."""

    def __init__(self, things: list[tuple[int, int]], room: int) -> None:
        self.things = things
        self.room = room

    def initial(self) -> State:
        return (0, 0, 0)

    def moves(self, state: State) -> list[int]:
        i, weight, _ = state
        if i == len(self.things):
            return []
        return [0, 1] if weight + self.things[i][0] <= self.room else [0]

    def play(self, state: State, move: int) -> State:
        i, weight, value = state
        return (i + 1, weight + move * self.things[i][0], value + move * self.things[i][1])

    def score(self, state: State) -> float:
        return state[2]

    # What is learnt: whether this thing is taken, however full the sack is.
    def code(self, state: State, move: int) -> tuple[int, int]:
        return (state[0], move)

    # What is known beforehand: good value for its weight is taken more often.
    def bias(self, state: State, move: int) -> float:
        weight, value = self.things[state[0]]
        return move * (value / weight - 1)


def main() -> so.Result:
    things = [(5 + (i * 7) % 11, 3 + (i * 5) % 13) for i in range(40)]
    problem = Knapsack(things, room=120)
    print(so.check(problem))
    found = so.solve(problem, search="nrpa", level=2, bias=True, stop=so.playouts(5_000), seed=1)
    taken = [i for i, take in enumerate(found.moves) if take]
    print(f"value {found.score:g}, weight {found.state[1]}: things {taken}")
    return found


if __name__ == "__main__":
    main()
