"""Searches as calls: repeatable, watched, refused, interrupted, repeated, inside scikit-learn."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import KernelDiscriminant, KernelFisherDiscriminant, LeastSquaresSVR
from gramian.core.search import Trial
from tests.estimators.conftest import assert_unchanged, snapshot, values
from tests.estimators.tuning.conftest import (
    assert_tuned,
    chosen,
    strength,
    strength_name,
    waves,
)

# -- repeatable, and watched --------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 420])  # a subsample is drawn from more than 400
def test_a_fit_is_repeatable(plain, n):
    X, y = waves(plain, n)
    models = [clone(plain).set_params(random_state=state) for state in (3, 3, 4)]
    first, again, other = (model.fit(X, y) for model in models)
    np.testing.assert_array_equal(chosen(first), chosen(again))
    np.testing.assert_array_equal(first.selection_.values, again.selection_.values)
    assert ("subsample" in first.selection_.stages) == (n > 400)
    assert np.array_equal(first.selection_.values, other.selection_.values) == (n <= 400)


def test_the_callback_sees_every_trial(model):
    seen = []
    model.set_params(callback=seen.append).fit(*waves(model))
    assert all(isinstance(trial, Trial) for trial in seen)
    assert {trial.n for trial in seen} == {40}
    assert {trial.gamma for trial in seen} == set(model.selection_.gammas)
    best = min(seen, key=lambda trial: trial.objective)
    assert (best.gamma, best.ridge, best.value) == (
        model.selection_.gamma,
        model.selection_.ridge,
        model.selection_.value,
    )


def test_the_searched_path_survives_pickling(model):
    model.fit(*waves(model))
    copy = pickle.loads(pickle.dumps(model))
    assert vars(copy.selection_).keys() == vars(model.selection_).keys()
    for name, value in vars(model.selection_).items():
        np.testing.assert_array_equal(getattr(copy.selection_, name), value)
    np.testing.assert_array_equal(chosen(copy.reselect()), chosen(model.reselect()))


# -- refused, or interrupted --------------------------------------------------------------------


def refuse(model, error, match, X=None, **parameters):
    """`fit` and `reselect` with these parameters raise; the model, fitted or not, stays."""
    samples, y = waves(model)
    first = clone(model).set_params(**parameters)
    with pytest.raises(error, match=match):
        first.fit(samples if X is None else X, y)
    assert not hasattr(first, "gamma_")
    model.fit(samples if X is None else X, y).set_params(**parameters)
    before = snapshot(model)
    for call in (lambda: model.fit(model.X_fit_, y), model.reselect):
        with pytest.raises(error, match=match):
            call()
        assert_unchanged(model, before)


@pytest.mark.parametrize("criterion", ["accuracy", "LOG", 1])
def test_unknown_criteria(model, criterion):
    refuse(model, ValueError, f"criterion must be one of .*got {criterion!r}", criterion=criterion)


@pytest.mark.parametrize("criterion", ["log", "hinge", "error"])
def test_criteria_of_classes_are_not_for_numbers(criterion):
    match = r"criterion must be one of \('squared',\) here"
    refuse(LeastSquaresSVR(), ValueError, match, criterion=criterion)


@pytest.mark.parametrize("kernel", ["linear", "poly", lambda X, Y: X @ Y.T])
def test_widths_of_features_need_a_kernel_of_a_distance(plain, kernel):
    match = "metric='ard' needs one of the kernels .* got kernel="
    refuse(plain, ValueError, match, kernel=kernel, metric="ard")


def test_widths_of_features_need_a_smooth_criterion(classifier):
    match = "needs a smooth criterion, got 'error'"
    refuse(classifier, ValueError, match, metric="ard", criterion="error")


def test_a_width_needs_a_ridge():
    match = "gamma='loo' needs a ridge > 0 or \"loo\", got 0"
    refuse(KernelDiscriminant(), ValueError, match, ridge=0)


def test_one_sample_cannot_be_left_out():
    with pytest.raises(ValueError, match=r"at least 2 samples, got 1 sample\. Give `gamma`"):
        LeastSquaresSVR().fit([[1.0, 2.0]], [3.0])


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_search_leaves_the_model(model, error):
    def interrupt(trial):
        if trial.gamma is not None:
            raise error("enough")

    refuse(model, error, "enough", callback=interrupt)


# -- again, after learning and forgetting -------------------------------------------------------


def edited(model, n=40):
    """A model that has learned, forgotten and learned; its samples are not those of the fit."""
    X, y = waves(model, n + 20, classes=3)
    model.fit(X[:n], y[:n], sample_weight=np.linspace(0.5, 2.0, n), ids=np.arange(n) + 7)
    return model.forget(np.arange(10) + 7).partial_fit(X[n:], y[n:])


def test_edits_leave_the_choice_alone(model):
    before = chosen(edited(model))
    found = model.selection_
    X, y = waves(model, seed=5, classes=3)
    model.partial_fit(X, y).forget(model.ids_[:20])
    np.testing.assert_array_equal(chosen(model), before)
    assert model.selection_ is found


def test_reselect_chooses_on_what_is_held(model):
    """From where it was; no worse than that, and about as good as a search from scratch."""
    edited(model)
    ids, X, y, before = model.ids_, model.X_fit_, model.y_fit_, model.gamma_
    trials = []
    assert model.set_params(callback=trials.append).reselect() is model
    assert trials[0].gamma == before
    assert {trial.n for trial in trials} == {50}
    assert min(trial.objective for trial in trials) <= trials[0].objective
    fresh = clone(model).fit(X, y, sample_weight=model.sample_weight_)
    nat = 1.0 / 50 * (1.0 if is_classifier(model) else 2.0 * fresh.selection_.value)
    assert model.selection_.value < fresh.selection_.value + nat
    np.testing.assert_array_equal(model.ids_, ids)
    np.testing.assert_array_equal(model.X_fit_, X)
    np.testing.assert_array_equal(model.y_fit_, y)
    assert model.rebuilds_[-1].reason == "the hyper-parameters were chosen anew"


def test_reselect_solves_with_what_it_chose(model):
    edited(model).reselect()
    given = {
        "gamma": model.gamma_,
        strength_name(model): getattr(model, f"{strength_name(model)}_"),
    }
    fixed = clone(model).set_params(**given)
    fixed.fit(model.X_fit_, model.y_fit_, sample_weight=model.sample_weight_)
    # Both are factored from scratch, from the same numbers.
    np.testing.assert_allclose(values(model, model.X_fit_), values(fixed, fixed.X_fit_), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 420])
def test_a_fresh_reselect_is_a_fit(plain, n):
    """Nothing of what was forgotten has a say, not even in where the search begins."""
    edited(plain.set_params(random_state=0), n).reselect(fresh=True)
    fit = clone(plain).fit(plain.X_fit_, plain.y_fit_, sample_weight=plain.sample_weight_)
    np.testing.assert_array_equal(chosen(plain), chosen(fit))
    for name, value in vars(fit.selection_).items():
        np.testing.assert_array_equal(getattr(plain.selection_, name), value)


def test_a_fresh_reselect_does_not_know_the_past(model):
    """Two models with other pasts and the same samples become the same."""
    X, y = waves(model)
    far, label = 50.0 + 20.0 * X, y[::-1]
    past = clone(model).fit(np.vstack([X, far]), np.append(y, label)).forget(np.arange(40, 80))
    plain = model.fit(X, y)
    assert not np.array_equal(chosen(past), chosen(plain))
    past.reselect(fresh=True)
    np.testing.assert_array_equal(chosen(past), chosen(plain))
    np.testing.assert_array_equal(past.selection_.values, plain.selection_.values)


@pytest.mark.parametrize("fresh", [False, True])
def test_reselect_keeps_numbers(model, fresh):
    name = strength_name(model)
    edited(model.set_params(**{name: 0.3})).reselect(fresh=fresh)
    assert getattr(model, f"{name}_") == 0.3
    model.set_params(gamma=0.4).reselect(fresh=fresh)
    assert (model.gamma_, model.selection_) == (0.4, None)


def test_reselect_of_widths_per_feature(plain):
    edited(plain.set_params(metric="ard"))
    plain.reselect()
    warm = plain.selection_.value
    plain.reselect(fresh=True)
    assert plain.gamma_.shape == (2,)
    assert abs(warm - plain.selection_.value) < 0.02 * (1.0 if is_classifier(plain) else warm)


def test_reselect_after_a_class_came_and_one_went(classifier):
    X, y = waves(classifier, 60, classes=3)
    first = y < 2
    classifier.fit(X[first], y[first], ids=np.flatnonzero(first))
    classifier.partial_fit(X[~first], y[~first], ids=np.flatnonzero(~first))
    classifier.forget(np.flatnonzero(y == 0)).reselect(fresh=True)
    stay = classifier.ids_
    np.testing.assert_array_equal(
        chosen(classifier), chosen(clone(classifier).fit(X[stay], y[stay]))
    )


# -- inside scikit-learn ------------------------------------------------------------------------


@pytest.mark.slow
@parametrize_with_checks(
    [KernelDiscriminant()],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": "a sample left out leaves with all of "
        "its weight, one of its copies leaves the others behind: the choice differs"
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_parameters_stay_what_they_were(model):
    before = model.get_params()
    model.fit(*waves(model))
    assert model.get_params() == before
    assert clone(model).get_params() == before
    assert not hasattr(clone(model), "gamma_")


def test_pipeline(model):
    X, y = waves(model)
    pipe = make_pipeline(StandardScaler(), model).fit(100.0 * X + 5.0, y)
    alone = clone(model).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(chosen(pipe[-1]), chosen(alone), rtol=1e-6)  # other rounding
    assert_tuned(pipe[-1])


def test_every_fold_tunes_itself(plain):
    X, y = waves(plain, 90)
    found = cross_validate(plain, X, y, cv=3, return_estimator=True)
    assert found["test_score"].min() > 0.7
    assert len({model.gamma_ for model in found["estimator"]}) == 3
    np.testing.assert_array_equal(cross_val_score(plain, X, y, cv=3), found["test_score"])


def test_grid_search_over_kernels(classifier):
    X, y = waves(classifier, 60)
    grid = {"kernel": ["rbf", "linear"], "criterion": ["log", "squared"]}
    search = GridSearchCV(classifier, grid, cv=3).fit(X, y)
    assert search.best_params_["kernel"] == "rbf"
    assert_tuned(search.best_estimator_.forget([0, 1]))


def test_routed_weights_reach_the_search(plain):
    X, y = waves(plain)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, 40)
    direct, unweighted = clone(plain).fit(X, y, sample_weight=weight), clone(plain).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler(with_mean=False, with_std=False)
        pipe = make_pipeline(
            scaler.set_fit_request(sample_weight=False), plain.set_fit_request(sample_weight=True)
        )
        pipe.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(chosen(pipe[-1]), chosen(direct))
    assert pipe[-1].selection_.value != unweighted.selection_.value


def test_transforms_of_a_tuned_model_as_a_frame():
    pandas = pytest.importorskip("pandas")
    model = KernelFisherDiscriminant().set_output(transform="pandas")
    X, y = waves(model, classes=3)
    frame = model.fit(X, y).transform(X)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == [f"kernelfisherdiscriminant{k}" for k in range(3)]
    assert strength(model) > 0
