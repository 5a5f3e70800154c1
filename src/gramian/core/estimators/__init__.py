"""What all estimators share: base classes, edits, checks of samples and parameters."""

from gramian.core.estimators._classifier import LiveClassifier, check_two_classes
from gramian.core.estimators._conformal import answer_p_values, check_confidence
from gramian.core.estimators._crossfit import ChoiceWarning
from gramian.core.estimators._dense_spec import DenseSpec, coef, dual_coef, factor, intercept
from gramian.core.estimators._estimator import LiveEstimator, edits, learned
from gramian.core.estimators._ids import positions_of
from gramian.core.estimators._influence import Influence, sample_influence
from gramian.core.estimators._left_out import (
    LOSSES,
    OutputLoss,
    added_queries,
    free_copy,
    output_loss,
    output_variances,
    outputs,
    outputs_without_each,
)
from gramian.core.estimators._parameters import (
    WIDTH_KERNELS,
    KernelSpec,
    check_choice,
    check_positive,
)
from gramian.core.estimators._regressor import LiveRegressor
from gramian.core.estimators._samples import ScaleWarning, is_chunked

__all__ = [
    "LOSSES",
    "WIDTH_KERNELS",
    "ChoiceWarning",
    "DenseSpec",
    "Influence",
    "KernelSpec",
    "LiveClassifier",
    "LiveEstimator",
    "LiveRegressor",
    "OutputLoss",
    "ScaleWarning",
    "added_queries",
    "answer_p_values",
    "check_choice",
    "check_confidence",
    "check_positive",
    "check_two_classes",
    "coef",
    "dual_coef",
    "edits",
    "factor",
    "free_copy",
    "intercept",
    "is_chunked",
    "learned",
    "output_loss",
    "output_variances",
    "outputs",
    "outputs_without_each",
    "positions_of",
    "sample_influence",
]
