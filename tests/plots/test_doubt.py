"""Displays of what the data are worth: their data, and that they draw."""

import numpy as np
import pytest

from gramian import LeastSquaresSVC
from gramian.data import forgetting_curve, label_issues, labelling_curve, sample_values
from gramian.plots import CurveDisplay, LabelIssuesDisplay
from tests.plots.conftest import draw, make_samples


@pytest.fixture
def model():
    X, y, _ = make_samples()
    return LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y)


def test_ranked_labels(model):
    display = draw(LabelIssuesDisplay.from_estimator(model, n_samples=6))
    issues = label_issues(model, top=6)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == [str(name) for name in issues.ids]
    widths = sorted((bar.get_width() for bar in display.ax_.patches), reverse=True)
    np.testing.assert_array_equal(widths, issues.probability)
    words = {text.get_text().strip() for text in display.ax_.texts}
    doubted = issues.suggested != issues.given
    pairs = zip(issues.given[doubted], issues.suggested[doubted], strict=True)
    assert words == {f"{given} → {suggested}" for given, suggested in pairs}


def test_lines_of_values(model):
    X, y, _ = make_samples(n=60, seed=1)
    values = sample_values(model, X, y)
    display = draw(CurveDisplay.from_values(model, values, X, y, steps=4))
    assert list(display.curves) == ["worst first", "best first", "at random"]
    assert [line.get_label() for line in display.ax_.lines] == list(display.curves)
    assert all(curve.counts[-1] == 20 for curve in display.curves.values())
    worst, best, _ = (curve.losses for curve in display.curves.values())
    assert worst[1:].mean() < best[1:].mean()
    assert display.ax_.get_xlabel() == "samples forgotten"
    assert display.ax_.get_ylabel() == "test error"


def test_lines_of_one_kind(model):
    X, y, _ = make_samples(n=20, seed=1)
    labelled = labelling_curve(model, X, y, X, y, k=2, strategy="uncertainty")
    assert draw(CurveDisplay.from_curves({"ours": labelled})).ax_.get_xlabel() == "samples labelled"
    forgotten = forgetting_curve(model, model.ids_[:2], X, y)
    with pytest.raises(ValueError, match="curves must be of one kind to share axes"):
        CurveDisplay.from_curves({"a": labelled, "b": forgotten})
