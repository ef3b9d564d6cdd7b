"""The bars of the Python package, against plain Python of our own writing and, where they are installed, mctspy and treequest.

    python bench.py [nrpa] [uct] [ours] [tree] [flight] [threads] [import]

Rates are per second of this process's CPU time; what is compared is measured in turn, and the median of the rounds counts.
SORTIE names the command for `ours`. No peer is needed: a row without one says so.
"""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import sortie_search as so

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "tests"), os.path.join(HERE, "examples")]
from problems import Knapsack, TicTacToe  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: E402
from vectorised import ConnectFour, Vectorised  # type: ignore[import-untyped, import-not-found, unused-ignore]  # noqa: E402

ROUNDS = 3
SECONDS = 1.0
#: Positions in flight where they are played out together.
MANY = (256, 1024)


class Golomb:
    """Golomb rulers of so many marks."""

    def __init__(self, marks: int = 9, longest: int = 70) -> None:
        self.marks, self.longest = marks, longest

    def initial(self) -> tuple[int, ...]:
        return (0,)

    def moves(self, ruler: tuple[int, ...]) -> list[int]:
        if len(ruler) == self.marks:
            return []
        known = {b - a for a in ruler for b in ruler if b > a}
        return [m for m in range(ruler[-1] + 1, min(self.longest, ruler[-1] + 25)) if all(m - a not in known for a in ruler)]

    def play(self, ruler: tuple[int, ...], mark: int) -> tuple[int, ...]:
        return (*ruler, mark)

    def score(self, ruler: tuple[int, ...]) -> float:
        return len(ruler) * 1000 - ruler[-1]

    def code(self, ruler: tuple[int, ...], mark: int) -> tuple[int, int]:
        return (len(ruler), mark - ruler[-1])


def plain_nrpa(problem: Any, level: int, iterations: int, chance: random.Random, count: list[int], until: float) -> Any:
    """NRPA as one writes it in Python: a dict of weights, copied at every level."""

    def playout(policy: dict[Any, float]) -> tuple[float, list[Any]]:
        state, moves = problem.initial(), []
        while legal := problem.moves(state):
            weights = [math.exp(policy.get(problem.code(state, m), 0.0)) for m in legal]
            move = chance.choices(legal, weights)[0]
            moves.append(move)
            state = problem.play(state, move)
        count[0] += 1
        return problem.score(state), moves

    def adapt(policy: dict[Any, float], moves: list[Any]) -> dict[Any, float]:
        new, state = dict(policy), problem.initial()
        for move in moves:
            legal = problem.moves(state)
            codes = [problem.code(state, m) for m in legal]
            weights = [math.exp(policy.get(code, 0.0)) for code in codes]
            total = sum(weights)
            for code, weight in zip(codes, weights):
                new[code] = new.get(code, 0.0) - weight / total
            chosen = problem.code(state, move)
            new[chosen] = new.get(chosen, 0.0) + 1.0
            state = problem.play(state, move)
        return new

    def search(level: int, policy: dict[Any, float]) -> tuple[float, list[Any]]:
        if level == 0:
            return playout(policy)
        best: tuple[float, list[Any]] = (-math.inf, [])
        for _ in range(iterations):
            found = search(level - 1, policy)
            if found[0] >= best[0]:
                best = found
            if time.process_time() > until:
                break
            policy = adapt(policy, best[1])
        return best

    return search(level, {})


class PlainNode:
    __slots__ = ("children", "move", "parent", "state", "sum", "untried", "visits")

    def __init__(self, game: Any, state: Any, parent: PlainNode | None, move: Any) -> None:
        self.state, self.parent, self.move = state, parent, move
        self.children: list[PlainNode] = []
        self.untried = list(game.moves(state))
        self.visits, self.sum = 0, 0.0


def plain_uct(game: Any, simulations: int, chance: random.Random) -> Any:
    """UCT as one writes it in Python."""
    root = PlainNode(game, game.initial(), None, None)
    for _ in range(simulations):
        node = root
        while not node.untried and node.children:
            log = math.log(node.visits)
            node = max(node.children, key=lambda c: c.sum / c.visits + 1.4 * math.sqrt(log / c.visits))
        if node.untried:
            move = node.untried.pop(chance.randrange(len(node.untried)))
            child = PlainNode(game, game.play(node.state, move), node, move)
            node.children.append(child)
            node = child
        state = node.state
        while (outcome := game.outcome(state)) is None:
            state = game.play(state, chance.choice(game.moves(state)))
        up: PlainNode | None = node
        while up is not None:
            up.visits += 1
            mover = 1 - game.to_move(up.state)
            up.sum += outcome if mover == 0 else 1 - outcome
            up = up.parent
    return max(root.children, key=lambda c: c.visits).move


