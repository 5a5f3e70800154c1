"""Versions and computer: enough to compare, nothing that identifies it."""

import getpass
import platform

import gramian
from evidence._environment import cores, fingerprint, machine
from evidence.experiments import kim2006_figure_1, kim2006_figure_2
from tests.evidence import fakes


def test_machine_names_versions_and_no_place():
    facts = machine()
    assert facts["Gramian"] == gramian.__version__
    assert facts["processor"].endswith(f"{cores()} cores")
    text = " ".join(facts.values())
    assert platform.node() not in text
    assert getpass.getuser() not in text.split()


def test_a_fingerprint_is_of_the_code():
    assert fingerprint(kim2006_figure_1.run).startswith(f"{gramian.__version__}+")
    assert fingerprint(kim2006_figure_1.run) != fingerprint(kim2006_figure_2.run)
    assert fingerprint(fakes.square) == fingerprint(fakes.counted)  # one module
