"""Choice of kernel width and ridge by closed-form leave-one-out.

`select` minimises a leave-one-out criterion of a `Problem`: a model, its targets, samples and a
kernel. No estimator is needed.
"""

from gramian.core.search._problem import Problem, subsample
from gramian.core.search._result import Selection, Trial
from gramian.core.search._search import select

__all__ = [
    "Problem",
    "Selection",
    "Trial",
    "select",
    "subsample",
]
