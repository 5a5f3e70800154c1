"""Gramian over the network: a page on which a model learns and forgets before your eyes."""

from gramian.serve._play import create_play, play

__all__ = ["create_play", "play"]
