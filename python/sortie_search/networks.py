"""Networks of the shape of docs/neural.md, as the file that ``--policy`` and ``policy=`` read, and back.

``write(path, module, domain=..., ...)`` takes a PyTorch module, its ``state_dict()`` or a dict of arrays with the names of that
page; ``read(path)`` gives arrays, and ``state_dict()`` of it PyTorch's tensors. Neither needs PyTorch: arrays will do.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .folder import replace

#: A file larger than this is none of ours.
FILE_BYTES_MAX = 64 << 20
#: Where the spec is, in the metadata of the file.
KEY = "sortie"
ARCHITECTURES = ("basic", "residual", "mobile")
#: How a module has to be called for its weights to be known by their names.
NAMES = "layers.0.weight, layers.0.bias, ..., head.weight, head.bias and, with a value, value.weight, value.bias"


@dataclass(frozen=True)
class Network:
    """A network: ``spec`` as docs/neural.md has it, ``tensors`` by their names."""

    spec: dict[str, Any]
    tensors: dict[str, Any] = field(repr=False)

    def state_dict(self) -> dict[str, Any]:
        """What ``load_state_dict`` of a PyTorch module takes."""
        import torch  # type: ignore[import-not-found, unused-ignore]

        return {name: torch.from_numpy(tensor.copy()) for name, tensor in self.tensors.items()}


def write(
    path: str | os.PathLike[str],
    network: Any,
    *,
    domain: str,
    representation: str,
    size: int,
    architecture: str = "basic",
    scale: tuple[float, float] | None = None,
    about: str = "from Python",
) -> Network:
    """Writes a network for a domain, whole or not at all. ``scale``: mean and deviation of the scores that its value is in."""
    tensors = _arrays(network)
    if architecture not in ARCHITECTURES:
        raise ValueError(f"architecture: expected one of {', '.join(ARCHITECTURES)}, not '{architecture}'")
    spec = {**_dimensions(tensors), "domain": domain, "representation": representation, "size": size}
    spec = {"format": 1, **spec, "architecture": architecture, "value": "value.weight" in tensors, "about": about}
    if scale is not None:
        if not spec["value"]:
            raise ValueError("scale: the network has no value")
        spec["scale"] = {"mean": float(scale[0]), "deviation": float(scale[1])}
    _hold(spec, tensors)
    header: dict[str, Any] = {"__metadata__": {KEY: json.dumps(spec)}}
    at = 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = struct.pack("<Q", len(text)) + text + b"".join(tensor.tobytes() for tensor in tensors.values())
    if len(data) > FILE_BYTES_MAX:
        raise ValueError(f"the network is larger than {FILE_BYTES_MAX >> 20} MiB")
    replace(Path(path), data)
    return Network(spec, tensors)


def read(path: str | os.PathLike[str]) -> Network:
    """Reads a network."""
    import numpy as np

    file = Path(path)
    if file.stat().st_size > FILE_BYTES_MAX:
        raise ValueError(f"{file}: larger than {FILE_BYTES_MAX >> 20} MiB")
    data = file.read_bytes()
    try:
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        spec = json.loads(header.pop("__metadata__", {})[KEY])
        tensors = {}
        for name, told in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            if told["dtype"] != "F32":
                raise ValueError(f"{name} is {told['dtype']}, not F32")
            begin, end = told["data_offsets"]
            tensors[name] = np.frombuffer(data[8 + length :][begin:end], "<f4").reshape(told["shape"])
        _hold(spec, tensors)
    except KeyError as error:
        raise ValueError(f"{file}: no network of Sortie's: nothing is said of {error}") from None
    except (struct.error, UnicodeDecodeError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{file}: not a whole network: {error}") from None
    return Network(spec, tensors)


def _arrays(network: Any) -> dict[str, Any]:
    """The weights as arrays, in the order of the layers."""
    import numpy as np

    if hasattr(network, "state_dict"):
        network = network.state_dict()
    if not isinstance(network, Mapping):
        raise TypeError(f"a network is a PyTorch module, its state_dict() or a dict of arrays, not {type(network).__name__}")
    tensors = {}
    for name, tensor in network.items():
        if hasattr(tensor, "detach"):
            tensor = tensor.detach().cpu().numpy()
        array = np.ascontiguousarray(tensor, dtype="<f4")
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: not all weights are finite")
        tensors[name] = array
    return tensors


def _dimensions(tensors: dict[str, Any]) -> dict[str, int]:
    """What the shapes say by themselves."""
    for name in ("layers.0.weight", "head.weight"):
        if name not in tensors or tensors[name].ndim != 4:
            raise ValueError(f"no convolution {name}: expected {NAMES}")
    numbers = [int(found.group(1)) for name in tensors if (found := re.match(r"layers\.(\d+)\.", name))]
    first, head = tensors["layers.0.weight"].shape, tensors["head.weight"].shape
    return {"inputs": first[1], "outputs": head[0], "filters": first[0], "depth": max(numbers) + 1}


def _hold(spec: dict[str, Any], tensors: dict[str, Any]) -> None:
    """Holds the tensors to the spec: these and no others, of these shapes."""
    expected = _shapes(spec)
    if missing := [name for name in expected if name not in tensors]:
        raise ValueError(f"{missing[0]} is missing: expected {NAMES}")
    if others := [name for name in tensors if name not in expected]:
        raise ValueError(f"{others[0]} has no place in a network of {spec['depth']} layers: fold normalisations into the weights")
    for name, shape in expected.items():
        if tuple(tensors[name].shape) != shape:
            raise ValueError(f"{name} is {list(tensors[name].shape)}, expected {list(shape)}")


def _shapes(spec: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The table of docs/neural.md."""
    width, wide = spec["filters"], 2 * spec["filters"]
    weights: dict[str, tuple[int, ...]] = {"layers.0": (width, spec["inputs"], 3, 3)}
    for layer in range(1, spec["depth"]):
        at = f"layers.{layer}"
        if spec["architecture"] == "mobile":
            weights |= {f"{at}.expand": (wide, width, 1, 1), f"{at}.depthwise": (wide, 1, 3, 3)}
            weights |= {f"{at}.project": (width, wide, 1, 1)}
        else:
            weights[at] = (width, width, 3, 3)
    weights["head"] = (spec["outputs"], width, 1, 1)
    if spec["value"]:
        weights["value"] = (1, width)
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in weights.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes
