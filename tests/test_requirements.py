"""Each requirement of a user has a lower bound, and `.ci/versions` tries that version."""

import re
import tomllib
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).parents[1]
DEVELOPING = {"docs", "test", "integrations", "browser"}
"""Extras for work on the package, which take the newest."""
NOT_TRIED = {"river", "torch"}
"""River wants a later SciPy, and early versions of torch bring gigabytes."""
BOUND = re.compile(r"([a-z0-9-]+)(?:\[[a-z]+\])?>=([0-9.]+)")


def _bounds():
    """Yield the name and the lower bound of each requirement of a user."""
    with open(ROOT / "pyproject.toml", "rb") as stream:
        project = tomllib.load(stream)["project"]
    extras = project["optional-dependencies"]
    assert set(extras) >= DEVELOPING
    users = [extras[name] for name in extras if name not in DEVELOPING]
    for requirement in [*project["dependencies"], *(one for extra in users for one in extra)]:
        if not requirement.startswith("gramian["):
            found = BOUND.fullmatch(requirement)
            assert found, f"{requirement} has no lower bound"
            yield found.groups()


def test_each_lower_bound_is_tried():
    lines = (ROOT / ".ci" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(re.sub(r"\[.*\]| *#.*", "", line).split("==") for line in lines if line[0] != "#")
    for name, bound in _bounds():
        if name not in NOT_TRIED:
            assert Version(pins[name]) == Version(bound), name
