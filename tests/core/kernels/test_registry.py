"""Kernels by name, and the checks of their parameters."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

import gramian
import gramian.files
from gramian import LeastSquaresSVC
from gramian.core.kernels import (
    KERNELS,
    RBF,
    CallableKernel,
    Kernel,
    make_kernel,
    register_kernel,
)


def samples(m):
    return np.random.default_rng(0).standard_normal((m, 5))


@pytest.mark.parametrize("values", [np.ones((2, 3)), np.ones(3), 1.0], ids=["block", "row", "0-d"])
def test_callable_of_the_wrong_shape(values):
    kernel = make_kernel(lambda X, Y: values)
    message = r"kernel must return an array of shape \(3, 2\) for these samples, got \("
    with pytest.raises(ValueError, match=message):
        kernel(samples(3), samples(2))


def test_diagonal_of_a_callable_of_the_wrong_shape():
    kernel = make_kernel(lambda X, Y: np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"an array of shape \(1, 1\)"):
        kernel.diagonal(samples(3))


@pytest.mark.parametrize("bad", ["gaussian", "callable", None, 3, ["rbf"]])
def test_unknown_kernel(bad):
    names = '"linear", "poly", "rbf", "laplacian", "exponential", "precomputed" or callable, got'
    with pytest.raises(ValueError, match=f"kernel must be {names}"):
        make_kernel(bad)


@pytest.mark.parametrize(
    "gamma", [0.0, -1.0, np.nan, [0.5, -0.5], [0.0, 0.0], np.array([1.0, np.nan])]
)
def test_gamma_must_be_positive(gamma):
    with pytest.raises(ValueError, match="gamma must be > 0, got"):
        make_kernel("rbf", gamma=gamma)


@pytest.mark.parametrize("gamma", [np.inf, "scale", None])
def test_gamma_must_be_a_finite_number(gamma):
    with pytest.raises(ValueError, match="gamma must be"):
        make_kernel("rbf", gamma=gamma)


def test_a_width_per_feature_is_for_kernels_of_a_distance():
    with pytest.raises(ValueError, match="gamma must be one number for the poly kernel"):
        make_kernel("poly", gamma=[0.5, 1.0])


@pytest.mark.parametrize(("degree", "coef0"), [(0, 1.0), (-2, 1.0), (3, -1.0)])
def test_polynomial_needs_a_degree_and_no_negative_constant(degree, coef0):
    with pytest.raises(ValueError, match=r"needs degree >= 1 and coef0 >= 0, got "):
        make_kernel("poly", degree=degree, coef0=coef0)


@pytest.mark.parametrize(
    ("degree", "coef0"), [(2.5, 1.0), (np.nan, 1.0), (np.inf, 1.0), (3, np.nan)]
)
def test_polynomial_needs_a_whole_degree(degree, coef0):
    with pytest.raises(ValueError, match="polynomial kernel needs"):
        make_kernel("poly", degree=degree, coef0=coef0)


def test_parameters_of_the_polynomial_are_not_asked_of_others():
    assert make_kernel("rbf", degree=-1, coef0=-1.0).name == "rbf"


@pytest.mark.parametrize("gamma", [np.ones((2, 2)), np.ones((1, 1))])
def test_widths_are_a_list(gamma):
    with pytest.raises(ValueError, match="gamma must be one number or one per feature"):
        make_kernel("rbf", gamma=gamma)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "exponential"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_widths_for_another_number_of_features(layout, name):
    X = layout(samples(3))
    with pytest.raises(ValueError, match="one number for each of the 5 features, got 2"):
        make_kernel(name, gamma=[0.5, 1.0])(X, X)


@pytest.mark.parametrize("name", KERNELS)
def test_each_name_gives_its_class(name):
    kernel = make_kernel(name)
    assert type(kernel) is KERNELS[name]
    assert kernel.name == name
    assert kernel == make_kernel(name)
    assert hash(kernel) == hash(make_kernel(name))


def test_a_function_gives_a_callable_kernel():
    assert make_kernel(np.dot, params={"out": None}) == CallableKernel(np.dot, {"out": None})


@pytest.mark.parametrize("kernel", [make_kernel(name) for name in KERNELS], ids=str)
def test_kernel_cannot_be_changed(kernel):
    with pytest.raises(AttributeError):
        kernel.gamma = 2.0


@pytest.mark.parametrize("name", ["poly", "rbf", "laplacian", "exponential"])
def test_another_gamma(name):
    kernel = make_kernel(name, gamma=1.0, degree=2)
    assert kernel.takes_gamma
    assert kernel.with_gamma(0.5) == make_kernel(name, gamma=0.5, degree=2)
    assert kernel.with_gamma(None) is kernel
    with pytest.raises(ValueError, match="gamma must be > 0, got"):
        kernel.with_gamma(-1.0)


@pytest.mark.parametrize("kernel", ["linear", "precomputed", np.dot], ids=str)
def test_kernels_without_gamma_stay_themselves(kernel):
    kernel = make_kernel(kernel)
    assert not kernel.takes_gamma
    assert kernel.with_gamma(0.5) is kernel


def test_widths_are_compared_and_kept_apart_from_the_array_given():
    given = np.array([0.5, 1.0])
    kernel = RBF(given)
    given[0] = 2.0
    assert kernel == RBF([0.5, 1.0])
    assert kernel != RBF(given)
    assert hash(kernel) == hash(RBF([0.5, 1.0]))
    with pytest.raises(ValueError, match="read-only"):
        kernel.gamma[0] = 2.0


@dataclass(frozen=True)
class Matern(Kernel):
    """A kernel of one's own, with a width."""

    name = "matern_of_the_tests"
    parameters = ("gamma",)
    takes_gamma = has_width = True
    gamma: float = 1.0

    def _values(self, X, Y):
        r = np.sqrt(3.0) * self.gamma * cdist(X, Y)
        return (1.0 + r) * np.exp(-r)

    def diagonal(self, X):
        return np.ones(len(X))

    def typical_gamma(self, X):
        return 1.0 / np.median(pdist(X))


def test_a_kernel_of_ones_own(monkeypatch, tmp_path):
    monkeypatch.setitem(KERNELS, Matern.name, None)
    monkeypatch.delitem(KERNELS, Matern.name)
    assert register_kernel(register_kernel(Matern)) is Matern  # as a module that is reloaded does
    X, y = samples(40), samples(40)[:, 0] > 0
    model = LeastSquaresSVC(Matern.name, random_state=0).fit(X, y)
    given = LeastSquaresSVC(Matern(model.gamma_), C=model.C_).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), given.decision_function(X), atol=1e-9)
    gramian.save(model, tmp_path / "m.gram")
    twin = gramian.load(tmp_path / "m.gram").forget([3])
    np.testing.assert_allclose(
        twin.decision_function(X), model.forget([3]).decision_function(X), atol=1e-9
    )
    with pytest.raises(ValueError, match="needs one of the kernels"):
        LeastSquaresSVC(Matern.name, metric="diagonal").fit(X, y)
    KERNELS.pop(Matern.name)
    with pytest.raises(gramian.files.ModelFileError, match="register_kernel"):
        gramian.load(tmp_path / "m.gram")


@pytest.mark.parametrize(
    ("cls", "match"),
    [
        (Kernel, "register_kernel takes a dataclass"),
        (type("Loo", (RBF,), {"name": "loo"}), "a kernel needs a name"),
        (type("Other", (RBF,), {}), "the name 'rbf' is taken, by gramian"),
    ],
)
def test_what_is_no_kernel_of_ones_own(cls, match):
    with pytest.raises((TypeError, ValueError), match=match):
        register_kernel(cls)
