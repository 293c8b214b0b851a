"""Detailed captions: which events people describe a caption tells, and which of its events their description tells.

A judge, usually a language model, says of each event whether a text entails it, is neutral to it or contradicts it. As
in DREAM-1K (Wang et al., arXiv 2407.00634, 2024), recall is the share of the events of the reference that the caption
entails, precision the share of the events of the caption that the reference entails, both averaged over clips; F1 is
the harmonic mean of these two averages. No judge is run here: its verdicts are read from a table, which says who it
was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.columns import ScoreColumn
from vttdata.evaluate.items import ClipItems, read_clips
from vttdata.evaluate.meta.verdicts import JUDGE_COLUMNS, JudgeNames, stated_text
from vttdata.evaluate.predictions import USUAL, Matched, NamedColumns, match_predictions
from vttdata.evaluate.task import EvaluationTask, Scored, Scoring
from vttdata.files.tables import JSON_LINES, Columns, open_text, read_table
from vttdata.json_types import Row
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores

_TEXT_TABLES = (".csv", ".tsv", ".json", *JSON_LINES)

SIDES = ("reference", "caption")
RELATIONS = ("entailment", "neutral", "contradiction")
_COLUMNS = Columns(
    ("video_id", "events_of", "event", "verdict", "repeat", *chain(*JUDGE_COLUMNS)),
    (("video_id",), ("events_of",), ("event",), ("verdict",), *JUDGE_COLUMNS),
)

Shares = dict[str, Floats]
"""Judge -> share of events with each of `RELATIONS`, of the reference and of the caption, 2 x 3; NaN without events."""


class DetailedCaptionsTask(EvaluationTask[ClipItems]):
    """Verdicts on events of captions and of their references."""

    options: Collection[str] = ("train_split",)
    columns: Sequence[str] = ("video_id", "events_of", "event", "verdict", "repeat")
    headline = "f1"
    solves_items = False

    def fits(self, dataset: Path, predictions: Path | None) -> bool:  # noqa: ARG002
        """Return whether a file begins with verdicts on events."""
        if predictions is None or predictions.suffix.lower() not in _TEXT_TABLES or not predictions.is_file():
            return False
        with open_text(predictions) as stream:
            return "events_of" in stream.read(4096)

    def read_items(self, dataset: Path, *, config: str, split: str | None) -> ClipItems:
        """Read the clips of a split; see `read_clips`."""
        return read_clips(dataset, config=config, split=split)

    def read_predictions(self, path: Path, scoring: Scoring[ClipItems]) -> Matched:
        """Read verdicts; see `read_events`."""
        items, (verdicts, judges) = scoring.items, read_events(path, scoring.columns)
        matched = match_predictions(
            str(path), verdicts.items(), items.ids, scoring.rule, other_split=items.other_split, noun="judged caption"
        )
        missing = {name: sum(name not in each for each in matched.values if each) for name in judges.prompts}
        if any(missing.values()):
            name = max(missing, key=lambda each: missing[each])
            raise VttdataError(f"{path}: {name[:80]} has no verdict on {missing[name]:,} of the clips.")
        who = "; ".join(
            f"{name}, prompt {prompt}, {' to '.join(dict.fromkeys((min(days), max(days))))}"
            for (name, prompt), days in zip(judges.prompts.items(), judges.dates.values(), strict=True)
        )
        return matched._replace(notes=[f"The {'judges are' if len(judges.prompts) > 1 else 'judge is'} {who}."])

    def score(self, predictions: Matched, scoring: Scoring[ClipItems]) -> Scored:  # noqa: ARG002
        """Score captions by the verdicts on them; a missing one has no event of the reference, and none that is right.

        Returns:
            ``recall``, ``precision`` and ``f1``; ``not-contradicted``, the share of events of the caption that the
            reference does not contradict; and ``f1-by-clip``, the mean of the F1 of clips. Of several judges these are
            by their mean verdicts, and by those of each, such as ``f1@JUDGE``.
        """
        given = predictions.values
        names = sorted({name for each in given if each for name in each})
        # Without an event, nothing is missed, and nothing is wrong: DREAM-1K's program gives 1.
        without = np.array([[1.0, 0.0, 0.0]] * 2)
        worst = dict.fromkeys(names, np.array([[0.0, 0.0, 1.0]] * 2))
        shares = {
            name: np.array(
                [np.where(np.isnan(each[name]), without, each[name]) for each in (e or worst for e in given)]
            )
            for name in names
        }
        judged = {"": np.mean([*shares.values()], axis=0)}
        judged |= {f"@{name}": of_judge for name, of_judge in shares.items()} if len(names) > 1 else {}
        every = np.arange(len(given))
        columns: dict[str, ScoreColumn] = {}
        for suffix, values in judged.items():
            recall, precision = values[:, 0, 0], values[:, 1, 0]
            both = np.stack([recall, precision], axis=1)
            by_clip = harmonic_mean(both, np.ones(len(both)))
            scores = {
                "recall": ColumnScores.from_means(recall),
                "precision": ColumnScores.from_means(precision),
                "f1": ColumnScores(by_clip, both, harmonic_mean),
                "not-contradicted": ColumnScores.from_means(1 - values[:, 1, 2]),
                "f1-by-clip": ColumnScores.from_means(by_clip),
            }
            columns |= {name + suffix: ScoreColumn(each, every) for name, each in scores.items()}
        findings = [*predictions.notes]
        for side, what in enumerate(("references", "captions")):
            empty = sum(bool(each) and np.isnan(next(iter(each.values()))[side, 0]) for each in given)
            findings += [f"Clips whose {what} have no event, which count as right: {empty:,}."] if empty else []
        return Scored(columns, predictions.counts, findings, settings={"judge": "+".join(names), "v": "1"})


def harmonic_mean(sums: Floats, count: Floats) -> Floats:
    """Return the harmonic mean of two means from their sums, ``(..., 2)``, and the numbers of items, ``(...,)``."""
    with np.errstate(invalid="ignore"):
        total = sums.sum(axis=-1)
        found: Floats = np.divide(2 * sums.prod(axis=-1), total, out=np.zeros_like(total), where=total > 0) / count
    return found


def read_events(path: Path, columns: NamedColumns = USUAL) -> tuple[dict[str, Shares], JudgeNames]:
    """Return the shares of verdicts on the events of each clip, and the judges.

    Args:
        path: table with ``video_id``, ``events_of`` (``reference`` or ``caption``), ``event``, ``verdict`` (one of
            `RELATIONS`), the columns of a judge (see `vttdata.evaluate.meta.verdicts.JUDGE_COLUMNS`), and if known
            ``repeat``, the number of the run. A clip of one side only has no event on the other.
        columns: other names of these columns, but those of a judge.

    Raises:
        VttdataError: if it cannot be read, a verdict is not complete, or an event has two of one run.
    """
    judges = JudgeNames(path)
    counts: defaultdict[str, defaultdict[str, Floats]] = defaultdict(lambda: defaultdict(lambda: np.zeros((2, 3))))
    seen: dict[tuple[str, ...], int] = {}
    for line, row in read_table(path, columns.of(_COLUMNS)):
        name = judges.read(line, row)
        video, event = (stated_text(path, line, row, [column]) for column in ("video_id", "event"))
        side, relation = (
            _choose(path, line, row, column, values)
            for column, values in (("events_of", SIDES), ("verdict", RELATIONS))
        )
        before = seen.setdefault((video, SIDES[side], event, name, str(row.get("repeat"))), line)
        if before != line:
            raise VttdataError(
                f"{path}:{line}: {event[:80]!a} has a verdict of the same run on line {before}; number runs in a "
                "column 'repeat'."
            )
        counts[video][name][side, relation] += 1
    with np.errstate(invalid="ignore"):
        shares = {
            video: {name: each / each.sum(axis=1, keepdims=True) for name, each in by_judge.items()}
            for video, by_judge in counts.items()
        }
    return shares, judges


def _choose(path: Path, line: int, row: Row, column: str, values: Sequence[str]) -> int:
    value = stated_text(path, line, row, [column])
    if (word := value.strip().lower()) not in values:
        raise VttdataError(f"{path}:{line}: '{column}' is {value[:40]!a}, not one of {', '.join(values)}.")
    return values.index(word)


TASK = DetailedCaptionsTask()
