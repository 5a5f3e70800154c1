"""Models on a device: the same numbers as in host memory, after any edits."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris

torch = pytest.importorskip("torch", reason="a device is one of torch")

import gramian  # noqa: E402
from gramian import (  # noqa: E402
    KernelDiscriminant,
    KernelFisherDiscriminant,
    LagrangianSVC,
    LeastSquaresSVC,
    LeastSquaresSVR,
    OrthogonalKernelClassifier,
    OrthogonalKernelRegressor,
    StackedKernelClassifier,
    StackedKernelRegressor,
)

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
X, y = load_iris(return_X_y=True)
X = X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)
MODELS = [
    LeastSquaresSVC(gamma=0.3, C=10.0),
    LeastSquaresSVC(kernel="linear", C=10.0),
    LeastSquaresSVC(kernel="poly", gamma=0.1, degree=2, C=1.0),
    LeastSquaresSVC(kernel=lambda A, B: np.exp(-np.abs(A[:, None] - B).sum(axis=2)), C=1.0),
    KernelDiscriminant(gamma=0.3, ridge=0.1),
    KernelDiscriminant(gamma=np.array([0.1, 0.2, 0.3, 0.4]), ridge=0.1, targets="fisher"),
    KernelDiscriminant(gamma=0.3, ridge=0.1, factor="cholesky"),
    KernelDiscriminant(kernel="laplacian", gamma=0.3, ridge=0.1, class_weight={0: 2.0}),
    KernelFisherDiscriminant(gamma=0.3, ridge=0.1),
    LeastSquaresSVR(gamma=0.3, C=10.0),
    StackedKernelClassifier(gamma=0.3, C=10.0),
    StackedKernelRegressor(("rbf", "exponential+diagonal"), gamma=0.3, C=10.0),
    OrthogonalKernelClassifier(gamma=0.3, ridge=0.1, max_basis=20),
    OrthogonalKernelClassifier(gamma=[0.1, 1.0], basis="one-vs-rest", epsilon=1e-6, max_basis=10),
    OrthogonalKernelRegressor(
        gamma=0.3, penalty="orthogonal", selection="residual", stopping="loo", ridge="loo"
    ),
]


def edited(model, X, y):
    """Learn, forget, lose a class, and find it again."""
    model.fit(X[:90:2], y[:90:2], sample_weight=np.linspace(0.5, 2.0, 45))
    model.partial_fit(X[1::2], y[1::2]).forget([3, 5, 77])
    for i in range(36):
        model.forget(model.ids_[i % 7])
    return model.partial_fit(X[:2], y[:2]).partial_fit(X[100:140:2] + 0.5, y[100:140:2])


def answers(model, X):
    found = [model.predict(X), model.loo_predict()]
    if hasattr(model, "predict_proba"):
        found += [model.decision_function(X), model.loo_decision_function()]
        found += [model.predict_proba(X), model.loo_predict_proba()]
    return found


@pytest.mark.parametrize(
    "estimator",
    MODELS,
    ids=lambda m: f"{type(m).__name__}-{getattr(m.kernel, '__name__', m.kernel)}",
)
def test_a_model_on_a_device_equals_the_one_in_numpy(estimator):
    # Residuals of equal targets are equal, and rounding would choose the centre.
    targets = y if is_classifier(estimator) else y + 0.1 * X[:, 0]
    here = edited(clone(estimator), X, targets)
    there = edited(clone(estimator).set_params(device=DEVICE), X, targets)
    for a, b in zip(answers(here, X), answers(there, X), strict=True):
        assert type(b) is np.ndarray
        np.testing.assert_allclose(b, a, rtol=1e-7, atol=1e-7)
    assert there.loo_score() == pytest.approx(here.loo_score())
    assert there.drift() < 1e-9
    np.testing.assert_array_equal(there.X_fit_, here.X_fit_)
    fresh = there.refitted()
    np.testing.assert_allclose(fresh.predict(X), there.predict(X), rtol=1e-7, atol=1e-7)
    assert there.rebuild().score(X, targets) == pytest.approx(here.score(X, targets))


def test_an_inverse_in_single_precision():
    """Decision values of double precision, leave-one-out values of single precision."""
    here = edited(LeastSquaresSVC(gamma=0.3, C=1.0), X, y)
    there = edited(LeastSquaresSVC(gamma=0.3, C=1.0, factor="single", device=DEVICE), X, y)
    values = there.decision_function(X)
    np.testing.assert_allclose(values, here.decision_function(X), atol=1e-9)
    left_out = there.loo_decision_function()
    np.testing.assert_allclose(left_out, here.loo_decision_function(), atol=1e-4)
    assert there.drift() < 1e-9


@pytest.mark.parametrize("dispatch", [False, True])
def test_tensors_give_tensors(dispatch):
    if dispatch:
        pytest.importorskip("array_api_compat", reason="dispatch by scikit-learn needs it")
    T, t = torch.from_numpy(X).to(DEVICE), torch.from_numpy(y).to(DEVICE)
    here = edited(LeastSquaresSVC(gamma=0.3, C=10.0), X, y)
    try:
        with config_context(array_api_dispatch=dispatch):
            there = edited(LeastSquaresSVC(gamma=0.3, C=10.0), T, t)
            found = answers(there, T)
            score = there.score(T, t)
    except RuntimeError as error:  # SciPy's own switch, read at import
        pytest.skip(f"array_api_dispatch cannot be set here: {error}")
    for a, b in zip(answers(here, X), found, strict=True):
        assert isinstance(b, torch.Tensor)
        assert b.device.type == DEVICE
        np.testing.assert_allclose(b.cpu().numpy(), a, rtol=1e-7, atol=1e-7)
    assert isinstance(there.X_fit_, torch.Tensor)
    assert score == here.score(X, y)
    model = LeastSquaresSVR(gamma=0.3, C=1.0).fit(T, t)
    assert isinstance(model.predict(T), torch.Tensor)
    assert model.score(T, t) == pytest.approx(
        LeastSquaresSVR(gamma=0.3, C=1.0).fit(X, y).score(X, y)
    )


@pytest.mark.parametrize("estimator", [MODELS[i] for i in (0, 5, 8, 9, 10, 12)])
def test_sets_and_intervals(estimator):
    here = edited(clone(estimator), X, y)
    there = edited(clone(estimator).set_params(device=DEVICE), X, y)
    queries = X[:5] + 0.1
    if hasattr(here, "p_values"):
        np.testing.assert_allclose(there.p_values(queries), here.p_values(queries))
        options = {"method": "full", "score": "adaptive", "mondrian": True, "random_state": 0}
        found = there.p_values(queries, **options)
        np.testing.assert_allclose(found, here.p_values(queries, **options))
    else:
        found = there.predict_interval(queries, width="local")
        np.testing.assert_allclose(found, here.predict_interval(queries, width="local"), atol=1e-7)
        for method in ("full", "jackknife+"):
            found = there.predict_interval(queries, method=method)
            np.testing.assert_allclose(
                found, here.predict_interval(queries, method=method), atol=1e-7
            )


def test_labels_that_are_words_stay_words():
    words = np.array(["a", "b", "c"])[y]
    model = KernelDiscriminant(gamma=0.3, ridge=0.1).fit(torch.from_numpy(X).to(DEVICE), words)
    assert model.predict(torch.from_numpy(X[:1])).tolist() == ["a"]


def test_float32_stays_float32():
    model = KernelDiscriminant(gamma=0.3, ridge=0.1, device=DEVICE).fit(X.astype(np.float32), y)
    assert model.decision_function(X).dtype == model.loo_decision_function().dtype == np.float32


def test_a_tuned_fit():
    here = LeastSquaresSVC().fit(X, y)
    there = LeastSquaresSVC(device=DEVICE).fit(X, y)
    assert there.gamma_ == pytest.approx(here.gamma_, rel=1e-6)
    assert pytest.approx(here.C_, rel=1e-6) == there.C_
    assert there.reselect(fresh=True).gamma_ == pytest.approx(here.gamma_, rel=1e-6)


def test_files_have_no_home(tmp_path):
    there = edited(LeastSquaresSVC(gamma=0.3, C=10.0, device=DEVICE), X, y)
    gramian.save(there, tmp_path / "there.gram")
    here = gramian.load(tmp_path / "there.gram")
    assert here.device is None
    np.testing.assert_allclose(here.predict_proba(X), there.predict_proba(X), atol=1e-9)
    gramian.save(here.forget(here.ids_[0]), tmp_path / "here.gram")
    back = gramian.load(tmp_path / "here.gram", device=DEVICE)
    assert back.device == DEVICE
    there.forget(there.ids_[0])
    found = back.partial_fit(X[:1] + 1, y[:1]).loo_decision_function()
    np.testing.assert_allclose(
        found, there.partial_fit(X[:1] + 1, y[:1]).loo_decision_function(), atol=1e-9
    )
    twin = pickle.loads(pickle.dumps(back))
    np.testing.assert_allclose(twin.forget(twin.ids_[3]).predict_proba(X[:3]).sum(axis=1), 1.0)
    gramian.save(LagrangianSVC(C=1.0, gamma=0.1).fit(X, y), tmp_path / "other.gram")
    with pytest.raises(ValueError, match="LagrangianSVC has no device"):
        gramian.load(tmp_path / "other.gram", device=DEVICE)


# -- orthogonal estimators ----------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
def test_the_same_centres_are_chosen(kernel):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(400, 3))
    z = np.sin(Z @ [1.0, 2.0, -1.0]) + 0.1 * rng.normal(size=400)
    settings = {"kernel": kernel, "gamma": "scale", "max_basis": 60, "ridge": "loo", "degree": 2}
    here = OrthogonalKernelRegressor(**settings).fit(Z, z)
    there = OrthogonalKernelRegressor(**settings, device=DEVICE).fit(Z, z)
    np.testing.assert_array_equal(there.basis_ids_, here.basis_ids_)
    assert there.ridge_ == pytest.approx(here.ridge_, rel=1e-6)
    np.testing.assert_allclose(there.gcv_path_, here.gcv_path_, rtol=1e-7)
    np.testing.assert_allclose(there.predict(Z), here.predict(Z), atol=1e-8)
    more = [there.grow(5).basis_ids_, here.grow(5).basis_ids_]
    np.testing.assert_array_equal(*more)


@pytest.mark.parametrize("large", [2048, 4])
def test_rows_that_stream_to_a_device(large, monkeypatch):
    monkeypatch.setattr("gramian.core.gram._normal.LARGE", large)  # inverses on the device
    models = [OrthogonalKernelClassifier(gamma=0.3, ridge=0.1, max_basis=20) for _ in range(2)]
    models[1].set_params(device=DEVICE)
    some = np.flatnonzero(y < 2)
    for model in models:
        model.fit(X[some[::2]], y[some[::2]])
        model.learn_rows(
            (X[i : i + 30], y[i : i + 30], np.full(30, 2.0)) for i in range(0, 150, 30)
        )
        model.forget_rows(X[:40], y[:40], np.full(40, 2.0))
    here, there = models
    assert there.n_rows_ == here.n_rows_ == 160
    for name in ("decision_function", "predict_proba"):
        np.testing.assert_allclose(getattr(there, name)(X), getattr(here, name)(X), atol=1e-9)


def test_tensors_of_an_orthogonal_machine():
    T, t = torch.from_numpy(X).to(DEVICE), torch.from_numpy(y).to(DEVICE)
    here = OrthogonalKernelClassifier(gamma=0.3, ridge=0.1).fit(X[::2], y[::2])
    there = OrthogonalKernelClassifier(gamma=0.3, ridge=0.1).fit(T[::2], t[::2])
    here.learn_rows(X[1::2], y[1::2])
    there.learn_rows(T[1::2], t[1::2])
    for a, b in zip(answers(here, X), answers(there, T), strict=True):
        assert isinstance(b, torch.Tensor)
        np.testing.assert_allclose(b.cpu().numpy(), a, atol=1e-8)
    np.testing.assert_array_equal(there.basis_.cpu().numpy(), here.basis_)


def test_dask_arrays_of_a_model_on_a_device():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    here = OrthogonalKernelClassifier(gamma=0.3, ridge=0.1).fit(X, y)
    chunks = da.from_array(X, chunks=(40, 4)), da.from_array(y, chunks=40)
    there = OrthogonalKernelClassifier(gamma=0.3, ridge=0.1, device=DEVICE).fit(*chunks)
    np.testing.assert_array_equal(there.basis_, here.basis_)
    found = there.decision_function(chunks[0]).compute(scheduler="sync")
    np.testing.assert_allclose(found, here.decision_function(X), atol=1e-8)
    left_out = there.loo_decision_function(*chunks).compute(scheduler="sync")
    np.testing.assert_allclose(left_out, here.loo_decision_function(), atol=1e-8)


def test_files_of_an_orthogonal_machine(tmp_path):
    there = OrthogonalKernelClassifier(gamma=0.3, ridge=0.1, device=DEVICE).fit(X, y)
    gramian.save(there, tmp_path / "there.gram")
    here = gramian.load(tmp_path / "there.gram")
    np.testing.assert_allclose(here.predict_proba(X), there.predict_proba(X), atol=1e-9)
    back = gramian.load(tmp_path / "there.gram", device=DEVICE)
    twin = pickle.loads(pickle.dumps(back.forget([0, 1])))
    here.forget([0, 1])
    np.testing.assert_allclose(
        twin.loo_decision_function(), here.loo_decision_function(), atol=1e-9
    )


# -- errors -------------------------------------------------------------------------------------


def test_what_is_not_there_says_so():
    with pytest.raises(ValueError, match="is not usable here"):
        LeastSquaresSVC(device="nowhere").fit(X, y)
    with pytest.raises(ValueError, match='factor="qr" is not there on a device'):
        LeastSquaresSVC(gamma=0.3, C=1.0, factor="qr", device=DEVICE).fit(X, y)
    with pytest.raises(ValueError, match="precomputed"):
        LeastSquaresSVC(kernel="precomputed", device=DEVICE).fit(X @ X.T, y)
    with pytest.raises(ValueError, match="must be dense"):
        LeastSquaresSVC(gamma=0.3, C=1.0, device=DEVICE).fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="LagrangianSVC computes in host memory"):
        LagrangianSVC(C=1.0, gamma=0.1).fit(torch.empty((4, 2), device="meta"), y[:4])


def test_bad_input_leaves_the_model_as_it_was():
    model = LeastSquaresSVC(gamma=0.3, C=10.0, device=DEVICE).fit(X, y)
    before = model.loo_decision_function()
    for bad in (np.full((1, 4), np.nan), np.ones((1, 3))):
        with pytest.raises(ValueError, match=r"NaN|features"):
            model.partial_fit(bad, y[:1])
    with pytest.raises(ValueError, match="does not hold"):
        model.forget(10_000)
    np.testing.assert_array_equal(model.loo_decision_function(), before)


def test_out_of_memory_is_said_before_it_is_taken(monkeypatch):
    model = LeastSquaresSVC(gamma=0.3, C=10.0, device=DEVICE).fit(X, y)
    monkeypatch.setattr("gramian.core.gram._memory.device_memory", lambda like: 10)
    before, more = model.loo_score(), np.random.default_rng(1).normal(size=(300, 4))
    with pytest.raises(MemoryError, match="this device has"):
        model.partial_fit(more, np.zeros(300, dtype=int))
    assert model.loo_score() == before
    assert len(model.ids_) == 150
