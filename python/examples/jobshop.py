"""A job shop from a file: which job's next operation is planned next, so that the last one ends early.

    python jobshop.py ft06.txt
"""

from __future__ import annotations

import sys
from pathlib import Path

import sortie_search as so

# Operations done of each job, when each job is free, when each machine is free.
State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


class JobShop:
    def __init__(self, text: str) -> None:
        rows = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        self.jobs = [[(int(m), int(t)) for m, t in zip(row[::2], row[1::2])] for row in rows]
        self.machines = 1 + max(machine for job in self.jobs for machine, _ in job)

    def initial(self) -> State:
        free = (0,) * len(self.jobs)
        return (free, free, (0,) * self.machines)

    def moves(self, state: State) -> list[int]:
        return [job for job, done in enumerate(state[0]) if done < len(self.jobs[job])]

    def play(self, state: State, job: int) -> State:
        done, jobs, machines = map(list, state)
        machine, time = self.jobs[job][done[job]]
        end = max(jobs[job], machines[machine]) + time
        done[job] += 1
        jobs[job] = machines[machine] = end
        return (tuple(done), tuple(jobs), tuple(machines))

    # The end of the last operation; a cost, so it is negated.
    def score(self, state: State) -> float:
        return -max(state[1])

    # What is learnt: which operations come early.
    def code(self, state: State, job: int) -> tuple[int, int]:
        return (job, state[0][job])

    # An operation that can begin early, and is short, more often.
    def bias(self, state: State, job: int) -> float:
        machine, time = self.jobs[job][state[0][job]]
        return -0.1 * (max(state[1][job], state[2][machine]) - min(state[1]) + 0.5 * time)

    # When each job ends, as a chart.
    def render(self, state: State) -> str:
        scale, rows = 6, []
        for job, end in enumerate(state[1]):
            rows.append(f'<rect x="0" y="{job * 20}" width="{end * scale}" height="16" fill="#1f6feb"/>')
            rows.append(f'<text x="4" y="{job * 20 + 12}" font-size="10" fill="white">job {job}: {end}</text>')
        size = f'width="{max(state[1]) * scale + 10}" height="{len(state[1]) * 20}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(rows)}</svg>'


def main(path: str | None = None) -> so.Result:
    file = Path(path) if path else Path(__file__).with_name("ft06.txt")
    shop = JobShop(file.read_text())
    so.check(shop)
    found = so.solve(shop, search="nrpa", level=3, bias=True, stop=so.playouts(6_000) | so.target(-55), seed=1)
    assert found.score is not None
    print(f"the plan takes {-found.score:g}: {found.words}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])
