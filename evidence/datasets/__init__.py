"""The data sets of the benchmarks: shipped with scikit-learn, read from a folder, or downloaded."""

from evidence.datasets._dataset import Dataset, Partition
from evidence.datasets._load import load, names
from evidence.datasets._registry import FILES

__all__ = ["FILES", "Dataset", "Partition", "load", "names"]
