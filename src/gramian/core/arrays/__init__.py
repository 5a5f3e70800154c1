"""In-place operations on one triangle of a square buffer, and work in blocks of bounded memory.

The layers above call these functions instead of BLAS or LAPACK, so they do not depend on where an
array lives. All functions work on the *upper* triangle of a square Fortran-ordered buffer and keep
the strict lower triangle unchanged, so one buffer can hold two symmetric matrices.
"""

from gramian.core.arrays._blas import (
    add_cross,
    add_outer,
    add_rows_to_cholesky,
    clear_diagonal,
    clear_slot,
    complex_cholesky,
    eigh,
    factor_cholesky,
    invert_cholesky,
    invert_upper,
    mirror_upper,
    plus_outer,
    reciprocal_condition,
    scale_by_cholesky,
    small_cholesky,
    solve_lower,
    solve_transposed,
    solve_upper,
    subtract_outer,
    symmetric_product,
    triangle_rows,
    weighted_square,
)
from gramian.core.arrays._blocks import BLOCK_BYTES, row_blocks, without_rows
from gramian.core.arrays._placement import (
    device_like,
    device_memory,
    find_device,
    from_tensor,
    is_tensor,
    on_device,
    placed_like,
    to_device,
    to_host,
)
from gramian.core.arrays._threads import one_blas_thread, side_by_side, using_jobs
from gramian.core.arrays._tiles import each_block
from gramian.core.arrays._types import Array, ArrayLike, Device, MatrixLike, RandomSource

__all__ = [
    "BLOCK_BYTES",
    "Array",
    "ArrayLike",
    "Device",
    "MatrixLike",
    "RandomSource",
    "add_cross",
    "add_outer",
    "add_rows_to_cholesky",
    "clear_diagonal",
    "clear_slot",
    "complex_cholesky",
    "device_like",
    "device_memory",
    "each_block",
    "eigh",
    "factor_cholesky",
    "find_device",
    "from_tensor",
    "invert_cholesky",
    "invert_upper",
    "is_tensor",
    "mirror_upper",
    "on_device",
    "one_blas_thread",
    "placed_like",
    "plus_outer",
    "reciprocal_condition",
    "row_blocks",
    "scale_by_cholesky",
    "side_by_side",
    "small_cholesky",
    "solve_lower",
    "solve_transposed",
    "solve_upper",
    "subtract_outer",
    "symmetric_product",
    "to_device",
    "to_host",
    "triangle_rows",
    "using_jobs",
    "weighted_square",
    "without_rows",
]
