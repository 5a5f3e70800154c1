"""What a type checker sees: mypy reads this file, as `make lint` runs it, and would refuse Any."""

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from gramian import KernelDiscriminant, LeastSquaresSVR, TableModel
from gramian.core.engines import Engine, Holdings, Spec
from gramian.core.estimators import Fitted, LiveEstimator
from gramian.core.kernels import Kernel

X, y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])


def test_edits_return_the_estimator_itself() -> None:
    model = KernelDiscriminant(gamma=0.1, ridge=0.1)
    assert_type(model.fit(X, y), KernelDiscriminant)
    assert_type(model.partial_fit(X[:1], y[:1], ids=[7]), KernelDiscriminant)
    assert_type(model.forget([7]), KernelDiscriminant)
    learns: Callable[[NDArray[Any], NDArray[Any]], KernelDiscriminant] = model.fit
    assert learns is not None


def test_answers_are_arrays_and_numbers() -> None:
    model = LeastSquaresSVR(gamma=0.1, C=1.0).fit(X, y)
    assert_type(model.predict(X), NDArray[Any])
    assert_type(model.loo_score(), float)
    assert_type(model.get_params(), dict[str, Any])
    assert_type(model.kernel_, Kernel)


def test_seams_have_types() -> None:
    def seams(now: Fitted) -> None:
        assert_type(now.spec, Spec[Any])
        assert_type(now.holdings, Holdings)
        assert_type(now.engine, Engine)

    model: LiveEstimator = KernelDiscriminant(gamma=0.1, ridge=0.1).fit(X, y)
    seams(model._now)


def test_models_of_tables() -> None:
    model = TableModel(LeastSquaresSVR(gamma=0.1, C=1.0))
    assert_type(model.fit({"a": [1.0, 2.0, 4.0]}, [0.0, 1.0, 3.0]), TableModel)
