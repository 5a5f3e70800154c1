"""Text that came from a file or from a table, made safe to show."""

from __future__ import annotations

import re
from typing import Any

# C0 and C1 controls, DEL, and the marks that change the direction or the lines of what follows.
_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_KEPT_IN_CELLS = "\t\n"


def without_controls(text: str, keep: str = "") -> str:
    r"""The text with every control character written out, such as ``\x1b``.

    Examples
    --------
    >>> without_controls("a" + chr(27) + "[31mb")
    'a\\x1b[31mb'
    """
    return _CONTROL.sub(lambda match: _written_out(match[0], keep), text)


def excerpt(value: Any, most: int = 80) -> str:
    """A value from a file, without control characters and shortened, for use in a message."""
    text = value if isinstance(value, str) else str(value)
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return without_controls(cut)


def csv_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula and no terminal for a command.

    A text that begins with ``= + - @`` and is not a number gets a leading apostrophe, and so does a
    text that begins with a control character.
    """
    if not isinstance(value, str):
        return value
    if (value[:1] in ("=", "+", "-", "@") and not _is_number(value)) or _CONTROL.match(value):
        value = f"'{value}"
    return without_controls(value, _KEPT_IN_CELLS)


def _written_out(character: str, keep: str) -> str:
    return character if character in keep else character.encode("unicode_escape").decode()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
