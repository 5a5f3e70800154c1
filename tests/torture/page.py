"""What came of the attacks, seed by seed: kept as JSON, and shown as a table on a page.

A run with ``--page`` replaces what is kept of its attacks and its seed; of the other attacks and
of one other seed, what is kept stays.
"""

from __future__ import annotations

import json
from typing import NamedTuple

BEGIN, END = "<!-- results of python -m tests.torture -->", "<!-- end of results -->"
SEEDS = 2
"""How many seeds the page shows: the last ones."""


class Result(NamedTuple):
    """What came of an attack."""

    name: str
    tried: int
    failures: list
    took: float
    note: str


def record(results, seed, command, path):
    """Keep the results of a seed in a JSON file; what is kept of the seeds that the page shows."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    mine = kept.setdefault(str(seed), {})
    mine |= {result.name: result._asdict() | {"command": command} for result in results}
    for old in list(kept)[:-SEEDS]:
        del kept[old]
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return kept


def table(kept, attacks):
    """The results in Markdown: a line for each attack, two columns for each seed."""
    seeds = "".join(f" seed {seed} | failures |" for seed in kept)
    lines = [f"| promise | attack | asked |{seeds}", "|---" * (3 + 2 * len(kept)) + "|"]
    for name, one in attacks.items():
        if any(name in found for found in kept.values()):
            asked = "" if one.asked is None else f"{one.asked:,}"
            cells = "".join(_cells(found.get(name), one.unit) for found in kept.values())
            lines.append(f"| {one.promise} | `{name}`: {one.attack} | {asked} |{cells}")
    return "\n".join(lines)


def _cells(found, unit):
    return f" {found['tried']:,} {unit} | {len(found['failures'])} |" if found else " | |"


def described(kept, attacks):
    """The table, how it was made, further results, and what failed."""
    parts = [table(kept, attacks), "\n".join(_commands(kept, attacks))]
    every = [(seed, name, found) for seed in kept for name, found in kept[seed].items()]
    notes = [f"- `{name}`, seed {seed}: {f['note']}." for seed, name, f in every if f["note"]]
    wrong = [
        f"- `{name}`, seed {seed}: {short(failure)}"
        for seed, name, found in every
        for failure in found["failures"][:5]
    ]
    for title, lines in (("Further results:", notes), ("Failures:", wrong)):
        parts += [title, "\n".join(lines)] if lines else []
    return "\n\n".join(parts)


def _commands(kept, attacks):
    """Each command that was run, with its attacks."""
    for found in kept.values():
        ran = {}
        for name, one in found.items():
            ran.setdefault(one["command"], []).append(name)
        for command, names in ran.items():
            minutes = sum(found[name]["took"] for name in names) / 60.0
            rest = len(names) > len(attacks) / 2 and len(names) < len(attacks)
            what = ", all others" if rest else ""
            yield f"- `{command}`{what}: {minutes:.0f} minutes."


def short(failure):
    """A failure in a line: of a traceback, who failed and how it ends."""
    lines = [line for line in failure.splitlines() if line.strip()]
    return failure if len(lines) == 1 else f"{lines[0].split(': ')[0]}: {lines[-1]}"


def put(text, page):
    """Replace what stands between the two marks of a page."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
