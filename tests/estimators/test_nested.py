"""The score that includes tuning: against the whole procedure repeated, and on noise."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score

from gramian import (
    LeastSquaresSVC,
    LeastSquaresSVR,
    StackedKernelClassifier,
    StackedKernelRegressor,
)
from gramian.core.estimators._nested import choices_flatter
from gramian.data import label_issues
from tests.estimators.conftest import TUNED, close_values, make_samples, values

OWN = {  # other choices than the defaults, and fewer of those that take long
    "lssvc": {"kernel": "loo"},
    "lssvr": {"metric": "ard"},
    "oks": {"max_basis": 10},
    "okr": {"max_basis": 10},
    "fuzzy": {"gamma": 0.5},
    "stack-c": {"kernel": ("rbf", "laplacian+diagonal")},
    "stack-r": {"kernel": ("rbf+ard", "laplacian")},
}
MODELS = {name: clone(model).set_params(**OWN.get(name, {})) for name, model in TUNED.items()}


def repeated(model, X, y, fold):
    """Values of each sample by a model fitted without its fold."""
    found = {}
    for k in np.unique(fold):
        rest = fold != k
        for i, value in zip(
            np.flatnonzero(~rest), values(clone(model).fit(X[rest], y[rest]), X[~rest]), strict=True
        ):
            found[i] = value
    return np.array([found[i] for i in range(len(y))])


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_whole_procedure_without_each_fold(name):
    model = clone(MODELS[name])
    X, y = make_samples(model, 30)
    found = model.fit(X, y).nested_score(folds=2, n_jobs=2)
    expected = repeated(MODELS[name], X, y, model._now.holdings.folds)
    close_values(found.values, expected, updates=30)
    scored = accuracy_score(y, expected > 0) if is_classifier(model) else r2_score(y, expected)
    assert found.score == pytest.approx(scored)
    assert found.folds == 2
    assert 0 < found.standard_error < 1
    assert str(found).endswith("(2 folds)")
    assert model.nested_score() == found  # what is known is not computed again


def test_it_follows_edits_and_a_choice_anew():
    model = LeastSquaresSVC(random_state=0)
    X, y = make_samples(model, 60)
    first = model.fit(X[:40], y[:40]).nested_score(folds=4)
    model.forget([0, 1]).partial_fit(X[40:], y[40:])
    second = model.nested_score()
    assert len(second.values) == 58
    fold, plans = model._now.holdings.folds, model._now.fold_specs
    for k in range(4):
        rest = fold != k
        twin = LeastSquaresSVC(gamma=plans[k].gamma, C=1 / plans[k].ridge)
        twin.fit(model.X_fit_[rest], model.y_fit_[rest])
        close_values(second.values[~rest], values(twin, model.X_fit_[~rest]), updates=60)
    assert second != first
    model.reselect()
    assert model._now.fold_specs is None


def test_a_fold_may_be_forgotten_whole():
    model = LeastSquaresSVC(gamma=0.5, C=1.0)
    X, y = make_samples(model, 24)
    model.fit(X, y).nested_score(folds=3)
    fold = model._now.holdings.folds
    model.forget(np.flatnonzero(fold == 1))
    X, y, fold = X[fold != 1], y[fold != 1], fold[fold != 1]
    found = model.nested_score()
    close_values(found.values, repeated(model, X, y, fold), updates=24)


def test_groups_stay_in_their_folds_and_count_together():
    model = LeastSquaresSVR(gamma=0.5, C=1.0)
    X, y = make_samples(model, 60)
    groups = np.repeat(np.arange(12), 5)
    alone = clone(model).fit(X, y).nested_score(folds=4)
    together = model.fit(np.repeat(X[:12], 5, axis=0), np.repeat(y[:12], 5), groups=groups)
    found = together.nested_score(folds=4)
    folds = model._now.holdings.folds
    assert all(len(set(folds[groups == g])) == 1 for g in range(12))
    assert found.standard_error > 1.5 * alone.standard_error  # twelve persons, not sixty
    model.partial_fit(X[:2], y[:2], groups=[3, 99])
    assert model._now.holdings.folds[-2] == folds[groups == 3][0]


def test_a_stack_knows_it_from_its_fit():
    model = StackedKernelClassifier(("rbf", "laplacian+diagonal"), random_state=0)
    X, y = make_samples(model, 60)
    calls = []
    model.set_params(callback=calls.append).fit(X, y)
    tried = len(calls)
    found = model.nested_score()
    assert found.folds == 5
    assert len(calls) == tried
    assert abs(found.score - model.loo_score()) < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("one", [StackedKernelClassifier, StackedKernelRegressor])
def test_noise_is_called_noise(one):
    """Coin flips and many features: leave-one-out promises what metrics have bought."""
    honest, promised = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((50, 80))
        flips = rng.permutation(np.arange(50) % 2)
        y = flips if one is StackedKernelClassifier else rng.standard_normal(50)
        model = one().fit(X, y)
        honest.append(model.nested_score().score)
        parts = [part["selection"].value for part in model.parts_ if part["metric"] is not None]
        promised.append(min(parts))
    if one is StackedKernelClassifier:
        assert np.mean(honest) < 0.6
        assert np.mean(promised) < 0.8 * np.log(2)  # of a guess
    else:
        assert np.mean(honest) < 0.1
        assert np.mean(promised) < 0.8


@pytest.mark.parametrize(("folds", "match"), [(1, "at least 2"), (2.5, "whole"), ("x", "whole")])
def test_folds_that_there_are(folds, match):
    X, y = make_samples(LeastSquaresSVC(), 20)
    with pytest.raises(ValueError, match=match):
        LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y).nested_score(folds)
    with pytest.raises(ValueError, match="at least 4 that the model holds"):
        LeastSquaresSVC(gamma=0.5, C=1.0).fit(X[:2], [0, 1]).nested_score()


def test_folds_are_asked_for_where_choices_flatter():
    X, y = make_samples(LeastSquaresSVC(), 60)
    given = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y)
    found = given.nested_score("auto")
    assert found.folds == 0
    assert found.score == pytest.approx(given.loo_score())
    assert str(found).startswith("error on new rows: ")
    assert str(found).endswith("(leave-one-out)")
    tuned = LeastSquaresSVC(random_state=0).fit(X, y)
    assert tuned.nested_score("auto").folds == 10
    few = LeastSquaresSVC(random_state=0).fit(X[:15], y[:15])
    assert few.nested_score("auto").folds == 0
    number = LeastSquaresSVR(gamma=0.5, C=1.0).fit(X, X[:, 0])
    assert number.nested_score("auto").score == pytest.approx(number.loo_score())
    assert str(number.nested_score("auto")).startswith("R² on new rows: ")


def test_how_many_numbers_are_too_many():
    model = LeastSquaresSVC(random_state=0)
    X, y = make_samples(model, 60)
    plain = model.fit(X, y)._now
    widths = LeastSquaresSVC(metric="ard", random_state=0).fit(X, y)._now
    stack = StackedKernelClassifier(("rbf", "rbf+ard"), random_state=0).fit(X, y)._now
    assert plain.spec.fitted_numbers(1000) == 2
    assert widths.spec.fitted_numbers(1000) == 1000
    assert stack.spec.fitted_numbers(1000) == 2 + 1000 + 2
    assert not choices_flatter(
        SimpleNamespace(spec=plain.spec, engine=plain.engine, holdings=Many())
    )
    assert choices_flatter(SimpleNamespace(spec=widths.spec, engine=plain.engine, holdings=Many()))


class Many:
    """Holdings of 5,000 samples with 1,000 features."""

    rows = SimpleNamespace(width=1000)

    def __len__(self):
        return 5000


def test_a_model_shows_what_it_knows():
    model = LeastSquaresSVC(random_state=0)
    X, y = make_samples(model, 40)
    assert "#" not in repr(model)
    assert "#" not in repr(model.fit(X, y))
    found = model.nested_score(folds=3)
    assert repr(model) == f"LeastSquaresSVC(random_state=0)  # {found}"
    stack = StackedKernelRegressor(("rbf", "laplacian"), random_state=0).fit(X, X[:, 0])
    assert repr(stack).endswith(f"  # {stack.nested_score()}")


def test_values_known_from_the_fit_are_those_of_the_models_without_each_fold():
    for model in (MODELS["stack-c"], MODELS["stack-r"]):
        X, y = make_samples(model, 40)
        known = clone(model).fit(X, y)
        values_known = known.nested_score().values
        known._now.cache.clear()
        close_values(values_known, known.nested_score().values, updates=40)


def test_folds_of_samples_that_were_set_aside_are_not_those_of_the_others():
    model = StackedKernelClassifier(("rbf", "laplacian"), tuning_fraction=0.5, random_state=0)
    X, y = make_samples(model, 60)
    assert model.fit(X, y)._now.fold_specs is None


def test_doubt_does_not_listen_to_a_choice_that_has_seen_the_label():
    model = LeastSquaresSVC(random_state=0)
    X, y = make_samples(model, 40)
    before = label_issues(model.fit(X, y)).pred_probs
    np.testing.assert_array_equal(before, model.loo_predict_proba())
    F = model.nested_score(folds=4).values
    after = label_issues(model)
    np.testing.assert_array_equal(after.pred_probs[:, 1] > 0.5, F > 0)
    np.testing.assert_allclose(after.pred_probs[:, 1], 1 / (1 + np.exp(-model.calibration_ * F)))
