"""What pages state about the code, held against the code."""

import re
import tomllib
from pathlib import Path

import pytest

from gramian.estimators import ESTIMATORS

ROOT = Path(__file__).parent.parent


def read(name):
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_layers_of_the_guide_are_those_that_are_checked():
    with open(ROOT / "pyproject.toml", "rb") as stream:
        contracts = tomllib.load(stream)["tool"]["importlinter"]["contracts"]
    above, core = (contracts[k]["layers"][::-1] for k in (0, 1))
    expected = [{f"core.{name}" for name in layer.split(" | ")} for layer in core]
    expected += [set(layer.split(" | ")) for layer in above[1:]]  # the first is the core
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    table = page.split("| package | holds |\n")[1].split("\n\n")[0]
    found = [set(re.findall("`([^`]+)`", row.split("|")[1])) for row in table.splitlines()[1:]]
    assert found == expected


def test_the_choice_of_an_estimator_is_as_the_guide_says():
    pytest.importorskip("click")
    from gramian.cli._estimators import CENTRES, EXACT_UP_TO

    words = f"a stack up to {EXACT_UP_TO:,} rows, and beyond an orthogonal basis of {CENTRES:,}"
    assert words in " ".join(read("docs/choosing.md").split())


def test_only_orthogonal_estimators_and_stacks_refuse_precomputed_kernels():
    assert "all but the orthogonal ones and stacks also take precomputed kernels" in read(
        "README.md"
    )
    refusing = set()
    for name, cls in ESTIMATORS.items():
        inside = {"transductive": None} if "transductive" in cls().get_params() else {}
        try:
            cls(**inside).set_params(kernel="precomputed").fit([[1.0, 0.1], [0.1, 1.0]], [0, 1])
        except ValueError as error:
            if "precomputed" in str(error):
                refusing.add(name)
    assert refusing == {name for name in ESTIMATORS if name.startswith(("Orthogonal", "Stacked"))}


@pytest.mark.parametrize(
    "words",
    ["as often as you ask", "leaves no trace", "at any ridge", 'pip install "gramian['],
)
@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/updating.md",
        "docs/start.md",
        "docs/index.md",
        "docs/serve.md",
        "docs/store.md",
    ],
)
def test_what_was_never_true_is_not_said(page, words):
    assert words not in read(page)
