"""Tensors on devices: where they are, what moves them, what refuses to."""

import pickle

import numpy as np
import pytest

import reprise as rp

vulkan = next((name for name in rp.devices() if name.startswith("vulkan")), None)
needs_vulkan = pytest.mark.skipif(vulkan is None, reason="no Vulkan device")


def test_the_cpu_is_first_and_the_default():
    assert rp.devices()[0] == "cpu"
    assert rp.default_device() == "cpu"
    assert rp.asarray([1.0]).device == "cpu"
    assert rp.asarray([1.0]).to("cpu").device == "cpu"
    with pytest.raises(rp.DeviceError, match="'tpu:3'.*cpu"):
        rp.asarray([1.0]).to("tpu:3")


@needs_vulkan
def test_a_tensor_moves_and_computes_there():
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = rp.asarray(a).to(vulkan)
    y = (x * 2 + rp.ones((3, 1))).sum(axis=0)
    assert x.device == y.device == vulkan
    with pytest.raises(rp.DeviceError, match="to\\(.cpu.\\)"):
        np.asarray(y)
    assert np.array_equal(y.to("cpu"), (a * 2 + 1).sum(axis=0))
    assert y.to_device("cpu").device == "cpu"
    assert x[1, 2].item() == 6
    assert repr(x) == repr(rp.asarray(a))
    assert rp.asarray(x, copy=True).device == vulkan
    assert np.array_equal(pickle.loads(pickle.dumps(x)), a)


@needs_vulkan
def test_the_default_device_takes_arrays():
    a = np.arange(6, dtype=np.int64)[::-2]
    with rp.device(vulkan) as d:
        assert d.name == vulkan == rp.default_device()
        x = rp.asarray(a)
        assert x.device == rp.asarray([1, 2]).device == rp.zeros(3).device == vulkan
        with pytest.raises(rp.Error, match=vulkan):
            rp.asarray(a, copy=False)
    assert rp.default_device() == "cpu"
    assert np.array_equal(x.to("cpu"), a)
    assert rp.asarray(a, device=vulkan).device == vulkan
    assert rp.asarray(x, device="cpu").device == "cpu"


@pytest.mark.parametrize("name", ["cpu", pytest.param(vulkan, marks=needs_vulkan)])
def test_creation_on_a_device(name):
    x = rp.asarray(np.float32([[1, 2, 3]]))
    for make, expected in [
        (lambda d: rp.zeros((1, 3), device=d), np.zeros((1, 3))),
        (lambda d: rp.ones((1, 3), device=d), np.ones((1, 3))),
        (lambda d: rp.empty((1, 3), device=d), np.zeros((1, 3))),
        (lambda d: rp.full((1, 3), 2.5, device=d), np.full((1, 3), 2.5)),
        (lambda d: rp.zeros_like(x, device=d), np.zeros((1, 3))),
        (lambda d: rp.ones_like(x, device=d), np.ones((1, 3))),
        (lambda d: rp.empty_like(x, device=d), np.zeros((1, 3))),
        (lambda d: rp.full_like(x, 4, device=d), np.full((1, 3), 4)),
        (lambda d: rp.eye(3, device=d), np.eye(3)),
        (lambda d: rp.tri(2, 3, device=d), np.tri(2, 3)),
        (lambda d: rp.arange(3, device=d), np.arange(3)),
        (lambda d: rp.linspace(0, 1, 3, device=d), np.linspace(0, 1, 3)),
        (lambda d: rp.logspace(0, 2, 3, device=d), np.logspace(0, 2, 3)),
    ]:
        made = make(name)
        assert made.device == name
        np.testing.assert_array_equal(made.to("cpu"), expected)
        with pytest.raises(rp.DeviceError, match="tpu:3"):
            make("tpu:3")
    assert rp.jit(lambda x: x + rp.ones((3,), device=name))(x.to(name)).tolist() == [[2, 3, 4]]


@needs_vulkan
def test_two_devices_in_one_operation_are_an_error():
    x = rp.asarray([1.0])
    with pytest.raises(rp.DeviceError, match=f"cpu.*{vulkan}.*to\\("):
        x + x.to(vulkan)


@needs_vulkan
def test_gradients_and_jit_there():
    f = rp.jit(rp.value_and_grad(lambda w, x: ((w * x - 1) ** 2).sum()))
    w = rp.asarray(np.float32([1, 2, 3]))
    x = rp.asarray(np.float32([0.5, -1, 2]))
    here = f(w, x)
    for _ in range(3):
        there = f(w.to(vulkan), x.to(vulkan))
        assert there[1].device == vulkan
        np.testing.assert_allclose(there[0].item(), here[0].item(), rtol=1e-6)
        np.testing.assert_allclose(there[1].to("cpu"), here[1], rtol=1e-6)


@needs_vulkan
def test_a_tape_follows_a_tensor_to_another_device():
    w = rp.asarray(np.float32([1, -2, 3]))
    with rp.Tape() as tape:
        y = (w * w).to(vulkan)
        loss = (y * 2).sum().to("cpu")
        gradient = tape.gradient(loss, w)
        assert (y.device, loss.device, gradient.device) == (vulkan, "cpu", "cpu")
        assert np.array_equal(gradient, np.float32([4, -8, 12]))
    assert loss.item() == 28
