"""All experiments, in the order of the page."""

from __future__ import annotations

from collections.abc import Sequence

from evidence._experiment import Experiment
from evidence.experiments import (
    andelic2007_classification,
    andelic2007_regression,
    andelic2007_sinc,
    calibration,
    conformal,
    conformal_times,
    dask_rows,
    data_times,
    default_times,
    duan2008_tables,
    ellipsoidal,
    fisher,
    flattery,
    gpu,
    gpu_peers,
    honest,
    kaieda2004_multiclass,
    kaieda2004_table_8,
    kaieda2004_table_10,
    kim2006_figure_1,
    kim2006_figure_2,
    kim2006_figure_3,
    kim2006_table_1,
    label_errors,
    libraries,
    linear_svm,
    mixed_tables,
    more_rows,
    orthogonal_large,
    ours_calibration,
    ours_exactness,
    ours_path,
    ours_peers,
    ours_stack,
    ours_updates,
    paper_methods,
    ridge_path,
    saadi2004_figure_1,
    saadi2004_table_1,
    selection,
    service,
    small_tables,
    stack_candidates,
    stack_parts,
    store_edits,
    stream_choices,
    stream_steps,
    threads,
    tuning,
    widths,
    widths_classes,
    widths_coverage,
    widths_folds,
)

_MODULES = (
    kim2006_figure_1,
    kim2006_figure_2,
    kim2006_table_1,
    kim2006_figure_3,
    paper_methods,
    andelic2007_classification,
    andelic2007_sinc,
    andelic2007_regression,
    orthogonal_large,
    dask_rows,
    service,
    saadi2004_figure_1,
    saadi2004_table_1,
    fisher,
    selection,
    tuning,
    kaieda2004_multiclass,
    kaieda2004_table_8,
    kaieda2004_table_10,
    ellipsoidal,
    duan2008_tables,
    linear_svm,
    ours_updates,
    ours_exactness,
    ours_path,
    ridge_path,
    ours_calibration,
    calibration,
    label_errors,
    data_times,
    conformal,
    conformal_times,
    widths,
    widths_classes,
    widths_coverage,
    widths_folds,
    ours_peers,
    ours_stack,
    small_tables,
    mixed_tables,
    stack_candidates,
    stack_parts,
    more_rows,
    libraries,
    store_edits,
    stream_choices,
    stream_steps,
    threads,
    default_times,
    flattery,
    honest,
    gpu,
    gpu_peers,
)
EXPERIMENTS: tuple[Experiment, ...] = tuple(e for m in _MODULES for e in m.EXPERIMENTS)
PAGE = tuple(e for e in EXPERIMENTS if e.page)
GPU = (*gpu.EXPERIMENTS, *gpu_peers.EXPERIMENTS)
BENCHMARKS = tuple(e for e in EXPERIMENTS if e.file and e not in GPU)


def select(
    names: Sequence[str] = (), experiments: Sequence[Experiment] = EXPERIMENTS
) -> list[Experiment]:
    """Experiments by name or file, else by how those begin, as in ``kim2006``; all by default.

    Raises
    ------
    ValueError
        Naming those that there are.
    """
    chosen = [experiment for name in names for experiment in _asked(name, experiments)]
    return [e for e in experiments if not names or e in chosen]


def _asked(name: str, experiments: Sequence[Experiment]) -> list[Experiment]:
    exact = [e for e in experiments if name in (e.name, e.file)]
    begun = (f"{name}-", f"{name}_")
    found = exact or [
        e for e in experiments if e.name.startswith(begun) or e.file.startswith(begun)
    ]
    if not found:
        known = ", ".join(experiment.name for experiment in experiments)
        raise ValueError(f"no experiment {name!r}. There are: {known}.")
    return found
