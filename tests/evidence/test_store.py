"""Finished cases: kept whole, read back, and mended after a kill."""

import pytest

from evidence._store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "page.jsonl"


def test_what_was_put_is_there_for_the_next_run(path):
    store = Store(path)
    assert len(store) == 0
    assert store.get("a") is None
    store.put("a", {"values": {"error": 1.5, "set": "θ"}})
    store.put("b", {"values": {"error": None}})
    again = Store(path)
    assert len(again) == 2
    assert again.get("a") == {"values": {"error": 1.5, "set": "θ"}}
    assert again.get("b") == {"values": {"error": None}}


def test_the_last_line_under_a_key_counts(path):
    store = Store(path)
    store.put("a", {"values": 1})
    store.put("a", {"values": 2})
    assert Store(path).get("a") == {"values": 2}


def test_what_is_dropped_is_unknown_until_it_is_put_anew(path):
    store = Store(path)
    store.put("a", {"values": 1})
    store.drop(["a", "b"])
    assert store.get("a") is None
    store.put("a", {"values": 2})
    assert Store(path).get("a") == {"values": 2}


def test_an_unfinished_line_is_cut_off(path):
    store = Store(path)
    store.put("a", {"values": 1})
    whole = path.read_bytes()
    for length in (1, 10):
        path.write_bytes(whole + whole[:length])
        assert len(Store(path)) == 1
        assert path.read_bytes() == whole
    Store(path).put("b", {"values": 2})
    assert len(Store(path)) == 2


@pytest.mark.parametrize("text", ["no json\n", "[1, 2]\n", '{"values": 1}\n'])
def test_a_foreign_line_is_refused(path, text):
    Store(path).put("a", {"values": 1})
    with path.open("a") as stream:
        stream.write(text)
    with pytest.raises(ValueError, match=r"line 2 of .* is no finished case. Delete the file"):
        Store(path)


def test_infinity_is_no_json(path):
    with pytest.raises(ValueError, match="Out of range float"):
        Store(path).put("a", {"values": float("inf")})
    assert not path.exists()
