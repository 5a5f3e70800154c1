"""What a newcomer sees first: pictures, doors, logo, and how to cite."""

import re
from pathlib import Path

import gramian

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def test_pictures_and_doors_come_before_code():
    opening = PAGE.split("```")[0]
    pictures = re.findall(r":::\{figure\} (\S+)\n:alt: \S+", opening)
    assert pictures == ["_figures/play_strip.webp", "_figures/accuracy.svg"]
    for name in pictures:
        assert (ROOT / "docs" / name).is_file()
    doors = opening.split(":::{container} doors")[1].split(":::")[0]
    assert re.findall(r"\*\*\[(\w+)\]", doors) == ["Tables", "Streams", "Erasure"]
    for name in re.findall(r"\]\(([\w.]+)\)", doors):
        assert (ROOT / "docs" / name).is_file()


def test_logo_and_favicon_are_those_of_the_pages():
    settings = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    mark = re.search(r'_MARK = .*?"([^"]*mark\.svg)"', settings)
    assert mark is not None
    assert "html_favicon = _MARK" in settings
    assert '"image_light": _MARK' in settings
    assert (ROOT / "src" / "gramian" / "serve" / "page" / "mark.svg").is_file()


def test_how_to_cite_it():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {gramian.__version__}" in cited
    for name in ("title: Gramian", "authors:", "license: BSD-3-Clause", "docs/references.md"):
        assert name in cited
