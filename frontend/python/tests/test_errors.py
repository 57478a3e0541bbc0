"""Every kind of error is a reprise.Error and the built-in one that Python programs catch."""

import os
import subprocess
import sys

import numpy as np
import pytest

import reprise as rp

x = rp.zeros((2, 3))
CASES = [
    (lambda: x + rp.zeros((4,)), rp.ShapeError, ValueError, r"\[2,3\].*\[4\]"),
    (lambda: x.reshape(7), rp.ShapeError, ValueError, "7"),
    (lambda: rp.zeros((-1,)), rp.ShapeError, ValueError, "-1"),
    (lambda: x << 1, rp.DTypeError, TypeError, "f32"),
    (lambda: rp.sum(x, axis=2), rp.IndexError, IndexError, "2"),
    (lambda: x[5], rp.IndexError, IndexError, "5"),
    (lambda: rp.io.read_idx("/nowhere"), rp.IoError, OSError, "/nowhere"),
    (lambda: rp.full((1 << 50,), 1.0).realize(), rp.OutOfMemoryError, MemoryError, "memory"),
    (lambda: rp.Scalar(1) * 1, rp.UnsupportedError, NotImplementedError, "float"),
    (lambda: (x + 1j) < 1, rp.DTypeError, TypeError, "c64"),
    (lambda: x[2**64], rp.IndexError, IndexError, "18446744073709551616"),
    (lambda: rp.take(x, np.array([2**64 - 1], np.uint64)).realize(), rp.IndexError, IndexError, "2"),
    (lambda: rp.zeros((2**70,)), rp.IndexError, IndexError, "64 bits"),
    (lambda: rp.arange(0, 5, 0), rp.Error, Exception, "step"),
    (lambda: rp.cross_entropy(x, rp.asarray([0, 1]), "maximum"), rp.Error, Exception, "maximum"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1].__name__)
def test_errors(case):
    action, kind, builtin, text = case
    with pytest.raises(kind, match=text) as raised:
        action()
    assert isinstance(raised.value, builtin) and isinstance(raised.value, rp.Error)
    assert np.asarray(x).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_wrong_call_is_short_and_computes_nothing():
    g = rp.ones((1000,)) * 2
    for call in [lambda: rp.layer_norm(g, g, g), lambda: g.reshape(g, axis=g), lambda: rp.sum("a", g)]:
        with pytest.raises(TypeError, match=r"<tensor of float32 \(1000,\)>") as raised:
            call()
        assert len(str(raised.value)) < 1000 and not g.is_realized
    assert repr(g[:2]) == "tensor([2., 2.], dtype=float32)"
    assert repr([g[:1]]) == "[tensor([2.], dtype=float32)]"


@pytest.mark.parametrize("value", ["", "0", "no", "off", "false", "1", "yes", "on", "true", "maybe"])
def test_values_of_reprise_check(value):
    program = "import reprise as rp; rp.asarray([1.0]).exp().tolist(); rp.ones((3,)).tolist()"
    run = subprocess.run([sys.executable, "-c", program], env=os.environ | {"REPRISE_CHECK": value},
                         capture_output=True, text=True, check=True)  # fmt: skip
    said = "REPRISE_CHECK is 'maybe', taken for 1; known: 1, yes"
    assert run.stderr.count(said) == (value == "maybe") and run.stderr.count("\n") <= 1


def test_the_family():
    for name in ["ShapeError", "DTypeError", "IndexError", "DeviceError", "IoError", "ParseError",
                 "OutOfMemoryError", "UnsupportedError"]:  # fmt: skip
        assert issubclass(getattr(rp, name), rp.Error)
    assert issubclass(rp.DeviceError, RuntimeError)
    assert issubclass(rp.InternalError, RuntimeError) and not issubclass(rp.InternalError, rp.Error)
