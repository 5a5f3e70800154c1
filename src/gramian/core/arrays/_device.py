"""An array on another device: a torch tensor that NumPy's functions accept.

NumPy hands its functions over to an argument that has ``__array_function__`` and
``__array_ufunc__``, so the layers above write ``np.abs(X).max()`` for arrays anywhere, and make
new arrays on the device of another by ``np.zeros(n, like=X)``. Arrays of NumPy that meet one on a
device are moved there. Only what the layers above need is here; the rest raises TypeError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.lib.mixins import NDArrayOperatorsMixin

from gramian.core.arrays import _torch
from gramian.core.arrays._placement import find_device

_TO_NUMPY: dict[torch.dtype, np.dtype] = {
    torch.float64: np.dtype(np.float64),
    torch.float32: np.dtype(np.float32),
    torch.complex128: np.dtype(np.complex128),
    torch.complex64: np.dtype(np.complex64),
    torch.int64: np.dtype(np.int64),
    torch.int32: np.dtype(np.int32),
    torch.bool: np.dtype(bool),
}
_TO_TORCH = {dtype: kind for kind, dtype in _TO_NUMPY.items()}

_UFUNCS: dict[Any, Any] = {
    np.add: torch.add,
    np.subtract: torch.subtract,
    np.multiply: torch.multiply,
    np.divide: torch.true_divide,
    np.negative: torch.negative,
    np.power: torch.pow,
    np.absolute: torch.abs,
    np.sqrt: torch.sqrt,
    np.square: torch.square,
    np.exp: torch.exp,
    np.log: torch.log,
    np.maximum: torch.maximum,
    np.minimum: torch.minimum,
    np.greater: torch.gt,
    np.greater_equal: torch.ge,
    np.less: torch.lt,
    np.less_equal: torch.le,
    np.equal: torch.eq,
    np.not_equal: torch.ne,
    np.isnan: torch.isnan,
    np.isfinite: torch.isfinite,
    np.invert: torch.bitwise_not,
    np.bitwise_and: torch.bitwise_and,
    np.bitwise_or: torch.bitwise_or,
    np.sign: torch.sign,
}
_MIXED = (np.maximum, np.minimum, np.power)  # of which torch has none with a number
_PLAIN = {ufunc: own for ufunc, own in _UFUNCS.items() if ufunc not in _MIXED}
_FUNCTIONS: dict[Any, Any] = {}
Implementation = TypeVar("Implementation", bound=Callable[..., Any])


class DeviceArray(NDArrayOperatorsMixin):
    """A tensor with the interface of an ndarray, as far as the layers above use it."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    # -- description ----------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype:
        return _TO_NUMPY[self.tensor.dtype]

    @property
    def itemsize(self) -> int:
        return int(self.tensor.element_size())

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        return int(self.tensor.ndim)

    @property
    def size(self) -> int:
        return int(self.tensor.numel())

    def __len__(self) -> int:
        return len(self.tensor)

    def __repr__(self) -> str:
        return f"DeviceArray({self.tensor!r})"

    # -- views and copies -----------------------------------------------------------------------

    @property
    def T(self) -> DeviceArray:
        return DeviceArray(self.tensor.permute(*reversed(range(self.ndim))))

    @property
    def real(self) -> DeviceArray:
        return DeviceArray(self.tensor.real if self.tensor.is_complex() else self.tensor)

    @property
    def imag(self) -> DeviceArray:
        if self.tensor.is_complex():
            return DeviceArray(self.tensor.imag)
        return DeviceArray(torch.zeros_like(self.tensor))

    def __getitem__(self, index: Any) -> DeviceArray:
        return DeviceArray(self.tensor[self._index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        value, index = self._moved(value), self._index(index)
        if isinstance(value, torch.Tensor):
            if _is_view(value, self.tensor) and _same(value, self.tensor[index]):
                return  # ``A[i] += B`` has changed A already
            value = value.to(self.tensor.dtype)
        self.tensor[index] = value

    def __iter__(self) -> Any:
        return (DeviceArray(row) for row in self.tensor)

    def copy(self) -> DeviceArray:
        return DeviceArray(self.tensor.clone())

    def astype(self, dtype: Any, copy: bool = True) -> DeviceArray:
        return DeviceArray(self.tensor.to(_TO_TORCH[np.dtype(dtype)], copy=copy))

    def reshape(self, *shape: Any) -> DeviceArray:
        return DeviceArray(self.tensor.reshape(*shape))

    def swapaxes(self, first: int, second: int) -> DeviceArray:
        return DeviceArray(self.tensor.swapaxes(first, second))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        found = self.tensor.detach().cpu().numpy()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (np.asarray(self), str(self.tensor.device))

    def __float__(self) -> float:
        return float(self.tensor)

    def __int__(self) -> int:
        return int(self.tensor)

    def __bool__(self) -> bool:
        return bool(self.tensor)

    __index__ = __int__

    # -- reductions -----------------------------------------------------------------------------

    def sum(self, axis: Any = None, keepdims: bool = False) -> DeviceArray:
        axes = tuple(range(self.ndim)) if axis is None else axis
        return DeviceArray(torch.sum(self.tensor, dim=axes, keepdim=keepdims))

    def max(self, axis: Any = None, initial: Any = None) -> DeviceArray:
        return self._extreme(torch.amax, torch.maximum, axis, initial)

    def min(self, axis: Any = None, initial: Any = None) -> DeviceArray:
        return self._extreme(torch.amin, torch.minimum, axis, initial)

    def any(self, axis: Any = None) -> DeviceArray:
        return DeviceArray(self.tensor.any() if axis is None else self.tensor.any(dim=axis))

    def all(self, axis: Any = None) -> DeviceArray:
        return DeviceArray(self.tensor.all() if axis is None else self.tensor.all(dim=axis))

    def diagonal(self) -> DeviceArray:
        return DeviceArray(self.tensor.diagonal())

    # -- NumPy's protocols ----------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not kwargs and ufunc in _PLAIN:
            return DeviceArray(_PLAIN[ufunc](*[self._moved(value) for value in inputs]))
        out, where, known = kwargs.pop("out", None), kwargs.pop("where", True), {"dtype", "casting"}
        if method != "__call__" or not known.issuperset(kwargs):
            return NotImplemented
        values = [self._moved(value) for value in inputs]
        if ufunc is np.matmul:
            kind = torch.promote_types(values[0].dtype, values[1].dtype)
            found = values[0].to(kind) @ values[1].to(kind)
        elif ufunc in _MIXED:
            found = _UFUNCS[ufunc](*(torch.as_tensor(v, device=self.tensor.device) for v in values))
        elif ufunc in _UFUNCS:
            found = _UFUNCS[ufunc](*values)
        else:
            return NotImplemented
        if out is None:
            return DeviceArray(found)
        if where is not True:
            found = torch.where(self._moved(where), found, out[0].tensor)
        out[0].tensor.copy_(found)
        return out[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in _FUNCTIONS:
            return NotImplemented
        return _FUNCTIONS[func](self.tensor.device, *args, **kwargs)

    def through(self, operation: str, *arguments: Any, **options: Any) -> Any:
        """Run an operation of `gramian.core.arrays` on this device, this array first."""
        values = [self._moved(value) for value in arguments]
        found = getattr(_torch, operation)(self.tensor, *values, **options)
        return DeviceArray(found) if isinstance(found, torch.Tensor) else found

    # -- inside ---------------------------------------------------------------------------------

    def _moved(self, value: Any) -> Any:
        """The tensor of an array, on this device; a number as it is."""
        kind = type(value)
        if kind is DeviceArray:
            return value.tensor
        if kind is float or kind is slice or kind is int:
            return value
        if kind is np.ndarray:
            return moved(value, self.tensor.device)
        return value.item() if isinstance(value, np.generic) else value

    def _index(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(self._moved(part) for part in index)
        return self._moved(index)

    def _extreme(self, reduce: Any, join: Any, axis: Any, initial: Any) -> DeviceArray:
        if initial is None:
            return DeviceArray(reduce(self.tensor) if axis is None else reduce(self.tensor, axis))
        least = torch.as_tensor(initial, dtype=self.tensor.dtype, device=self.tensor.device)
        if self.size == 0:
            return DeviceArray(least)
        return DeviceArray(join(reduce(self.tensor), least))


def _restored(values: Any, device: str) -> DeviceArray:
    return DeviceArray(moved(values, find_device(device)))


def _is_view(view: torch.Tensor, whole: torch.Tensor) -> bool:
    return bool(view.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr())


def _same(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two tensors are the same numbers in the same memory."""
    return bool(first.data_ptr() == second.data_ptr() and first.shape == second.shape)


def moved(value: Any, device: Any) -> torch.Tensor:
    """An array as a tensor on a device."""
    if isinstance(value, DeviceArray):
        return value.tensor
    array = np.asarray(value)
    if array.dtype not in _TO_TORCH:
        array = array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)
    if not array.flags.writeable or any(step < 0 for step in array.strides):
        array = array.copy()  # torch takes neither
    return torch.from_numpy(array).to(device)


# -- functions of NumPy -------------------------------------------------------------------------


def _implements(*functions: Any) -> Callable[[Implementation], Implementation]:
    def enter(implementation: Implementation) -> Implementation:
        _FUNCTIONS.update(dict.fromkeys(functions, implementation))
        return implementation

    return enter


def _kind(dtype: Any) -> torch.dtype:
    return _TO_TORCH[np.dtype(float if dtype is None else dtype)]


@_implements(np.zeros, np.empty)
def _zeros(device: Any, /, shape: Any, dtype: Any = None, **ignored: Any) -> DeviceArray:
    shape = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    return DeviceArray(torch.zeros(shape, dtype=_kind(dtype), device=device))


@_implements(np.ones)
def _ones(device: Any, /, shape: Any, dtype: Any = None, **ignored: Any) -> DeviceArray:
    return DeviceArray(torch.ones(shape, dtype=_kind(dtype), device=device))


@_implements(np.eye)
def _eye(device: Any, /, n: int, dtype: Any = None, **ignored: Any) -> DeviceArray:
    return DeviceArray(torch.eye(n, dtype=_kind(dtype), device=device))


@_implements(np.full)
def _full(device: Any, /, shape: Any, value: Any, dtype: Any = None, **ignored: Any) -> DeviceArray:
    shape = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    return DeviceArray(torch.full(shape, value, dtype=_kind(dtype), device=device))


@_implements(np.array)
def _array(
    device: Any, /, value: Any, dtype: Any = None, order: str = "K", **ignored: Any
) -> DeviceArray:
    kept = torch.contiguous_format if order == "C" else torch.preserve_format
    return DeviceArray(_asarray(device, value, dtype).tensor.clone(memory_format=kept))


@_implements(np.asarray)
def _asarray(device: Any, /, value: Any, dtype: Any = None, **ignored: Any) -> DeviceArray:
    tensor = moved(value, device)
    return DeviceArray(tensor if dtype is None else tensor.to(_kind(dtype)))


@_implements(np.zeros_like, np.empty_like)
def _zeros_like(device: Any, /, array: Any, **ignored: Any) -> DeviceArray:
    return DeviceArray(torch.zeros_like(moved(array, device)))


@_implements(np.full_like)
def _full_like(device: Any, array: Any, value: Any) -> DeviceArray:
    return DeviceArray(torch.full_like(moved(array, device), value))


@_implements(np.ones_like)
def _ones_like(device: Any, array: Any) -> DeviceArray:
    return DeviceArray(torch.ones_like(moved(array, device)))


def _together(device: Any, arrays: Any) -> list[torch.Tensor]:
    tensors = [moved(array, device) for array in arrays]
    kind = tensors[0].dtype
    for tensor in tensors[1:]:
        kind = torch.promote_types(kind, tensor.dtype)
    return [tensor.to(kind) for tensor in tensors]


@_implements(np.concatenate)
def _concatenate(device: Any, arrays: Any, axis: int = 0) -> DeviceArray:
    return DeviceArray(torch.cat(_together(device, arrays), dim=axis))


@_implements(np.append)
def _append(device: Any, array: Any, values: Any) -> DeviceArray:
    return _concatenate(device, [array, values])


@_implements(np.vstack)
def _vstack(device: Any, arrays: Any) -> DeviceArray:
    return _concatenate(device, arrays)


@_implements(np.column_stack)
def _column_stack(device: Any, arrays: Any) -> DeviceArray:
    return DeviceArray(torch.column_stack(_together(device, arrays)))


@_implements(np.pad)
def _pad(device: Any, array: Any, widths: Any) -> DeviceArray:
    (_, rows), (_, columns) = widths
    return DeviceArray(torch.nn.functional.pad(moved(array, device), (0, columns, 0, rows)))


@_implements(np.where)
def _where(device: Any, condition: Any, first: Any, second: Any) -> DeviceArray:
    first, second = (
        (value.item() if isinstance(value, np.generic) else value)
        if np.isscalar(value)
        else moved(value, device)
        for value in (first, second)
    )
    return DeviceArray(torch.where(moved(condition, device), first, second))


@_implements(np.einsum)
def _einsum(device: Any, formula: str, *arrays: Any) -> DeviceArray:
    if formula == "ij,ij->i":  # torch.einsum thinks for longer than this takes
        return DeviceArray((moved(arrays[0], device) * moved(arrays[1], device)).sum(dim=1))
    return DeviceArray(torch.einsum(formula, *_together(device, arrays)))


@_implements(np.diagonal)
def _diagonal(device: Any, array: Any) -> DeviceArray:
    result: DeviceArray = array.diagonal()
    return result


@_implements(np.diag)
def _diag(device: Any, array: Any) -> DeviceArray:
    return DeviceArray(torch.diag(array.tensor))


@_implements(np.fill_diagonal)
def _fill_diagonal(device: Any, array: Any, value: Any) -> None:
    array.tensor.diagonal()[:] = value if np.isscalar(value) else moved(value, device)


@_implements(np.tril)
def _tril(device: Any, array: Any, k: int = 0) -> DeviceArray:
    return DeviceArray(torch.tril(array.tensor, k))


@_implements(np.triu)
def _triu(device: Any, array: Any, k: int = 0) -> DeviceArray:
    return DeviceArray(torch.triu(array.tensor, k))


@_implements(np.trace)
def _trace(device: Any, array: Any) -> DeviceArray:
    result: DeviceArray = array.diagonal().sum()
    return result


@_implements(np.sum)
def _sum(device: Any, array: Any, axis: Any = None, keepdims: bool = False) -> DeviceArray:
    result: DeviceArray = array.sum(axis, keepdims)
    return result


@_implements(np.any)
def _any(device: Any, array: Any) -> DeviceArray:
    result: DeviceArray = array.any()
    return result


@_implements(np.dot)
def _dot(device: Any, first: Any, second: Any) -> DeviceArray:
    return DeviceArray(moved(first, device) @ moved(second, device))


@_implements(np.vdot)
def _vdot(device: Any, first: Any, second: Any) -> DeviceArray:
    return DeviceArray(torch.sum(moved(first, device) * moved(second, device)))


@_implements(np.linalg.norm)
def _norm(device: Any, array: Any) -> DeviceArray:
    return DeviceArray(torch.linalg.vector_norm(array.tensor))


@_implements(np.linalg.eigh)
def _eigh(device: Any, array: Any) -> tuple[DeviceArray, DeviceArray]:
    values, vectors = torch.linalg.eigh(array.tensor)
    return DeviceArray(values), DeviceArray(vectors)


@_implements(np.outer)
def _outer(device: Any, first: Any, second: Any) -> DeviceArray:
    return DeviceArray(torch.outer(moved(first, device), moved(second, device)))


@_implements(np.delete)
def _delete(device: Any, array: Any, positions: Any, axis: int = 0) -> DeviceArray:
    stay = torch.ones(len(array), dtype=torch.bool, device=device)
    stay[moved(positions, device)] = False
    return DeviceArray(array.tensor[stay])


@_implements(np.flatnonzero)
def _flatnonzero(device: Any, array: Any) -> Any:
    """Positions, which are always an array of NumPy."""
    return torch.nonzero(array.tensor.reshape(-1))[:, 0].cpu().numpy()


@_implements(np.argmax)
def _argmax(device: Any, array: Any) -> int:
    return int(array.tensor.to(torch.int8 if array.tensor.dtype == torch.bool else None).argmax())


@_implements(np.iscomplexobj)
def _iscomplexobj(device: Any, array: Any) -> bool:
    return bool(array.tensor.is_complex())


@_implements(np.shape)
def _shape(device: Any, array: Any) -> tuple[int, ...]:
    result: tuple[int, ...] = array.shape
    return result


@_implements(np.ndim)
def _ndim(device: Any, array: Any) -> int:
    return int(array.ndim)