def calls_alone(game: Any, chance: random.Random, playouts: int = 1000) -> float:
    """Playouts a second if nothing of them cost anything but one call of ``moves`` and one of ``play`` a step: no search
    that asks for every position can be quicker."""
    states, moves = [], []
    for _ in range(playouts):
        state = game.initial()
        while game.outcome(state) is None:
            states.append(state)
            moves.append(chance.choice(game.moves(state)))
            state = game.play(state, moves[-1])
    begun = time.process_time()
    deque(map(game.moves, states), maxlen=0)
    deque(map(game.play, states, moves), maxlen=0)
    return playouts / (time.process_time() - begun)


Rate = Callable[[], float]


def in_turn(rates: dict[str, Rate]) -> dict[str, float]:
    """Medians of some rounds, measured in turn."""
    seen: dict[str, list[float]] = {name: [] for name in rates}
    for _ in range(ROUNDS):
        for name, rate in rates.items():
            seen[name].append(rate())
    return {name: statistics.median(values) for name, values in seen.items()}


def show(row: str, rates: dict[str, float], unit: str) -> None:
    """One row: the rates, and ours over each."""
    ours = rates["sortie"]
    shown = ", ".join(f"{n} {r:,.0f}" + ("" if n == "sortie" else f" ({ours / r:.1f}x)") for n, r in rates.items())
    print(f"{row}, {unit}: {shown}", flush=True)


def bench_nrpa() -> None:
    for name, problem in (("knapsack of 30", Knapsack()), ("golomb of 9", Golomb())):

        def plain(problem: Any = problem) -> float:
            count, begun = [0], time.process_time()
            plain_nrpa(problem, 2, 100, random.Random(1), count, begun + SECONDS)
            return count[0] / (time.process_time() - begun)

        def ours(problem: Any = problem) -> float:
            begun = time.process_time()
            found = so.solve(problem, search="nrpa", level=2, iterations=100, seed=1, stop=so.cpu_seconds(SECONDS))
            return found.playouts / (time.process_time() - begun)

        show(f"NRPA level 2, {name}", in_turn({"sortie": ours, "plain Python": plain}), "playouts a CPU second")


