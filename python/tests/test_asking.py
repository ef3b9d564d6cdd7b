"""Ask and tell: trees and policies, from many threads, out of order, saved and loaded; nothing is lost."""

import asyncio
import math
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest
from problems import Knapsack, TicTacToe

import sortie_search as so


def answer(tree, job, depth=4, width=3):
    """A synthetic evaluation: children down to a depth, a value that depends on the path."""
    value = random.Random(repr(job.moves)).random()
    children = list(range(width)) if len(job.moves) < depth else None
    tree.tell(job, value, children=children)


def test_a_tree_is_worked_through_and_proved():
    tree = so.Tree(root="r")
    values = {}
    while jobs := tree.ask(7):
        random.Random(1).shuffle(jobs)
        for job in jobs:
            values[job.moves] = random.Random(repr(job.moves)).random()
            answer(tree, job, depth=3, width=2)
    assert len(values) == 15 and tree.counts == so.Counts(15, 15, 0, 0, 15)
    assert tree.proven == max(v for path, v in values.items() if len(path) == 3)
    assert tree.best().value == max(values.values())
    assert tree.line()[-1].value == tree.proven
    tree.audit()


def test_two_players_choose_against_each_other():
    game = TicTacToe()
    start = game.play(game.play(game.play(game.initial(), 0), 3), 1)  # 0 threatens the row; 1 has one in another.
    tree = so.Tree(root=start, players=2, values=(0, 1))
    while (jobs := tree.ask(16)) and tree.proven is None:
        for job in jobs:
            outcome = game.outcome(job.state)
            moves = game.moves(job.state)
            tree.tell(
                job,
                0.5 if outcome is None else outcome,
                children=moves,
                states=[game.play(job.state, m) for m in moves],
                to_move=game.to_move(job.state),
            )
    # The second player blocks and then somebody has it or nobody: what the exact solver says too.
    assert tree.proven == so.prove(game, moves=[0, 3, 1]).value
    tree.audit()


def test_priors_lead():
    tree = so.Tree(prior=True, values=(0, 1))
    tree.tell(tree.ask()[0], 0.5, children=["a", "b", "c"], priors=[0.1, 0.8, 0.1])
    for _ in range(60):
        [job] = tree.ask()
        tree.tell(job, 0.5, children=["x", "y"], priors=[1, 1])
    visits = {node.move: node.visits for node in tree.children()}
    assert visits["b"] > 4 * max(visits["a"], visits["c"])


def test_a_grown_tree_finds_a_maximum():
    tree = so.Tree(root=0.5, width=2, growth=0.5, greed=0.5)
    chance = random.Random(3)
    for _ in range(60):
        for job in tree.ask(5):
            if job.make:
                x = min(1, max(0, job.state + chance.gauss(0, 0.3 / (1 + len(job.moves)))))
            else:
                x = job.state
            tree.tell(job, math.sin(5 * x) * x, state=x, move=x)
    best = max(math.sin(5 * i / 1000) * i / 1000 for i in range(1001))
    assert tree.best().value > best - 0.01
    assert tree.counts.told == len(tree) > 250
    tree.audit()


def test_wrong_answers_are_refused_and_the_job_stays_out():
    tree = so.Tree(values=(0, 1))
    [job] = tree.ask()
    assert tree.ask() == []
    for keys, said in [
        ({"value": float("nan")}, "finite"),
        ({"value": 2}, "0 to 1"),
        ({"value": 0.5, "children": ["a"], "priors": [1, 2]}, "as many"),
        ({"value": 0.5, "children": ["a"], "priors": [-1]}, "from 0 on"),
        ({"value": 0.5, "children": ["a", "b"], "states": [1]}, "as many"),
    ]:
        with pytest.raises(ValueError, match=said):
            tree.tell(job, **keys)
    assert tree.counts.in_flight == 1
    tree.tell(job, 0.5, children=["a", "b"])
    with pytest.raises(KeyError, match="not out"):
        tree.tell(job, 0.5)
    assert tree.drop(job) is False
    [first, second] = tree.ask(5)
    assert tree.drop(first) and tree.ask(5)[0].moves == first.moves
    tree.audit()
    for keys in [{"c": -1}, {"values": (1, 0)}, {"width": 0}, {"players": 3}]:
        with pytest.raises(ValueError):
            so.Tree(**keys)


def test_a_tree_survives_files_and_pickles(tmp_path):
    tree = so.Tree(root=("s",), prior=True)
    for _ in range(30):
        for job in tree.ask(3):
            answer(tree, job)
    lost = tree.ask(4)
    file = tmp_path / "tree"
    tree.save(file)
    for again in (so.Tree.load(file), pickle.loads(pickle.dumps(tree))):
        assert again.counts == tree.counts and again.out() == lost
        again.audit()
        for job in again.out():
            answer(again, job)
        assert [job.moves for job in again.ask(9)]
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(Exception):
        so.Tree.load(file)
    assert pickle.loads(pickle.dumps(lost[0])) == lost[0]


def test_a_tree_shows_itself():
    tree = so.Tree()
    for _ in range(20):
        answer(tree, tree.ask()[0])
    assert tree._repr_svg_().startswith("<svg") and tree._repr_svg_().count("<circle") > 5
    networkx = pytest.importorskip("networkx")
    graph = tree.to_networkx()
    assert networkx.is_arborescence(graph) and graph.number_of_nodes() == len(tree)
    assert graph.nodes[0]["visits"] == 20


@pytest.mark.parametrize("threads", [1, 16])
def test_nothing_is_lost_with_many_threads(threads):
    """Each thread works through so many jobs: told, told twice, dropped."""
    tree = so.Tree(prior=True)
    errors = []

    def work(number):
        chance = random.Random(number)
        held = []
        try:
            for _ in range(400):
                asked = tree.ask(chance.randrange(1, 6))
                held += asked
                chance.shuffle(held)
                while len(held) > (8 if asked else 0):
                    job = held.pop()
                    if chance.random() < 0.1:
                        assert tree.drop(job)
                    else:
                        answer(tree, job, depth=9)
                        if chance.random() < 0.05:
                            with pytest.raises(KeyError):
                                tree.tell(job, 0.0)
        except BaseException as error:
            errors.append(error)

    crew = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert errors == []
    counts = tree.counts
    assert counts.asked == counts.told + counts.in_flight + counts.dropped and counts.told > 300
    assert tree.node().visits == counts.told and tree.node().in_flight == counts.in_flight
    tree.audit()


def evaluate(moves):
    return random.Random(repr(moves)).random()


def test_futures_and_asyncio():
    tree = so.Tree()
    with ThreadPoolExecutor(4) as pool:
        flying = {pool.submit(evaluate, job.moves): job for job in tree.ask(8)}
        for _ in range(100):
            done = next(as_completed(flying))
            tree.tell(flying.pop(done), done.result(), children=[0, 1])
            for job in tree.ask(8 - len(flying)):
                flying[pool.submit(evaluate, job.moves)] = job
    assert tree.counts.told == 100

    async def search():
        async def one(job):
            await asyncio.sleep(0)
            tree.tell(job, evaluate(job.moves), children=[0, 1])

        for job in tree.out():
            tree.drop(job)
        while tree.counts.told < 200:
            await asyncio.gather(*(one(job) for job in tree.ask(10)))

    asyncio.run(search())
    assert tree.counts.told >= 200
    tree.audit()


def test_a_policy_alone_is_nrpa_and_many_learn_too():
    problem = Knapsack()
    policy = so.Policy(problem, level=2, iterations=20, seed=5)
    for _ in range(399):
        [drawn] = policy.ask()
        policy.tell(drawn, problem.score(drawn.state))
    same = so.solve(problem, search="nrpa", level=2, iterations=20, seed=5, stop=so.playouts(399))
    assert policy.best == (same.score, same.words)
    many = so.Policy(problem, level=2, iterations=50, seed=1)
    chance = random.Random(1)
    held = []
    while many.counts.told < 2500:
        held += many.ask(16)
        chance.shuffle(held)
        while len(held) > 16:
            drawn = held.pop()
            many.tell(drawn, problem.score(drawn.state))
    sampled = so.solve(problem, search="sample", stop=so.playouts(2500), seed=1)
    assert many.best[0] > sampled.score
    assert many.counts.asked == many.counts.told + many.counts.in_flight


def test_a_policy_is_saved_in_the_middle(tmp_path):
    problem = Knapsack()
    policy = so.Policy(problem, level=2, iterations=7, seed=3)

    def go_on(policy, n):
        told = []
        for drawn in policy.out():
            policy.tell(drawn, problem.score(drawn.state))
        for _ in range(n):
            for drawn in policy.ask(2):
                policy.tell(drawn, problem.score(drawn.state))
                told.append(drawn.words)
        return told

    go_on(policy, 10)
    policy.ask(3)
    policy.save(tmp_path / "policy")
    again = so.Policy.load(tmp_path / "policy", problem)
    copied = pickle.loads(pickle.dumps(policy))
    rest = go_on(policy, 40)
    assert go_on(again, 40) == rest == go_on(copied, 40)
    assert again.counts == policy.counts and policy.counts.nodes > 0
    with pytest.raises(KeyError):
        policy.tell(0, 1.0)
    with pytest.raises(ValueError, match="finite"):
        policy.tell(policy.ask()[0], float("inf"))
    with pytest.raises(ValueError, match="level"):
        so.Policy(problem, level=0)


def test_a_policy_raises_what_the_class_raises():
    class Bad(Knapsack):
        def moves(self, state):
            if state[0] == 9:
                raise LookupError("nine")
            return super().moves(state)

    with pytest.raises(LookupError, match="nine"):
        so.Policy(Bad()).ask()
