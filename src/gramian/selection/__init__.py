"""Width and ridge chosen by closed-form leave-one-out."""

from gramian.selection._problem import Problem
from gramian.selection._result import Selection, Trial
from gramian.selection._search import select

__all__ = ["Problem", "Selection", "Trial", "select"]
