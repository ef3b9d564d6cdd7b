"""Networks as files, and functions that are asked in batches."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from problems import TicTacToe

import sortie_search as so

SHIPPED = Path(__file__).parent.parent.parent / "networks" / "morpion-5D-r2.safetensors"


def weights(architecture="basic", filters=4, depth=3, value=False):
    """A network's weights, as a state dict has them."""
    chance = np.random.default_rng(1)
    shapes = {"layers.0": (filters, 17, 3, 3)}
    for layer in range(1, depth):
        if architecture == "mobile":
            shapes[f"layers.{layer}.expand"] = (2 * filters, filters, 1, 1)
            shapes[f"layers.{layer}.depthwise"] = (2 * filters, 1, 3, 3)
            shapes[f"layers.{layer}.project"] = (filters, 2 * filters, 1, 1)
        else:
            shapes[f"layers.{layer}"] = (filters, filters, 3, 3)
    shapes["head"] = (4, filters, 1, 1)
    if value:
        shapes["value"] = (1, filters)
    found = {}
    for name, shape in shapes.items():
        found[f"{name}.weight"] = chance.normal(size=shape).astype(np.float32)
        found[f"{name}.bias"] = np.zeros(shape[0], np.float32)
    return found


MORPION = {"domain": "morpion-5D", "representation": "r2", "size": 30}


@pytest.mark.parametrize("architecture", ["basic", "residual", "mobile"])
@pytest.mark.parametrize("value", [False, True])
def test_a_network_is_written_and_read(tmp_path, architecture, value):
    given = weights(architecture, value=value)
    scale = (71.0, 3.0) if value else None
    so.networks.write(tmp_path / "net", given, architecture=architecture, scale=scale, **MORPION)
    back = so.networks.read(tmp_path / "net")
    assert list(back.tensors) == list(given) and all((back.tensors[n] == given[n]).all() for n in given)
    assert (back.spec["filters"], back.spec["depth"], back.spec["inputs"], back.spec["value"]) == (4, 3, 17, value)
    if command := os.environ.get("SORTIE"):
        words = [command, "solve", "morpion/5D", "--search", "sample", "--playouts", "2", "--seed", "1", "--json", "--quiet"]
        words += ["--policy", str(tmp_path / "net"), "--out", str(tmp_path / "run")]
        ran = subprocess.run(words, capture_output=True, text=True)
        if "feature" not in ran.stderr:
            assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(not SHIPPED.exists(), reason="the package is tested without the repository")
def test_the_shipped_network_comes_back_as_it_is(tmp_path):
    net = so.networks.read(SHIPPED)
    keys = {key: net.spec[key] for key in ("domain", "representation", "size", "architecture")}
    so.networks.write(tmp_path / "again", net.tensors, **keys)
    again = so.networks.read(tmp_path / "again")
    assert all((again.tensors[name] == tensor).all() for name, tensor in net.tensors.items())


def test_pytorch_takes_and_gives_it(tmp_path):
    torch = pytest.importorskip("torch")
    given = weights()
    module = torch.nn.Module()
    module.layers = torch.nn.ModuleList([torch.nn.Conv2d(17 if i == 0 else 4, 4, 3, padding=1) for i in range(3)])
    module.head = torch.nn.Conv2d(4, 4, 1)
    module.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in given.items()})
    so.networks.write(tmp_path / "net", module, **MORPION)
    module.load_state_dict(so.networks.read(tmp_path / "net").state_dict())


def test_what_is_no_network_says_why(tmp_path):
    for change, said in [
        (lambda w: w.pop("head.bias"), "head.bias is missing"),
        (lambda w: w.update({"norm.weight": np.zeros(3)}), "no place"),
        (lambda w: w.update({"layers.1.weight": np.zeros((4, 4, 5, 5))}), "expected \\[4, 4, 3, 3\\]"),
        (lambda w: w.update({"head.weight": np.full((4, 4, 1, 1), np.nan)}), "finite"),
        (lambda w: w.clear(), "no convolution layers.0.weight"),
    ]:
        bad = weights()
        change(bad)
        with pytest.raises(ValueError, match=said):
            so.networks.write(tmp_path / "net", bad, **MORPION)
    assert not (tmp_path / "net").exists()
    with pytest.raises(TypeError, match="state_dict"):
        so.networks.write(tmp_path / "net", 7, **MORPION)
    with pytest.raises(ValueError, match="one of basic"):
        so.networks.write(tmp_path / "net", weights(), architecture="deep", **MORPION)
    so.networks.write(tmp_path / "net", weights(), **MORPION)
    whole = (tmp_path / "net").read_bytes()
    for broken in (whole[:5], whole[:400], whole[:-4], b"x" * 100, whole.replace(b'"sortie"', b'"others"')):
        (tmp_path / "bad").write_bytes(broken)
        with pytest.raises(ValueError, match="network"):
            so.networks.read(tmp_path / "bad")


class Asked:
    """A function that knows nothing, and how it was asked."""

    def __init__(self):
        self.batches = []

    def __call__(self, states, moves):
        self.batches.append(len(states))
        return [[1 / len(legal)] * len(legal) for legal in moves], [0.5] * len(states)


def test_a_function_is_the_prior_of_a_search_in_batches():
    asked = Asked()
    thought = so.analyse(TicTacToe(), moves=[0, 3, 1, 4], prior=asked, batch=16, stop=so.playouts(400))
    assert thought.best == 2 and thought.proved == "first" and thought.lines[0].moves[0] == "2"
    assert max(asked.batches) > 1 and max(asked.batches) <= 16
    even = so.analyse(TicTacToe(), prior=Asked(), stop=so.playouts(300))
    assert even.playouts <= 300 and sum(line.visits for line in even.lines) > 200


def test_a_prior_that_is_none_says_so():
    for prior, said in [
        (lambda states, moves: ([[1.0]] * len(states), [0.5] * len(states)), "priors for 9 moves"),
        (lambda states, moves: ([], []), "answers 0 and 0 of"),
    ]:
        with pytest.raises(ValueError, match=said):
            so.analyse(TicTacToe(), prior=prior, stop=so.playouts(100))
    with pytest.raises(TypeError, match="class of yours"):
        so.analyse("tictactoe/3", prior=Asked(), stop=so.playouts(10))
    with pytest.raises(ValueError, match="over there"):
        so.analyse(TicTacToe(), moves=[0, 3, 1, 4, 2], prior=Asked(), stop=so.playouts(10))
