"""Values of single items in a stored evaluation, ``items.jsonl``: written, and read back to be compared with new ones.

A row has what its column is scored from, so that the score of every selection of the rows can be computed again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import Items
from vttdata.files.tables import Columns, read_table
from vttdata.json_types import JsonObject
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores, MedianScores

ITEMS = "items.jsonl"


@dataclass(slots=True)
class StoredColumn:
    """Rows of one column: values, what its score is computed from, and the source of each; r rows."""

    values: list[float] = field(default_factory=list)
    statistics: list[list[float]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)

    def scores(self, like: ScoreColumn) -> ColumnScores | MedianScores | None:
        """Return the scores, combined as those of a column of the same name; None where they are of another kind."""
        values: Floats = np.array(self.values)
        if isinstance(like.scores, MedianScores):
            return MedianScores(values)
        if len({len(row) for row in self.statistics}) != 1:
            return None
        statistics: Floats = np.array(self.statistics)
        is_same = statistics.shape[1] == like.scores.statistics.shape[1]
        return ColumnScores(values, statistics, like.scores.formula) if is_same else None


def item_lines(columns: Mapping[str, ScoreColumn], items: Items, texts: Sequence[Sequence[str]] = ()) -> Iterator[str]:
    """Yield a line of JSON for each row of each column; those of the first one have the texts that were predicted."""
    sources = [items.source_ids[source] for source in items.sources.tolist()]
    for name, column in columns.items():
        scores = column.scores
        for row, item in enumerate(column.items.tolist()):
            value = float(scores.items[row])
            content: JsonObject = {"item": items.ids[item]}
            content |= {"query": column.queries[row]} if column.queries is not None else {}
            content |= {"metric": name, "value": value, "source": sources[item]}
            if isinstance(scores, ColumnScores) and (statistics := scores.statistics[row].tolist()) != [value]:
                content["statistics"] = statistics
            if texts and name == next(iter(columns)):
                content["predicted"] = [*texts[item]]
            yield json.dumps(content, ensure_ascii=False) + "\n"


def read_stored_columns(path: Path) -> dict[str, StoredColumn]:
    """Read the values of the items of a stored evaluation; empty without the file, or where it has no sources.

    Raises:
        VttdataError: if it is damaged.
    """
    columns: dict[str, StoredColumn] = {}
    for line, row in read_table(path, Columns()) if path.is_file() else ():
        if "source" not in row:
            return {}
        try:
            statistics = [float(value) for value in row.get("statistics", [row["value"]])]
            column = columns.setdefault(str(row["metric"]), StoredColumn())
            column.values.append(float(row["value"]))
            column.statistics.append(statistics)
            column.sources.append(str(row["source"]))
        except (KeyError, TypeError, ValueError) as error:
            raise VttdataError(f"{path}:{line}: is no value of an item.") from error
    return columns
