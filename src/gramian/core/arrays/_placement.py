"""Where an array lives: in host memory, or on a device of torch.

Torch is imported when the first tensor or the name of a device is seen, not before.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def is_tensor(X: Any) -> bool:
    """Whether X is a tensor of torch."""
    torch = sys.modules.get("torch")  # a tensor exists only where torch is loaded
    return torch is not None and isinstance(X, torch.Tensor)


def from_tensor(X: Any) -> Any:
    """A tensor as an array of NumPy; anything else as it is."""
    return X.detach().cpu().numpy() if is_tensor(X) else X


def on_device(X: Any) -> bool:
    """Whether X is an array that `to_device` returned or that was computed from one."""
    return hasattr(X, "tensor")


def device_like(X: Any) -> Any:
    """X if it is on a device, else None: ``np.zeros(n, like=home_of(X))`` is where X is."""
    return X if on_device(X) else None


def placed_like(X: Any, other: Any) -> Any:
    """X on the device of another array; as it is, if that one is in host memory."""
    return np.asarray(X, like=other) if on_device(other) else X


def to_device(X: Any, device: Any) -> Any:  # on a device
    """A dense array of NumPy as an array on a device; a device that is not there is an error."""
    from gramian.core.arrays._device import DeviceArray, moved

    return DeviceArray(moved(X, device))


def to_host(X: Any) -> Any:
    """An array on a device as one of NumPy; anything else as it is."""
    return np.asarray(X) if on_device(X) else X


def find_device(name: Any) -> Any:
    """The device of this name, once an array has been placed on it.

    Raises
    ------
    ValueError
        If torch is not installed, or has no such device.
    """
    try:
        import torch

        return torch.empty(1, device=name).device  # on a device
    except ImportError as error:
        raise ValueError(
            f"device={name!r} needs torch, which is not installed. Install gramian[gpu], or leave "
            f"device=None."
        ) from error
    except (RuntimeError, AssertionError, TypeError) as error:  # on a device
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device={name!r} is not usable here: {reason} Give the name of a device of torch such "
            f'as "cuda", or leave device=None.'
        ) from error


def device_memory(X: Any) -> int | None:
    """Bytes that can be taken on the device of X; None in host memory."""
    if on_device(X) and X.tensor.device.type == "cuda":  # on a device
        import torch

        device = X.tensor.device
        free, _ = torch.cuda.mem_get_info(device)
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        result: int = free + cached
        return result
    return None
