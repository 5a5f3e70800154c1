"""The package's front door: public names, resolved on first use."""

import subprocess
import sys

import pytest

import gramian
import gramian.core.kernels

HEAVY = ("numpy", "scipy", "sklearn")


def test_import_loads_no_heavy_package():
    code = f"import sys, gramian; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", gramian.__all__)
def test_public_name_resolves_and_is_listed(name):
    assert getattr(gramian, name) is not None
    assert name in dir(gramian)


def test_name_resolves_to_the_object_of_its_module(monkeypatch):
    monkeypatch.setitem(gramian._PUBLIC, "make_kernel", "gramian.core.kernels")
    assert gramian.make_kernel is gramian.core.kernels.make_kernel


def test_unknown_name_raises():
    with pytest.raises(AttributeError, match="module 'gramian' has no attribute 'Nothing'"):
        _ = gramian.Nothing


def test_submodule_still_imports_by_from():
    from gramian.core import kernels

    assert kernels is sys.modules["gramian.core.kernels"]
