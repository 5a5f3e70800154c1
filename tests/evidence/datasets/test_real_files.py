"""The registry against the real files, where there are any."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from evidence import datasets
from evidence.datasets._originals import file_names
from evidence.datasets._registry import FILES

FOLDER = Path(os.environ.get("GRAMIAN_DATA") or "no-such-folder")

needs_data = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="GRAMIAN_DATA names no folder with the data files"
)


@pytest.fixture
def load():
    """Load from FOLDER, or skip where that set is not in it."""

    def load(name):
        if not (FOLDER / f"{FILES[name].stem}.npz").is_file():
            pytest.skip(f"{FILES[name].stem}.npz is not in the folder that GRAMIAN_DATA names")
        return datasets.load(name, data_home=FOLDER, fetch=False)

    return load


def test_every_entry_states_a_checksum():
    for name, entry in FILES.items():
        assert len(entry.sha256) == 64, name
        assert set(entry.sha256) <= set("0123456789abcdef"), name


@needs_data
@pytest.mark.parametrize("name", FILES)
def test_real_file_loads_and_matches(name, load):
    dataset = load(name)
    assert dataset.X.shape[0] == len(dataset.y)
    values = dataset.X.data if sparse.issparse(dataset.X) else dataset.X
    assert np.isfinite(values).all()
    if dataset.feature_names:
        assert len(dataset.feature_names) == dataset.X.shape[1]
    if dataset.target_names and not FILES[name].regression:
        assert len(dataset.target_names) == len(np.unique(dataset.y))
    if dataset.n_official:
        assert dataset.n_train + dataset.n_test == len(dataset.y)


@needs_data
def test_known_counts(load):
    usps = load("usps")
    assert (usps.X.min(), usps.X.max()) == (-1.0, 1.0)
    train, test = usps.partition(0)
    assert (len(train), len(test)) == (7291, 2007)
    assert np.bincount(usps.y[train])[0] == 1194
    assert sorted(set(load("satimage").y.tolist())) == [1, 2, 3, 4, 5, 7]
    heart = load("ida_heart")
    assert (heart.n_official, heart.n_partitions, heart.n_train) == (10, 100, 170)
    assert load("ida_diabetis").partition_numbers == (None,)


@needs_data
def test_first_features_of_thrombin_are_those_of_the_whole(load):
    whole, first = load("thrombin"), load("thrombin_first8000")
    assert (whole.y == 1).sum() == 42
    assert (whole.X[:, :8000] != first.X).nnz == 0
    np.testing.assert_array_equal(whole.y, first.y)


@needs_data
@pytest.mark.parametrize("name", [name for name, entry in FILES.items() if entry.original])
def test_archive_written_out_as_the_original_files_loads_alike(name, load, tmp_path):
    dataset, original = load(name), FILES[name].original
    words = {code: word for word, code in original.codes.items()}
    coded_features = name == "abalone"
    rows = []
    for x, y in zip(dataset.X.astype(np.float32), dataset.y, strict=True):
        features = [repr(value.item()) for value in x]
        if coded_features:
            features[0] = words[x[0].item()]
        target = str(y) if coded_features else words.get(int(y), str(y))
        row = [target, *features] if original.target == 0 else [*features, target]
        rows.append((original.delimiter or " ").join(row) + "\n")
    cuts = [0, original.n_train, len(rows)] if len(original.urls) == 2 else [0, len(rows)]
    for file, start, stop in zip(file_names(original), cuts, cuts[1:], strict=False):
        (tmp_path / file).write_text("".join(rows[start:stop]))
    again = datasets.load(name, data_home=tmp_path, fetch=False)
    np.testing.assert_array_equal(again.X, dataset.X)
    np.testing.assert_array_equal(again.y, dataset.y)
    if dataset.n_official:
        np.testing.assert_array_equal(again.train, dataset.train)
