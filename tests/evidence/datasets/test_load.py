import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from evidence import datasets
from evidence.datasets._files import content_sha256, write_archive
from evidence.datasets._registry import FileSet, Original

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
Y = np.array([0, 1, 1])
TEXTS = {"/toy.tra": b"1,2,0\n3,4,1\n", "/toy.tes": b"5,6,1\n"}


class Handler(BaseHTTPRequestHandler):
    """Serves TEXTS; cuts `/cut` short and answers 404 to the rest."""

    def do_GET(self):
        body = TEXTS.get(self.path)
        self.send_response(200 if body or self.path == "/cut" else 404)
        self.send_header("Content-Length", str(len(body) if body else 100))
        self.end_headers()
        self.wfile.write(body or b"short")

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def toy(base=None, paths=("/toy.tra", "/toy.tes"), X=X):
    """A registry entry for the three samples, to be fetched below ``base``."""
    original = Original(tuple(base + path for path in paths), n_train=2) if base else None
    return FileSet("toy_file", content_sha256(X, Y), "three samples", original)


def assert_toy(dataset):
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, Y)
    assert dataset.name == "toy"
    assert dataset.description == "three samples"


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes", "digits", "iris", "wine"])
def test_sets_of_scikit_learn(name):
    dataset = datasets.load(name)
    X, y = getattr(sklearn_datasets, f"load_{name}")(return_X_y=True)
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y)
    assert dataset.y.dtype == (float if name == "diabetes" else np.int64)
    assert len(dataset.feature_names) == X.shape[1]
    assert dataset.n_official == 0


def test_names_are_those_that_load_knows():
    names = datasets.names()
    assert names == sorted(set(names))
    assert {"iris", "iris_uci", "ida_heart", "usps", "thrombin_first8000"} <= set(names)


def test_unknown_name_lists_near_ones():
    with pytest.raises(ValueError, match="unknown data set 'ida_hart'; did you mean 'ida_heart'"):
        datasets.load("ida_hart")
    with pytest.raises(ValueError, match=r"unknown data set '####'; known: \['abalone'"):
        datasets.load("####")


def test_folder_by_argument_and_by_environment(tmp_path, register, monkeypatch):
    register("toy", toy())
    write_archive(tmp_path / "toy_file.npz", {"X": X, "y": Y})
    assert_toy(datasets.load("toy", data_home=tmp_path))
    monkeypatch.setenv("GRAMIAN_DATA", str(tmp_path))
    assert_toy(datasets.load("toy"))
    with pytest.raises(FileNotFoundError, match="elsewhere"):  # the argument goes first
        datasets.load("toy", data_home=tmp_path / "elsewhere")


def test_folder_with_the_original_files(tmp_path, register):
    register("toy", toy("http://unused.invalid"))
    for path, text in TEXTS.items():
        (tmp_path / path[1:]).write_bytes(text)
    dataset = datasets.load("toy", data_home=tmp_path)
    assert_toy(dataset)
    assert dataset.partition(0)[1].tolist() == [2]
    (tmp_path / "toy.tes").write_bytes(b"5,7,1\n")
    with pytest.raises(ValueError, match=r"toy\.tra \+ toy\.tes in .* does not hold 'toy'"):
        datasets.load("toy", data_home=tmp_path)


def test_missing_file_without_a_public_home(tmp_path, register, cache):
    register("toy", toy())
    with pytest.raises(FileNotFoundError, match=r"toy_file\.npz.* no stable public home") as caught:
        datasets.load("toy", data_home=tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert str(cache) in str(caught.value)


def test_missing_file_when_fetching_is_off(register, server):
    register("toy", toy(server))
    with pytest.raises(FileNotFoundError, match="Call `load` with fetch=True"):
        datasets.load("toy", fetch=False)


def test_corrupt_files_are_refused_before_anything_is_fetched(tmp_path, register, server):
    register("toy", toy(server))
    write_archive(tmp_path / "toy_file.npz", {"X": X + 1, "y": Y})
    with pytest.raises(ValueError, match=r"toy_file\.npz does not hold 'toy' as it should"):
        datasets.load("toy", data_home=tmp_path)
    (tmp_path / "toy_file.npz").write_bytes(b"nothing of use")
    with pytest.raises(ValueError, match=r"toy_file\.npz is corrupt"):
        datasets.load("toy", data_home=tmp_path)


def test_fetched_once_then_read_from_the_cache(register, server, cache, monkeypatch):
    register("toy", toy(server))
    fetched = datasets.load("toy")
    assert files_below(cache) == [cache / "toy_file.npz"]
    register("toy", toy("http://127.0.0.1:1"))  # nobody listens there
    cached = datasets.load("toy", fetch=False)
    for dataset in (fetched, cached):
        assert_toy(dataset)
        assert [part.tolist() for part in dataset.partition(0)] == [[0, 1], [2]]


def test_cache_is_below_the_home_folder_by_default(register, server, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    register("toy", toy(server))
    datasets.load("toy")
    assert (tmp_path / "home/.cache/gramian/datasets/toy_file.npz").is_file()


def test_fetched_content_with_another_checksum_is_not_kept(register, server, tmp_path):
    register("toy", toy(server, X=X + 1))
    with pytest.raises(ValueError, match=r"toy\.tes does not hold 'toy' as it should"):
        datasets.load("toy")
    assert files_below(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "reason"), [("/absent", "HTTP Error 404"), ("/cut", "IncompleteRead")]
)
def test_failed_answers_leave_nothing_behind(register, server, tmp_path, path, reason):
    register("toy", toy(server, paths=("/toy.tra", path)))
    with pytest.raises(FileNotFoundError, match=rf"'toy' could not be fetched \(.*{reason}"):
        datasets.load("toy")
    assert files_below(tmp_path) == []


def test_refused_connection_says_what_to_do(register, server, tmp_path, cache):
    with HTTPServer(("127.0.0.1", 0), Handler) as other:
        port = other.server_port  # free again below
    register("toy", toy(f"http://127.0.0.1:{port}"))
    with pytest.raises(FileNotFoundError, match=r"could not be fetched .*refused") as caught:
        datasets.load("toy")
    assert f"Download http://127.0.0.1:{port}/toy.tra and" in str(caught.value)
    assert str(cache) in str(caught.value)
    assert files_below(tmp_path) == []
