"""Every capability with every estimator and with every variant; all pairs are `make torture`."""

from pathlib import Path

import pytest

from tests.matrix.capabilities import CAPABILITIES
from tests.matrix.mutations import MUTATIONS, SOURCE
from tests.matrix.page import PAGE, page
from tests.matrix.pairs import all_pairs, pairwise, runs_here
from tests.matrix.refusals import REFUSALS


def parameters():
    """The pairs; of each capability with each estimator, the first alone is quick."""
    met = set()
    for pair in filter(runs_here, pairwise()):
        both = pair.capability.name, pair.case.estimator
        slow = pair.capability.slow or both in met
        met.add(both)
        yield pytest.param(pair, marks=[pytest.mark.slow] if slow else [], id=str(pair))


@pytest.mark.parametrize("pair", list(parameters()))
def test_pair(pair, tmp_path):
    try:
        pair.check(tmp_path)
    except Exception:
        if not pair.pending:
            raise


def test_every_refusal_is_met():
    """A refusal that no pair meets is a mistake, or no longer true."""
    pairs = list(all_pairs())
    for one in REFUSALS:
        assert any(pair.refusal is one for pair in pairs), one.reason


def test_what_is_fitted_meets_every_estimator_and_variant():
    met = {(pair.capability.name, pair.case.estimator) for pair in pairwise()}
    assert met == {(pair.capability.name, pair.case.estimator) for pair in all_pairs()}
    quick = {name for name, one in CAPABILITIES.items() if not one.slow}
    met = {(pair.capability.name, pair.case.variant) for pair in pairwise()}
    every = {(pair.capability.name, pair.case.variant) for pair in all_pairs()}
    assert {pair for pair in every if pair[0] in quick} <= met


def test_the_page_is_that_of_the_registry():
    """`python -m tests.matrix --page` writes it."""
    assert Path(PAGE).read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.file)
def test_a_mutation_is_of_a_line_that_is_there_and_of_pairs_that_are(mutation):
    """What `python -m tests.matrix.mutations` makes; moved lines are noticed here, at no cost."""
    text = (SOURCE / mutation.file).read_text(encoding="utf-8")
    assert text.count(mutation.line) == 1
    assert any(all(word in str(pair) for word in mutation.words) for pair in all_pairs())
