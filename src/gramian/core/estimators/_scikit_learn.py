"""scikit-learn's base classes, with the type hints that they lack.

A type checker sees the declarations below; at run time the names are scikit-learn's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    from gramian.core.arrays import Array, ArrayLike, MatrixLike

    class BaseEstimator:
        """Parameters by name, as constructors take them."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_partial_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin: ...

    class RegressorMixin: ...

    class MetaEstimatorMixin: ...

    class TransformerMixin:
        """Methods that follow from ``transform``."""

        def fit_transform(
            self, X: MatrixLike, y: ArrayLike | None = None, **fit_params: Any
        ) -> Array: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        """Names of outputs."""

        def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        MetaEstimatorMixin,
        RegressorMixin,
        TransformerMixin,
    )

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "MetaEstimatorMixin",
    "RegressorMixin",
    "TransformerMixin",
]
