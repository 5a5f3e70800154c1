"""Saving over a file that someone changed: refused, unless asked for."""

import os
import shutil
import stat
from copy import deepcopy

import pytest

import gramian
from gramian import LeastSquaresSVC
from gramian.files import ModelFileError, fingerprint
from tests.estimators.conftest import make_samples


@pytest.fixture
def path(tmp_path):
    X, y = make_samples(LeastSquaresSVC())
    gramian.save(LeastSquaresSVC(gamma=0.5, C=4.0).fit(X, y), tmp_path / "m.gram")
    return tmp_path / "m.gram"


def test_changed_file_is_not_replaced(path):
    ours, theirs = gramian.load(path), gramian.load(path)
    gramian.save(theirs.forget(3), path)
    with pytest.raises(ModelFileError, match=r"m.gram has changed since this model was loaded"):
        gramian.save(ours.forget(4), path)
    assert 3 not in gramian.load(path).ids_
    gramian.save(ours, path, overwrite=True)
    assert fingerprint(gramian.load(path)) == fingerprint(ours)


def test_model_may_be_saved_again_and_again(path):
    model = gramian.load(path)
    for name in range(5):
        gramian.save(model.forget(name), path)
    assert len(gramian.load(path).ids_) == 25


def test_through_a_link(path, tmp_path):
    (tmp_path / "link").symlink_to(path)
    ours, theirs = gramian.load(tmp_path / "link"), gramian.load(path)
    gramian.save(theirs.forget(3), path)
    with pytest.raises(ModelFileError, match="has changed"):
        gramian.save(ours.forget(4), tmp_path / "link")


def test_same_content_is_no_change(path, tmp_path):
    model = gramian.load(path)
    shutil.copy(path, tmp_path / "copy")
    os.replace(tmp_path / "copy", path)
    gramian.save(model.forget(3), path)


def test_file_that_became_another_kind_is_a_change(path):
    model = gramian.load(path)
    path.write_bytes(b"notes")
    with pytest.raises(ModelFileError, match="has changed"):
        gramian.save(model, path)


def test_file_that_is_gone_or_was_never_seen_may_be_written(path, tmp_path):
    model = gramian.load(path)
    path.unlink()
    gramian.save(model, path)
    (tmp_path / "notes").write_bytes(b"old")
    gramian.save(model, tmp_path / "notes")
    gramian.save(deepcopy(model).forget(3), path)  # a copy has seen nothing


def test_saved_files_are_private_and_keep_their_mode(path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    gramian.save(gramian.load(path).forget(3), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
