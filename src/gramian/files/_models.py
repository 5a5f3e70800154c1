"""Save and load models: no pickle, no code in the file, no damage unnoticed."""

from __future__ import annotations

import hmac
import os
from hashlib import sha256
from typing import Any
from weakref import WeakKeyDictionary

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from gramian import __version__
from gramian.core.text import excerpt
from gramian.core.validation import ModelFileError
from gramian.files._archive import (
    TOO_DEEP,
    Archive,
    canonical_json,
    describe,
    read_archive,
    stored_digest,
    write_archive,
)
from gramian.files._atomic import StrPath, replacing
from gramian.files._decoding import Decoder
from gramian.files._encoding import Encoder
from gramian.files._lock import locked
from gramian.files._registry import has_state

_FILES: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()
"""Which files a model was loaded from or saved to, and the digests of what they held then."""


def save(model: Any, path: StrPath, *, overwrite: bool = False) -> None:
    """Write a fitted model to a file, completely or not at all.

    The file contains what the model holds now: samples, targets, ids, coefficients and
    hyper-parameters. It contains nothing of a forgotten sample.

    Parameters
    ----------
    model : estimator of this package, TableModel, SlidingWindow or model for River
        Its parameters must be plain values; a callable kernel or callback cannot be saved.
    path : str or path
        Any suffix. An existing file is replaced when the new one is on disk, and is unchanged if
        anything fails. A new file is readable by its owner only (mode 600), because it holds
        samples. An existing file keeps its permissions.
    overwrite : bool
        Whether to replace a file that has changed since this model was loaded from it or last
        saved to it.

    Raises
    ------
    ModelFileError
        If the model cannot be saved; the message names the parameter that prevents it. Also if
        the file has changed since the model was loaded and ``overwrite`` is False.
    FileInUseError
        An `OSError`, if another process works on the file for longer than ten seconds.

    Examples
    --------
    >>> import tempfile, os, gramian
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = gramian.KernelDiscriminant(gamma=0.1, ridge=1e-2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.gram")
    ...     gramian.save(model, path)
    ...     twin = gramian.load(path)
    >>> bool((twin.decision_function(X) == model.decision_function(X)).all())
    True
    >>> len(twin.forget([3, 14, 15]).ids_)
    147
    """
    body, members = _body(model)
    with locked(path):
        if not overwrite:
            _check_unchanged(model, path)
        with replacing(path, private=True) as stream:
            digest = write_archive(stream, body, members)
        _remember(model, path, digest)


def load(path: StrPath, *, device: Any = None) -> Any:
    """Read a model that `save` wrote; it can go on learning and forgetting.

    Its decision values are bitwise those of the saved model. No code of the file runs: the file
    names classes of this package and values for them. The factor of K + λI, which updates need,
    is built when it is first needed, O(n³).

    Parameters
    ----------
    path : str or path
    device : str or torch.device, optional
        Where the model computes from now on, such as ``"cuda"``; wherever it was saved, by default
        in host memory.

    Raises
    ------
    ModelFileError
        If the file is damaged, of another kind, or of a newer format.
    OSError
        If it cannot be opened.
    """
    archive = _read(path)
    try:
        model = Decoder(archive.members).fitted_model(archive.document["model"])
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)} {error}") from error
    except RecursionError as error:
        raise ModelFileError(f"{os.fspath(path)} {TOO_DEEP}") from error
    except MemoryError:
        raise
    except Exception as error:  # checksums are right, so that this is another version's file
        raise ModelFileError(
            f"{os.fspath(path)}, written by gramian {excerpt(archive.document['gramian'])}, does "
            f"not fit gramian {__version__}: {excerpt(repr(error), 200)}. Read it with the version "
            f"that wrote it."
        ) from error
    if device is not None:
        model = _moved(model, device)
    _remember(model, path, archive.digest)
    return model


def _remember(model: Any, path: StrPath, digest: str) -> None:
    """The file now has what the model is."""
    _FILES.setdefault(model, {})[os.path.realpath(path)] = digest


def _check_unchanged(model: Any, path: StrPath) -> None:
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


def _moved(model: Any, device: Any) -> Any:
    """The same model on another device; ValueError if it has none."""
    if "device" not in model.get_params(deep=False):
        raise ValueError(
            f"a {type(model).__name__} has no device, got device={device!r}. Load it without one."
        )
    twin = clone(model).set_params(device=device)
    twin._set_state(model._get_state())
    return twin


def fingerprint(model: Any, *, key: bytes | None = None) -> str:
    """SHA-256 of what a model is: its parameters and choices, samples, targets, weights and ids.

    Edits alone change it; it is the same before `save` and after `load`, and after any read. What
    follows from samples and choices, such as coefficients, is not in it: computed anew, it differs
    by rounding. Whether it is right shows a comparison with `refitted`.

    Parameters
    ----------
    model : fitted estimator of this package or TableModel
    key : bytes, optional
        Return the HMAC-SHA256 with this key instead. Without the key, nobody can find out by
        trial which samples the model held.
    """
    text = canonical_json(_body(model, derived=False)[0])
    return sha256(text).hexdigest() if key is None else hmac.digest(key, text, "sha256").hex()


def whole_digest(model: Any) -> str:
    """SHA-256 of all that a file would hold, coefficients to the last bit."""
    return sha256(canonical_json(_body(model)[0])).hexdigest()


def file_facts(path: StrPath) -> dict[str, Any]:
    """Versions, class, fingerprint and size of a model file, after checking the file."""
    document = _read(path).document
    return {
        "format_version": document["format_version"],
        "gramian": excerpt(document["gramian"]),
        "class": excerpt(document["model"]["class"]),
        "fingerprint": fingerprint(load(path)),
        "bytes": os.stat(path).st_size,
    }


def _body(model: Any, *, derived: bool = True) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The part of the document that depends on the model alone, and its arrays."""
    encoder = Encoder(derived=derived)
    encoded = encoder.model(model)
    if not has_state(model):
        check_is_fitted(model)
    return {"model": encoded, "members": describe(encoder.members)}, encoder.members


def _read(path: StrPath) -> Archive:
    with open(path, "rb") as stream:
        try:
            return read_archive(stream)
        except ModelFileError as error:
            raise ModelFileError(f"{os.fspath(path)} {error}") from error
