"""Complex numbers and complex integers between Python, NumPy and files."""

import math

import numpy as np
import pytest

import reprise as rp

INTEGERS = {"ci8": "i1", "ci16": "i2", "ci32": "i4", "ci64": "i8", "cu8": "u1", "cu16": "u2",
            "cu32": "u4", "cu64": "u8"}  # fmt: skip


def test_arrays_and_numbers():
    array = np.array([[1 + 2j, -3.5j], [0, 1e300]])
    x = rp.asarray(array)
    assert x.dtype == rp.complex128 and np.array_equal(np.asarray(x), array)
    assert np.asarray(x).base is not None and x.tolist() == array.tolist()
    array[0, 0] = 9  # the memory is the array's
    assert x[0, 0].item() == 9
    assert rp.asarray(1 + 2j).dtype == rp.complex64 and rp.asarray([1j, 2]).dtype == rp.complex64
    assert rp.asarray([1, 2.5], dtype="complex128").tolist() == [1, 2.5]
    assert rp.full((2,), 2j).tolist() == [2j, 2j]
    assert complex(rp.asarray(1 + 2j)) == 1 + 2j and rp.asarray(2j).item() == 2j
    assert rp.zeros((2,), "complex64").tolist() == [0, 0] and rp.arange(2, dtype="complex64").tolist() == [0, 1]
    with pytest.raises(rp.DTypeError):
        rp.asarray([1j], dtype="float32")
    with pytest.raises(TypeError):
        float(rp.asarray(1j))
    with pytest.raises(rp.DTypeError, match="part"):
        rp.Scalar(1j)


def test_weak_numbers():
    for dtype, with_complex in (("float32", "complex64"), ("float64", "complex128"), ("int64", "complex64"), ("bool", "complex64"), ("float16", "complex64"), ("complex64", "complex64"), ("complex128", "complex128")):  # fmt: skip
        x = rp.ones((2,), dtype)
        assert (x + 1j).dtype == (1j * x).dtype == rp.result_type(x, 1j) == with_complex
        assert (x + 1j).tolist() == [1 + 1j] * 2
    z = rp.asarray(np.array([1 + 1j], np.complex64))
    assert (z * 2.5).dtype == (z + np.complex128(1)).dtype == (z - 1).dtype == rp.complex64
    assert (2 / z).tolist() == [1 - 1j] and (z**2).tolist() == [2j] and (1j * z == 1j - 1).tolist() == [True]
    with pytest.raises(rp.DTypeError):
        z < 1
    with pytest.raises(rp.DTypeError):
        rp.full((1,), 1j, "float32")


def test_parts():
    x = rp.asarray(np.array([1 + 2j, -3 - 4j]))
    assert x.real.tolist() == rp.real(x).tolist() == [1, -3]
    assert x.imag.tolist() == rp.imag(x).tolist() == [2, -4]
    assert rp.conj(x).tolist() == x.conj().tolist() == [1 - 2j, -3 + 4j]
    assert rp.complex(x.real, x.imag).tolist() == x.tolist() and abs(x).dtype == rp.float64
    assert rp.asarray([1.5]).imag.tolist() == [0] and rp.asarray([1.5]).real.tolist() == [1.5]
    np.testing.assert_allclose(np.asarray(rp.polar(abs(x), rp.angle(x))), np.asarray(x))
    assert x.astype("bool").tolist() == [True, True]
    with pytest.raises(rp.DTypeError, match="abs"):
        x.astype("float64")


def test_shown_as_numpy_shows():
    array = np.array([[1 + 2j, -3.25j], [complex(math.nan, math.inf), 0]])
    shown = np.array2string(array, separator=", ", prefix="tensor(")
    assert repr(rp.asarray(array)) == f"tensor({shown}, dtype=complex128)"
    assert str(rp.asarray(array)) == str(array)


def test_files(tmp_path):
    for dtype in ("complex64", "complex128", "ci16", "cu64"):
        x = rp.asarray(np.array([1 + 2j, -3 + 4j])).astype(dtype)
        np.save(tmp_path / "x.npy", np.asarray(x))
        back = rp.asarray(np.load(tmp_path / "x.npy"))
        assert back.dtype == dtype and repr(back) == repr(x)


def test_gradient_is_what_descent_subtracts():
    z = rp.asarray(np.array([1 + 2j, 3j]))
    gradient = rp.grad(lambda z: rp.sum(rp.abs(z) ** 2))(z)
    np.testing.assert_allclose(np.asarray(gradient), 2 * np.asarray(z), rtol=1e-15)
    with rp.Tape() as tape:
        y = z * z
        with pytest.raises(rp.DTypeError, match="cotangent"):
            tape.gradient(y, z)
        seed = rp.asarray(np.array([1j, 1]))
        expected = np.conj(2 * np.asarray(z)) * np.asarray(seed)
        np.testing.assert_allclose(np.asarray(tape.gradient(y, z, seed)), expected, rtol=1e-15)
    _, change = rp.jvp(lambda z: z * z, [z], [seed])
    np.testing.assert_allclose(np.asarray(change), 2 * np.asarray(z) * np.asarray(seed), rtol=1e-15)


def test_jit_finds_the_plan_again():
    @rp.jit
    def step(z, x):
        return rp.matmul(z, rp.conj(z).mT) * x, rp.real(z)

    rng = np.random.default_rng(0)
    for _ in range(3):
        z = rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))
        product, real = step(rp.asarray(z), rp.asarray(rng.normal(size=3) * 0 + 2))
        np.testing.assert_allclose(np.asarray(product), 2 * z @ z.conj().T, rtol=1e-13)
        assert np.array_equal(np.asarray(real), z.real)
    assert step.recorded == 1


@pytest.mark.parametrize("name", INTEGERS)
def test_complex_integers(name):
    part = np.dtype(INTEGERS[name])
    record = np.dtype([("real", part), ("imag", part)])
    array = np.array([(1, 2), (3, 4), (5, 100)], record)
    x = rp.asarray(array)
    assert x.dtype == name == getattr(rp, name) and x.dtype.kind == "complex integer"
    assert x.itemsize == 2 * part.itemsize and np.asarray(x).dtype == record
    assert np.array_equal(np.asarray(x[::-2]), array[::-2])
    assert x.real.dtype == part.name and x.imag.tolist() == [2, 4, 100]
    assert x.astype("complex64").tolist() == [1 + 2j, 3 + 4j, 5 + 100j]
    assert np.array_equal(np.asarray(x.astype("complex128").astype(name)), array)
    raw = np.array([[1, 2], [3, 4]], part)  # samples as files hold them
    pairs = rp.asarray(raw)
    assert rp.complex(pairs[..., 0], pairs[..., 1]).dtype == name
    assert rp.asarray(raw.view(record)[:, 0]).tolist() == [(1, 2), (3, 4)]
    assert rp.concat([x, x])[4].item() == (3, 4)
    for call in (lambda: x + x, lambda: x * 2, lambda: x + 1j, lambda: rp.sum(x), lambda: x == x, lambda: abs(x)):  # fmt: skip
        with pytest.raises(rp.DTypeError, match=name):
            call()
    with pytest.raises(rp.DTypeError):
        rp.promote_types(name, "float32")
    with pytest.raises(rp.DTypeError, match="parts"):
        x.__dlpack__()


def test_records_that_are_no_pairs():
    for fields in ([("a", "i2"), ("b", "u2")], [("a", "f4"), ("b", "f4")], [("a", "i2")], [("a", "i2"), ("b", "i2"), ("c", "i2")]):  # fmt: skip
        with pytest.raises(rp.DTypeError):
            rp.asarray(np.zeros(2, fields))
