"""Every example runs and finds what it is about; the tutorial is executed from its first cell to its last."""

import importlib.util
import json
from pathlib import Path

import pytest

import sortie_search as so

HERE = Path(__file__).parent.parent


def example(name):
    spec = importlib.util.spec_from_file_location(name, HERE / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_knapsack():
    found = example("knapsack").main()
    assert found.score > 150 and found.state[1] <= 120


def test_jobshop():
    found = example("jobshop").main()
    assert -58 <= found.score <= -55 and "<svg" in found._repr_svg_()


def test_four():
    assert example("four").main().games == 4


def test_vectorised():
    thought = example("vectorised").main()
    assert thought.best in (1, 4) and thought.proved == "first"


def test_tuning():
    assert example("tuning").main(at_once=1).value > 0.9


def test_prompts():
    assert [node.value for node in example("prompts").main()] == [1.0, 1.0]


def test_every_example_is_tested():
    names = {path.stem for path in (HERE / "examples").glob("*.py")}
    assert names == {"knapsack", "jobshop", "four", "tuning", "prompts", "vectorised"}


def test_the_tutorial(tmp_path, monkeypatch):
    """A cell's last expression has to show itself, as a notebook would."""
    import ast

    monkeypatch.chdir(tmp_path)
    book = json.loads((HERE / "tutorial.ipynb").read_text())
    names = {"__name__": "tutorial"}
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 8
    for number, cell in enumerate(cells):
        tree = ast.parse("".join(cell["source"]), filename=f"cell {number}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
            for show in ("_repr_html_", "_repr_svg_"):
                assert not hasattr(value, show) or isinstance(getattr(value, show)(), (str, type(None)))
    assert isinstance(names.get("found"), so.Result)
