"""Stacks: exact sums of their parts under edits, and weights that stay until `reselect`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import nnls
from sklearn.base import clone, is_classifier

import gramian
from gramian import (
    LeastSquaresSVC,
    LeastSquaresSVR,
    StackedKernelClassifier,
    StackedKernelRegressor,
)
from gramian.core.engines import DenseSpec
from gramian.core.gram import NotPositiveDefiniteError, _memory
from gramian.core.search import Problem
from tests.estimators.conftest import make_samples, values
from tests.stack.refits import assert_exact, sum_of_refits

PARTS = ("rbf", "laplacian+diagonal", "exponential")
GIVEN = {"gamma": [0.5, 0.2, 0.4], "C": [10.0, 3.0, 5.0]}
STACKS = {
    "classes": StackedKernelClassifier(PARTS, **GIVEN),
    "numbers": StackedKernelRegressor(PARTS, **GIVEN),
}


CHOSEN = {
    "classes": StackedKernelClassifier(random_state=0),
    "numbers": StackedKernelRegressor(random_state=0),
}


@pytest.fixture(params=STACKS)
def stack(request):
    return clone(STACKS[request.param])


def test_the_stack_is_the_sum_of_its_parts(stack):
    X, y = make_samples(stack, 40)
    stack.fit(X[:25], y[:25])
    kept = stack.weights_
    assert np.all(kept >= 0)
    assert kept.any()
    assert stack.chosen_on_data_ == ("metric", "weights")
    assert_exact(stack)
    stack.partial_fit(X[25:], y[25:]).forget([0, 5, 30])
    np.testing.assert_array_equal(stack.weights_, kept)
    assert_exact(stack)
    assert stack.drift() < 1e-10
    assert_exact(stack.refitted())


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [STACKS["classes"], *CHOSEN.values()], ids=["given", "classes", "numbers"]
)
@settings(max_examples=10, deadline=None)
@given(st.lists(st.one_of(st.integers(1, 3), st.just(0)), min_size=3, max_size=8), st.randoms())
def test_any_script_of_edits(kind, script, random):
    model = clone(kind)
    X, y = make_samples(model, 60, classes=3)
    model.fit(X[:20], y[:20])
    at = 20
    for step in script:
        if step:
            model.partial_fit(X[at : at + step], y[at : at + step])
            at += step
        else:
            model.forget(random.choice(model.ids_.tolist()))
    if not is_classifier(model) or len(model.classes_) == 3:
        assert_exact(model)


@pytest.mark.parametrize("kind", [*STACKS.values(), *CHOSEN.values()], ids=str)
def test_leave_one_out_is_that_of_refits_with_the_weights_held(kind):
    stack = clone(kind)
    X, y = make_samples(stack, 18)
    stack.fit(X[:12], y[:12]).partial_fit(X[12:], y[12:]).forget(2)
    X, y = stack.X_fit_, stack.y_fit_
    left_out = [
        sum_of_refits(stack, np.delete(X, i, 0), np.delete(y, i), X[i : i + 1])[0]
        for i in range(len(y))
    ]
    np.testing.assert_allclose(stack.loo_decision_function(), left_out, atol=1e-9)


def test_several_targets_and_several_classes():
    model = clone(STACKS["numbers"])
    X, y = make_samples(model)
    Y = np.column_stack([y, 100.0 - 10.0 * y**2])
    model.fit(X, Y)
    assert model.offset_.shape == (2,)
    assert model.predict(X).shape == (30, 2)
    assert model.loo_score() > 0.5
    classifier = clone(STACKS["classes"])
    X, y = make_samples(classifier, 40, classes=4)
    classifier.fit(X, y)
    assert classifier.decision_function(X).shape == (40, 4)
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1.0)


def test_probabilities_are_those_of_the_weights():
    """The weights have the scale of a softmax, so that calibration changes nothing at first."""
    model = clone(STACKS["classes"])
    X, y = make_samples(model, 60)
    f = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-f)), atol=1e-3)


def test_a_stack_is_better_than_its_parts():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 5))
    y = np.sin(2 * X[:, 0]) + np.sign(X[:, 1]) + 0.1 * rng.standard_normal(150)
    model = StackedKernelRegressor(random_state=0).fit(X, y)
    squares = [part["selection"].value for part in model.parts_]
    left = np.mean((model.loo_predict() - y) ** 2)
    assert left <= 1.05 * min(squares)
    alone = StackedKernelRegressor(("rbf+ard",), random_state=0).fit(X, y)
    assert model.nested_score().score > alone.nested_score().score
    assert model.chosen_on_data_ == ("gamma", "C", "metric", "weights")
    assert [part["metric"] is None for part in model.parts_] == [True, True, False]
    assert [np.ndim(part["gamma"]) for part in model.parts_] == [1, 0, 0]


def test_reselect_chooses_weights_and_parts_again(stack):
    X, y = make_samples(stack, 40)
    stack.fit(X, y).forget(range(10))
    before = stack.weights_
    stack.reselect(fresh=True)
    assert not np.array_equal(stack.weights_, before)
    again = clone(stack).fit(X[10:], y[10:])
    np.testing.assert_allclose(stack.weights_, again.weights_, rtol=1e-6)
    stack.set_params(kernel=("rbf", "linear"), gamma="loo", C="loo").reselect()
    assert [part["kernel"] for part in stack.parts_] == ["rbf", "linear"]
    assert stack.chosen_on_data_ == ("gamma", "C", "weights")
    assert "chosen anew" in stack.rebuilds_[-1].reason
    stack.reselect()


def test_parts_that_differ_by_their_metric_share_a_search():
    calls = []
    X, y = make_samples(LeastSquaresSVC(), 40)
    model = StackedKernelClassifier(("laplacian", "laplacian+diagonal"))
    model.set_params(callback=calls.append, random_state=0).fit(X, y)
    stack, holdings = len(calls), model._now.holdings
    part = model._spec().parts[1]
    part.with_factors(holdings, part.without_factors(holdings))
    assert len(calls) == 2 * stack


@pytest.mark.parametrize(("name", "built"), [("classes", 5), ("numbers", 4)])
def test_every_engine_is_built_once(name, built, monkeypatch):
    """For each part, and for the slopes of "exponential"; with all samples, without each fold."""
    versions = []
    build = DenseSpec.build

    def counted(spec, holdings, history=()):
        versions.append(holdings.version)
        return build(spec, holdings, history)

    monkeypatch.setattr(DenseSpec, "build", counted)
    model = clone(CHOSEN[name])
    X, y = make_samples(model, 40)
    model.fit(X, y)
    assert len(versions) == 6 * built
    assert versions.count(model._now.holdings.version) == built
    model.reselect()
    assert len(versions) == 12 * built
    model.refitted()
    assert len(versions) == 12 * built + len(model.parts_)


def test_the_slopes_of_many_samples_are_those_of_some(monkeypatch):
    monkeypatch.setattr(Problem, "largest", 30)
    model = StackedKernelRegressor(("rbf", "rbf+diagonal"), gamma=0.5, C=3.0)
    X, y = make_samples(model, 41)
    model.fit(X, y)
    some = np.linspace(0, 40, 30).astype(int)
    alone = LeastSquaresSVR(gamma=0.5, C=3.0).fit(X[some], y[some])
    spec = model._spec().parts[1].with_factors(alone._now.holdings, alone._now.spec)
    np.testing.assert_allclose(model.parts_[1]["metric"], spec.kernel.factors)
    assert_exact(model.forget([0, 7]))


def test_equal_parts_are_two():
    model = StackedKernelRegressor(("rbf", "rbf"), gamma=0.5, C=1.0, weights=[1.0, 2.0])
    X, y = make_samples(model, 20)
    one = LeastSquaresSVR(gamma=0.5, C=1.0).fit(X, y)
    model.fit(X[:15], y[:15]).partial_fit(X[15:], y[15:])
    np.testing.assert_allclose(model.predict(X), 3.0 * one.predict(X))


def test_a_width_for_each_feature():
    asked = {"gamma": [0.5, "loo"], "C": 3.0, "random_state": 0}
    model = StackedKernelRegressor(("rbf+ard", "laplacian+ard"), **asked)
    X, y = make_samples(model, 40)
    model.fit(X, y)
    assert model.parts_[0]["gamma"] == 0.5  # a number is used as it is given
    one = LeastSquaresSVR("laplacian", metric="ard", C=3.0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.parts_[1]["gamma"], one.gamma_)


def test_files_hold_every_part(stack, tmp_path):
    X, y = make_samples(stack, 40)
    stack.fit(X, y, ids=[f"s{i}" for i in range(40)]).forget("s3")
    gramian.save(stack, tmp_path / "stack")
    twin = gramian.load(tmp_path / "stack")
    np.testing.assert_array_equal(values(twin), values(stack))
    assert twin.chosen_on_data_ == stack.chosen_on_data_
    gramian.save(twin, tmp_path / "again")  # before its engine is built
    for model in (stack, twin):
        model.partial_fit(X[:1], y[:1], ids=["new"]).forget("s8")
    np.testing.assert_allclose(values(twin), values(stack), atol=1e-9)
    np.testing.assert_allclose(
        twin.loo_decision_function(), stack.loo_decision_function(), atol=1e-9
    )
    receipt = gramian.forget(twin, "s9", verify=True)
    assert receipt.verified
    assert receipt.chosen_on_data == ("metric", "weights")


@pytest.mark.parametrize("kind", CHOSEN.values(), ids=CHOSEN)
def test_files_hold_what_was_chosen(kind, tmp_path):
    model = clone(kind)
    X, y = make_samples(model, 40)
    gramian.save(model.fit(X, y), tmp_path / "stack")
    twin = gramian.load(tmp_path / "stack")
    for both in (model, twin):
        both.partial_fit(X[:1], y[:1]).forget([7])
    np.testing.assert_allclose(values(twin), values(model), atol=1e-9)


@pytest.mark.parametrize("kind", [*STACKS.values(), CHOSEN["numbers"]], ids=str)
def test_sparse_samples(kind):
    stack = clone(kind)
    X, y = make_samples(stack)
    X[np.abs(X) < 0.5] = 0.0
    dense, csr = clone(stack).fit(X, y), stack.fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(csr.weights_, dense.weights_, rtol=1e-4, atol=1e-6)


def test_a_part_that_refuses_a_sample_leaves_the_others_as_they_were():
    model = StackedKernelRegressor(("rbf", "rbf"), gamma=0.5, C=[1.0, 1e17], weights=1.0)
    X, y = make_samples(model, 12)
    model.fit(X, y)
    before, loo = values(model), model.loo_predict()
    with pytest.raises(NotPositiveDefiniteError, match="partial_fit failed at new sample 0"):
        model.partial_fit(X[:1], y[:1] + 1.0)
    assert model._now.engine.serves is model._now.holdings.version
    assert model.rebuilds_ == []
    np.testing.assert_allclose(values(model), before, rtol=1e-6, atol=1e-6)
    model.rebuild()
    np.testing.assert_allclose(model.loo_predict(), loo, rtol=1e-5, atol=1e-5)
    assert [record.reason for record in model.rebuilds_] == ["asked for"]


def test_a_part_without_weight_is_not_asked():
    model = StackedKernelRegressor(("rbf", "laplacian"), gamma=0.5, C=1.0, weights=[0.0, 2.0])
    X, y = make_samples(model)
    _, predictor = model.fit(X, y)._reading()
    assert len(predictor.parts) == 1
    one = LeastSquaresSVR("laplacian", gamma=0.5, C=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), 2.0 * one.predict(X))
    noise = StackedKernelRegressor("rbf", gamma=50.0, C=1e3)
    rng = np.random.default_rng(1)
    noise.fit(X, rng.permutation(y) ** 3)
    if not noise.weights_.any():
        np.testing.assert_allclose(noise.predict(X), noise.offset_[0])


def test_the_memory_of_all_parts_is_asked_for_at_once(stack, monkeypatch):
    X, y = make_samples(stack)
    one = 30**2 * 8
    monkeypatch.setattr(_memory, "available_memory", lambda: 2 * one)
    with pytest.raises(MemoryError, match="Holding 3 Gram matrices of 30 samples needs"):
        stack.fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"kernel": ()}, "kernel must have at least one name"),
        ({"kernel": ("rbf", "precomputed")}, "the parts of a stack are kernels of samples"),
        ({"kernel": "rbf+full"}, "the parts of a stack are kernels of samples"),
        ({"kernel": "linear+diagonal"}, "metric='diagonal' needs one of the kernels"),
        ({"kernel": "linear+ard", "gamma": "loo"}, "metric='ard' needs one of the kernels"),
        ({"gamma": [0.5, 1.0]}, "gamma must be one value or a list of 3, one a part"),
        ({"C": [0.5, 1.0]}, "C must be one value or a list of 3, one a part"),
        ({"C": [0.5, 1.0, -1.0]}, "C must be > 0"),
        ({"weights": [0.5, 1.0]}, "weights must be one value or a list of 3, one a part"),
        ({"weights": [0.5, 1.0, -1.0]}, "weights must be >= 0"),
        ({"weights": 0.0}, "weights must have a number > 0"),
        ({"weights": "equal"}, "weights must be >= 0"),
    ],
    ids=str,
)
def test_parameters(stack, parameters, match):
    if parameters.get("kernel"):
        parameters = {"gamma": 0.5, "C": 1.0, **parameters}
    with pytest.raises(ValueError, match=match):
        stack.set_params(**parameters).fit(*make_samples(stack))


def test_weights_need_two_samples():
    model = clone(STACKS["numbers"])
    X, y = make_samples(model)
    with pytest.raises(ValueError, match="choosing weights by leave-one-out needs at least 2"):
        model.fit(X[:1], y[:1])
    model.set_params(weights=1.0).fit(X[:1], y[:1])


@pytest.mark.parametrize("name", CHOSEN)
def test_folds_are_tuned_on_some_samples_and_trained_on_all(name, monkeypatch):
    monkeypatch.setattr("gramian.stack._folds.TUNED_ON", 15)
    model = clone(CHOSEN[name]).set_params(kernel=("rbf", "laplacian"))
    X, y = make_samples(model, 40)
    found = model.fit(X, y).nested_score().values
    kind, now = (LeastSquaresSVC if is_classifier(model) else LeastSquaresSVR), model._now
    for k, spec in enumerate(now.fold_specs):
        rest = now.holdings.folds != k
        total = 0.0 if is_classifier(model) else spec.offset[0]
        for part, share in zip(spec.parts, spec.shares, strict=True):
            one = kind(part.kernel.kernel.name, gamma=part.gamma, C=1 / part.ridge)
            total = total + share * values(one.fit(X[rest], y[rest]), X[~rest])
        np.testing.assert_allclose(found[~rest], total, atol=1e-9, rtol=1e-9)


def test_weights_without_a_fold_know_nothing_of_it():
    """By non-negative least squares on real fits without two folds; other targets change none."""
    widths, strengths = {"rbf": 0.5, "laplacian": 0.2}, {"rbf": 10.0, "laplacian": 3.0}
    model = StackedKernelRegressor(
        list(widths), gamma=list(widths.values()), C=list(strengths.values())
    )
    X, y = make_samples(model, 40)
    now = model.fit(X, y)._now
    fold = now.holdings.folds
    for k in range(5):
        stay = np.flatnonzero(fold != k)
        read = np.empty((40, 2))
        for j in set(range(5)) - {k}:
            rest = (fold != j) & (fold != k)
            for s, name in enumerate(widths):
                part = LeastSquaresSVR(name, gamma=widths[name], C=strengths[name])
                read[fold == j, s] = part.fit(X[rest], y[rest]).predict(X[fold == j])
        mean = y[stay].mean()
        expected, _ = nnls(read[stay] - mean, y[stay] - mean)
        np.testing.assert_allclose(now.fold_specs[k].shares, expected, atol=1e-9)  # of order one
    other = np.where(fold == 2, -3.0 * y, y)
    found = clone(model).fit(X, other)._now
    np.testing.assert_array_equal(found.holdings.folds, fold)
    np.testing.assert_allclose(found.fold_specs[2].shares, now.fold_specs[2].shares, atol=1e-9)
    assert not np.allclose(found.fold_specs[1].shares, now.fold_specs[1].shares)


def test_two_samples_have_two_folds():
    model = StackedKernelRegressor(("rbf", "laplacian"), gamma=0.5, C=1.0)
    X, y = make_samples(model, 2)
    assert len(model.fit(X, y)._now.fold_specs) == 2
