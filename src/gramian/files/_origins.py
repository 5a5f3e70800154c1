"""Which files a model was loaded from or saved to, and what they held then."""

from __future__ import annotations

import os
from typing import Any
from weakref import WeakKeyDictionary

from gramian.core.validation import ModelFileError
from gramian.files._archive import stored_digest
from gramian.files._atomic import StrPath

_FILES: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()


def remember(model: Any, path: StrPath, digest: str) -> None:
    """The file now has what the model is."""
    _FILES.setdefault(model, {})[os.path.realpath(path)] = digest


def check_unchanged(model: Any, path: StrPath) -> None:
    """Raise `ModelFileError` if the file is not as the model saw it last.

    A file that the model has not seen may be replaced, and so may one that is gone.
    """
    seen = _FILES.get(model, {}).get(os.path.realpath(path))
    if seen is None or not os.path.exists(path) or stored_digest(path) == seen:
        return
    raise ModelFileError(
        f"{os.fspath(path)} has changed since this model was loaded from it or saved to it: saving "
        f"would undo what another process learned or forgot. Load it again and repeat the edit, or "
        f"save with overwrite=True."
    )
