"""The documented differences are really there, and docs/ORACLES.md shows them and the table.
REPRISE_BLESS=1 writes the page."""

import os
import pathlib

import numpy as np
import pytest

import torch_references
from complex_table import ROWS
from differences import DIFFERENCES
from samples import BOOL, FLOATS, INTEGERS, NUMERIC, REAL
from table import OPS

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "ORACLES.md"


def agree(function, expected):
    if isinstance(expected, tuple) or (isinstance(expected, type) and issubclass(expected, Exception)):  # fmt: skip
        with pytest.raises(expected):
            function()
        return
    actual = function()
    if isinstance(expected, (str, bool)):
        assert actual == expected
    else:
        np.testing.assert_array_equal(np.array(actual, float), np.array(expected, float))


@pytest.mark.parametrize("number", range(len(DIFFERENCES)))
def test_difference(number):
    difference = DIFFERENCES[number]
    agree(difference.ours, difference.gives)
    if difference.theirs is None:  # the peer leaves it open
        return
    peer = {"NumPy": np, "Python": None}.get(difference.peer)
    if difference.peer == "PyTorch":
        peer = pytest.importorskip("torch", reason="PyTorch is not installed (python3-torch)")
    agree(lambda: difference.theirs(peer), difference.they_give)


def shown(value):
    if isinstance(value, tuple):
        return shown(value[0])
    if isinstance(value, type):
        return value.__name__
    return str(value)


def dtypes_shown(dtypes):
    names = [(REAL, "all real"), (NUMERIC, "numbers"), (INTEGERS + BOOL, "integers, bool"), (INTEGERS, "integers"), (FLOATS, "floats")]  # fmt: skip
    for group, name in names:
        if set(group) == set(dtypes):
            return name
    return ", ".join(dtypes)


def tolerance_shown(tolerance):
    if tolerance[0] == "exact":
        return "exact"
    if tolerance[0] == "ulp":
        more = f", denormal results {tolerance[2]:g}" if tolerance[2] != tolerance[1] else ""
        return f"{tolerance[1]:g} ulp{more}"
    return f"{tolerance[1]:g} eps of its scale: {tolerance[2]}"


class Anything:
    """Stands for PyTorch where only the names of what is asked of it are wanted."""

    def __getattr__(self, name):
        return self


def page():
    in_torch = torch_references.table(Anything())
    lines = [
        "# Oracles", "",
        "`frontend/python/oracle` holds the Python package against NumPy, and against PyTorch where it is",
        "installed: every op, eagerly and replayed, over generated inputs of every dtype and layout, and",
        "the gradients of every differentiable op against central differences. `oracle_test` runs a",
        "sample, another each day; `REPRISE_TEST_FULL=1` runs everything, `REPRISE_TEST_SEED=N` repeats a",
        "day. `*_table.py` say how each op is checked, `differences.py` what is meant otherwise. This page",
        "is written from both by `REPRISE_BLESS=1`.",
        "", "## What is meant otherwise", "", "| op | than | example | here | there |", "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for d in DIFFERENCES:
        there = "left open" if d.theirs is None else f"`{shown(d.they_give)}`"
        lines.append(f"| `{d.op}` | {d.peer} | {d.sentence} `{d.example}` | `{shown(d.gives)}` | {there} |")  # fmt: skip
    lines += ["", "## How close each op is", ""]
    lines += ["| op | dtypes | of the reference | derivatives checked | PyTorch too |", "| --- | --- | --- | --- | --- |"]  # fmt: skip
    for name, op in OPS.items():
        torch = "" if name not in in_torch else "values and derivatives" if op.gradient else "values"
        order = "" if not op.gradient else "first, second" if op.gradient.second else "first"
        lines.append(f"| `{name}` | {dtypes_shown(op.dtypes)} | {tolerance_shown(op.tolerance)} | {order} | {torch} |")  # fmt: skip
    lines += [
        "", "## Complex tensors", "",
        "`complex_table.py` has the ops that compute with complex tensors: how far a result may be from",
        "long double's, in epsilons of the parts, of the magnitude of the number, and whether its",
        "gradients are checked, by differences along both parts and by PyTorch's. Others only move or",
        "choose elements, exactly; those that stand in neither list throw.",
        "", "| op | of the magnitude | derivatives checked |", "| --- | --- | --- |",
    ]  # fmt: skip
    for name, row in ROWS.items():
        near = f"{row.tolerance:g} eps" if row.tolerance else "exact"
        order = "" if not row.gradient else "first, second by PyTorch" if row.torch else "first"
        lines.append(f"| `{name}` | {near} | {order} |")
    return "\n".join(lines) + "\n"


def test_page():
    if os.environ.get("REPRISE_BLESS"):
        PAGE.write_text(page())
    assert PAGE.exists() and PAGE.read_text() == page(), "REPRISE_BLESS=1 writes docs/ORACLES.md"
