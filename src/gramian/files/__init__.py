"""Files written completely or not at all, locks on files, and text that is safe to show."""

from gramian.files._atomic import StrPath, remove_leftovers, replacing, sync_folder
from gramian.files._lock import FileInUseError, locked, user_name
from gramian.files._text import csv_cell, shown, without_controls

__all__ = [
    "FileInUseError",
    "StrPath",
    "csv_cell",
    "locked",
    "remove_leftovers",
    "replacing",
    "shown",
    "sync_folder",
    "user_name",
    "without_controls",
]
