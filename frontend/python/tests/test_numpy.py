"""Arrays in and out: nothing is copied where nothing need be, all lives as long as needed."""

import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

import reprise as rp

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def sample(dtype, shape=(3, 4)):
    count = int(np.prod(shape))
    return (np.arange(count) % 7 - (dtype[0] not in "bu") * 2).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip_shares_memory(dtype):
    array = sample(dtype)
    tensor = rp.asarray(array)
    assert tensor.dtype == getattr(rp, dtype) and tensor.dtype == np.dtype(dtype)
    assert tensor.shape == (3, 4)
    back = np.asarray(tensor)
    assert back.dtype == array.dtype
    assert np.shares_memory(array, back)
    assert np.array_equal(array, back)


@pytest.mark.parametrize("dtype", DTYPES[:12])
def test_strided_arrays_are_read_as_they_lie(dtype):
    array = sample(dtype, (4, 6))
    views = [
        array[:, ::-1], array[::-2, ::3], array.T, array[1:3, 2:5], array[:, None, :, None],
        np.broadcast_to(array[0], (3, 6)), np.broadcast_to(array[:, :1], (4, 5))[::-1],
        array[2:2], array[..., 0], array[1, 2, ...],
    ]  # fmt: skip
    for view in views:
        tensor = rp.asarray(view)
        assert np.array_equal(np.asarray(tensor), view)
        # Through a kernel too.
        assert np.array_equal(np.asarray(rp.where(tensor == tensor, tensor, tensor)), view)
        if view.size:
            assert np.shares_memory(np.asarray(tensor), array)


def test_reversed_columns():  # ZC-01
    array = np.arange(12).reshape(3, 4)[:, ::-1]
    assert rp.asarray(array).tolist() == [[3, 2, 1, 0], [7, 6, 5, 4], [11, 10, 9, 8]]
    assert (rp.asarray(array) + 0).tolist() == array.tolist()


def test_what_kernels_cannot_read_is_copied():
    swapped = np.arange(5, dtype=">f4")
    packed = np.zeros(3, dtype=[("tag", "i1"), ("value", "f4")])
    packed["value"] = [1, 2, 3]
    unaligned = np.frombuffer(b"\0" + np.arange(4, dtype="f8").tobytes(), dtype="f8", offset=1)
    for array in [swapped, packed["value"], unaligned]:
        assert np.array_equal(np.asarray(rp.asarray(array) + 1), array + 1)
        with pytest.raises(rp.Error, match="copy=False"):
            rp.asarray(array, copy=False)
    assert np.shares_memory(rp.asarray(np.arange(3), copy=False), rp.asarray(np.arange(3))) is False


def test_copy_is_a_copy():
    array = np.arange(4.0)
    shared, copied, made = rp.asarray(array), rp.asarray(array, copy=True), rp.tensor(array)
    array[0] = 9
    assert shared.tolist() == [9, 1, 2, 3]
    assert copied.tolist() == made.tolist() == [0, 1, 2, 3]
    assert not np.shares_memory(np.asarray(rp.asarray(shared, copy=True)), array)
    assert not np.shares_memory(shared.__array__(copy=True), array)


def test_views_are_read_only():
    view = np.asarray(rp.ones((3,)))
    with pytest.raises(ValueError):
        view[0] = 2
    with pytest.raises(ValueError):
        view.flags.writeable = True
    view = np.asarray(rp.asarray(np.ones(3)))
    assert not view.flags.writeable


def test_the_array_outlives_what_refers_to_it():
    class Array(np.ndarray):  # a class of its own can be watched
        pass

    array = np.arange(1000.0).view(Array)
    watched = weakref.ref(array)
    count = sys.getrefcount(array)
    tensor = rp.asarray(array)
    assert sys.getrefcount(array) == count + 1
    tail = tensor[-2:]
    view = np.asarray(tensor)
    del array, tensor
    gc.collect()
    assert watched() is not None
    assert tail.tolist() == [998, 999]
    assert view[3] == 3
    del tail
    assert watched() is not None
    del view
    gc.collect()
    assert watched() is None


def test_pending_values_keep_what_they_read():
    class Array(np.ndarray):
        pass

    array = np.arange(8.0).view(Array)
    watched = weakref.ref(array)
    pending = rp.asarray(array) * 2
    del array
    assert watched() is not None
    assert pending.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    gc.collect()
    assert watched() is None


