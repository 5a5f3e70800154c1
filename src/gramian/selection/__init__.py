"""Choice of kernel width and ridge by closed-form leave-one-out.

`select` minimises a leave-one-out criterion of a `Problem`: a machine, its targets, samples and a
kernel. No estimator is needed.
"""

from gramian.selection._folds import fold_numbers
from gramian.selection._order import content_order, repeatable
from gramian.selection._problem import DeviceProblem, LinearProblem, Problem, subsample
from gramian.selection._result import Selection, Trial
from gramian.selection._search import select

__all__ = [
    "DeviceProblem",
    "LinearProblem",
    "Problem",
    "Selection",
    "Trial",
    "content_order",
    "fold_numbers",
    "repeatable",
    "select",
    "subsample",
]
