"""Files and batches."""

from ._core import DataLoader, read_idx

__all__ = ["DataLoader", "read_idx"]
