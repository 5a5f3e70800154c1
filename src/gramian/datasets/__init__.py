"""Artificial data sets, generated from a seed."""

from gramian.datasets._generators import (
    make_banana,
    make_ringnorm,
    make_sinc,
    make_twelve_points,
    make_twonorm,
    make_waveform,
)

__all__ = [
    "make_banana",
    "make_ringnorm",
    "make_sinc",
    "make_twelve_points",
    "make_twonorm",
    "make_waveform",
]
