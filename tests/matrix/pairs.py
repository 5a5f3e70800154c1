"""All pairs of a configuration and a capability, and what must come of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gramian.store import StoreError
from tests.matrix import answers, commands, edits, files, stores, tables  # noqa: F401  (register)
from tests.matrix.capabilities import CAPABILITIES, Capability, Refused
from tests.matrix.cases import Case, all_cases
from tests.matrix.refusals import Refusal, is_pending, refusal
from tests.torture.common import bad_error

FIT = CAPABILITIES["fit"]


@dataclass(frozen=True)
class Pair:
    """A configuration and a capability."""

    case: Case
    capability: Capability

    def __str__(self) -> str:
        return f"{self.capability.group}: {self.capability.name}, {self.case}"

    @property
    def refusal(self) -> Refusal | None:
        return refusal(self.case, self.capability)

    @property
    def pending(self) -> bool:
        return is_pending(self.case, self.capability)

    def check(self, folder: Path) -> None:
        """Assert that the pair works, or is refused as the registry says."""
        expected, refused = self.refusal, None
        try:
            self.capability.check(self.case, folder)
        except Exception as error:
            if expected is None:
                raise
            refused = error
        if expected is not None:
            assert refused is not None, f"it works; the registry refuses it: {expected.reason}"
            assert _is_sentence(refused), f"refused by {type(refused).__name__}: {refused}"
            assert re.search(expected.says, str(refused), re.DOTALL), f"refused by: {refused}"


def _is_sentence(error: Exception) -> bool:
    if isinstance(error, Refused):
        return str(error).rstrip().endswith(".")
    return bad_error(error, (ValueError, StoreError)) is None


def all_pairs() -> Iterator[Pair]:
    """Every pair; of a configuration that cannot be fitted, the fit alone."""
    for case in all_cases():
        several = (FIT,) if refusal(case, FIT) else CAPABILITIES.values()
        yield from (Pair(case, one) for one in several if one.absent(case) is None)


def runs_here(pair: Pair) -> bool:
    """Whether the package of a variant is there: torch is not among those of the tests."""
    return pair.case.how.package is None or find_spec(pair.case.how.package) is not None


def pairwise() -> list[Pair]:
    """Fewer pairs, in which every capability meets every estimator and every variant.

    A slow one meets every estimator only. Every configuration is met by some capability.
    """
    chosen: list[Pair] = []
    met: set[tuple[str, str]] = set()
    everything = list(all_pairs())
    for k, capability in enumerate(CAPABILITIES.values()):
        pairs = [pair for pair in everything if pair.capability is capability]
        estimators: set[str] = set()
        for variant in () if capability.slow else dict.fromkeys(p.case.variant for p in pairs):
            some = [pair for pair in pairs if pair.case.variant == variant]
            some = some[k % len(some) :] + some[: k % len(some)]  # not always the first
            best = min(some, key=lambda p: (p.case.estimator in estimators, _of(p) in met))
            chosen.append(best)
            estimators.add(best.case.estimator)
            met.add(_of(best))
        for pair in pairs:
            if pair.case.estimator not in estimators:
                chosen.append(pair)
                estimators.add(pair.case.estimator)
    forgets = [pair for pair in everything if pair.capability.name == "forget"]
    return chosen + [pair for pair in forgets if _of(pair) not in met]


def _of(pair: Pair) -> tuple[str, str]:
    return pair.case.estimator, pair.case.variant
