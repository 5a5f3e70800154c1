"""Values that come from a file: each check takes what fits and says what is wrong with the rest."""

import numpy as np
import pytest
from scipy import sparse

from gramian.core.validation import (
    ModelFileError,
    check_array,
    check_index,
    check_keys,
    check_labels,
    check_number,
    check_samples,
    check_sequence,
    check_text,
    check_whole,
)

CSR = sparse.csr_array(np.eye(2))
GOOD = [
    (check_keys, {"a": 1}, (["a"],)),
    (check_array, np.ones(2), ((2,),)),
    (check_samples, CSR, ((None, 2),)),
    (check_index, np.array([0, 2]), ((2,), 0, 3)),
    (check_labels, np.array(["a", 1.5], dtype=object), ((2,),)),
    (check_number, 0.5, ()),
    (check_whole, 3, ()),
    (check_text, "a", ()),
    (check_sequence, [1, 2], (2,)),
]
BAD = [
    (check_keys, ["a"], (["a"],), "the part is no dict of names"),
    (check_keys, {1: 2}, (["a"],), "the part is no dict of names"),
    (check_keys, {}, (["a"],), "the part lacks a"),
    (check_keys, {"a": 1, "b": 2}, (["a"],), "has b, which this version does not know"),
    (check_array, [1.0], ((1,),), "is a list, not an array"),
    (check_array, np.ones(3), ((None, 2),), r"has shape \(3,\), not \('any', 2\)"),
    (check_array, np.ones(2, int), ((2,),), "has type int64"),
    (check_array, np.array([np.nan]), ((1,),), "not finite"),
    (check_samples, CSR, ((None, 3),), r"has shape \(2, 2\), not \(None, 3\)"),
    (check_samples, np.ones((1, 1), np.float16), ((1, 1),), "has type float16"),
    (check_index, np.array([3]), ((1,), 0, 3), "has numbers outside of 0 to 2"),
    (check_labels, np.array([None], dtype=object), ((1,),), "neither text nor numbers"),
    (check_number, True, (), "is a bool, not a number"),
    (check_number, 10**40, (), "is too large"),
    (check_number, np.inf, (), "is inf, not finite"),
    (check_number, -1.0, (0.0,), "is -1, which is too small"),
    (check_whole, 1.0, (), "is a float, not a whole number"),
    (check_whole, -1, (), "is out of range"),
    (check_text, b"a", (), "is a bytes, not text"),
    (check_sequence, "ab", (), "is a str, not a list"),
    (check_sequence, [1], (2,), "has 1 entries, not 2"),
]


@pytest.mark.parametrize(("check", "value", "more"), GOOD)
def test_what_fits_is_taken(check, value, more):
    found = check(value, "the part", *more)
    assert found is None if check is check_number else found is value


@pytest.mark.parametrize(("check", "value", "more", "match"), BAD)
def test_what_does_not_fit_is_refused(check, value, more, match):
    with pytest.raises(ModelFileError, match=match):
        check(value, "the part", *more)
