"""Functions that are recorded once for each kind of arguments, then replayed."""

import collections
import functools
import inspect
import threading
import types

import numpy as np

from . import _core
from ._array import asarray
from ._core import Scalar, Tensor
from ._tree import flatten, unflatten

_MAX_RECORDINGS = 128  # of one function; the least recently used goes first


class _Recording:
    """One recorded call: its step, the cells of its numbers, and how its result is put together."""

    __slots__ = ("frozen", "cells", "structure", "constants", "lock")

    def __init__(self, frozen, cells, structure, constants):
        self.frozen = frozen
        self.cells = cells
        self.structure = structure
        self.constants = constants  # of the result, by leaf; _TENSOR where a tensor goes
        self.lock = threading.Lock() if cells else None

    def replay(self, tensors, numbers):
        if not self.cells:
            return self._result(self.frozen.replay(tensors))
        with self.lock:
            for cell, number in zip(self.cells, numbers):
                cell.set(number)
            return self._result(self.frozen.replay(tensors))

    def _result(self, tensors):
        tensors = iter(tensors)
        leaves = [next(tensors) if c is _TENSOR else c for c in self.constants]
        return unflatten(self.structure, leaves)


_TENSOR = object()


class _Static:
    """An argument that is part of the key; told apart by type too, as 1 == True == 1.0."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return hash((type(self.value), self.value))

    def __eq__(self, other):
        return type(self.value) is type(other.value) and self.value == other.value


class Jitted:
    """What `jit` returns: called like the function."""

    def __init__(self, function, static_argnums, static_argnames):
        functools.update_wrapper(self, function)
        self._function = function
        self._static_numbers = frozenset(static_argnums)
        self._static_names = frozenset(static_argnames)
        self._recordings = collections.OrderedDict()
        self._lock = threading.RLock()
        self.recorded = 0  #: how often the function was recorded

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def clear(self):
        """Forgets what was recorded."""
        with self._lock:
            self._recordings.clear()

    def __call__(self, *args, **kwargs):
        if _core._in_tape():  # its ops belong to that tape's history
            return self._function(*args, **kwargs)
        if self._static_names:
            kwargs = {
                name: self._static(arg) if name in self._static_names else arg
                for name, arg in kwargs.items()
            }
        leaves, structure = flatten((self._split(args), kwargs))
        tensors, numbers, static = [], [], []
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                tensors.append(leaf)
                static.append(_TENSOR)
            elif isinstance(leaf, np.ndarray):
                tensors.append(asarray(leaf))
                static.append(_TENSOR)
            elif isinstance(leaf, (float, np.floating)):
                numbers.append(float(leaf))
                static.append(float)
            elif isinstance(leaf, np.generic):
                static.append(_Static(leaf.item()))
            else:
                static.append(leaf if isinstance(leaf, _Static) else _Static(leaf))
        key = (structure, tuple(static), _core._types(tensors))
        try:
            recording = self._recordings.get(key)
        except TypeError as error:
            raise _core.DTypeError(
                f"jit of {self.__name__}: an argument is neither a tensor nor hashable: {error}"
            ) from None
        if recording is None:
            with self._lock:
                recording = self._recordings.get(key)
                if recording is None:
                    recording, result = self._record(structure, static, tensors, numbers)
                    self._recordings[key] = recording
                    if len(self._recordings) > _MAX_RECORDINGS:
                        self._recordings.popitem(last=False)
                    return result
        elif len(self._recordings) > _MAX_RECORDINGS // 2:
            with self._lock:
                if key in self._recordings:
                    self._recordings.move_to_end(key)
        return recording.replay(tensors, numbers)

    def _split(self, args):
        if not self._static_numbers and not self._static_names:
            return args
        names = self._parameter_names
        return tuple(
            self._static(arg)
            if i in self._static_numbers or (i < len(names) and names[i] in self._static_names)
            else arg
            for i, arg in enumerate(args)
        )

    def _static(self, arg):
        if isinstance(arg, (Tensor, np.ndarray)):
            raise _core.DTypeError(f"jit of {self.__name__}: a static argument is a tensor")
        return _Static(arg)

    @functools.cached_property
    def _parameter_names(self):
        return list(inspect.signature(self._function).parameters)

    def _record(self, structure, static, tensors, numbers):
        tape = _core._Tape()
        tape.enter()
        _core._enter_recording()
        try:
            # Each input is a value of its own: two arguments that are the same tensor today need
            # not be tomorrow, and what the function reads besides is read anew at each replay.
            inputs = [_core._identity(x) for x in tensors]
            cells = [Scalar(number) for number in numbers]
            next_input, next_cell = iter(inputs), iter(cells)
            leaves = []
            for entry in static:
                if entry is _TENSOR:
                    leaves.append(next(next_input))
                elif entry is float:
                    leaves.append(next(next_cell))
                else:
                    leaves.append(entry.value)
            args, kwargs = unflatten(structure, leaves)
            del leaves
            result = self._function(*args, **kwargs)
            del args, kwargs
            self.recorded += 1
            leaves, result_structure = flatten(result)
            for leaf in leaves:
                if isinstance(leaf, Scalar):
                    raise _core.DTypeError(
                        f"jit of {self.__name__}: it returns a number that depends on its arguments; "
                        "return a tensor computed with it"
                    )
            outputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
            constants = [_TENSOR if isinstance(leaf, Tensor) else leaf for leaf in leaves]
            frozen = tape.freeze(inputs, outputs)
            del inputs, next_input
            tape.realize(outputs)
            return _Recording(frozen, cells, result_structure, constants), result
        finally:
            _core._leave_recording()
            tape.exit()


def jit(function=None, *, static_argnums=(), static_argnames=()):
    """Records the function once for each kind of arguments; later calls replay without Python.

    Arguments are trees of lists, tuples and dicts. Tensors and arrays are inputs: other values
    replay, other dtypes or shapes record anew. Floats are inputs too: the function is given a
    `Scalar` in place of each, to compute with tensors and numbers; comparing it raises Error. What
    decides by a float names it in static_argnums. Everything else, and all that is named in
    static_argnums and static_argnames, must be hashable and is compared: another value records
    anew. Tensors that the function reads besides are read at each call, and what it assigns with
    `assign_` (as optimizers do) is assigned at each call; any other effect, such as print, happens
    only when it is recorded. Reading a value inside (item, numpy, if) raises Error, for it would be
    the first call's for good. Inside an open tape the function is simply called.
    """
    if function is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames
        )
    if isinstance(static_argnums, int):
        static_argnums = (static_argnums,)
    if isinstance(static_argnames, str):
        static_argnames = (static_argnames,)
    return Jitted(function, static_argnums, static_argnames)
