"""The papers' tables and figures, and our speed and accuracy: computed in one way.

An `Experiment` lists its cases, computes one, and reports on all. What is computed is kept in one
file, whoever asked for it. Reports become sections of a page (``python -m evidence papers``) and
files of docs/benchmarks (``python -m evidence bench``).
"""

from evidence._experiment import Cell, Experiment, Figure, Table, Text, UnavailableError

__all__ = ["Cell", "Experiment", "Figure", "Table", "Text", "UnavailableError"]
