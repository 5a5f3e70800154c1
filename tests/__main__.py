"""All tests, as many folders at a time as there are cores: what ``make test`` runs.

Each process has one thread of BLAS and takes the next folder when it is done. What a folder
prints comes when it is done. ``--coverage`` measures which lines run; other arguments are passed on
to pytest.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from joblib import cpu_count

ROOT = Path(__file__).parent.parent
LONGEST = ("estimators", "torture", "matrix", "files", "cli", "store", "serve")
"""Folders that take longest, which begin first."""
APART = ("browser",)
"""Folders with a command of their own."""
NOTHING_COLLECTED = 5


def folders():
    """The folders with tests and the files beside them, the longest first."""
    tests = ROOT / "tests"
    found = {path.parent.relative_to(tests).parts[:1] for path in tests.rglob("test_*.py")}
    names = sorted(name for (name,) in filter(None, found) if name not in APART)
    inner = sorted(path.name for path in (tests / "estimators").iterdir() if path.is_dir())
    order = sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else 99)
    split = [[f"tests/estimators/{name}"] for name in inner if not name.startswith("_")]
    rest = ["tests/estimators", *(f"--ignore={one}" for (one,) in split)]
    beside = [str(path.relative_to(ROOT)) for path in sorted(tests.glob("test_*.py"))]
    return [rest, *split, *([f"tests/{name}"] for name in order if name != "estimators"), beside]


def run(command, folder):
    """Exit code, seconds and output of the tests of a folder."""
    start = time.monotonic()
    done = subprocess.run(
        [*command, *folder], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    code = 0 if done.returncode == NOTHING_COLLECTED else done.returncode
    return code, time.monotonic() - start, done.stdout.decode(errors="replace")


def main(arguments):
    """Run all folders; the exit code is that of one that failed."""
    measure = ["coverage", "run", "-p", "-m"] if "--coverage" in arguments else []
    options = [argument for argument in arguments if argument != "--coverage"]
    command = [sys.executable, "-m", *measure, "pytest", "-q", "-p", "no:cacheprovider", *options]
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # processes with several threads each would wait in turn
    worst = 0
    with ThreadPoolExecutor(cpu_count()) as pool:
        runs = {pool.submit(run, command, folder): folder for folder in folders()}
        for future in as_completed(runs):
            code, seconds, text = future.result()
            worst = worst or code
            name = " ".join(part for part in runs[future] if not part.startswith("--"))
            lines = text.splitlines()
            shown = "\n".join(lines if code else [line for line in lines[-12:] if "[" not in line])
            print(f"== {name}, {seconds:.0f} s\n{shown}", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
