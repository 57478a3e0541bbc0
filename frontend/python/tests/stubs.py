"""Writes the types of the compiled module as a stub: what its docstrings say, as Python.

    REPRISE_BLESS=1 bin/reprise-python -m pytest frontend/python/tests/test_stubs.py
"""

import ast
import inspect
import re

import reprise._core as core

HEAD = '''\
"""The compiled module, as its own docstrings describe it. Written by stubs.py."""

import builtins
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union, overload

import numpy

_Number = Union[int, float, "Scalar"]
_TensorLike = Union["Tensor", numpy.ndarray]
_DTypeLike = Union["DType", str, type, numpy.dtype]
'''

#: What pybind11 writes, and what that is to a type checker: what a call takes, and what it gives.
TAKEN = [(r"(?<![\w.])Tensor\b", "_TensorLike"), (r"(?<![\w.])DType\b", "_DTypeLike")]
ALL = [
    (r"\breprise\._core\.", ""), (r"(?<![\w.])number\b", "_Number"), (r"\bCapsule\b|\bcapsule\b", "Any"),
    (r"\bobject\b", "Any"), (r"\bnumpy\.ndarray\[[^]]*\]", "numpy.ndarray"), (r"\bhandle\b", "Any"),
    (r"\biterator\b", "Iterator[Any]"), (r"\bbuffer\b", "Any"), (r"\bIterable\b", "Any"),
]  # fmt: skip
SIGNATURE = re.compile(r"^(?:\d+\. )?(\w+)(\(.*\)) -> (.+)$")


def replaced(text, rules):
    for pattern, by in rules:
        text = re.sub(pattern, by, text)
    return text


def signatures(item):
    """(arguments, result, documentation) of each overload of a bound function."""
    found, words = [], []
    for line in (item.__doc__ or "").splitlines():
        match = SIGNATURE.match(line)
        if match:
            found.append((match[2], match[3], []))
            words = found[-1][2]
        elif line.strip() and not line.startswith("Overloaded function"):
            words.append(line.strip())
    return [(arguments, result, " ".join(words)) for arguments, result, words in found]


def plain(default):
    try:
        ast.literal_eval(default)
        return default
    except ValueError:
        return ast.Constant(...)


def definition(name, arguments, result, indent, method):
    """A def line; defaults that are no numbers or words are left open."""
    arguments = replaced(re.sub(r"= <[^>]*>", "= ...", arguments), TAKEN + ALL)
    tree = ast.parse(f"def {name}{arguments} -> {replaced(result, ALL)}: ...").body[0]
    own = tree.args
    if method and own.args:
        own.args[0].annotation = None
    own.defaults = [plain(d) for d in own.defaults]
    own.kw_defaults = [d and plain(d) for d in own.kw_defaults]
    return indent + ast.unparse(tree).split("\n")[0]


def function(name, item, indent="", method=False):
    lines = []
    overloads = signatures(item)
    for arguments, result, words in overloads:
        if len(overloads) > 1:
            lines.append(indent + "@overload")
        lines.append(definition(name, arguments, result, indent, method))
        lines.append(f"{indent}    {ast.unparse(ast.Constant(words))}" if words else f"{indent}    ...")
    own = "self, " if method else ""
    return lines or [f"{indent}def {name}({own}*args: Any, **kwargs: Any) -> Any: ..."]


def class_lines(name, item):
    known = [b for b in item.__bases__ if b.__name__ not in ("object", "pybind11_object")]
    bases = ", ".join(
        b.__name__ if b.__module__.startswith("reprise") else f"builtins.{b.__name__}" for b in known
    )
    lines = [f"class {name}({bases}):" if bases else f"class {name}:"]
    if item.__doc__:
        lines.append(f"    {ast.unparse(ast.Constant(item.__doc__.strip()))}")
    for own, member in sorted(vars(item).items()):
        if own in ("__doc__", "__module__", "__weakref__", "__dict__"):
            continue
        if isinstance(member, property):
            kind = re.search(r"-> (.+)$", (member.fget.__doc__ or "").split("\n\n")[0].strip())
            lines += ["    @property", f"    def {own}(self) -> {replaced(kind[1], ALL) if kind else 'Any'}: ..."]
        elif isinstance(member, staticmethod):
            lines += ["    @staticmethod"] + function(own, member.__func__, "    ")
        elif own == "__hash__" and member is None:
            lines.append("    __hash__: None  # type: ignore[assignment]")
        elif callable(member) and not own.startswith("__pybind11"):
            lines += function(own, member, "    ", method=True)
    return lines + (["    ..."] if len(lines) == 1 else [])


def stub():
    lines = [HEAD]
    names = [n for n in sorted(vars(core)) if not n.startswith("__")]
    for name in names:
        item = getattr(core, name)
        if inspect.isclass(item):
            lines += class_lines(name, item) + [""]
    for name in names:
        item = getattr(core, name)
        if isinstance(item, core.DType):
            lines.append(f"{name}: DType")
        elif inspect.isbuiltin(item):
            lines += function(name, item)
        elif not inspect.isclass(item) and not inspect.ismodule(item):
            lines.append(f"{name}: {type(item).__name__}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(stub(), end="")
