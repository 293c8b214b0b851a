"""Compare two runs of an evaluation: read the files of scores, and make tables.

The statistics are those of `vttdata.assess.correlation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from vttdata.assess.correlation import Correlation, replication
from vttdata.assess.manifest import required_text
from vttdata.assess.scores import system_scores
from vttdata.assess.tables import Table
from vttdata.errors import VttdataError
from vttdata.evaluate.predictions import read_number
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.tables import Columns, read_table
from vttdata.records import CaptionScore


def read_caption_scores(file: Path) -> list[CaptionScore]:
    """Read ``captions.csv`` of ``vttdata hits score``: `video_id`, `system`, `raw`, `z`, `assessments`.

    Raises:
        VttdataError: if it cannot be read, a score is not a finite number, or a caption is duplicated.
    """
    scores: dict[tuple[str, str], CaptionScore] = {}
    numbers = ("raw", "z", "assessments")
    names = ("system", "video_id", *numbers)
    for line, row in read_table(file, Columns(names, [(name,) for name in names], numbers)):
        # Tables by `vttdata hits score` have escaped formulas.
        system, video = (unescape_formula(required_text(file, line, row, name)) for name in ("system", "video_id"))
        if (system, video) in scores:
            raise VttdataError(f"{file}:{line}: the caption of {video!a} by {system!a} is duplicated.")
        values = [read_number(file, line, name, required_text(file, line, row, name)) for name in numbers]
        scores[system, video] = CaptionScore(video, system, values[0], values[1], int(values[2]))
    if not scores:
        raise VttdataError(f"{file}: contains no scores.")
    return list(scores.values())


def correlation_table(correlations: Mapping[str, Correlation]) -> Table:
    """Return a row per named correlation."""
    rows = [[name, c.n, c.pearson, c.spearman, c.kendall] for name, c in correlations.items()]
    return [["", "n", "pearson", "spearman", "kendall"], *rows]


def replication_table(first: Sequence[CaptionScore], second: Sequence[CaptionScore]) -> Table:
    """Return the agreement of two runs on their common systems; see `replication`."""
    raw, z = replication(system_scores(first), system_scores(second))
    return correlation_table({"raw": raw, "z": z})
