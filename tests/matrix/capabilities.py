"""The register of capabilities; their checks are in the modules beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.matrix.cases import Case

Check = Callable[[Case, Path], None]


class Refused(Exception):
    """What a command or a service said instead of doing what was asked."""


@dataclass(frozen=True)
class Capability:
    """One thing that people do with a model.

    ``needs`` is a method that an estimator must have, ``package`` one that must be installed;
    ``tables`` says that samples come as a table, ``slow`` that a check takes long.
    """

    name: str
    group: str
    check: Check
    needs: str | None = None
    package: str | None = None
    tables: bool = False
    slow: bool = False

    def absent(self, case: Case) -> str | None:
        """Why a configuration has no such capability, if it is no question of refusing it."""
        if self.needs and not hasattr(case.cls, self.needs):
            return f"for {'regressors' if case.classifies else 'classifiers'}"
        if self.tables and not case.how.tables:
            return "not in a table"
        if self.name == "gramian fit" and case.how.options is None:
            return "no option for it"
        return None


GROUPS = (
    "edits", "leave-one-out", "how sure", "data", "files", "export", "tables and streams", "store",
    "service", "command line",
)  # fmt: skip
"""In the order of the page."""
CAPABILITIES: dict[str, Capability] = {}
"""By name."""


def capability(name: str, group: str, **more: object) -> Callable[[Check], Check]:
    """Register the check of a capability."""

    def register(check: Check) -> Check:
        assert group in GROUPS, group
        assert name not in CAPABILITIES, name
        CAPABILITIES[name] = Capability(name, group, check, **more)  # type: ignore[arg-type]
        return check

    return register
