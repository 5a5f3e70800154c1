"""What the samples of a model are worth: labels to doubt, values, and what to label next.

Each answer comes from closed forms for a sample that leaves the model or enters it, without a
refit. A `TableModel` is accepted wherever an estimator is.
"""

from gramian.data._curves import Curve, forgetting_curve, labelling_curve
from gramian.data._labels import DoubtfulSamples, LabelIssues, doubtful, label_issues
from gramian.data._pairs import LeftOutPairs, leave_two_out
from gramian.data._suggest import Suggestions, suggest
from gramian.data._values import SampleValues, sample_values

__all__ = [
    "Curve",
    "DoubtfulSamples",
    "LabelIssues",
    "LeftOutPairs",
    "SampleValues",
    "Suggestions",
    "doubtful",
    "forgetting_curve",
    "label_issues",
    "labelling_curve",
    "leave_two_out",
    "sample_values",
    "suggest",
]
