"""Run folders: written as the command writes them, gone on with after kill -9, read by the command."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from problems import Knapsack

import sortie_search as so

COMMAND = os.environ.get("SORTIE") or None
HERE = Path(__file__).parent


def command(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True)


def test_a_run_of_a_class_is_a_folder(tmp_path):
    folder = tmp_path / "runs" / "sack"
    found = so.solve(Knapsack(), search="nrpa", level=2, iterations=30, seed=1, out=folder)
    [run] = so.runs(tmp_path / "runs")
    assert run.path == folder and run.state == "finished" and run.is_python
    assert run.best == found.score and run.moves == found.words
    assert run.curve[-1, 1] == found.score and np.all(np.diff(run.curve[:, 1]) > 0)
    kinds = [event["event"] for event in run._lines()]
    assert kinds[0] == "started" and kinds[-1] == "finished"
    assert run.result["playouts"] == 900
    assert so.verify(run) == so.verify(folder) == found.score
    assert "<table>" in run._repr_html_()
    assert run.spec["search"]["iterations"] == 30
    with pytest.raises(so.FolderError, match="already holds a run"):
        so.solve(Knapsack(), out=folder)
    with pytest.raises(so.FolderError, match="has ended"):
        so.resume(folder)
    with pytest.raises(so.FolderError, match="not a run folder"):
        so.resume(tmp_path)


def test_a_false_claim_is_found(tmp_path):
    so.solve(Knapsack(), search="nrpa", level=1, seed=1, out=tmp_path / "run")
    record = tmp_path / "run" / "best.record"
    text = record.read_text()
    score = text.split("score = ")[1].split("\n")[0]
    record.write_text(text.replace(f"score = {score}", "score = 999"))
    with pytest.raises(ValueError, match="claims 999"):
        so.verify(tmp_path / "run")
    record.write_text(text.rsplit(" ", 1)[0] + "\n")
    with pytest.raises(ValueError, match="is legal"):
        so.verify(tmp_path / "run")
    record.write_text("nonsense")
    with pytest.raises(ValueError, match="not a record"):
        so.verify(tmp_path / "run")


def test_an_exception_leaves_what_was_found(tmp_path):
    class Bad(Knapsack):
        calls = 0

        def score(self, state):
            self.calls += 1
            if self.calls > 50:
                raise OSError("the disk of the simulator is full")
            return super().score(state)

    with pytest.raises(so.ProblemError) as caught:
        so.solve(Bad(), search="sample", seed=1, out=tmp_path / "run")
    assert so.Run(tmp_path / "run").best == caught.value.result.score > 0


SLOW = """
import os, sys, time
sys.path.insert(0, {here!r})
from problems import Knapsack
import sortie_search as so

class Slow(Knapsack):
    def score(self, state):
        time.sleep(float(os.environ.get("SLOW", "0")))
        return super().score(state)

if __name__ == "__main__":
    so.solve(Slow(), search="nrpa", level=3, iterations=11, seed=4, out=sys.argv[1], workers=int(sys.argv[2]), streams=2)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_is_killed_resumed_and_verified(tmp_path, workers):
    """The run is killed as soon as its folder has a checkpoint; the end is that of a run that nobody killed."""
    script = tmp_path / "slow.py"
    script.write_text(SLOW.format(here=str(HERE)))
    folder = tmp_path / "run"
    # So slow that its first checkpoint is long there before it could end, on any machine.
    slow = {**os.environ, "SLOW": "0.1"}
    words = [sys.executable, str(script), str(folder), str(workers)]
    process = subprocess.Popen(words, start_new_session=True, env=slow)
    while process.poll() is None and not (folder / "checkpoint").exists():
        pass
    assert process.poll() is None, "it has ended by itself"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while so.Run(folder).state == "running":
        pass  # Its workers hold the lock until they are gone too.
    assert so.Run(folder).state == "interrupted"
    ran = subprocess.run(
        [sys.executable, "-m", "sortie_search", "resume", str(folder)], capture_output=True, text=True, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    whole = so.solve(Knapsack(), search="nrpa", level=3, iterations=11, seed=4, streams=2)
    run = so.Run(folder)
    assert run.state == "finished" and run.moves == whole.words and run.result["playouts"] == whole.playouts
    ran = subprocess.run([sys.executable, "-m", "sortie_search", "verify", str(folder)], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.split()[:3]) == (0, ["OK", "score", f"{whole.score:g}"])
    if COMMAND:
        told = command("verify", folder)
        assert told.returncode == 2 and "python -m sortie_search verify" in told.stderr
        told = command("report", folder, "--out", tmp_path / "report.html")
        assert told.returncode == 0, told.stderr
        assert "python/slow:Slow" in (tmp_path / "report.html").read_text()


def test_a_stopped_run_goes_on(tmp_path):
    limits = so.playouts(300)
    first = so.solve(Knapsack(), search="nrpa", level=2, iterations=40, seed=2, stop=limits, out=tmp_path / "run")
    again = so.resume(tmp_path / "run", problem=Knapsack(), stop=so.playouts(1600))
    whole = so.solve(Knapsack(), search="nrpa", level=2, iterations=40, seed=2)
    assert (first.playouts, again.playouts) == (300, whole.playouts) and again.score >= first.score
    with pytest.raises(TypeError, match="not of"):
        so.resume(tmp_path / "run", problem=object(), stop=limits)


@pytest.mark.skipif(COMMAND is None, reason="the command is not built: SORTIE names it")
def test_the_command_goes_on_with_a_run_of_ours_and_the_other_way_round(tmp_path):
    keys = {"search": "nrpa", "level": 2, "iterations": 40, "seed": 2}
    so.solve("schur/4", **keys, stop=so.playouts(500), out=tmp_path / "a")
    assert command("verify", tmp_path / "a").returncode == 0
    told = command("resume", tmp_path / "a", "--json", "--quiet")
    assert told.returncode == 0 and json.loads(told.stdout)["reason"] == "playouts"
    words = ["--search", "nrpa", "--level", 2, "--iterations", 40, "--seed", 2, "--threads", 1, "--playouts", 500, "--quiet"]
    assert command("solve", "schur/4", *words, "--out", tmp_path / "b").returncode == 0
    before = so.Run(tmp_path / "b")
    after = so.resume(tmp_path / "b", stop=so.playouts(1600))
    assert after.playouts == 1600 and after.score >= before.best and so.verify(tmp_path / "b") == after.score
    assert command("verify", tmp_path / "b").returncode == 0
    assert so.Run(tmp_path / "a").picture == so.Run(tmp_path / "a")._repr_svg_()


@pytest.mark.skipif(COMMAND is None, reason="the command is not built: SORTIE names it")
def test_the_command_serves_a_run_of_a_class(tmp_path):
    import re
    import urllib.request

    so.solve(Knapsack(), search="nrpa", level=1, seed=1, out=tmp_path / "runs" / "sack")
    words = [COMMAND, "serve", str(tmp_path / "runs"), "--port", "0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in server.stdout:
            if found := re.search(r"http://[^\s]+", line):
                break
        page = urllib.request.urlopen(found.group(0)).read().decode()
        assert "sack" in page and "python/problems:Knapsack" in page
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
