"""The spec: the parameters of a model, and what was chosen for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from gramian.core.engines._engine import Engine, Predictor
from gramian.core.engines._holdings import Holdings
from gramian.core.engines._state import State, Stored
from gramian.core.gram import Rebuild
from gramian.core.kernels import Kernel
from gramian.core.search import Trial

HOST = "numpy"
"""In place of a device: the estimator computes in host memory only."""

Callback = Callable[[Trial], object]
"""Is called with each setting that a search tries."""
Listener = Callable[[str, Trial], None]
"""Is called with the name of a kernel and each setting that a search tries for it."""


def called_too(listener: Listener, name: str, callback: Callback | None) -> Callback:
    """The callback, with a call of the listener before it."""

    def both(trial: Trial) -> None:
        listener(name, trial)
        if callback is not None:
            callback(trial)

    return both


S = TypeVar("S", bound=State)


class Spec(ABC, Generic[S]):
    """The parameters as `fit` read them; after `resolve`, the values that were chosen.

    A spec never changes. To add a family, write one with `resolve`, which returns the spec with
    numbers in place of the words that ask for a choice, and `build`, which makes the engine.
    """

    state_type: ClassVar[type[State]]
    """What files store of its engines."""
    chosen_on_data: tuple[str, ...] = ()
    """Names of the parameters that were chosen on samples."""

    @property
    def precomputed(self) -> bool:
        """Whether samples are rows of a precomputed kernel."""
        return False

    @property
    def device(self) -> Any:
        """Where the samples are held: a device, None to follow them, or `HOST`."""
        return HOST

    @abstractmethod
    def resolve(self, holdings: Holdings, start: Self | None = None) -> Self:
        """Choose on these holdings what is to be chosen, perhaps from the values of ``start``."""

    def fitted_numbers(self, width: int) -> int:
        """How many numbers were chosen on samples with so many features."""
        return len(self.chosen_on_data)

    @abstractmethod
    def build(self, holdings: Holdings, history: tuple[Rebuild, ...] = ()) -> Engine:
        """Build an engine for these holdings from scratch."""

    def build_tuned_on(self, tuning: Holdings, holdings: Holdings) -> Engine:
        """Build an engine whose every choice was made on other holdings."""
        return self.build(holdings)

    def near(self) -> tuple[tuple[float, Kernel], ...]:
        """Kernels that say which samples are near each other, each with a weight."""
        raise ValueError(
            "widths that follow x need a kernel that says which samples are near each other, which "
            'this estimator does not have. Take width="constant".'
        )

    def unseen(self) -> Self:
        """Return the spec of a model that holds none of the samples it was resolved on."""
        return replace(self, chosen_on_data=())  # type: ignore[type-var]

    # -- files ----------------------------------------------------------------------------------

    @abstractmethod
    def chosen(self) -> dict[str, Any]:
        """What `resolve` chose, as plain values by name."""

    @abstractmethod
    def with_chosen(self, values: Mapping[str, Any]) -> Self:
        """Return the resolved spec with values that `chosen` gave."""

    def choices(self) -> dict[str, Any]:
        """All that `build` needs of what `resolve` chose, for `with_chosen`."""
        return self.chosen()

    def validate_chosen(self, values: Mapping[str, Any], stored: Stored) -> None:
        """Raise `ModelFileError` unless `resolve` could have chosen these values from a file."""

    def validate_state(self, values: Mapping[str, Any], stored: Stored) -> None:
        """Raise `ModelFileError` unless an engine of this spec could have this state."""
        self.state_type.validate(values, stored)

    @abstractmethod
    def load(self, holdings: Holdings, state: S) -> Engine:
        """Return the engine of which a file has stored this state."""

    def predictor(self, holdings: Holdings, state: S) -> Predictor:
        """Return what computes predictions from a stored state; by default from a new engine."""
        return self.build(holdings).predictor(holdings)

    # -- what happens meanwhile ------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Without the callback, which a search alone calls; another search reads it anew."""
        state = dict(vars(self))
        return {**state, "callback": None} if "callback" in state else state

    def listening(self, listener: Listener) -> Self:
        """Return the same spec, whose searches tell ``listener`` of every setting they try."""
        return self

    def describe(self) -> str:
        """Names and values of what was chosen on samples, in words."""
        values = self.chosen()
        return ", ".join(
            f"{name}={values[name]:.4g}" if isinstance(values.get(name), float | int) else name
            for name in self.chosen_on_data
        )