def bench_uct() -> None:
    simulations = 10_000
    for name, game in (("tic-tac-toe", TicTacToe()), ("Connect Four", ConnectFour())):
        player = {"preset": "plain", "c": 1.0, "solver": False, "decisive": False}

        def ours(game: Any = game, in_flight: int = 1) -> float:
            begun = time.process_time()
            given = {**player, "in_flight": in_flight}
            thought = so.analyse(game, stop=so.playouts(simulations), player=given, seed=random.randrange(10**6))
            return thought.playouts / (time.process_time() - begun)

        def plain(game: Any = game) -> float:
            begun = time.process_time()
            plain_uct(game, simulations, random.Random(1))
            return simulations / (time.process_time() - begun)

        def floor(game: Any = game) -> float:
            return calls_alone(game, random.Random(1))

        rates: dict[str, Rate] = {"sortie": ours, "plain Python": plain, "moves and play of a playout alone": floor}
        if name == "tic-tac-toe" and (peer := mctspy(simulations // 10)) is not None:
            rates["mctspy"] = peer
        if name == "Connect Four":
            for n in MANY:
                rates[f"{n} in flight"] = lambda n=n: ours(Vectorised(), n)  # type: ignore[misc]
        seen = in_turn(rates)
        together = {n: seen.pop(f"{n} in flight") for n in MANY if f"{n} in flight" in seen}
        show(f"UCT, {name}", seen, "simulations a CPU second")
        for n, rate in together.items():
            beside = {"sortie": rate, "plain Python": seen["plain Python"]}
            show(f"UCT, {name} with playouts(states), {n} in flight", beside, "simulations a CPU second")


def mctspy(simulations: int) -> Rate | None:
    """mctspy's own tic-tac-toe."""
    try:
        import numpy as np
        from mctspy.games.examples.tictactoe import TicTacToeGameState  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from mctspy.tree.nodes import TwoPlayersGameMonteCarloTreeSearchNode  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from mctspy.tree.search import MonteCarloTreeSearch  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        print("mctspy is not installed: no row of it")
        return None

    def rate() -> float:
        begun = time.process_time()
        state = TicTacToeGameState(state=np.zeros((3, 3)), next_to_move=1)
        MonteCarloTreeSearch(TwoPlayersGameMonteCarloTreeSearchNode(state)).best_action(simulations)
        return simulations / (time.process_time() - begun)

    return rate


def bench_ours() -> None:
    program = os.environ.get("SORTIE")
    if program is None:
        print("SORTIE names no command: no row of it")
        return
    playouts = 60_000
    words = ["solve", "samegame/1", "--search", "nrpa", "--level", "3", "--playouts", str(playouts), "--seed", "1"]
    words += ["--threads", "1", "--json", "--quiet", "--out"]

    def ours() -> float:
        begun = time.process_time()
        so.solve("samegame/1", search="nrpa", level=3, stop=so.playouts(playouts), seed=1)
        return playouts / (time.process_time() - begun)

    def command() -> float:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([program, *words, os.path.join(folder, "run")], capture_output=True, check=True)
        return playouts / float(json.loads(ran.stdout)["cpu_seconds"])

    rates = in_turn({"sortie": ours, "the command": command})
    print(f"samegame/1, level 3: {rates['sortie'] / rates['the command']:.3f} of the command's rate ({rates['sortie']:,.0f})")


def bench_tree() -> None:
    """One step, ask and tell, in a tree of 100,000 nodes. A step of the peer's costs the more the more nodes there are, so that
    one as large cannot be grown: it is measured at 2,000; and in place, where its
    documented use copies the tree."""
    nodes, peer_nodes, steps = 100_000, 2_000, 1_000
    chance = random.Random(1)
    tree = so.Tree(width=2, values=(0, 1), root=0.5)
    while len(tree) < nodes:
        for job in tree.ask(64):
            tree.tell(job, chance.random(), state=0.5, move=0)

    def ours() -> float:
        begun = time.process_time()
        for _ in range(steps):
            [job] = tree.ask(1)
            tree.tell(job, chance.random(), state=0.5, move=0)
        return steps / (time.process_time() - begun)

    rates: dict[str, Rate] = {"sortie": ours}
    try:
        import treequest  # type: ignore[import-not-found, import-untyped, unused-ignore]

        search: Any = treequest.StandardMCTS()
        state = search.init_tree()
        generate = {"a": lambda parent: (0.5, chance.random())}
        for _ in range(peer_nodes):
            state = search.step(state, generate, inplace=True)

        def peer() -> float:
            nonlocal state
            begun = time.process_time()
            for _ in range(steps // 10):
                state = search.step(state, generate, inplace=True)
            return steps / 10 / (time.process_time() - begun)

        rates["treequest at 2,000, in place"] = peer
    except ImportError:
        print("treequest is not installed: no row of it")
    show("a tree of 100,000 nodes, ask(1) and tell", in_turn(rates), "steps a CPU second")


Point = tuple[float, float]


def rastrigin(p: Point) -> float:
    """Hills beside hills, the highest one away from where the search begins."""
    x, y = 6 * (p[0] - 0.7), 6 * (p[1] - 0.35)
    value = 20 + x * x - 10 * math.cos(2 * math.pi * x) + y * y - 10 * math.cos(2 * math.pi * y)
    return 1 - value / 80


def needle(p: Point) -> float:
    """A wide hill and a narrow, higher one elsewhere."""
    wide = math.exp(-((p[0] - 0.3) ** 2 + (p[1] - 0.3) ** 2) / 0.1)
    narrow = math.exp(-((p[0] - 0.8) ** 2 + (p[1] - 0.75) ** 2) / 0.0005)
    return max(0.8 * wide, narrow)


def ridge(p: Point) -> float:
    """A bent valley (Rosenbrock's), turned over."""
    x, y = 4 * p[0] - 2, 4 * p[1] - 1
    return 1 / (1 + 10 * (y - x * x) ** 2 + (1 - x) ** 2)


def near(parent: Point, depth: int, chance: random.Random) -> Point:
    reach = 0.4 * 0.7**depth
    return tuple(min(1.0, max(0.0, v + chance.gauss(0, reach))) for v in parent)  # type: ignore[return-value]


def regret(function: Callable[[Point], float], in_flight: int, evaluations: int, seed: int) -> float:
    """1 minus the best value after so many evaluations, answers coming back in any order."""
    chance = random.Random(seed)
    tree = so.Tree(root=(0.5, 0.5), width=2, growth=0.5, values=(0, 1), greed=0.5, c=0.5)
    flying: list[so.Job] = []
    best = 0.0
    while tree.counts.told < evaluations:
        flying += tree.ask(in_flight - len(flying))
        job = flying.pop(chance.randrange(len(flying)))
        point = near(job.state, len(job.moves), chance) if job.make else job.state
        value = function(point)
        best = max(best, value)
        tree.tell(job, value, state=point, move=point)
    return 1 - best


def peer_regret(function: Callable[[Point], float], batch: int, evaluations: int, seed: int) -> float:
    import treequest

    chance = random.Random(seed)
    search: Any = treequest.StandardMCTS(samples_per_action=max(2, batch))
    state = search.init_tree()
    depth = {None: 0, (0.5, 0.5): 0}
    best, told = 0.0, 0
    while told < evaluations:
        state, trials = search.ask_batch(state, batch, ["a"])
        for trial in trials:
            parent = state.tree.get_node(trial.node_to_expand).state
            point = near(parent or (0.5, 0.5), depth[parent], chance)
            depth[point] = depth[parent] + 1
            value = function(point)
            best, told = max(best, value), told + 1
            state = search.tell(state, trial.trial_id, (point, value))
    return 1 - best


def bench_flight(evaluations: int = 10_000, peer_evaluations: int = 500, seeds: int = 30) -> None:
    """256 in flight against one at a time, by log10 of the regret, and the difference seed by seed. TreeQuest's StandardMCTS in
    batches of 5 and 256 beside the same with fewer evaluations: a step of its costs the more the larger the tree."""
    for function in (rastrigin, needle, ridge):

        def logs(of: Callable[..., float], n: int, many: int, function: Callable[[Point], float] = function) -> list[float]:
            return [math.log10(max(of(function, n, many, seed), 1e-12)) for seed in range(seeds)]

        one, many = (logs(regret, n, evaluations) for n in (1, 256))
        differences = [b - a for a, b in zip(one, many)]
        shown = [f"1 in flight {interval(one)}", f"256 {interval(many)}", f"256 less 1 {interval(differences)}"]
        print(f"{function.__name__}, {evaluations:,} evaluations, {seeds} seeds, log10 of the regret: {', '.join(shown)}", flush=True)
        try:
            import treequest  # noqa: F401
        except ImportError:
            print("treequest is not installed: no row of it")
            continue
        shown = [f"{n} in flight {interval(logs(regret, n, peer_evaluations))}" for n in (1, 256)]
        shown += [f"treequest in batches of {n} {interval(logs(peer_regret, n, peer_evaluations))}" for n in (5, 256)]
        print(f"{function.__name__}, {peer_evaluations:,} evaluations: {', '.join(shown)}", flush=True)


def interval(values: list[float]) -> str:
    """Mean and 95 % of it."""
    return f"{statistics.mean(values):.2f} ± {1.96 * statistics.stdev(values) / math.sqrt(len(values)):.2f}"


def bench_threads(threads: int = 16, seconds: float = 60.0) -> None:
    """So many threads ask one tree and tell it, drop a tenth, for a minute: what became of the jobs has to add up."""
    tree = so.Tree(prior=True)
    until = time.monotonic() + seconds

    def work(number: int) -> None:
        chance = random.Random(number)
        held: list[so.Job] = []
        while time.monotonic() < until:
            asked = tree.ask(chance.randrange(1, 6))
            held += asked
            chance.shuffle(held)
            while len(held) > (8 if asked else 0):
                job = held.pop()
                if chance.random() < 0.1:
                    tree.drop(job)
                    continue
                n = chance.randrange(2, 5) if len(job.moves) < 14 else 0
                tree.tell(job, chance.random(), children=range(n), priors=[1 / n] * n if n else None)

    crew = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    tree.audit()
    counts = tree.counts
    assert counts.asked == counts.told + counts.in_flight + counts.dropped and tree.node().visits == counts.told
    print(
        f"{threads} threads for {seconds:g} s: {counts.asked:,} asked = {counts.told:,} told + {counts.in_flight:,} in flight "
        f"+ {counts.dropped:,} dropped"
    )


def bench_import() -> None:
    seen = []
    code = "import time; b = time.perf_counter(); import sortie_search; print(time.perf_counter() - b)"
    numpy = "import time, numpy; b = time.perf_counter(); import sortie_search; print(time.perf_counter() - b)"
    for words in (code, numpy):
        runs = [float(subprocess.run([sys.executable, "-c", words], capture_output=True).stdout) for _ in range(7)]
        seen.append(statistics.median(runs))
    print(f"import: {seen[0]:.3f} s, {seen[1]:.3f} s where numpy is imported already")


BENCHES = {"nrpa": bench_nrpa, "uct": bench_uct, "ours": bench_ours, "tree": bench_tree, "flight": bench_flight, "threads": bench_threads}
BENCHES["import"] = bench_import

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()
