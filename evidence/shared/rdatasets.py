"""Make the folder of mixed tables for confirmation from a copy of Rdatasets.

``python -m evidence.shared.rdatasets COPY FOLDER``, where COPY is a clone of
vincentarelbundock/Rdatasets (commit 1dcc2bf5 was used). Then name FOLDER by GRAMIAN_MIXED. The
folder ``many`` in it has tables with all their rows, for `more_rows`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

LARGEST, SEED, FEWEST = 3000, 0, 10


class Source(NamedTuple):
    """A table of an R package, and columns that would tell the target."""

    package: str
    item: str
    target: str
    classes: bool
    left_out: tuple[str, ...] = ()
    name: str = ""


_PAID = ("installment", "paid_interest", "paid_total", "paid_principal", "balance")
_LOANS = Source(
    *("openintro", "loans_full_schema", "interest_rate", False),
    ("grade", "sub_grade", *_PAID),
    "loans",
)
SOURCES = (
    Source("AER", "HMDA", "deny", True),
    Source("AER", "SwissLabor", "participation", True),
    Source("AER", "CreditCard", "card", True, ("expenditure", "share")),
    Source("modeldata", "attrition", "Attrition", True),
    Source("modeldata", "mlc_churn", "churn", True),
    Source("modeldata", "credit_data", "Status", True),
    Source("modeldata", "lending_club", "Class", True),
    Source("modeldata", "cells", "class", True, ("case",)),
    Source("modeldata", "ad_data", "Class", True),
    Source("modeldata", "stackoverflow", "Remote", True),
    Source("ISLR", "OJ", "Purchase", True),
    Source("carData", "Mroz", "lfp", True, ("lwg",)),
    Source("carData", "TitanicSurvival", "survived", True),
    Source("carData", "Chile", "vote", True),
    Source("vcdExtra", "ICU", "died", True),
    Source("modeldata", "wa_churn", "churn", True),
    Source("modeldata", "scat", "Species", True),
    Source("modeldata", "ames", "Sale_Price", False),
    Source("modeldata", "car_prices", "Price", False),
    Source("modeldata", "concrete", "compressive_strength", False),
    Source("modeldata", "chem_proc_yield", "yield", False),
    Source("modeldata", "deliveries", "time_to_delivery", False),
    Source("modeldata", "Sacramento", "price", False),
    Source("AER", "CPS1985", "wage", False),
    Source("AER", "Guns", "violent", False, ("murder", "robbery")),
    Source("AER", "TeachingRatings", "eval", False),
    Source("carData", "Salaries", "salary", False),
    Source("carData", "SLID", "wages", False),
    Source("ISLR", "Wage", "wage", False, ("logwage",)),
    Source("ISLR", "Carseats", "Sales", False),
    Source("ISLR", "College", "Grad.Rate", False),
    Source("ISLR", "Hitters", "Salary", False),
    Source("ISLR", "Auto", "mpg", False, ("name",)),
    Source("mosaicData", "SaratogaHouses", "price", False),
    _LOANS,
    Source("openintro", "ncbirths", "weight", False, ("lowbirthweight",)),
    Source("DAAG", "ais", "pcBfat", False, ("ssf", "lbm")),
)
MANY = (
    Source("modeldata", "mlc_churn", "churn", True),
    Source("modeldata", "deliveries", "time_to_delivery", False),
    Source("ggplot2", "diamonds", "price", False),
    Source("modeldata", "hotel_rates", "avg_price_per_room", False),
    Source("AER", "CPS1988", "wage", False),
    _LOANS,
    Source("modeldata", "lending_club", "Class", True),
    Source("AER", "HealthInsurance", "insurance", True),
    Source("survival", "flchain", "death", True, ("futime", "chapter")),
    Source("ratdat", "surveys", "species_id", True, ("record_id",)),
)
"""Tables with thousands of rows; some of them are among the others, with 3,000 rows."""


def read(copy: Path, source: Source, most: int | None = LARGEST) -> Any:
    """The table: rows with a target, classes of ten rows and more, 3,000 rows at most."""
    import pandas

    table = pandas.read_csv(copy / "csv" / source.package / f"{source.item}.csv")
    table = table.drop(columns=["rownames", *source.left_out], errors="ignore")
    table = table.dropna(subset=[source.target])
    if source.classes:
        table[source.target] = table[source.target].astype(str)
        counts = table[source.target].value_counts()
        table = table[table[source.target].map(counts) >= FEWEST]
    for name in table.select_dtypes("bool").columns:
        table[name] = table[name].astype(str)
    return table if most is None or len(table) <= most else table.sample(most, random_state=SEED)


def write(
    copy: Path, folder: Path, sources: Sequence[Source] = SOURCES, most: int | None = LARGEST
) -> list[str]:
    """Write all tables and TABLES.md; the names of the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Mixed tables for confirmation", "", "| table | kind | target | rows | package |"]
    lines.append("|---|---|---|---|---|")
    names = []
    for source in sources:
        table, name = read(copy, source, most), source.name or source.item
        packed = {"method": "gzip", "mtime": 0}
        table.to_csv(folder / f"{name}.csv.gz", index=False, compression=packed)
        kind = "classes" if source.classes else "number"
        lines.append(f"| {name} | {kind} | {source.target} | {len(table)} | {source.package} |")
        names.append(name)
    (folder / "TABLES.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return names


if __name__ == "__main__":
    made = Path(sys.argv[2])
    names = write(Path(sys.argv[1]), made) + write(Path(sys.argv[1]), made / "many", MANY, None)
    print("\n".join(names))
