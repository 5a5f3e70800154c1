"""A zip archive of one JSON document and the arrays it refers to, with every byte accounted for.

Nothing is compressed, so that a member is as large as its part of the file. The document lists
size and SHA-256 of each array; the archive's comment has the SHA-256 of the document, which so
stands for all of the file.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from typing import IO, Any, NamedTuple

from gramian import __version__
from gramian.core.text import excerpt
from gramian.core.validation import ModelFileError
from gramian.files._atomic import StrPath

FORMAT = "gramian model"
FORMAT_VERSION = 1
DOCUMENT = "model.json"
TOO_DEEP = "is no model file of gramian: its document is nested too deeply."
_MARK = b"gramian model, sha256 of model.json: "
_LOCAL_HEADER = b"PK\x03\x04"
_HEADERS, _END = 30 + 46, 22  # bytes that zip adds for a member, besides its name twice; at the end
_PLAIN_ZIP = 2**31  # beyond this size zip writes longer headers,
_LONGER, _LONGER_END = 64, 76  # by at most so many bytes for each member, and at the end


class Archive(NamedTuple):
    """What a file holds, verified."""

    document: dict[str, Any]
    members: dict[str, bytes]
    digest: str
    """SHA-256 of the document."""


_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)


def canonical_json(document: Any) -> bytes:
    """JSON with sorted keys and no spaces: equal documents have equal bytes."""
    return _CANONICAL.encode(document).encode()


def describe(members: Mapping[str, bytes]) -> dict[str, dict[str, Any]]:
    """Size and checksum of each member."""
    return {
        name: {"size": len(content), "sha256": sha256(content).hexdigest()}
        for name, content in members.items()
    }


def write_archive(stream: IO[bytes], body: Mapping[str, Any], members: Mapping[str, bytes]) -> str:
    """Write a document of ``body``, whose ``"members"`` are as `describe` has them, and these.

    Returns the SHA-256 of the document.
    """
    head = {"format": FORMAT, "format_version": FORMAT_VERSION, "gramian": __version__}
    text = canonical_json({**head, **body})
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in [(DOCUMENT, text), *members.items()]:
            archive.writestr(zipfile.ZipInfo(name), content)  # of 1980: the same model, same bytes
        digest = sha256(text).hexdigest()
        archive.comment = _MARK + digest.encode()
    return digest


def read_archive(stream: IO[bytes]) -> Archive:
    """The document and the members, verified.

    Raises
    ------
    ModelFileError
        If this is not such an archive, or not one as it was written. The message goes after the
        name of the file.
    """
    _check_start(stream)
    try:
        with zipfile.ZipFile(stream) as archive:
            document, digest = _read_document(archive)
            _check_size(stream, archive)
            members = _read_members(archive, document["members"])
    except (ModelFileError, MemoryError):
        raise
    except RecursionError as error:
        raise ModelFileError(TOO_DEEP) from error
    except Exception as error:  # whatever a reader trips over in a damaged file is the file's fault
        what = excerpt(str(error) or type(error).__name__)
        raise ModelFileError(f"is damaged or cut short ({what}). Get another copy.") from error
    return Archive(document, members, digest)


def stored_digest(path: StrPath) -> str | None:
    """What the end of a file gives as the SHA-256 of its document; None of any other file."""
    with open(path, "rb") as stream:
        length = len(_MARK) + 64
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - length))
        end = stream.read()
    return end[len(_MARK) :].decode("latin-1") if end.startswith(_MARK) else None


def _check_size(stream: IO[bytes], archive: zipfile.ZipFile) -> None:
    """Every byte belongs to one member or to its headers: nothing between them, nothing after.

    Members that overlap would take more memory than the file has bytes.
    """
    size = stream.seek(0, os.SEEK_END)
    parts = [
        info.file_size + _HEADERS + 2 * len(info.filename.encode()) for info in archive.infolist()
    ]
    expected = sum(parts) + _END + len(archive.comment)
    longer = len(parts) * _LONGER + _LONGER_END if size >= _PLAIN_ZIP else 0
    if not expected <= size <= expected + longer:
        raise ModelFileError(
            f"is damaged: it has {size} bytes, and its members take {expected}. Something was "
            f"appended, or is missing. Get another copy."
        )


def _check_start(stream: IO[bytes]) -> None:
    start = stream.read(len(_LOCAL_HEADER))
    stream.seek(0)
    if start != _LOCAL_HEADER:
        what = "is empty" if not start else "is no model file of gramian"
        raise ModelFileError(f"{what}. `gramian.save` and `gramian fit` write them.")


def _read_document(archive: zipfile.ZipFile) -> tuple[dict[str, Any], str]:
    if DOCUMENT not in archive.namelist():
        raise ModelFileError(f"is a zip archive, but no model file of gramian: no {DOCUMENT}.")
    text = _read_member(archive, DOCUMENT)
    digest = sha256(text).hexdigest()
    if archive.comment != _MARK + digest.encode():
        raise ModelFileError(f"is damaged: {DOCUMENT} is not as it was written. Get another copy.")
    document = json.loads(text)
    _check_format(document)
    return document, digest


def _check_format(document: dict[str, Any]) -> None:
    if document["format"] != FORMAT:
        raise ModelFileError(
            f"is no model file of gramian, but of {excerpt(document['format'])!r}."
        )
    if document["format_version"] != FORMAT_VERSION:
        raise ModelFileError(
            f"has format {excerpt(document['format_version'])}, written by gramian "
            f"{excerpt(document['gramian'])}; gramian {__version__} reads format {FORMAT_VERSION}. "
            f"Install a newer gramian."
        )


def _read_members(archive: zipfile.ZipFile, listed: Mapping[str, Any]) -> dict[str, bytes]:
    if sorted(archive.namelist()) != sorted([DOCUMENT, *listed]):
        raise ModelFileError(f"is damaged: its members are not those that {DOCUMENT} lists.")
    members = {}
    for name, facts in listed.items():
        content = _read_member(archive, name)
        if len(content) != facts["size"] or sha256(content).hexdigest() != facts["sha256"]:
            raise ModelFileError(
                f"is damaged: {excerpt(name)} is not as it was written. Get another copy."
            )
        members[name] = content
    return members


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ModelFileError(f"is no model file of gramian: {excerpt(name)} is compressed.")
    return archive.read(info)
