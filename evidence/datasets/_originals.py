"""Original text files: fetched or found in a folder, and turned into arrays."""

from __future__ import annotations

import http.client
import urllib.request
from pathlib import Path, PurePosixPath

import numpy as np

from evidence.datasets._registry import Original

TIMEOUT = 30.0  # seconds without an answer


def file_names(original: Original) -> list[str]:
    """What the original files are called."""
    return [PurePosixPath(url).name for url in original.urls]


def read_originals(folder: Path, original: Original) -> list[str] | None:
    """The texts of the original files in ``folder``; None unless all of them are there."""
    paths = [folder / name for name in file_names(original)]
    if not all(path.is_file() for path in paths):
        return None
    return [_decode(path.read_bytes()) for path in paths]


def download(url: str) -> str:
    """The text at ``url``; any failure to get it is an OSError."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            return _decode(response.read())
    except http.client.HTTPException as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def _decode(content: bytes) -> str:
    # The files are ASCII; Latin-1 accepts any byte, so that a wrong file fails when it is parsed.
    return content.decode("latin-1")


def parse(texts: list[str], original: Original, source: str) -> dict[str, np.ndarray]:
    """The arrays of a data file (see docs/datasets.md) from the texts of the originals.

    Raises ValueError, naming ``source``, where they are no table of numbers and known words.
    """
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    try:
        table = np.array([_numbers(line, original) for line in lines])
        X = np.delete(table, original.target, axis=1)
    except ValueError as error:
        raise ValueError(f"{source} is no table of samples ({error}); get another copy.") from error
    # float32, as the archives have it: a set is the same numbers however it came.
    X, y = X.astype(np.float32), table[:, original.target].astype(np.float32)
    if original.n_train is None:
        return {"X": X, "y": y}
    train, test = np.split(np.arange(len(y)), [original.n_train])
    return {"X": X, "y": y, "train": train, "test": test}


def _numbers(line: str, original: Original) -> list[float]:
    words = [word.strip() for word in line.split(original.delimiter)]
    return [original.codes[word] if word in original.codes else float(word) for word in words]
