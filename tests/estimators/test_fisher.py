"""KernelFisherDiscriminant against the equations of saadi2004, as classifier and transformer."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramian import KernelFisherDiscriminant
from tests.estimators.conftest import class_targets, make_samples, queries, rbf, refit
from tests.tolerance import tolerance

GAMMA, RIDGE = 0.5, 1e-3


def discriminant(**parameters):
    return KernelFisherDiscriminant(**{"gamma": GAMMA, "ridge": RIDGE, **parameters})


def samples(n=30, classes=2):
    return make_samples(KernelFisherDiscriminant(), n, classes=classes)


def solve(Z, Y, *, penalize_bias):
    """saadi2004, eq. (5), or eq. (4) with the bias free."""
    penalties = np.full(Z.shape[1], RIDGE)
    penalties[-1] *= penalize_bias
    return np.linalg.solve(Z.T @ Z + np.diag(penalties), Z.T @ Y)


def with_ones(K):
    return np.column_stack([K, np.ones(len(K))])


def close(found, expected, K):
    """The references solve systems of the condition of K² + μ."""
    cond = np.linalg.cond(K @ K + RIDGE * np.eye(len(K)))
    atol = tolerance(len(K), cond=cond, power=1) * np.abs(expected).max()
    np.testing.assert_allclose(np.squeeze(found), np.squeeze(expected), rtol=0, atol=atol)


# -- the solution -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["signs", "fisher"])
@pytest.mark.parametrize("penalize_bias", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_solve_the_equations_of_the_paper(kind, penalize_bias, classes):
    X, y = samples(classes=classes)
    y[:4] = 0  # classes of different sizes
    K = rbf(X, X)
    beta = solve(with_ones(K), class_targets(y, kind), penalize_bias=penalize_bias)
    model = discriminant(targets=kind, penalize_bias=penalize_bias)
    model.fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    close(model.dual_coef_, beta[:-1], K)
    close(model.intercept_, beta[-1], K)
    close(model.decision_function(queries()), with_ones(rbf(queries(), X)) @ beta, K)


def test_both_kinds_of_targets_have_one_direction():
    X, y = samples()
    y[:4] = 0
    signs, fisher = (discriminant(targets=kind).fit(X, y) for kind in ("signs", "fisher"))
    n, n1 = len(y), y.sum()
    scale = n**2 / (2 * n1 * (n - n1))
    close(fisher.dual_coef_, scale * signs.dual_coef_, rbf(X, X))


def test_two_hundred_edits_at_a_small_ridge():
    X, y = samples(80)
    rng = np.random.default_rng(0)
    ridge = 1e-9
    model = discriminant(ridge=ridge).fit(X[:50], y[:50], ids=np.arange(50))
    for _ in range(200):
        out = np.setdiff1d(np.arange(80), model.ids_)
        if len(out) and rng.random() < 0.5:
            model.partial_fit(X[out[:1]], y[out[:1]], ids=out[:1])
        elif len(model.ids_) > 40:
            model.forget(rng.choice(model.ids_))
    fresh = refit(model)
    expected, left_out = fresh.decision_function(queries()), fresh.loo_decision_function()
    # cond(K + iσ) is below n/σ: the resolvent works at the root of the condition of K² + μ.
    rtol = tolerance(80, updates=200, cond=80 / ridge**0.5, power=1)
    np.testing.assert_allclose(
        model.decision_function(queries()), expected, rtol=0, atol=rtol * np.abs(expected).max()
    )
    np.testing.assert_allclose(
        model.loo_decision_function(), left_out, rtol=0, atol=rtol * np.abs(left_out).max()
    )
    assert model.factor_ == "resolvent"


def test_repeated_samples_at_a_tiny_ridge():
    X, y = samples()
    model = discriminant(ridge=1e-10).fit(X, y)
    for _ in range(3):
        model.partial_fit(X[:2], y[:2])
    assert model.drift() < 1e-8  # eps · n/σ
    assert np.isfinite(model.loo_decision_function()).all()


# -- projections --------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
def test_transform_gives_the_decision_values_as_columns(classes):
    X, y = samples(classes=classes)
    model = discriminant().fit(X, y)
    projected = model.transform(queries())
    assert projected.shape == (7, 1 if classes == 2 else classes)
    np.testing.assert_array_equal(np.squeeze(projected), model.decision_function(queries()))
    np.testing.assert_array_equal(clone(model).fit_transform(X, y), model.transform(X))


def test_projections_of_several_classes_lie_on_a_plane():
    X, y = samples(classes=4)
    projected = discriminant().fit(X, y).transform(queries(40))
    singular = np.linalg.svd(projected - projected.mean(axis=0), compute_uv=False)
    assert singular[2] > 1e-2 * singular[0]
    assert singular[3] < tolerance(30, cond=30 / RIDGE, power=1) * singular[0]


def test_projections_are_features_of_a_pipeline():
    X, y = samples(60, classes=3)
    pipe = make_pipeline(StandardScaler(), discriminant(), LogisticRegression())
    assert pipe.fit(X[:40], y[:40]).score(X[40:], y[40:]) > 0.5


def test_names_and_containers_of_the_projections():
    pandas = pytest.importorskip("pandas")
    X, y = samples(classes=3)
    model = discriminant()
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()
    table = model.set_output(transform="pandas").fit(X, y).transform(queries())
    assert isinstance(table, pandas.DataFrame)
    names = [f"kernelfisherdiscriminant{j}" for j in range(3)]
    assert table.columns.tolist() == names
    assert model.get_feature_names_out().tolist() == names
    model.forget(np.flatnonzero(y == 1))
    assert model.transform(queries()).columns.tolist() == names[:1]


# -- tuning -------------------------------------------------------------------------------------


def left_out_by_row(model):
    """saadi2004, §2.3: fits without a row of Z, each with all of its columns."""
    X, y = model.X_fit_, model.y_fit_
    K = np.exp(-model.gamma_ * np.square(X[:, None] - X[None]).sum(axis=2))
    Z, Y = with_ones(K), class_targets(y, model.targets)
    penalties = np.append(np.full(len(K), model.ridge_), 0.0)
    out = np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        beta = np.linalg.solve(Z[rest].T @ Z[rest] + np.diag(penalties), Z[rest].T @ Y[rest])
        out[i] = (Z[i] @ beta)[0]
    return out


@pytest.mark.parametrize("search", ["path", "nelder-mead"])
def test_error_rate_that_is_minimised_is_that_of_the_paper(search):
    X, y = samples(40)
    trials = []
    model = KernelFisherDiscriminant(
        search=search, criterion="error", random_state=0, callback=trials.append
    ).fit(X, y)
    assert model.selection_.criterion == "error"
    errors = np.mean((left_out_by_row(model) > 0) != y)
    assert model.selection_.value == pytest.approx(errors)
    assert (
        errors <= min(trial.value for trial in trials) + 0.05
    )  # the prior on the width may differ
    assert (model.gamma_, model.ridge_) == (model.selection_.gamma, model.selection_.ridge)


@pytest.mark.parametrize("search", ["path", "nelder-mead", "gradient"])
@pytest.mark.parametrize("penalize_bias", [False, True])
def test_every_search_finds_a_setting_as_good(search, penalize_bias):
    X, y = samples(60)
    model = KernelFisherDiscriminant(search=search, penalize_bias=penalize_bias, random_state=0)
    other = clone(model).set_params(search="path")
    found, expected = (m.fit(X, y).selection_.value for m in (model, other))
    assert found <= 1.05 * expected  # they stop at tolerances of their own
    assert model.loo_score() > 0.7


def test_reselect_after_edits():
    X, y = samples(60)
    model = KernelFisherDiscriminant(search="nelder-mead", random_state=0).fit(X[:40], y[:40])
    model.partial_fit(X[40:], y[40:]).forget(range(10)).reselect()
    fresh = refit(model, gamma=model.gamma_, ridge=model.ridge_)
    np.testing.assert_allclose(
        model.decision_function(queries()), fresh.decision_function(queries()), rtol=1e-8
    )  # a rebuild of the same samples, at a condition below 1e4


# -- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"ridge": 0.0}, 'ridge must be > 0 and finite, or "loo", got 0.0'),
        ({"ridge": np.inf}, "ridge must be > 0"),
        ({"ridge": True}, "ridge must be > 0"),
        ({"targets": "codes"}, "targets must be one of"),
        ({"search": "grid"}, "search must be one of"),
        ({"penalize_bias": "no"}, "penalize_bias must be True or False"),
        ({"gamma": "loo", "criterion": "error", "search": "gradient"}, "smooth criterion"),
    ],
)
def test_bad_parameters(parameters, match):
    X, y = samples()
    with pytest.raises(ValueError, match=match):
        discriminant(**parameters).fit(X, y)


def test_bias_penalty_set_after_fit_waits_for_the_next_fit():
    X, y = samples()
    model = discriminant().fit(X[:20], y[:20]).set_params(penalize_bias=True)
    model.partial_fit(X[20:], y[20:])
    free = discriminant().fit(X, y)
    close(model.dual_coef_, free.dual_coef_, rbf(X, X))
    assert not np.allclose(model.fit(X, y).dual_coef_, free.dual_coef_)
