"""Section of a card on what was corrected in a dataset and withdrawn from it since its first version."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from vttdata.dataset.card.sections import Tables, format_table, read_rows
from vttdata.dataset.facts import DatasetFacts
from vttdata.dataset.rows import ERRATA
from vttdata.dataset.tombstones import WITHDRAWN
from vttdata.files.results import escape_line

_SHOWN_ERRATA = 20
_ERRATUM = ("id", "field", "old", "new", "reason", "date", "version")


def format_corrections(facts: DatasetFacts, tables: Tables, folder: Path) -> str:
    """Return the section on errata and withdrawals; empty without any."""
    parts = []
    errata = list(read_rows(folder, tables, ERRATA, _ERRATUM))
    if errata:
        rows = [tuple(escape_line(row[name][:80]) for name in _ERRATUM) for row in errata[-_SHOWN_ERRATA:]]
        parts += [
            f"Values corrected since the first version: {len(errata):,}; the configuration `{ERRATA}` has all, with "
            "the old value and the reason. The latest:",
            format_table([_ERRATUM, *rows]),
        ]
    withdrawn = read_rows(folder, tables, WITHDRAWN, ("version", "what", "reason"))
    counts = Counter((row["version"], row["what"], row["reason"]) for row in withdrawn)
    shown = [
        (version, what, f"{count:,}", escape_line(reason))
        for (version, what, reason), count in sorted(counts.items())
        if what in ("source", "clip", "annotator")
    ]
    if shown:
        parts += [
            f"Withdrawn, and left out by every later build; the configuration `{WITHDRAWN}` has salted hashes:",
            format_table([("version", "what", "number", "reason"), *shown]),
            "Figures under Details of how it was made are those from before.",
        ]
    if facts.emptied:
        parts.append(f"Splits of which nothing is left, and which are gone: {', '.join(facts.emptied)}.")
    return "\n\n".join(["## Corrections", *parts]) if parts else ""
