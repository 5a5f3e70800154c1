"""Values to JSON and back, in value, type and order in memory."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from gramian.files import ModelFileError
from gramian.files._archive import canonical_json
from gramian.files._decoding import Decoder
from gramian.files._encoding import Encoder
from gramian.tables import NumberColumn

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(st.characters(exclude_categories=())),  # lone surrogates too
)
dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(),
    hnp.unsigned_integer_dtypes(),
    hnp.floating_dtypes(sizes=(16, 32, 64)),
    hnp.unicode_string_dtypes(),
)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
keys = st.one_of(st.integers(), st.text())
trees = st.recursive(
    st.one_of(scalars, arrays),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
    ),
    max_leaves=8,
)


def round_trip(value):
    encoder = Encoder()
    text = canonical_json(encoder.value(value, "value"))
    return Decoder(encoder.members).value(json.loads(text))


def same(a, b):
    """Equal in type and value; NaN equals NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        nan, text = a.dtype.kind == "f", a.dtype.kind == "U"  # text may get narrower
        types = a.dtype.kind == b.dtype.kind if text else a.dtype == b.dtype
        return types and np.array_equal(a, b, equal_nan=nan)
    return a == b or (a != a and b != b)


@given(trees)
def test_round_trip(value):
    assert same(round_trip(value), value)


@given(arrays)
def test_scalars_of_numpy_keep_their_type(array):
    for value in array.ravel()[:3]:
        assert same(round_trip(value), value)


@pytest.mark.parametrize("order", ["C", "F"])
def test_order_in_memory_is_kept(order):
    array = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    for stored in (array, array[:2], array[::2]):
        back = round_trip(stored)
        np.testing.assert_array_equal(back, stored)
        assert back.flags.writeable
        assert back.flags.f_contiguous is (order == "F")


@given(st.lists(scalars, min_size=4, max_size=4))
def test_arrays_of_objects(items):
    array = np.empty(4, dtype=object)
    array[:] = items
    back = round_trip(array.reshape(2, 2))
    assert back.dtype == object
    assert same(back.ravel().tolist(), items)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse(kind, dtype):
    matrix = kind(np.array([[0, 1.5, 0], [0, 0, 0], [2, 0, -1]], dtype=dtype))
    back = round_trip(matrix)
    assert type(back) is kind
    assert back.dtype == dtype
    np.testing.assert_array_equal(back.toarray(), matrix.toarray())


def test_records():
    column = NumberColumn("a", 0.1, 2.0, False)
    assert round_trip([column]) == [column]


def test_dictionaries_have_one_order():
    forms = [Encoder().value(d, "d") for d in ({"a": 1, "b": 2, 3: 4}, {3: 4, "b": 2, "a": 1})]
    assert forms[0] == forms[1]


@pytest.mark.parametrize(
    "value",
    [
        math.sin,
        pytest.param(object(), id="object"),
        {1, 2},
        1j,
        np.complex64(1),
        np.datetime64("2001-01-01"),
        b"bytes",
    ],
    ids=repr,
)
def test_other_values_are_refused_by_name(value):
    with pytest.raises(ModelFileError, match="cannot save item 1 of state at 'x'"):
        Encoder().value({"x": [0, value]}, "state")
    with pytest.raises(ModelFileError, match="cannot save state"):
        Encoder().value(np.array([value], dtype=object), "state")
