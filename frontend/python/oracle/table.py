"""The oracle's table: for every op of the package its entry. A name of the package that stands neither
here nor in NOT_OPS fails a test."""

import numpy as np

from elementwise_table import ELEMENTWISE
from fold_table import FOLDS
from index_table import INDEXING
from layer_table import LAYERS
from movement_table import MOVEMENT
from window_table import WINDOWS

OPS = {**ELEMENTWISE, **FOLDS, **LAYERS, **INDEXING, **WINDOWS, **MOVEMENT}

#: Tensor's methods and properties that are an op under another name, given what they are called with.
METHODS = {
    "Tensor.T": lambda x: (x.T, lambda a: a.T),
    "Tensor.mT": lambda x: (x.mT, lambda a: np.swapaxes(a, -1, -2)),
    "Tensor.transpose": lambda x: (x.transpose(0, -1), lambda a: np.swapaxes(a, 0, -1)),
    "Tensor.reshape": lambda x: (x.reshape(-1), np.ravel),
    "Tensor.permute_dims": lambda x: (x.permute_dims(1, 0), lambda a: a.T),
    "Tensor.value": lambda x: (x.value(), lambda a: a),
}

#: Names that compute nothing from tensors, and where they are tested.
NOT_OPS = {
    "elsewhere in this folder": (
        "real", "imag", "conj", "angle", "complex", "polar",
        "astype", "arange", "empty", "empty_like", "eye", "full", "full_like", "ones", "ones_like",
        "zeros", "zeros_like", "tri", "linspace", "logspace", "rand", "exponential", "truncated_normal", "bernoulli",
        "permutation", "multinomial", "randint", "randn", "uniform", "dropout", "set_seed", "promote_types",
        "result_type", "nonzero", "masked_select", "unique", "unique_values", "unique_counts",
        "unique_inverse", "unique_all", "grad", "jvp", "checkpoint", "value_and_grad", "jit", "asarray", "__getitem__",
        "Tensor.astype", "Tensor.view",
    ),
    "../tests": (
        "from_dlpack", "from_numpy", "tensor", "eval", "dump", "dump_graph", "devices", "device", "default_device",
        "set_default_device", "Tensor.to", "Tensor.to_device", "stats",
        "reset_stats", "num_threads", "set_num_threads", "read_idx", "isdtype", "Tensor.assign_",
        "Tensor.item", "Tensor.numpy", "Tensor.realize", "Tensor.tolist",
    ),
}  # fmt: skip
