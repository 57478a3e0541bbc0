"""Tapes and gradients."""

import functools

from . import _core
from ._array import asarray
from ._core import Tensor
from ._tree import flatten, transform, unflatten


def _tensors(tree, what):
    leaves, structure = flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise _core.DTypeError(f"{what}: expected tensors, one is {type(leaf).__name__}")
    return leaves, structure


class Tape:
    """A stretch of this thread's recording, with its history for gradients.

        with Tape() as tape:
            loss = f(x)
            dx = tape.gradient(loss, x)

    While it is open nothing launches before `realize` or the read of a value. Tapes nest; each ends
    on the thread it began on. What is pending when one ends is computed when it is needed.
    """

    def __init__(self):
        self._tape = _core._Tape()

    def __enter__(self):
        self._tape.enter()
        return self

    def __exit__(self, *_):
        self._tape.exit()

    def gradient(self, y, xs, seed=None):
        """Gradients of y, weighted by `seed` (ones unless given), for each tensor of the tree xs.

        They are recorded as ordinary ops, so they have gradients too. Zeros where y does not depend
        on an x. Error when an x was assigned after y read it, DTypeError for an x that is not a
        float.
        """
        if isinstance(xs, Tensor):
            return self._tape.gradient(y, [xs], seed)[0]
        leaves, structure = _tensors(xs, "gradient")
        return unflatten(structure, self._tape.gradient(y, leaves, seed))

    def realize(self, *trees):
        """Computes these tensors and every pending assign of this thread together."""
        self._tape.realize(_tensors(trees, "realize")[0])

    def freeze(self, inputs, outputs):
        """What was recorded so far, as a `Frozen` from the list `inputs` to the list `outputs`.

        It repeats the assigns too. Computes nothing; the recorded step itself still happens, once.
        Error when an input was assigned inside the tape.
        """
        return self._tape.freeze(inputs, outputs)


def eval(*trees):
    """Computes all tensors of these trees, and this thread's pending assigns, together."""
    _core._realize(_tensors(trees, "eval")[0])


def _own(leaf):
    """A value of its own: another argument with the same value is not differentiated with it."""
    return _core._identity(asarray(leaf))


def value_and_grad(function, argnums=0, has_aux=False):
    """A function that returns function(...) and its gradients for the arguments at `argnums`.

    `function` returns a tensor of rank 0 (else ShapeError), or with has_aux a pair of one and
    anything. Arguments that are differentiated are trees of tensors (arrays and floats become
    some); the gradient has the same structure, and is a tuple of such if argnums is one.
    """
    single = isinstance(argnums, int)
    numbers = (argnums,) if single else tuple(argnums)

    @functools.wraps(function)
    def with_gradients(*args, **kwargs):
        args = list(args)
        with Tape() as tape:
            for number in numbers:
                if not -len(args) <= number < len(args):
                    raise _core.IndexError(
                        f"argnums {number} is out of range for {len(args)} positional arguments"
                    )
                args[number] = transform(_own, args[number])
            result = function(*args, **kwargs)
            y = result[0] if has_aux else result
            if not isinstance(y, Tensor):
                raise _core.DTypeError(
                    f"a function to differentiate returned {type(y).__name__}, expected a tensor"
                )
            if y.ndim != 0:
                raise _core.ShapeError(
                    f"a function to differentiate returned shape {y.shape}, expected rank 0"
                )
            gradients = tape.gradient(y, tuple(args[number] for number in numbers))
        return result, gradients[0] if single else gradients

    return with_gradients


def grad(function, argnums=0, has_aux=False):
    """A function that returns the gradients alone; with has_aux (gradients, aux)."""
    both = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def gradients_only(*args, **kwargs):
        result, gradients = both(*args, **kwargs)
        return (gradients, result[1]) if has_aux else gradients

    return gradients_only


def jvp(function, primals, tangents):
    """function(*primals), and how it changes along `tangents`: forward mode.

    `function` returns a tensor; primals and tangents are sequences of as many tensors, each
    tangent of its primal's type.
    """
    for name, given in [("primals", primals), ("tangents", tangents)]:
        if not isinstance(given, (list, tuple)):  # a tensor is a sequence too, of its rows
            raise _core.Error(f"jvp: {name} are a list or a tuple, not a {type(given).__name__}")
    primals, tangents = list(primals), [asarray(t) for t in tangents]
    if len(primals) != len(tangents):
        raise _core.Error(f"jvp: {len(primals)} primals and {len(tangents)} tangents")
    with Tape() as tape:
        primals = [_own(p) for p in primals]
        y = function(*primals)
        if not isinstance(y, Tensor):
            raise _core.DTypeError(
                f"a function to differentiate returned {type(y).__name__}, expected a tensor"
            )
        return y, tape._tape.jvp(y, primals, tangents)


def checkpoint(function, *args, **kwargs):
    """function(*args, **kwargs), a tree, whose gradients compute what it computes on the way anew.

    Inside a tape nothing of it is kept for them but what it read: its arguments, and whatever else
    it uses. The bits are the same, of random numbers too. Nests.
    """
    order = _core._next_order()
    leaves, structure = flatten(function(*args, **kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    marked = _core._checkpoint_since(order, [leaves[i] for i in places])
    for place, tensor in zip(places, marked):
        leaves[place] = tensor
    return unflatten(structure, leaves)
