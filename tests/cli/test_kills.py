"""A command that is killed leaves a sound model, and the next one finishes its receipt."""

import sys

import pytest

from tests.torture import commands

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes by fork")


@pytest.mark.slow
def test_killed_commands():
    assert commands.kills(seed=1, n=12) == (12, [])