def test_a_view_keeps_the_value_that_it_shows():
    parameter = rp.asarray([1.0, 2.0, 3.0]) + 0
    view = np.asarray(parameter)
    for _ in range(3):  # an update in place would write where the view looks
        parameter.assign_(parameter + 1)
        parameter.realize()
    assert view.tolist() == [1, 2, 3]
    assert parameter.tolist() == [4, 5, 6]
    del parameter
    assert view.tolist() == [1, 2, 3]


def test_adopted_memory_is_never_written():
    array = np.zeros(4, dtype=np.float32)
    x = rp.asarray(array)
    x.assign_(x + 1)
    x.realize()
    assert array.tolist() == [0, 0, 0, 0]


def test_bfloat16_has_no_array():
    x = rp.asarray([1.0, 2.5], dtype=rp.bfloat16)
    with pytest.raises(rp.DTypeError, match="bfloat16"):
        np.asarray(x)
    assert np.asarray(x.astype(rp.float32)).tolist() == [1, 2.5]
    bits = np.asarray(x.view(rp.uint16))
    assert bits.tolist() == [0x3F80, 0x4020]
    assert rp.asarray(bits).view(rp.bfloat16).tolist() == [1, 2.5]
    assert x.tolist() == [1, 2.5] and repr(x) == "tensor([1. , 2.5], dtype=bfloat16)"
    with pytest.raises(rp.DTypeError):
        x.view(rp.float32)


def test_numbers_and_lists():
    assert rp.asarray(1.5).dtype == rp.float32
    assert rp.asarray(3).dtype == rp.int64
    assert rp.asarray(True).dtype == rp.bool
    assert rp.asarray([[1.0, 2.0]]).dtype == rp.float32
    assert rp.asarray(2**64 - 1).dtype == rp.uint64
    assert rp.asarray([np.float64(1)]).dtype == rp.float64
    assert rp.asarray([0.1], dtype=rp.float64).tolist() == [0.1]
    assert rp.asarray([]).shape == (0,)
    assert rp.asarray([300, 1], dtype=rp.int16).tolist() == [300, 1]
    with pytest.raises(rp.DTypeError, match="300.*uint8"):
        rp.asarray([300, 1], dtype=rp.uint8)
    stacked = rp.asarray([rp.asarray([1, 2]), rp.asarray([3, 4])])
    assert stacked.tolist() == [[1, 2], [3, 4]]
    for bad in ["text", object(), [1, "a"], [[1], [1, 2]], np.zeros(2, "M8[s]"), None, 2**70]:
        with pytest.raises((TypeError, ValueError)):
            rp.asarray(bad)
    with pytest.raises(rp.ShapeError, match="kMaxDims"):
        rp.asarray(np.zeros((1,) * 9))


def test_bytes_of_bools_other_than_one_are_true():
    array = np.array([0, 1, 2, 255], dtype=np.uint8).view(bool)
    assert (rp.asarray(array).astype(rp.int32)).tolist() == [0, 1, 1, 1]


def test_dlpack():
    x = rp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert x.__dlpack_device__() == (1, 0)
    array = np.from_dlpack(x)
    assert array.tolist() == x.tolist()
    assert not np.shares_memory(array, np.asarray(x)), "whoever takes it may write to it"

    source = np.arange(12, dtype=np.int16).reshape(3, 4)[:, 1:3]
    adopted = rp.from_dlpack(source)
    assert np.shares_memory(np.asarray(adopted), source)
    assert (adopted + 0).tolist() == source.tolist()
    count = sys.getrefcount(source)
    del adopted
    gc.collect()
    assert sys.getrefcount(source) == count - 1
    x.__dlpack__()  # nobody takes it


def test_pickle():
    for x in [rp.asarray([[1.0, 2.0]]), rp.asarray([1.5], dtype=rp.bfloat16), rp.asarray(3)]:
        again = pickle.loads(pickle.dumps(x))
        assert again.dtype == x.dtype and again.shape == x.shape and again.tolist() == x.tolist()
    assert pickle.loads(pickle.dumps(rp.int8)) == rp.int8


def test_memory_is_flat():
    array = np.ones(1000, dtype=np.float32)
    for _ in range(10):
        np.asarray(rp.asarray(array) + 1)
    before = rp.stats()
    for _ in range(200):
        np.asarray(rp.asarray(array) + 1)
    after = rp.stats()
    assert after["live_tensors"] == before["live_tensors"]
    assert after["live_nodes"] == before["live_nodes"]
    assert after["live_bytes"] == before["live_bytes"]
    assert sys.getrefcount(array) == 2
