"""Gramian over the network: a service on a store, and pages on which a model learns and forgets."""

from gramian.serve._app import create_app
from gramian.serve._limits import Limits
from gramian.serve._play import create_play, play
from gramian.serve._run import run, store_name
from gramian.serve._tokens import SCOPES, Tokens, add_token

__all__ = [
    "SCOPES",
    "Limits",
    "Tokens",
    "add_token",
    "create_app",
    "create_play",
    "play",
    "run",
    "store_name",
]
