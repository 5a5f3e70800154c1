"""The names that people can import from the documented packages: few enough to be learned."""

import re
from importlib import import_module
from pathlib import Path

API = Path(__file__).parents[1] / "docs" / "api.md"


def test_documented_packages_have_at_most_150_names():
    packages = re.findall(r"^\.\. public:: (\S+)$", API.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(packages) == 12
    names = {f"{package}.{name}" for package in packages for name in import_module(package).__all__}
    assert len(names) <= 150
