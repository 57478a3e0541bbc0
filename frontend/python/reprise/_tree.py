"""Trees of lists, tuples and dicts, with everything else as leaves."""


class Leaf:
    """Where a leaf was."""

    __slots__ = ()

    def __repr__(self):
        return "*"


LEAF = Leaf()


def flatten(tree):
    """The leaves in order, and the structure around them, which hashes and compares."""
    leaves = []
    return leaves, _flatten(tree, leaves)


def _flatten(tree, leaves):
    kind = type(tree)
    if kind is tuple or kind is list:
        return kind, tuple([_flatten(item, leaves) for item in tree])
    if kind is dict:
        return kind, tuple(tree), tuple([_flatten(item, leaves) for item in tree.values()])
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind, tuple([_flatten(item, leaves) for item in tree])
    leaves.append(tree)
    return LEAF


def unflatten(structure, leaves):
    """The tree that `structure` came from, with these leaves, an iterable, in place of its own."""
    return _unflatten(structure, iter(leaves))


def _unflatten(structure, leaves):
    if structure is LEAF:
        return next(leaves)
    kind = structure[0]
    if kind is dict:
        return {key: _unflatten(item, leaves) for key, item in zip(structure[1], structure[2])}
    items = [_unflatten(item, leaves) for item in structure[1]]
    if kind is list:
        return items
    return tuple(items) if kind is tuple else kind(*items)


def transform(function, tree):
    """The same tree with function(leaf) for each leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])
