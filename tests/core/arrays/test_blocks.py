import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gramian.core.arrays import row_blocks


@given(
    n_rows=st.integers(0, 500),
    n_cols=st.integers(0, 500),
    itemsize=st.sampled_from([4, 8]),
    budget=st.integers(1, 100_000),
)
def test_blocks_cover_every_row_once_and_keep_to_the_budget(n_rows, n_cols, itemsize, budget):
    blocks = list(row_blocks(n_rows, n_cols, itemsize, budget))
    covered = [row for block in blocks for row in range(block.start, block.stop)]
    assert covered == list(range(n_rows))
    for block in blocks:
        rows = block.stop - block.start
        assert rows == 1 or rows * n_cols * itemsize <= budget


def test_no_rows_give_no_blocks():
    assert list(row_blocks(0, 10)) == []


def test_blocks_are_as_large_as_the_budget_allows():
    assert [block.stop for block in row_blocks(7, 10, 8, budget=240)] == [3, 6, 7]


def test_default_budget_bounds_a_block_of_a_large_matrix():
    sizes = {block.stop - block.start for block in row_blocks(100_000, 100_000)}
    assert max(sizes) * 100_000 * np.dtype(float).itemsize <= 32 * 2**20
