"""All tests, in two processes at a time: ``python -m tests`` is what ``make test`` runs.

Each process takes half of the work, with one thread of BLAS. What they print comes when both are
done, one after the other.
``--coverage`` measures which lines run; other arguments are passed on to pytest.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parent.parent
# About half of the time each.
HALVES = (
    ["tests/estimators"],
    ["tests", "--ignore=tests/estimators", "--ignore=tests/browser"],
)


def main(arguments):
    """Run both halves; the exit code is that of the first half that failed."""
    measure = ["coverage", "run", "-p", "-m"] if "--coverage" in arguments else []
    options = [argument for argument in arguments if argument != "--coverage"]
    command = [sys.executable, "-m", *measure, "pytest", "-q", "-p", "no:cacheprovider", *options]
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # two processes with two threads each would wait in turn
    with TemporaryFile("w+") as first, TemporaryFile("w+") as second:
        runs = [
            subprocess.Popen([*command, *half], cwd=ROOT, stdout=stream, stderr=subprocess.STDOUT)
            for half, stream in zip(HALVES, (first, second), strict=True)
        ]
        codes = [run.wait() for run in runs]
        for half, stream in zip(HALVES, (first, second), strict=True):
            stream.seek(0)
            print(f"pytest {' '.join(half)}\n{stream.read()}", flush=True)
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
