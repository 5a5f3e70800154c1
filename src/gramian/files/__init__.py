"""Files that appear whole or not at all, locks on them, and text from them that is safe to show."""

from gramian.files._atomic import StrPath, replacing

__all__ = ["StrPath", "replacing"]
