"""The stub of the compiled module says what the module's docstrings say. REPRISE_BLESS=1 writes it."""

import ast
import os
import pathlib

import reprise
import stubs

STUB = pathlib.Path(__file__).resolve().parents[1] / "reprise" / "_core.pyi"


def test_the_stub_is_up_to_date():
    if os.environ.get("REPRISE_BLESS"):
        STUB.write_text(stubs.stub())
    assert STUB.read_text() == stubs.stub()


def test_it_has_every_name():
    tree = ast.parse(STUB.read_text())
    named = {getattr(item, "name", None) or getattr(getattr(item, "target", None), "id", None) for item in tree.body}
    public = {name for name in vars(reprise._core) if not name.startswith("_")}
    assert public <= named
    tensor = next(item for item in tree.body if getattr(item, "name", None) == "Tensor")
    methods = {item.name for item in tensor.body if isinstance(item, ast.FunctionDef)}
    assert {name for name in vars(reprise.Tensor) if not name.startswith("_")} <= methods
