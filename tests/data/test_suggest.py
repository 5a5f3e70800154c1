"""What to label next, against a refit for each candidate and label."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics.pairwise import rbf_kernel

from gramian import KernelDiscriminant, LagrangianSVC, LeastSquaresSVC, LeastSquaresSVR, TableModel
from gramian.core.equations import probabilities
from gramian.core.estimators import free_copy, output_loss, output_variances
from gramian.data import suggest
from tests.data.test_values import edited
from tests.estimators.conftest import ESTIMATORS, make_samples, queries

SHRINKING = [  # a sample lowers the variance of outputs; for kfd it is also one more column
    name
    for name in ESTIMATORS
    if not name.startswith(("kfd", "lsvc", "fuzzy", "stack")) and name != "kda-ridge-0"
]
SUGGESTING = [name for name in ESTIMATORS if not name.startswith(("kda-", "kfd-", "lsvc-"))]


def expected(model, X, loss):
    """Expected leave-one-out loss of the held samples after each candidate, by refits."""
    held, weight, out = len(model.ids_), model.sample_weight_, []
    if is_classifier(model):
        chances, scale = model.predict_proba(X), output_loss(model).scale
    else:
        Y = model.y_fit_.reshape(held, -1)
        left_out = model.loo_predict().reshape(held, -1)
        deviation = np.sqrt(np.average((Y - left_out) ** 2, axis=0, weights=weight))
    for j in range(len(X)):
        total = 0.0
        if is_classifier(model):
            for label, chance in zip(model.classes_, chances[j], strict=True):
                twin = free_copy(model).partial_fit(X[[j]], [label])
                F = twin.loo_decision_function()[:held]
                P = probabilities(F.reshape(held, -1), scale)
                own = P[np.arange(held), np.searchsorted(model.classes_, model.y_fit_)]
                wrong = twin.loo_predict()[:held] != model.y_fit_
                losses = -np.log(own) if loss == "log" else wrong
                total += chance * np.average(losses, weights=weight)
        else:  # the mean of a square over y is that over two points, one deviation apart
            y = model.predict(X[[j]]).reshape(1, -1)
            for sign in (-1.0, 1.0):
                target = (y + sign * deviation).reshape((1, *model.y_fit_.shape[1:]))
                left_out = free_copy(model).partial_fit(X[[j]], target).loo_predict()[:held]
                squares = np.sum((left_out.reshape(held, -1) - Y) ** 2, axis=1)
                total += 0.5 * np.average(squares, weights=weight)
        out.append(total)
    return np.array(out)


@pytest.mark.parametrize("name", SUGGESTING)
def test_expected_error_equals_refits(name):
    model, pool = edited(name), queries(4)
    loss = "log" if is_classifier(model) else None
    by_refits = expected(model, pool, loss)
    chosen = suggest(model, pool, strategy="expected-error")
    assert chosen.positions.tolist() == [np.argmin(by_refits)]
    assert chosen.scores[0] == pytest.approx(by_refits.min(), rel=1e-8)
    assert len(chosen) == 1
    assert len(model.ids_) == 22


def test_expected_error_of_wrong_labels():
    model, pool = edited("lssvc", classes=2), queries(6)
    chosen = suggest(model, pool, strategy="expected-error", loss="error")
    assert chosen.scores[0] == pytest.approx(expected(model, pool, "error").min(), rel=1e-8)


@pytest.mark.parametrize("strategy", ["expected-error", "uncertainty", "variance"])
@pytest.mark.parametrize("ids", [None, [f"s{i}" for i in range(20)]])
def test_a_batch_learns_what_it_chose(strategy, ids):
    X, y = make_samples(LeastSquaresSVC(), 20)
    model, pool = LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y, ids=ids), queries(8)
    first = suggest(model, pool, strategy=strategy)
    batch = suggest(model, pool, 3, strategy=strategy)
    assert batch.positions[0] == first.positions[0]
    assert batch.scores[0] == first.scores[0]
    assert len(set(batch.positions.tolist())) == 3
    rest = np.delete(np.arange(8), first.positions)
    new = pool[first.positions]
    after = clone(model).fit(np.vstack([X, new]), [*y, *model.predict(new)])
    second = suggest(after, pool[rest], strategy=strategy)
    assert rest[second.positions[0]] == batch.positions[1]
    assert batch.scores[1] == pytest.approx(second.scores[0], rel=1e-6)
    assert len(model.ids_) == 20


@pytest.mark.parametrize("name", SHRINKING)
def test_variance_falls_by_what_a_sample_tells(name):
    """A sample of infinite weight leaves no variance where it is."""
    model, X = edited(name), queries(3)
    before = output_variances(model, X)
    assert np.all(before > 0)
    y = model.predict(X[:1])
    after = output_variances(model.partial_fit(X[:1], y, sample_weight=[1e9]), X)
    assert after[0] < 1e-6 * before[0]
    assert np.all(after < before * (1 + 1e-9))


def test_variance_of_the_linear_kernel_is_one_on_both_methods():
    X, y = make_samples(LeastSquaresSVR(), 20)
    options = {"kernel": "linear", "C": 10.0}
    gram = LeastSquaresSVR(factor="inverse", **options).fit(X, y)
    sums = LeastSquaresSVR(factor="primal", **options).fit(X, y)
    found = output_variances(gram, queries())
    np.testing.assert_allclose(found, output_variances(sums, queries()), rtol=1e-9)
    Xt = np.column_stack([X, np.ones(20)])
    Qt = np.column_stack([queries(), np.ones(7)])
    M = Xt.T @ Xt + 0.1 * np.diag([1.0, 1.0, 1.0, 0.0])
    by_hand = 0.1 * np.einsum("ij,ij->i", Qt @ np.linalg.inv(M), Qt)
    np.testing.assert_allclose(found, by_hand, rtol=1e-9)


def test_variance_of_the_fisher_discriminant_by_hand():
    model = edited("kfd", classes=2)
    K = rbf_kernel(model.X_fit_, gamma=0.5)
    k, D = rbf_kernel(queries(), model.X_fit_, gamma=0.5), 1.0 / model.sample_weight_
    by_hand = 1e-3 * np.einsum("ij,ji->i", k, np.linalg.solve((K / D) @ K + 1e-3 * np.diag(D), k.T))
    np.testing.assert_allclose(output_variances(model, queries()), by_hand, rtol=1e-8)


def test_precomputed_kernels_suggest_one():
    X, y = make_samples(LeastSquaresSVC(), 20)
    pool, other = queries(5), LeastSquaresSVC(gamma=0.5, C=1.0).fit(X, y)
    K = np.column_stack([rbf_kernel(pool, X, gamma=0.5), np.ones(5)])
    model = LeastSquaresSVC(kernel="precomputed", C=1.0).fit(rbf_kernel(X, gamma=0.5), y)
    for strategy in ("expected-error", "uncertainty", "variance"):
        one, same = (suggest(m, Z, strategy=strategy) for m, Z in ((model, K), (other, pool)))
        assert one.positions == same.positions
        assert one.scores == pytest.approx(same.scores)
    with pytest.raises(ValueError, match="take k=1"):
        suggest(model, K, 2)


def test_a_table_is_a_pool():
    x = np.linspace(-1, 1, 12)
    table = {"x": x.tolist(), "y": np.where(x > 0, "up", "down").tolist()}
    model = TableModel(KernelDiscriminant(gamma=0.5, ridge=0.1), target="y").fit(table)
    pool = {"x": [-0.8, 0.0, 0.8]}
    chosen = suggest(model, pool)
    assert chosen.positions.tolist() == [1]
    assert chosen.strategy == "uncertainty"


def test_refusals_name_the_way_out():
    X, y = make_samples(LeastSquaresSVR(), 20)
    model = LeastSquaresSVR(gamma=0.5, C=1.0).fit(X, y)
    with pytest.raises(ValueError, match=r"strategy must be one of .*, got 'luck'"):
        suggest(model, X, strategy="luck")
    with pytest.raises(ValueError, match='Take strategy="variance" instead'):
        suggest(model, X, strategy="uncertainty")
    assert suggest(model, X).strategy == "variance"
    with pytest.raises(ValueError, match="k must be between 1 and the 20 samples"):
        suggest(model, X, 21)
    with pytest.raises(ValueError, match="is \"squared\", got 'log'"):
        suggest(model, X, strategy="expected-error", loss="log")
    lagrangian = LagrangianSVC(gamma=0.5, C=1.0).fit(X, y > 0)
    with pytest.raises(ValueError, match="known for least squares with a ridge above 0"):
        suggest(lagrangian, X, strategy="variance")
