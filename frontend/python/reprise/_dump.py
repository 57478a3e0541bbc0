"""Where compilations are written as text."""

import os

from . import _core


class dump:
    """From now on writes every stage of every compilation as numbered text files into `directory`.

    None ends that; in a with statement, what held before holds again afterwards. REPRISE_DUMP in
    the environment does the same from the start. A directory that cannot be written is reported
    once on stderr.
    """

    def __init__(self, directory):
        self._before = _core._dump_directory()
        _core._set_dump_directory("" if directory is None else os.fspath(directory))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _core._set_dump_directory(self._before)
