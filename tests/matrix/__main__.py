"""All pairs of the matrix: ``python -m tests.matrix``; with ``--page``, write the page instead."""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from threadpoolctl import threadpool_limits

from tests.matrix.page import PAGE, page
from tests.matrix.pairs import Pair, all_pairs, runs_here


def main(arguments: list[str]) -> int:
    """Check all pairs, or those whose description holds every word; 1 if one fails."""
    if "--page" in arguments:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    pairs = [pair for pair in all_pairs() if all(word in str(pair) for word in arguments)]
    tally: Counter[str] = Counter()
    start = time.perf_counter()
    with threadpool_limits(1, user_api="blas"):
        for pair in pairs:
            outcome = _outcome(pair)
            tally[outcome] += 1
    print(f"{len(pairs)} pairs in {time.perf_counter() - start:.0f} s:", dict(tally))
    return int(tally["failed"] > 0)


def _outcome(pair: Pair) -> str:
    """Whether a pair works, is refused, or fails, which is printed."""
    if not runs_here(pair):
        return f"needs {pair.case.how.package}"
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            pair.check(Path(folder))
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            kind = "pending" if pair.pending else "failed"
            text = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
            print(f"{kind}: {pair}: {text} ({place})", flush=True)
            return kind
    return "works" if pair.refusal is None else "refused"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
