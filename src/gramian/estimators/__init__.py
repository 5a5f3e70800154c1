"""Scikit-learn estimators that learn and forget samples and compute exact leave-one-out errors.

`ESTIMATORS` maps each class name to its class. The command line, model files, tests and
documentation look the estimators up there.
"""

from typing import Any

from gramian.estimators._aloud import LONG, expected_seconds
from gramian.estimators._classifier import LiveClassifier
from gramian.estimators._conformal import answer_p_values, check_confidence
from gramian.estimators._crossfit import ChoiceWarning
from gramian.estimators._discriminant import KernelDiscriminant
from gramian.estimators._ellipsoidal import EllipsoidalFuzzyClassifier
from gramian.estimators._fisher import KernelFisherDiscriminant
from gramian.estimators._gram import GramSettings, coef, dual_coef, factor, intercept
from gramian.estimators._ids import positions_of
from gramian.estimators._influence import Influence, sample_influence
from gramian.estimators._lagrangian import LagrangianSVC
from gramian.estimators._least_squares_svm import LeastSquaresSVC, LeastSquaresSVR
from gramian.estimators._left_out import (
    LOSSES,
    OutputLoss,
    departed_outputs,
    free_copy,
    joined_queries,
    output_loss,
    output_variances,
    outputs,
)
from gramian.estimators._live import LiveEstimator, edits, learned
from gramian.estimators._orthogonal import OrthogonalKernelClassifier, OrthogonalKernelRegressor
from gramian.estimators._parameters import RIVALS, KernelSettings, check_choice, check_positive
from gramian.estimators._regressor import LiveRegressor
from gramian.estimators._samples import ScaleWarning
from gramian.estimators._stack import StackedKernelClassifier, StackedKernelRegressor

ESTIMATORS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (
        EllipsoidalFuzzyClassifier,
        KernelDiscriminant,
        KernelFisherDiscriminant,
        LagrangianSVC,
        LeastSquaresSVC,
        LeastSquaresSVR,
        OrthogonalKernelClassifier,
        OrthogonalKernelRegressor,
        StackedKernelClassifier,
        StackedKernelRegressor,
    )
}

__all__ = [
    "ChoiceWarning",
    "ESTIMATORS",
    "LONG",
    "LOSSES",
    "RIVALS",
    "GramSettings",
    "Influence",
    "KernelSettings",
    "LiveClassifier",
    "LiveEstimator",
    "LiveRegressor",
    "ScaleWarning",
    "OutputLoss",
    "answer_p_values",
    "check_choice",
    "check_confidence",
    "check_positive",
    "coef",
    "departed_outputs",
    "dual_coef",
    "edits",
    "expected_seconds",
    "factor",
    "free_copy",
    "intercept",
    "joined_queries",
    "learned",
    "output_loss",
    "output_variances",
    "outputs",
    "positions_of",
    "sample_influence",
    *ESTIMATORS,
]
