"""Arrays on a device where there is none; tests of those that are there are in test_device.py."""

import sys

import numpy as np
import pytest

from gramian import LeastSquaresSVC
from gramian.core.arrays import device_memory, find_device, to_host


def test_a_device_needs_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # an import of it fails
    match = r"device='cuda' needs torch, which is not installed\. Install gramian\[gpu\]"
    with pytest.raises(ValueError, match=match):
        find_device("cuda")
    with pytest.raises(ValueError, match=match):
        LeastSquaresSVC(gamma=1.0, C=1.0, device="cuda").fit(np.eye(3), [0, 1, 1])


def test_host_memory_is_no_device():
    X = np.eye(2)
    assert to_host(X) is X
    assert device_memory(X) is None
