"""What all estimators share: base classes, edits, checks of samples and parameters."""

from gramian.core.estimators._classifier import LiveClassifier
from gramian.core.estimators._conformal import answer_p_values, check_confidence
from gramian.core.estimators._dense_spec import GramSettings, coef, dual_coef, factor, intercept
from gramian.core.estimators._estimator import LiveEstimator, edits, learned
from gramian.core.estimators._ids import positions_of
from gramian.core.estimators._influence import Influence, sample_influence
from gramian.core.estimators._left_out import (
    LOSSES,
    OutputLoss,
    departed_outputs,
    free_copy,
    joined_queries,
    output_loss,
    output_variances,
    outputs,
)
from gramian.core.estimators._parameters import RIVALS, KernelSettings, check_choice, check_positive
from gramian.core.estimators._progress import LONG, expected_seconds
from gramian.core.estimators._regressor import LiveRegressor
from gramian.core.estimators._samples import ScaleWarning, is_chunked

__all__ = [
    "LONG",
    "LOSSES",
    "RIVALS",
    "GramSettings",
    "Influence",
    "KernelSettings",
    "LiveClassifier",
    "LiveEstimator",
    "LiveRegressor",
    "OutputLoss",
    "ScaleWarning",
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
    "is_chunked",
    "joined_queries",
    "learned",
    "output_loss",
    "output_variances",
    "outputs",
    "positions_of",
    "sample_influence",
]
