"""Methods that are there if the estimator inside has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.utils.metaestimators import available_if

Method = TypeVar("Method", bound=Callable[..., Any])


def if_estimator_has(name: str) -> Callable[[Method], Method]:
    """Decorate a method that is there if ``self.estimator`` has one of this name."""
    decorate: Callable[[Method], Method] = available_if(
        lambda model: hasattr(model.estimator, name)
    )
    return decorate
