"""What every test shares."""

import pytest
from hypothesis import settings
from joblib import cpu_count
from threadpoolctl import threadpool_limits

from tests import postgres

# Edit scripts of any length, the same ones in every run.
settings.register_profile("gramian", deadline=None, derandomize=True, database=None)
settings.load_profile("gramian")


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, which need not be there
def pytest_xdist_auto_num_workers():
    """As many processes as there are cores to use: a container may have fewer than its host."""
    return cpu_count()


@pytest.fixture(scope="session", autouse=True)
def one_blas_thread():
    """A second BLAS thread only makes the first wait on matrices as small as those of the tests."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server for the whole run; each test takes a schema of its own."""
    if reason := postgres.missing():
        pytest.skip(reason)
    running = postgres.Server()
    yield running
    running.remove()
