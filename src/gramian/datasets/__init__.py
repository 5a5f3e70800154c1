"""Data sets: generated, shipped with scikit-learn, read from a folder, or downloaded."""

from gramian.datasets._dataset import Dataset, Partition
from gramian.datasets._generators import (
    make_banana,
    make_ringnorm,
    make_sinc,
    make_twelve_points,
    make_twonorm,
    make_waveform,
)
from gramian.datasets._load import load, names
from gramian.datasets._registry import FILES

__all__ = [
    "FILES",
    "Dataset",
    "Partition",
    "load",
    "make_banana",
    "make_ringnorm",
    "make_sinc",
    "make_twelve_points",
    "make_twonorm",
    "make_waveform",
    "names",
]
