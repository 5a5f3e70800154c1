"""Parts on thresholds: exact under edits with thresholds held, in files, in exports, in tables."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import gramian
from gramian import (
    StackedKernelClassifier,
    StackedKernelRegressor,
    TableModel,
)
from gramian.core.validation import ModelFileError
from gramian.export import predict_only, read_expansion
from gramian.files._validate import check_state
from tests.estimators.conftest import make_samples, queries, values
from tests.stack.refits import assert_exact, sum_of_refits

PARTS = ("laplacian", "exponential+diagonal+thresholds", "rbf+thresholds")
GIVEN = {"gamma": [0.2, 0.5, 0.3], "C": [3.0, 10.0, 5.0]}
STACKS = {
    "classes": StackedKernelClassifier(PARTS, **GIVEN),
    "numbers": StackedKernelRegressor(PARTS, **GIVEN),
}


@pytest.fixture(params=STACKS)
def stack(request):
    return clone(STACKS[request.param])


def test_edits_are_exact_with_the_thresholds_held(stack):
    X, y = make_samples(stack, 40)
    stack.fit(X[:25], y[:25])
    kept = stack.parts_[1]["thresholds"]["edges"]
    assert stack.chosen_on_data_ == ("metric", "thresholds", "weights")
    assert stack.parts_[1]["metric"].shape == kept.shape
    assert_exact(stack)
    stack.partial_fit(X[25:], y[25:]).forget([0, 5, 30])
    np.testing.assert_array_equal(stack.parts_[1]["thresholds"]["edges"], kept)
    assert_exact(stack)
    assert_exact(stack.refitted())
    stack.reselect(fresh=True)
    assert not np.array_equal(stack.parts_[1]["thresholds"]["edges"], kept)
    again = clone(stack).fit(stack.X_fit_, stack.y_fit_)
    np.testing.assert_array_equal(
        stack.parts_[1]["thresholds"]["edges"], again.parts_[1]["thresholds"]["edges"]
    )


def test_leave_one_out_is_that_of_refits(stack):
    X, y = make_samples(stack, 18)
    stack.fit(X, y).forget(2)
    X, y = stack.X_fit_, stack.y_fit_
    left_out = [
        sum_of_refits(stack, np.delete(X, i, 0), np.delete(y, i), X[i : i + 1])[0]
        for i in range(len(y))
    ]
    np.testing.assert_allclose(stack.loo_decision_function(), left_out, atol=1e-9)


def test_a_step_is_learned_that_smooth_parts_blur():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = np.sign(X[:, 0] - 0.3) * np.sign(X[:, 1]) + 0.1 * rng.standard_normal(120)
    model = StackedKernelRegressor(PARTS, random_state=0).fit(X, y)
    assert model.weights_[1] > 0.5
    assert model.weights_[0] < 0.2
    steps, found = model.parts_[1]["metric"], model.parts_[1]["thresholds"]
    highest = [found["edges"][found["columns"] == c][steps[found["columns"] == c].argmax()]
               for c in (0, 1)]  # fmt: skip
    np.testing.assert_allclose(highest, [0.3, 0.0], atol=0.2)


def test_files_and_exports_predict_alike(stack, tmp_path):
    X, y = make_samples(stack, 40)
    stack.fit(X, y)
    gramian.save(stack, tmp_path / "m.gram")
    twin = gramian.load(tmp_path / "m.gram")
    for model in (stack, twin):
        model.partial_fit(X[:1], y[:1]).forget([7])
    np.testing.assert_allclose(values(twin), values(stack), atol=1e-12)
    assert twin.chosen_on_data_ == ("metric", "thresholds", "weights")
    predict_only(stack, tmp_path / "m.npz")
    found = read_expansion(tmp_path / "m.npz").outputs(queries())[:, 0]
    np.testing.assert_allclose(found, values(stack), atol=1e-9)
    receipt = gramian.forget(twin, 9, verify=True)
    assert receipt.verified
    assert "thresholds" in receipt.chosen_on_data


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"edges": np.array([np.nan] * 4)}, "thresholds_ has values that are not finite"),
        ({"edges": np.ones(3)}, r"thresholds_ has shape \(4,\), not \(3,\)"),
        ({"columns": np.array([0, 1, 2, 9])}, "names features that the samples do not have"),
        ({"columns": np.array([0, 1, 2, -1])}, "names features that the samples do not have"),
        ({"edges": np.empty(0), "columns": np.empty(0, dtype=int)}, "do not have, or none"),
        ({"edges": np.ones(5), "columns": np.zeros(5, dtype=int)}, "metric_ has shape"),
    ],
    ids=str,
)
def test_thresholds_of_a_file_that_could_not_be(changes, match):
    model = StackedKernelClassifier("rbf+diagonal+thresholds", gamma=0.5, C=4.0, weights=1.0)
    X, y = make_samples(model, 8)
    state = model.fit(X > 0, y)._get_state()
    part = state["public"]["parts_"][0]
    check_state(model, state)
    few = {"columns": np.array([0, 1, 2, 2]), "edges": np.zeros(4)}
    part |= {"thresholds": {**few, **changes}, "metric": np.ones(4)}
    with pytest.raises(ModelFileError, match=match):
        check_state(model, state)


def test_sparse_single_and_several_targets():
    model = clone(STACKS["numbers"]).set_params(weights=[0.3, 0.5, 0.2])
    X, y = make_samples(model, 40)
    X[np.abs(X) < 0.5] = 0.0
    dense, csr = clone(model).fit(X, y), clone(model).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(csr.predict(X), dense.predict(X), atol=1e-9)
    single = clone(model).fit(X.astype(np.float32), y)
    assert single.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.predict(X), dense.predict(X), atol=1e-3)
    both = clone(model).fit(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(both.predict(X)[:, 0], -both.predict(X)[:, 1], atol=1e-9)


def test_a_table_with_text_and_missing_cells(tmp_path):
    rng = np.random.default_rng(1)
    x, level = rng.standard_normal(60), rng.choice(["a", "b"], 60)
    y = np.where((x > 0.2) != (level == "a"), "yes", "no")
    table = {"x": np.where(rng.random(60) < 0.1, np.nan, x), "level": level, "y": y}
    stack = StackedKernelClassifier("rbf+diagonal+thresholds", random_state=0)
    model = TableModel(stack, target="y").fit(table)
    assert "thresholds" in model.chosen_on_data_
    rows = {"x": [1.5, -1.5, None], "level": ["a", "a", "never seen"]}
    assert model.predict(rows).tolist()[:2] == ["no", "yes"]
    gramian.save(model, tmp_path / "m.gram")
    twin = gramian.load(tmp_path / "m.gram").forget([3])
    np.testing.assert_allclose(
        twin.predict_proba(rows), model.forget([3]).predict_proba(rows), atol=1e-9
    )


def test_levels_that_come_and_go_and_a_column_that_becomes_constant():
    rng, n = np.random.default_rng(2), 40
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, n + 2)
    table = {
        "a": rng.standard_normal(n + 2),
        "flat": np.r_[np.ones(n - 2), 2.0, 3.0, 1.0, 1.0],
        "kind": [*rng.choice(["p", "q"], n - 2), "rare", "rare", "new", "p"],
        "day": day,
        "y": rng.standard_normal(n + 2),
    }
    first, later = ({k: v[some] for k, v in table.items()} for some in (slice(n), slice(n, None)))
    stack = StackedKernelRegressor(PARTS, weights=0.5, **GIVEN)
    model = TableModel(stack, target="y").fit(first).partial_fit(later).forget([n - 2, n - 1])
    inner = model.estimator_
    at = model.transform({k: v[:9] for k, v in table.items() if k != "y"})
    by_hand = sum_of_refits(inner, inner.X_fit_, inner.y_fit_, at)
    np.testing.assert_allclose(inner.predict(at), by_hand, atol=1e-9)
    assert model.reselect().ignored_ == {"flat": "constant"}
    held = {k: v.tolist() for k, v in model.table_.items()}
    fresh = TableModel(clone(stack)).fit(held, model.y_fit_)
    np.testing.assert_allclose(model.loo_predict(), fresh.loo_predict(), atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"kernel": "linear+thresholds"}, "thresholds are for the kernels"),
        ({"kernel": "rbf+ard+thresholds"}, "thresholds are for the kernels"),
        ({"kernel": "rbf+diagonal+ard"}, "the parts of a stack are kernels of samples"),
        ({"kernel": "rbf+thresholds+thresholds"}, "the parts of a stack are kernels of samples"),
        ({"gamma": [0.5, np.ones(3), 0.5]}, 'is "loo" or one number'),
        ({"gamma": [0.5, 0.5, "scale"]}, 'is "loo" or one number'),
    ],
    ids=str,
)
def test_parameters(stack, parameters, match):
    if "kernel" in parameters:
        parameters = {"gamma": "loo", "C": 1.0, **parameters}
    with pytest.raises(ValueError, match=match):
        stack.set_params(**parameters).fit(*make_samples(stack))


def test_the_spec_counts_a_number_for_each_threshold():
    model = StackedKernelRegressor("rbf+diagonal+thresholds", random_state=0)
    X, y = make_samples(model, 30)
    spec = model.fit(X, y)._fitted().spec
    assert spec.fitted_numbers(X.shape[1]) == len(model.parts_[0]["thresholds"]["edges"]) + 1
    assert model._spec().parts[0].fitted_numbers(3) == 0
