"""All experiments, in the order of the page."""

from __future__ import annotations

from collections.abc import Sequence

from gramian.reproduce._experiment import Experiment
from gramian.reproduce._experiments import (
    andelic2007_classification,
    andelic2007_regression,
    andelic2007_sinc,
    duan2008_tables,
    kaieda2004_multiclass,
    kaieda2004_table_8,
    kaieda2004_table_10,
    kim2006_figure_1,
    kim2006_figure_2,
    kim2006_figure_3,
    kim2006_table_1,
    ours_calibration,
    ours_exactness,
    ours_path,
    ours_peers,
    ours_updates,
    saadi2004_figure_1,
    saadi2004_table_1,
)

EXPERIMENTS: tuple[Experiment, ...] = (
    kim2006_figure_1.EXPERIMENT,
    kim2006_figure_2.EXPERIMENT,
    kim2006_table_1.EXPERIMENT,
    kim2006_figure_3.EXPERIMENT,
    andelic2007_classification.EXPERIMENT,
    andelic2007_sinc.EXPERIMENT,
    andelic2007_regression.EXPERIMENT,
    saadi2004_figure_1.EXPERIMENT,
    saadi2004_table_1.EXPERIMENT,
    kaieda2004_multiclass.EXPERIMENT,
    kaieda2004_table_8.EXPERIMENT,
    kaieda2004_table_10.EXPERIMENT,
    duan2008_tables.EXPERIMENT,
    ours_updates.EXPERIMENT,
    ours_exactness.EXPERIMENT,
    ours_path.EXPERIMENT,
    ours_calibration.EXPERIMENT,
    ours_peers.EXPERIMENT,
)


def select(
    names: Sequence[str] = (), experiments: Sequence[Experiment] = EXPERIMENTS
) -> list[Experiment]:
    """Experiments by name, or by how their names begin, as in ``kim2006``; all by default.

    Raises
    ------
    ValueError
        Naming those that there are.
    """
    for name in names:
        if not any(_matches(experiment.name, name) for experiment in experiments):
            known = ", ".join(experiment.name for experiment in experiments)
            raise ValueError(f"no experiment {name!r}. There are: {known}.")
    chosen = names or [experiment.name for experiment in experiments]
    return [e for e in experiments if any(_matches(e.name, name) for name in chosen)]


def _matches(name: str, asked: str) -> bool:
    return name == asked or name.startswith(f"{asked}-")
