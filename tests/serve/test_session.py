"""What the page is told, against the estimators themselves."""

import numpy as np
import pytest

from gramian.estimators import ESTIMATORS
from gramian.serve import _reading, _slow_sets
from gramian.serve._choices import CURVE, NAMED_KERNELS, OFFERS
from gramian.serve._session import Session
from gramian.serve._toys import toy
from tests.tolerance import tolerance

TASKS = [(name, kernel) for name in OFFERS for kernel in ("rbf", "poly")]
TASKS += [("LeastSquaresSVC", kernel) for kernel in NAMED_KERNELS if kernel not in ("rbf", "poly")]


def started(estimator="LeastSquaresSVC", **choice):
    """A session with a few samples of a problem that suits the estimator."""
    data = "wave" if OFFERS[estimator].task == CURVE else "five blobs"
    rows = [[i, *row] for i, row in enumerate(toy(data)[::3])]
    session = Session()
    session.answer({"do": "start", "estimator": estimator, "rows": rows, **choice})
    return session


def decisions(model, queries):
    values = getattr(model, "decision_function", model.predict)(queries)
    return values.reshape(len(values), -1)


@pytest.mark.parametrize(("estimator", "kernel"), TASKS)
def test_values_are_those_of_the_estimator(estimator, kernel):
    session = started(estimator, kernel=kernel)
    reply = session.answer({"do": "edit", "learn": [[900, 0.5, 0.25, 0]], "forget": [2]})
    model, values = session.model, reply.arrays["values"]
    assert reply.facts["n"] == len(model.ids_) == len(session.rows)
    assert 900 in model.ids_
    assert 2 not in model.ids_
    expected = decisions(model, session._reader.queries)
    size = np.abs(expected).max()
    found = values.reshape(len(values), -1).T
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=size * tolerance(30, cond=1e4, power=1)
    )


@pytest.mark.parametrize("estimator", OFFERS)
def test_every_estimator_is_offered_with_its_leave_one_out_error(estimator):
    session = started(estimator)
    reply = session.answer({"do": "details"})
    score = session.model.loo_score()
    if OFFERS[estimator].task == CURVE:
        error = np.sqrt(np.mean((session.model.y_fit_ - session.model.loo_predict()) ** 2))
        assert reply.facts["error"] == pytest.approx(error)
    else:
        assert reply.facts["error"] == pytest.approx(1 - score)
        own = session.model.loo_predict_proba()[np.arange(len(session.rows)), session.model.y_fit_]
        np.testing.assert_allclose(reply.arrays["own"], own, atol=1e-8)
    stacks = {"StackedKernelClassifier", "StackedKernelRegressor"}  # several of the others
    assert set(OFFERS) == set(ESTIMATORS) - stacks


@pytest.mark.parametrize("estimator", ["LagrangianSVC", "EllipsoidalFuzzyClassifier"])
def test_slow_sets_come_a_few_points_at_a_time(estimator, monkeypatch):
    monkeypatch.setattr(_reading, "SLOW", ((2, 1), (3, 2)))
    monkeypatch.setattr(_slow_sets, "BUDGET", 1e-9)  # one point, then the time is over
    rows = [[i, *row] for i, row in enumerate(toy("XOR")[::3])]
    session = Session()
    session.answer({"do": "start", "estimator": estimator, "rows": rows})
    ask = {"do": "details", "layers": ["sets"]}
    replies = [session.answer(ask) for _ in range(8)]
    assert [reply.facts["progress"] for reply in replies] == [k / 8 for k in range(1, 9)]
    assert "p_values" not in replies[0].arrays
    assert [reply.facts.get("rough") for reply in replies[1:7]] == [(2, 1)] * 6
    expected = session.model.p_values(_reading._grid((3, 2)))
    np.testing.assert_allclose(replies[7].arrays["p_values"], expected.T)
    session.answer({"do": "edit", "forget": [2]})
    assert session.answer(ask).facts["progress"] == 1 / 8
