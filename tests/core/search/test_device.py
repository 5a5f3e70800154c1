"""A search whose larger parts are on a device, against the same search in host memory."""

from typing import ClassVar

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="a device is one of torch")

from gramian.core.arrays import to_device  # noqa: E402
from gramian.core.equations import LS_SVM, ClassTargets, Responses  # noqa: E402
from gramian.core.kernels import make_kernel  # noqa: E402
from gramian.core.search import Problem, select  # noqa: E402
from gramian.core.search._problem import DeviceProblem  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Few(DeviceProblem):
    largest: ClassVar[int] = 300


def problems(kernel="rbf", classes=True, n=700):
    """The same problem in both homes, to be searched on all samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    values = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)
    targets = ClassTargets((values > 0).astype(int), 2) if classes else Responses(values[:, None])
    kernel = make_kernel(kernel)
    here = Problem(LS_SVM, targets, X, kernel)
    return here, Few(LS_SVM, targets, X, kernel, to_device(X, DEVICE))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "exponential"])
@pytest.mark.parametrize("classes", [True, False])
def test_the_same_choice(kernel, classes):
    here, there = problems(kernel, classes)
    first, second = select(here), select(there)
    assert second.gamma == pytest.approx(first.gamma, rel=1e-6)
    assert second.ridge == pytest.approx(first.ridge, rel=1e-6)
    assert second.value == pytest.approx(first.value, rel=1e-9)
    assert second.sizes.max() == 700


def test_parts_of_it():
    _, there = problems()
    assert type(there.take(np.arange(300))) is Problem
    some = there.take(np.arange(1, 700, 2))
    assert type(some) is Few
    assert len(some.there) == some.n == 350
    assert there.most >= 700


def test_no_slopes_no_device():
    """What needs a spectrum is done in host memory, on as many samples as elsewhere."""
    _, there = problems()
    found = select(there, gamma=0.5)
    assert found.sizes.max() == 300
