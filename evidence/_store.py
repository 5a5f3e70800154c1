"""Finished cases, one a line, so that an interrupted run goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class Store:
    """A file of JSON lines that is only ever appended to.

    A line is written at once and whole when a case is finished; a line that a killed run left
    unfinished is cut off when the file is opened.

    Parameters
    ----------
    path : path
        Made on the first `put`.

    Raises
    ------
    ValueError
        If a line, other than an unfinished last one, is not one of ours.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._lines = self._read()

    def __len__(self) -> int:
        return len(self._lines)

    def get(self, key: str) -> Line | None:
        """What is kept under a key, or None."""
        return self._lines.get(key)

    def drop(self, keys: Iterable[str]) -> None:
        """Treat these as unknown; the file keeps them until they are put again."""
        for key in keys:
            self._lines.pop(key, None)

    def put(self, key: str, line: Line) -> None:
        """Keep a case; a later one takes the place of an earlier one under the same key."""
        text = json.dumps({"key": key, **line}, ensure_ascii=False, allow_nan=False)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(text + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._lines[key] = line

    def _read(self) -> dict[str, Line]:
        if not self.path.exists():
            return {}
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(self.path, whole)
        return dict(self._parse(k, line) for k, line in enumerate(content[:whole].splitlines(), 1))

    def _parse(self, number: int, text: bytes) -> tuple[str, Line]:
        try:
            line = json.loads(text)
            return line.pop("key"), line
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            raise ValueError(
                f"line {number} of {self.path} is no finished case. Delete the file to begin again."
            ) from error
