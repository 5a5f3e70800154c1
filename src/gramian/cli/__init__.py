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
    try:
        app(prog_name="gramian")
    except SystemExit as done:
        _leave(done.code)
        raise


def _leave(code: object) -> None:
    """End at once if a computation was interrupted that does not hear it."""
    work = sys.modules.get("gramian.cli._work")
    if work is not None and work.unfinished():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)
