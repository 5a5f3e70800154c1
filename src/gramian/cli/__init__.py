"""The command line: fit, update and apply models of tables."""

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from gramian.cli._app import app
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit('the command line needs click and rich: pip install "gramian[cli]".')
    app(prog_name="gramian", obj=hasattr(os, "fork"))
