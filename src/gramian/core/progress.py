"""How far a long computation is, logged to ``gramian.progress``.

It costs nothing until someone listens at the level INFO, as the command line does:

>>> import logging, sys
>>> from sklearn.datasets import load_iris
>>> from gramian import LeastSquaresSVC
>>> listening = logging.StreamHandler(sys.stdout)
>>> PROGRESS.addHandler(listening)
>>> PROGRESS.setLevel(logging.INFO)
>>> model = LeastSquaresSVC(C=1.0).fit(*load_iris(return_X_y=True))
>>> found = model.nested_score(folds=3)
1 of 3 folds
2 of 3 folds
3 of 3 folds
>>> PROGRESS.removeHandler(listening)
>>> PROGRESS.setLevel(logging.NOTSET)

"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import count
from typing import TypeVar

PROGRESS = logging.getLogger("gramian.progress")
"""The arguments of each record are how many are done, of how many, and of what."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def log_progress(done: int, total: int, what: str) -> None:
    """Log that so many are done."""
    PROGRESS.info("%d of %d %s", done, total, what)


def counted(function: Callable[[Item], Result], total: int, what: str) -> Callable[[Item], Result]:
    """The same function, which logs after each call how many of ``total`` calls are done."""
    numbers = count(1)  # its next number is taken in one step, also by threads

    def calling(item: Item) -> Result:
        result = function(item)
        log_progress(next(numbers), total, what)
        return result

    return calling
