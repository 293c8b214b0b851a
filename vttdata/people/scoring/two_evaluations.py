"""Compare two runs of an assessment on their common systems: read the files of scores, correlate, and make tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.results import ResultTable
from vttdata.files.tables import Columns, read_number, read_table, required_text
from vttdata.people.scoring.scores import SystemScore, system_scores
from vttdata.records import CaptionScore
from vttdata.statistics.correlation import Correlation, correlate


def read_caption_scores(file: Path) -> list[CaptionScore]:
    """Read ``captions.csv`` of ``vttdata people score``: `video_id`, `system`, `raw`, `z`, `assessments`.

    Raises:
        VttdataError: if it cannot be read, a score is not a finite number, or a caption is duplicated.
    """
    scores: dict[tuple[str, str], CaptionScore] = {}
    numbers = ("raw", "z", "assessments")
    names = ("system", "video_id", *numbers)
    for line, row in read_table(file, Columns(names, [(name,) for name in names], numbers)):
        # Tables by `vttdata people score` have escaped formulas.
        system, video = (unescape_formula(required_text(file, line, row, name)) for name in ("system", "video_id"))
        if (system, video) in scores:
            raise VttdataError(f"{file}:{line}: the caption of {video!a} by {system!a} is duplicated.")
        values = [read_number(file, line, name, required_text(file, line, row, name)) for name in numbers]
        scores[system, video] = CaptionScore(video, system, values[0], values[1], int(values[2]))
    if not scores:
        raise VttdataError(f"{file}: contains no scores.")
    return list(scores.values())


def replication(
    first: Iterable[SystemScore], second: Iterable[SystemScore], *, leave_out: Collection[str] = ()
) -> tuple[Correlation, Correlation]:
    """Return the agreement of two runs on their common systems, by mean raw scores and by mean z-scores.

    Args:
        first: systems of one run.
        second: systems of the other run.
        leave_out: systems that do not count, such as human captions, which any two runs rank first.

    Raises:
        VttdataError: if the runs have fewer than two common systems.
    """
    second_scores = {score.system: score for score in second}
    pairs = [
        (score, second_scores[score.system])
        for score in first
        if score.system in second_scores and score.system not in leave_out
    ]
    if len(pairs) < 2:
        raise VttdataError(f"The two runs share {len(pairs)} systems; at least 2 are needed to compare them.")
    raw = correlate([x.raw for x, _ in pairs], [y.raw for _, y in pairs])
    return raw, correlate([x.z for x, _ in pairs], [y.z for _, y in pairs])


def correlation_table(correlations: Mapping[str, Correlation]) -> ResultTable:
    """Return a row per named correlation."""
    rows = [(name, c.n, c.pearson, c.spearman, c.kendall) for name, c in correlations.items()]
    return ResultTable(("", "n", "pearson", "spearman", "kendall"), rows)


def replication_table(first: Sequence[CaptionScore], second: Sequence[CaptionScore]) -> ResultTable:
    """Return the agreement of two runs on their common systems; see `replication`."""
    raw, z = replication(system_scores(first), system_scores(second))
    return correlation_table({"raw": raw, "z": z})
