"""The package itself: stubs that agree with the module, quick to import."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import sortie_search as so
from sortie_search import _native


def parameters(function):
    names = [a.arg for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
    return [name for name in names if name not in ("self", "cls")]


def of_module(thing):
    return [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]


def test_the_stubs_are_those_of_the_module():
    tree = ast.parse(Path(_native.__file__).with_name("_native.pyi").read_text())
    public = {name for name in dir(_native) if not name.startswith("_")}
    stubbed = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))} | {"version"}
    assert public == stubbed
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert parameters(node) == of_module(getattr(_native, node.name)), node.name
        if isinstance(node, ast.ClassDef):
            kind = getattr(_native, node.name)
            methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
            own = {name for name in vars(kind) if not name.startswith("__") or name == "__new__"}
            assert own - {"__new__"} == set(methods) - {"__new__"}, node.name
            for name, method in methods.items():
                if any(isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list):
                    assert inspect.isgetsetdescriptor(vars(kind)[name])
                else:
                    assert parameters(method) == of_module(kind if name == "__new__" else getattr(kind, name)), name


def test_everything_public_says_what_it_is():
    for name in so.__all__:
        assert hasattr(so, name) and (name == "__version__" or getattr(so, name).__doc__), name
    assert so.domains()["samegame"]


def test_neither_a_framework_nor_a_table_library_is_imported():
    code = "import sys, sortie_search; print([m for m in ('pandas', 'torch', 'networkx', 'IPython') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
