"""Ours, native: the command's searches, its moves, its records."""

import _thread
import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

import sortie_search as so

#: The command, where it is built; what it said of the same runs, where it is not.
COMMAND = os.environ.get("SORTIE") or None
RECORDED = Path(__file__).parent / "recorded.json"
RUNS = {
    "samegame": ["samegame/1", {"search": "nrpa", "level": 2, "iterations": 30}, 1200, 7, 2],
    "schur": ["schur/3", {}, 2000, 3, 1],
    "snake": ["snake/5", {"search": "nmcs", "level": 1}, 500, 9, 1],
    "coil": ["coil/6-3:symmetric=on", {"search": "beam-nrpa", "level": 1}, 400, 2, 1],
}


def command(name: str) -> list[str]:
    """What the command finds."""
    instance, given, playouts, seed, threads = RUNS[name]
    words = [COMMAND, "solve", instance, "--playouts", str(playouts), "--seed", str(seed), "--threads", str(threads)]
    for key, value in given.items():
        words += [f"--{key}", str(value)]
    ran = subprocess.run([*words, "--json", "--quiet"], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)["moves"]


@pytest.mark.parametrize("name", RUNS)
def test_the_moves_are_those_of_the_command(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    instance, given, playouts, seed, threads = RUNS[name]
    found = so.solve(instance, stop=so.playouts(playouts), seed=seed, threads=threads, **given)
    assert found.words == json.loads(RECORDED.read_text())[name]
    if COMMAND:
        assert found.words == command(name)
    assert found.score == so.verify(found)
    assert found.playouts == playouts and found.reason == "playouts"


def test_threads_do_not_change_the_answer():
    runs = [so.solve("leftmove/60", stop=so.playouts(900), seed=5, streams=3, threads=t) for t in (1, 2)]
    assert runs[0].words == runs[1].words


def test_a_target_ends_it_and_new_bests_are_told():
    told = []
    found = so.solve("leftmove/20", stop=so.target(20) | so.playouts(10**6), seed=1, on=told.append)
    assert (found.score, found.reason) == (20, "target")
    assert [best.score for best in told] == [score for _, _, score in found.history]
    assert told[-1].words == found.words


def test_other_threads_of_python_go_on_meanwhile():
    """One of them ends a search that would go on for ever, and could not if the search kept the interpreter to itself."""
    begun = threading.Event()
    turns = [0]

    def end():
        begun.wait()
        for _ in range(1000):
            turns[0] += 1
        _thread.interrupt_main()

    thread = threading.Thread(target=end)
    thread.start()
    found = so.solve("samegame/1", search="nrpa", level=3, stop=so.playouts(10**12), seed=1, on=lambda best: begun.set())
    thread.join()
    assert (found.reason, turns) == ("asked", [1000])


def test_an_exception_of_a_watcher_is_raised():
    def on(best):
        raise ZeroDivisionError("watching")

    with pytest.raises(so.ProblemError, match="watching"):
        so.solve("leftmove/40", stop=so.playouts(100000), seed=1, on=on)


def test_what_cannot_be_opened_or_searched_says_why():
    with pytest.raises(ValueError, match="did you mean 'samegame'"):
        so.solve("samegam/1")
    with pytest.raises(TypeError, match="game for two"):
        so.solve("connect4/7x6", stop=so.playouts(1))
    with pytest.raises(ValueError, match="iterationz"):
        so.solve("schur/3", search="nrpa", iterationz=3, stop=so.playouts(1))
    with pytest.raises(ValueError, match="1 to 8"):
        so.solve("schur/3", search="nrpa", level=0, stop=so.playouts(1))
    with pytest.raises(ValueError, match="run on threads"):
        so.solve("schur/3", workers=2, stop=so.playouts(1))
    with pytest.raises(ValueError, match="finite"):
        so.seconds(float("nan"))


def test_instances_from_text_arrays_and_customers(tmp_path):
    board = [[1, 2, 1], [2, 2, 1], [3, 1, 1]]
    found = so.solve(so.open("samegame", board=board), stop=so.playouts(200), seed=1)
    assert found.score == so.verify(found, problem=so.open("samegame", board=board))
    rows = [[0, 0, 0, 0, 100, 0], [3, 4, 10, 0, 90, 5], [6, 8, 10, 0, 90, 5], [-5, 0, 10, 0, 90, 5]]
    routes = so.open("vrptw", customers=rows, vehicles=3, capacity=20)
    found = so.solve(routes, stop=so.playouts(200), seed=1)
    assert found.facts["vehicles"] == 2
    file = tmp_path / "customers.txt"
    file.write_text(routes.text)
    again = so.solve(so.open("vrptw", file), stop=so.playouts(200), seed=1)
    assert again.words == found.words
    with pytest.raises(ValueError, match="depot first"):
        so.open("vrptw", customers=[[1, 2]])


def test_games_are_analysed_matched_and_proved():
    thought = so.analyse("connect4", moves="d d", stop=so.playouts(3000))
    assert thought.playouts == 3000 and thought.best in "abcdefg" and thought.lines[0].visits > 0
    first = so.match("tictactoe/3", games=6, stop=so.playouts(60), seed=4, threads=2)
    again = so.match("tictactoe/3", games=6, stop=so.playouts(60), seed=4)
    assert first.games == 6 and first.moves == again.moves
    assert first.interval[0] <= first.score <= first.interval[1]
    assert so.prove("tictactoe/3").winner == "draw"
    assert so.prove("breakthrough/4x4").winner == 0


def test_ctrl_c_gives_the_best_so_far():
    def on(best):
        _thread.interrupt_main()

    found = so.solve("leftmove/4000", search="sample", stop=so.seconds(60), seed=1, on=on)
    assert found.reason == "asked" and found.score > 0
