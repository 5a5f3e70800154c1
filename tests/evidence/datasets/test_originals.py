import numpy as np
import pytest

from evidence.datasets._originals import parse, read_originals
from evidence.datasets._registry import Original


def test_target_last_with_spaces_and_blank_lines():
    arrays = parse(["1, 2,3\r\n\n", " 4,5, 6 \n"], Original(("a", "b"), n_train=1), "here")
    assert arrays["X"].tolist() == [[1, 2], [4, 5]]
    assert arrays["y"].tolist() == [3, 6]
    assert arrays["train"].tolist() == [0]
    assert arrays["test"].tolist() == [1]


def test_target_first_with_words():
    original = Original(("a",), target=0, codes={"B": 1, "M": 7})
    arrays = parse(["B,0.5,M\n1,2,3\n"], original, "here")
    assert arrays["y"].tolist() == [1, 1]
    assert arrays["X"].tolist() == [[0.5, 7], [2, 3]]
    assert set(arrays) == {"X", "y"}


def test_white_space_delimiter():
    arrays = parse(["0.1  2 \n 3\t4\n"], Original(("a",), delimiter=None), "here")
    assert arrays["X"].dtype == np.float32
    assert arrays["X"].tolist() == [[np.float32(0.1)], [3]]


@pytest.mark.parametrize("text", ["<html>no such page</html>", "1,2\n1,2,3\n", "", "A,1\n"])
def test_what_is_no_table_is_refused(text):
    with pytest.raises(ValueError, match=r"here is no table of samples \(.*\); get another copy"):
        parse([text], Original(("a",)), "here")


def test_originals_are_read_only_when_all_are_there(tmp_path):
    original = Original(("http://x/one.tra", "http://x/two.tes"))
    (tmp_path / "one.tra").write_text("1,2\n")
    assert read_originals(tmp_path, original) is None
    (tmp_path / "two.tes").write_bytes(b"3,4\xff\n")
    assert read_originals(tmp_path, original) == ["1,2\n", "3,4\xff\n"]
