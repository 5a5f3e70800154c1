"""A file is replaced whole or not at all."""

import os
import stat
import subprocess
import sys
import time

import pytest

from gramian.files import remove_leftovers, replacing

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


def write(path, content):
    with replacing(path) as stream:
        stream.write(content)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_new_and_old_file(tmp_path):
    for content in (b"one", b"two, which is longer"):
        write(tmp_path / "x", content)
        assert (tmp_path / "x").read_bytes() == content
    assert os.listdir(tmp_path) == ["x"]


def test_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("x", b"here")
    assert (tmp_path / "x").read_bytes() == b"here"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_leaves_the_old_file(step, tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"old")

    def fail(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        write(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


def test_failure_while_writing_leaves_the_old_file(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(TypeError, match="bytes-like"):
        write(tmp_path / "x", ["no bytes"])
    assert (tmp_path / "x").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


def test_old_file_is_there_until_the_new_one_is_complete(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    with replacing(tmp_path / "x") as stream:
        stream.write(b"new")
        stream.flush()
        assert (tmp_path / "x").read_bytes() == b"old"
    assert (tmp_path / "x").read_bytes() == b"new"


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"'.*no'$"):
        write(tmp_path / "no" / "x", b"")


@posix
def test_permissions_of_the_old_file_stay(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "x").chmod(0o640)
    write(tmp_path / "x", b"new")
    assert mode(tmp_path / "x") == 0o640


@posix
@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600)])
def test_new_file_follows_the_umask(tmp_path, umask, expected):
    before = os.umask(umask)
    try:
        write(tmp_path / "x", b"new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "x") == expected


@posix
def test_private_file_is_so_from_its_first_byte(tmp_path):
    with replacing(tmp_path / "x", private=True) as stream:
        stream.write(b"rows")
        (temporary,) = tmp_path.iterdir()
        assert mode(temporary) == 0o600
    assert mode(tmp_path / "x") == 0o600


@posix
def test_temporary_file_is_no_more_open_than_the_old_one(tmp_path):
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "x").chmod(0o600)
    with replacing(tmp_path / "x") as stream:
        stream.write(b"rows")
        assert {mode(path) for path in tmp_path.iterdir()} == {0o600}


# -- what a killed process leaves ---------------------------------------------------------------

LEFT = ".gramian-0123456789abcdef"
KILLED = """
import os, signal, sys
from gramian.files import replacing
with replacing(sys.argv[1], private=True) as stream:
    stream.write(b"rows of a model")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def make_old(path):
    os.utime(path, (time.time() - 120, time.time() - 120))


def test_leftover_of_a_killed_process_is_removed(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "x"], check=False)
    (left,) = tmp_path.iterdir()
    assert left.read_bytes() == b"rows of a model"
    write(tmp_path / "x", b"young ones stay")
    assert left.exists()
    make_old(left)
    write(tmp_path / "y", b"in the same folder")
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


@posix
def test_file_that_is_being_written_stays(tmp_path):
    with replacing(tmp_path / "x") as stream:
        stream.write(b"slow")
        (temporary,) = tmp_path.iterdir()
        make_old(temporary)
        assert remove_leftovers(tmp_path) == []
    assert (tmp_path / "x").read_bytes() == b"slow"


def test_other_names_stay(tmp_path):
    names = [".gramian-notes", LEFT + "0", "x" + LEFT, ".gramian-0123456789ABCDEF"]
    for name in names:
        (tmp_path / name).write_bytes(b"mine")
        make_old(tmp_path / name)
    (tmp_path / LEFT).symlink_to(tmp_path / names[0])
    assert remove_leftovers(tmp_path) == []
    assert len(os.listdir(tmp_path)) == 5


@posix
def test_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
