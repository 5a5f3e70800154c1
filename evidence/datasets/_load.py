"""Find a data set by name: in scikit-learn, in a folder, in the cache, or at its public home."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import numpy as np

from evidence.datasets._dataset import Dataset
from evidence.datasets._files import make_dataset, read_archive, write_archive
from evidence.datasets._originals import download, file_names, parse, read_originals
from evidence.datasets._registry import FILES, SKLEARN, FileSet, Original


def names() -> list[str]:
    """Every name that `load` takes, sorted.

    Examples
    --------
    >>> [name for name in names() if name.startswith("i")][-2:]
    ['iris', 'iris_uci']
    """
    return sorted([*SKLEARN, *FILES])


def load(name: str, data_home: str | os.PathLike[str] | None = None, fetch: bool = True) -> Dataset:
    """Load a data set by name.

    Data sets shipped with scikit-learn need no file. The others are looked for in ``data_home`` (or
    the folder in the environment variable GRAMIAN_DATA) and in the cache, as ``NAME.npz`` or as
    the original text files. If they are not there, they are downloaded, provided that they have a
    public address. The content is checked against a SHA-256, wherever it came from.

    Parameters
    ----------
    name : str
        One of `names`.
    data_home : path, optional
        Folder to look in instead of the one in GRAMIAN_DATA.
    fetch : bool
        Whether a data set that is in no folder may be downloaded, into
        ``$XDG_CACHE_HOME/gramian/datasets`` (``~/.cache`` by default).

    Raises
    ------
    FileNotFoundError
        If the data set is in no folder and cannot be downloaded.
    ValueError
        If the name is unknown, or a file has another content. Such a download is not kept.

    Examples
    --------
    >>> iris = load("iris")
    >>> iris.X.shape, iris.target_names
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    if name in SKLEARN:
        return _load_sklearn(name)
    if name not in FILES:
        raise ValueError(_unknown(name))
    entry = FILES[name]
    folders = _folders(data_home)
    for folder in folders:
        dataset = _load_folder(name, entry, folder)
        if dataset is not None:
            return dataset
    if entry.original is None or not fetch:
        raise FileNotFoundError(_missing(name, entry, folders))
    return _fetch(name, entry, entry.original)


def _load_sklearn(name: str) -> Dataset:
    loader, description = SKLEARN[name]
    bunch = loader()
    regression = bunch.target.dtype.kind == "f"
    classes = bunch.get("target_names")
    return Dataset(
        name,
        bunch.data,
        bunch.target if regression else bunch.target.astype(np.int64),
        feature_names=tuple(map(str, bunch.feature_names)),
        target_names=None if classes is None else tuple(map(str, classes)),
        description=description,
    )


def _folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    named = data_home or os.environ.get("GRAMIAN_DATA")
    return ([Path(named).expanduser()] if named else []) + [_cache_home()]


def _cache_home() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "gramian" / "datasets"


def _load_folder(name: str, entry: FileSet, folder: Path) -> Dataset | None:
    """The data set from ``folder``, or None where its files are not there."""
    archive = folder / f"{entry.stem}.npz"
    if archive.is_file():
        return make_dataset(name, entry, read_archive(archive), str(archive))
    texts = read_originals(folder, entry.original) if entry.original else None
    if entry.original is None or texts is None:
        return None
    source = f"{' + '.join(file_names(entry.original))} in {folder}"
    return make_dataset(name, entry, parse(texts, entry.original, source), source)


def _fetch(name: str, entry: FileSet, original: Original) -> Dataset:
    """Download, check, then keep in the cache; nothing is written before the check."""
    archive = _cache_home() / f"{entry.stem}.npz"
    try:
        texts = [download(url) for url in original.urls]
    except OSError as error:
        raise FileNotFoundError(_unreachable(name, entry, original, error)) from error
    source = " + ".join(original.urls)
    arrays = parse(texts, original, source)
    dataset = make_dataset(name, entry, arrays, source)
    write_archive(archive, arrays)
    return dataset


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, names(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {names()}."
    return f"unknown data set {name!r}; {hint}"


def _missing(name: str, entry: FileSet, folders: list[Path]) -> str:
    looked = " or ".join(str(folder) for folder in folders)
    if entry.original is None:
        way = "It has no stable public home to be fetched from: put"
    else:
        way = "Call `load` with fetch=True, or put"
    return (
        f"data set {name!r} needs {entry.stem}.npz, which is not in {looked}. {way} it in a "
        "folder and name that by data_home or GRAMIAN_DATA; docs/datasets.md has the format."
    )


def _unreachable(name: str, entry: FileSet, original: Original, error: OSError) -> str:
    return (
        f"data set {name!r} could not be fetched ({error}). Download {' and '.join(original.urls)} "
        f"by hand into {_cache_home()}, or put {entry.stem}.npz in a folder and name that by "
        "data_home or GRAMIAN_DATA."
    )
