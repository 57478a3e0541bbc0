"""The oracle's entries of ops that only move elements."""

import numpy as np

from compare import EXACT
from entry import SHAPE, Op, smooth
from inputs import by_rank, shaped
from samples import REAL


def chunked(x, chunks, axis=0):
    length = max(1, -(-x.shape[axis] // chunks))
    return np.split(x, range(length, x.shape[axis], length), axis)


def np_pad(x, pad_width, constant_values=0):
    return np.pad(x, pad_width, constant_values=constant_values)


def listed(function):
    """For functions of a list of tensors."""
    return dict(call=lambda f, tensors, keywords: f(list(tensors), **keywords), reference=lambda *xs, **keywords: function(list(xs), **keywords))  # fmt: skip


MOVEMENT = {
    "reshape": Op(lambda x, shape: np.reshape(x, shape), REAL, EXACT, by_rank(((24,), {"shape": (4, -1)}), ((4, 33), {"shape": (33, 4)}), ((2, 3, 17), {"shape": (6, 17)}), ((1,), {"shape": ()}), ((0, 3), {"shape": (5, 0)})), gradient=smooth((2, 6), shape=(3, 4)), call=lambda f, t, k: f(t[0], k["shape"]), also=("Tensor.reshape",)),  # fmt: skip
    "permute_dims": Op(np.transpose, REAL, EXACT, by_rank(((4, 33), {"axes": (1, 0)}), ((2, 3, 17), {"axes": (2, 0, 1)}), ((2, 3, 17), {"axes": (0, 2, 1)}), ((7,), {"axes": (0,)})), gradient=smooth((2, 3), axes=(1, 0)), also=("Tensor.permute_dims",)),  # fmt: skip
    "matrix_transpose": Op(lambda x: np.swapaxes(x, -1, -2), REAL, EXACT, by_rank(((4, 33), {}), ((2, 3, 17), {}), ((1, 5), {}), ((3, 0), {})), gradient=smooth(SHAPE), also=("Tensor.mT", "Tensor.transpose")),  # fmt: skip
    "expand": Op(np.broadcast_to, REAL, EXACT, by_rank(((5, 1), {"shape": (2, 5, 4)}), ((33,), {"shape": (4, 33)})), gradient=smooth((3, 1), shape=(2, 3, 2))),  # fmt: skip
    "roll": Op(np.roll, REAL, EXACT, by_rank(((7,), {"shift": 3}), ((4, 33), {"shift": -50, "axis": 1}), ((2, 3, 17), {"shift": (1, 20), "axis": (0, 2)}), ((0, 3), {"shift": 1})), gradient=smooth((2, 3), shift=2)),  # fmt: skip
    "repeat": Op(np.repeat, REAL, EXACT, by_rank(((7,), {"repeats": 2}), ((4, 33), {"repeats": 3, "axis": 1}), ((2, 3, 17), {"repeats": 2, "axis": 0}), ((5,), {"repeats": 0}), ((3, 5), {"repeats": (2, 0, 3), "axis": 0}), ((4, 3), {"repeats": [0, 1, 4], "axis": -1}), ((4,), {"repeats": (3,)})), gradient=smooth((2, 3), repeats=(2, 0, 1), axis=1)),  # fmt: skip
    "tile": Op(lambda x, repetitions: np.tile(x, repetitions), REAL, EXACT, by_rank(((7,), {"repetitions": (2,)}), ((4, 33), {"repetitions": (2, 1, 3)}), ((), {"repetitions": (3, 2)}), ((2, 3), {"repetitions": (2,)})), gradient=smooth((2, 3), repetitions=(2, 2))),  # fmt: skip
    "chunk": Op(chunked, REAL, EXACT, by_rank(((8,), {"chunks": 3}), ((4, 33), {"chunks": 5, "axis": 1}), ((5,), {"chunks": 9})), many=True, gradient=smooth((5, 2), chunks=2)),  # fmt: skip
    "unstack": Op(lambda x, axis=0: list(np.moveaxis(x, axis, 0)), REAL, EXACT, by_rank(((4, 33), {}), ((4, 3), {"axis": -1}), ((3,), {})), many=True, gradient=smooth((2, 3), axis=1)),  # fmt: skip
    "diagonal": Op(lambda x, offset=0, axis1=-2, axis2=-1: np.diagonal(x, offset, axis1, axis2), REAL, EXACT, by_rank(((4, 33), {}), ((33, 4), {"offset": -3}), ((2, 3, 17), {"offset": 2}), ((2, 3, 17), {"axis1": 0, "axis2": 1}), ((3, 3), {"offset": 5})), gradient=smooth((3, 4), offset=1)),  # fmt: skip
    "diag": Op(np.diag, REAL, EXACT, by_rank(((7,), {}), ((4, 33), {"k": 2}), ((5,), {"k": -2}), ((0,), {"k": 1})), gradient=smooth((3,), k=1)),  # fmt: skip
    "triu": Op(np.triu, REAL, EXACT, by_rank(((4, 33), {}), ((2, 3, 17), {"k": 2}), ((33, 4), {"k": -3})), gradient=smooth((3, 4), k=1)),  # fmt: skip
    "tril": Op(np.tril, REAL, EXACT, by_rank(((4, 33), {}), ((2, 3, 17), {"k": 2}), ((33, 4), {"k": -3})), gradient=smooth((3, 4), k=1)),  # fmt: skip
    "meshgrid": Op(np.meshgrid, REAL, EXACT, shaped((((4,), (3,)), {}), (((4,), (3,), (2,)), {"indexing": "ij"}), (((5,),), {})), many=True, gradient=smooth((2,), (3,))),  # fmt: skip
    "moveaxis": Op(np.moveaxis, REAL, EXACT, by_rank(((2, 3, 17), {"source": 0, "destination": -1}), ((2, 3, 17), {"source": -1, "destination": 1})), gradient=smooth((2, 3, 2), source=0, destination=-1)),  # fmt: skip
    "flatten": Op(np.ravel, REAL, EXACT, by_rank(((), {}), ((7,), {}), ((4, 33), {}), ((2, 3, 17), {}), ((3, 0), {})), gradient=smooth(SHAPE)),  # fmt: skip
    "squeeze": Op(np.squeeze, REAL, EXACT, by_rank(((1, 5), {}), ((5, 1), {"axis": 1}), ((1, 3, 1), {"axis": (0, 2)}), ((1, 1), {})), gradient=smooth((1, 3, 1))),  # fmt: skip
    "expand_dims": Op(np.expand_dims, REAL, EXACT, by_rank(((), {"axis": 0}), ((7,), {"axis": -1}), ((4, 33), {"axis": 1}), ((0,), {"axis": 0})), gradient=smooth(SHAPE, axis=1)),  # fmt: skip
    "broadcast_to": Op(np.broadcast_to, REAL, EXACT, by_rank(((), {"shape": (3,)}), ((5, 1), {"shape": (2, 5, 4)}), ((1, 5), {"shape": (9, 5)}), ((33,), {"shape": (4, 33)}), ((1,), {"shape": (0,)})), gradient=smooth((3, 1), shape=(2, 3, 2))),  # fmt: skip
    "broadcast_arrays": Op(np.broadcast_arrays, REAL, EXACT, shaped((((5, 1), (1, 4)), {}), (((33,), (4, 33)), {}), (((), (7,)), {}), (((1,), (0, 3)), {})), many=True, gradient=smooth((3, 1), (2,))),  # fmt: skip
    "flip": Op(np.flip, REAL, EXACT, by_rank(((7,), {}), ((4, 33), {"axis": 0}), ((4, 33), {"axis": (0, 1)}), ((2, 3, 17), {"axis": -1}), ((0,), {})), gradient=smooth(SHAPE)),  # fmt: skip
    "pad": Op(np_pad, REAL, EXACT, by_rank(((7,), {"pad_width": 1}), ((4, 33), {"pad_width": (1, 2)}), ((2, 3, 17), {"pad_width": ((0, 0), (1, 0), (0, 9))}), ((0, 2), {"pad_width": 2}), ((5,), {"pad_width": 3, "constant_values": 1})), gradient=smooth(SHAPE, pad_width=(1, 2))),  # fmt: skip
    "concat": Op(dtypes=REAL, tolerance=EXACT, make=shaped((((7,), (8,)), {}), (((4, 33), (1, 33), (0, 33)), {"axis": 0}), (((3, 1), (3, 17)), {"axis": -1}), (((2, 2), (3,)), {"axis": None})), gradient=smooth((2, 3), (1, 3)), **listed(np.concatenate)),  # fmt: skip
    "stack": Op(dtypes=REAL, tolerance=EXACT, make=shaped((((7,), (7,)), {}), (((4, 3), (4, 3), (4, 3)), {"axis": 1}), (((), ()), {"axis": -1}), (((2, 0), (2, 0)), {"axis": 2})), gradient=smooth((2, 3), (2, 3), axis=-1), **listed(np.stack)),  # fmt: skip
    "split": Op(np.split, REAL, EXACT, by_rank(((8,), {"indices_or_sections": 4}), ((4, 33), {"indices_or_sections": 11, "axis": 1}), ((17, 2), {"indices_or_sections": [1, 8]}), ((5,), {"indices_or_sections": [2, 9]})), many=True, gradient=smooth((4, 2), indices_or_sections=[1, 3])),  # fmt: skip
}
