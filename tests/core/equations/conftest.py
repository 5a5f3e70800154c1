"""The equations under test."""

import pytest

from gramian.core.equations import KERNEL_RIDGE, LS_SVM
from gramian.discriminant._equations import KDA_RMSE
from gramian.fisher._equations import KFD, KFD_PENALIZED

EQUATIONS = {
    "ridge": KERNEL_RIDGE,
    "ls-svm": LS_SVM,
    "kda": KDA_RMSE,
    "kfd": KFD,
    "kfd-penalized": KFD_PENALIZED,
}
all_equations = pytest.mark.parametrize(
    "equations", EQUATIONS.values(), ids=lambda equations: equations.name
)
