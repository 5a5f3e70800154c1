"""What the page is told, against the estimators themselves."""

import numpy as np
import pytest

from gramian.estimators import ESTIMATORS
from gramian.serve._choices import CURVE, NAMED_KERNELS, OFFERS
from gramian.serve._session import Session
from gramian.serve._toys import toy
from tests.tolerance import tolerance

TASKS = [(name, kernel) for name in OFFERS for kernel in ("rbf", "poly")]
TASKS += [("LeastSquaresSVC", kernel) for kernel in NAMED_KERNELS if kernel not in ("rbf", "poly")]


def started(machine="LeastSquaresSVC", **choice):
    """A session with a few samples of a problem that suits the machine."""
    data = "wave" if OFFERS[machine].task == CURVE else "five blobs"
    rows = [[i, *row] for i, row in enumerate(toy(data)[::3])]
    session = Session()
    session.answer({"do": "start", "machine": machine, "rows": rows, **choice})
    return session


def decisions(model, queries):
    values = getattr(model, "decision_function", model.predict)(queries)
    return values.reshape(len(values), -1)


@pytest.mark.parametrize(("machine", "kernel"), TASKS)
def test_values_are_those_of_the_estimator(machine, kernel):
    session = started(machine, kernel=kernel)
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


@pytest.mark.parametrize("machine", OFFERS)
def test_every_machine_is_offered_with_its_leave_one_out_error(machine):
    session = started(machine)
    reply = session.answer({"do": "details"})
    score = session.model.loo_score()
    if OFFERS[machine].task == CURVE:
        error = np.sqrt(np.mean((session.model.y_fit_ - session.model.loo_predict()) ** 2))
        assert reply.facts["error"] == pytest.approx(error)
    else:
        assert reply.facts["error"] == pytest.approx(1 - score)
        own = session.model.loo_predict_proba()[np.arange(len(session.rows)), session.model.y_fit_]
        np.testing.assert_allclose(reply.arrays["own"], own, atol=1e-8)
    stacks = {"StackedKernelClassifier", "StackedKernelRegressor"}  # several of the others
    assert set(OFFERS) == set(ESTIMATORS) - stacks
