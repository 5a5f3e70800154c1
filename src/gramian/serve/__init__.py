"""A service on a store: the Open Inference Protocol, and edits with receipts beside it."""

from gramian.serve._app import create_app
from gramian.serve._limits import Limits
from gramian.serve._run import run
from gramian.serve._tokens import SCOPES, Tokens, add_token

__all__ = ["SCOPES", "Limits", "Tokens", "add_token", "create_app", "run"]
