"""A script that makes the model of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gramian.serve._choices import CURVE, Choice


def script(choice: Choice, rows: Mapping[int, Sequence[Any]]) -> str:
    """Return Python code that fits the same model, learns, forgets and prints its error."""
    curve = choice.offer.task == CURVE
    parameters = ", ".join(f"{name}={value!r}" for name, value in choice.parameters().items())
    lines = [
        "import numpy as np",
        f"from gramian import {choice.estimator}",
        "",
        "# id, x, y" if curve else "# id, x, y, class",
        "table = np.array([",
        *(_line([name, *(row[:2] if curve else row)]) for name, row in rows.items()),
        "])",
        "ids = table[:, 0].astype(int)",
        "X, y = table[:, 1:2], table[:, 2]"
        if curve
        else "X, y = table[:, 1:3], table[:, 3].astype(int)",
        f"model = {choice.estimator}({parameters})",
        "model.fit(X, y, ids=ids)",
        'print(f"leave-one-out score {model.loo_score():.3f} of {len(model.ids_)} samples")',
        "",
        "model.forget(ids[:1])  # exactly, without a refit",
        "model.partial_fit(X[:1], y[:1], ids=ids[:1])  # and back",
    ]
    return "\n".join(lines) + "\n"


def _line(values: Sequence[Any]) -> str:
    return f"    [{', '.join(f'{value:.10g}' for value in values)}],"
