"""Figures of a model, as displays like those of scikit-learn. Drawing needs matplotlib."""

from gramian.core.estimators import sample_influence
from gramian.plots._boundary import LeaveOneOutBoundaryDisplay
from gramian.plots._calibration import CalibrationDisplay
from gramian.plots._coverage import Coverage, CoverageDisplay, IntervalDisplay, coverage_of
from gramian.plots._curves import CurveDisplay
from gramian.plots._drift import DriftDisplay, DriftRecorder
from gramian.plots._influence import InfluenceDisplay
from gramian.plots._label_issues import LabelIssuesDisplay
from gramian.plots._left_out import loo_losses
from gramian.plots._martingale import MartingaleDisplay
from gramian.plots._membership import MembershipDisplay
from gramian.plots._prequential import PrequentialDisplay
from gramian.plots._selection import SelectionPathDisplay
from gramian.plots._widths import WidthDisplay

__all__ = [
    "CalibrationDisplay",
    "Coverage",
    "CoverageDisplay",
    "CurveDisplay",
    "DriftDisplay",
    "DriftRecorder",
    "InfluenceDisplay",
    "IntervalDisplay",
    "LabelIssuesDisplay",
    "LeaveOneOutBoundaryDisplay",
    "MartingaleDisplay",
    "MembershipDisplay",
    "PrequentialDisplay",
    "SelectionPathDisplay",
    "WidthDisplay",
    "coverage_of",
    "loo_losses",
    "sample_influence",
]
