"""What all estimators share: base classes, edits, checks of samples, learned attributes."""

from gramian.core.estimators._attributes import (
    DenseAttributes,
    RidgeAttribute,
    StrengthAttribute,
    shaped,
)
from gramian.core.estimators._classifier import LiveClassifier, calibrated, check_two_classes
from gramian.core.estimators._conformal import answer_p_values, check_confidence
from gramian.core.estimators._estimator import LiveEstimator, edits
from gramian.core.estimators._fitted import Fitted
from gramian.core.estimators._ids import positions_of
from gramian.core.estimators._influence import Influence, sample_influence
from gramian.core.estimators._left_out import (
    LOSSES,
    OutputLoss,
    added_queries,
    coded_targets,
    free_copy,
    output_loss,
    output_pair_effects,
    output_variances,
    outputs,
    outputs_without_each,
    outputs_without_pairs,
)
from gramian.core.estimators._regressor import LiveRegressor
from gramian.core.estimators._samples import ScaleWarning, is_chunked, sample_kind, with_weight

__all__ = [
    "LOSSES",
    "DenseAttributes",
    "Fitted",
    "Influence",
    "LiveClassifier",
    "LiveEstimator",
    "LiveRegressor",
    "OutputLoss",
    "RidgeAttribute",
    "ScaleWarning",
    "StrengthAttribute",
    "added_queries",
    "answer_p_values",
    "calibrated",
    "check_confidence",
    "check_two_classes",
    "coded_targets",
    "edits",
    "free_copy",
    "is_chunked",
    "output_loss",
    "output_pair_effects",
    "output_variances",
    "outputs",
    "outputs_without_each",
    "outputs_without_pairs",
    "positions_of",
    "sample_influence",
    "sample_kind",
    "shaped",
    "with_weight",
]
