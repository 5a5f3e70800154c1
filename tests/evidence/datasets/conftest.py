import pytest

from evidence.datasets._registry import FILES


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """No test sees the user's data or cache; this is the cache folder that it sees instead."""
    monkeypatch.delenv("GRAMIAN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gramian" / "datasets"


@pytest.fixture
def register(monkeypatch):
    """Add a data set to the registry for one test."""

    def add(name, entry):
        monkeypatch.setitem(FILES, name, entry)

    return add
