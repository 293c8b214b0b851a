"""Read the verdicts of a judge, usually a language model, on captions, and check the judge by itself.

A verdict says which model gave it, at which revision and by which prompt, since scores move with all three.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.tables import Columns, read_number, read_table, required_text
from vttdata.ids import digest
from vttdata.json_types import Row

_ITEM, _REVISION, _PROMPT = ("item", "video_id"), ("revision", "model_revision"), ("prompt_digest", "prompt")
_TEXT = ("caption", "candidate")
JUDGE_COLUMNS = (("judge",), _REVISION, _PROMPT, ("date",))
"""Names of each column that says who a judge is."""

# What a name that moves to another model is made of, and what a fixed one has: a date, a version or a digest.
_FLOATING = re.compile(r"(?:^|[-_:@/ ])(?:latest|main|master|head|preview|stable|default|current)(?:$|[-_:@/ ])", re.I)
_FIXED = re.compile(r"\d{4}-?\d{2}-?\d{2}|\d+\.\d+\.\d+|(?<![0-9a-z])[0-9a-f]{7,}(?![0-9a-z])", re.I)
_DIGEST = re.compile(r"(?:sha256:)?[0-9a-f]{8,64}", re.I)


class JudgeVerdict(NamedTuple):
    """Score of a caption by a judge.

    Fields:
        item: what the caption is about, or the id of a control.
        system: author of the caption; empty for controls.
        score: on the judge's own scale, higher for better.
        repeat: number of the run.
        position: place at which the judge was shown the caption among others; None where it is not known.
        caption: text that was judged; None where the table does not say.
        line: of the table.
    """

    item: str
    system: str
    score: float
    repeat: str
    position: float | None
    caption: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Retest:
    """What a judge says of the same captions again: captions, share of equal scores, Pearson's r of two runs."""

    captions: int
    equal: float
    correlation: float


@dataclass(frozen=True, slots=True)
class Shift:
    """Mean difference of scores of the same captions at the later and the earlier place, in units of the judge."""

    captions: int
    value: float
    error: float


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """A judge with all its verdicts.

    Fields:
        name: model and revision.
        prompt: digest of the prompt.
        dates: first and last day.
        verdicts: in the order of the table.
    """

    name: str
    prompt: str
    dates: tuple[str, str]
    verdicts: Sequence[JudgeVerdict]

    def scores(self) -> dict[tuple[str, str], float]:
        """Return (system, item) -> mean over repeats."""
        by_caption: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for verdict in self.verdicts:
            by_caption[verdict.system, verdict.item].append(verdict.score)
        return {key: math.fsum(values) / len(values) for key, values in by_caption.items()}

    def digest(self) -> str:
        """Return twelve hexadecimal digits of all verdicts, by which they can be fixed before people rate."""
        every = sorted([each.system, each.item, each.repeat, str(each.position), each.score] for each in self.verdicts)
        return digest(every)[:12]

    def retest(self) -> Retest | None:
        """Compare the first two runs of each caption; None without repeats."""
        first, second = self._two_runs(lambda verdict: verdict.repeat)
        if not len(first):
            return None
        varies = len(first) > 1 and np.ptp(first) > 0 and np.ptp(second) > 0
        r = float(np.corrcoef(first, second)[0, 1]) if varies else math.nan
        return Retest(len(first), float((first == second).mean()), r)

    def position_shift(self) -> Shift | None:
        """Compare scores of the same captions at two places; None where no caption was shown at two."""
        first, second = self._two_runs(lambda verdict: verdict.position)
        if not len(first):
            return None
        differences = second - first
        error = float(differences.std(ddof=1)) / math.sqrt(len(first)) if len(first) > 1 else math.nan
        return Shift(len(first), float(differences.mean()), error)

    def _two_runs(self, key: Callable[[JudgeVerdict], str | float | None]) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of each caption at the lowest two values of a key."""
        runs: defaultdict[tuple[str, str], dict[str | float, list[float]]] = defaultdict(dict)
        for verdict in self.verdicts:
            value = key(verdict)
            if value is not None:
                runs[verdict.system, verdict.item].setdefault(value, []).append(verdict.score)
        pairs = [
            [math.fsum(of_caption[run]) / len(of_caption[run]) for run in sorted(of_caption, key=_run_order)[:2]]
            for of_caption in runs.values()
            if len(of_caption) > 1
        ]
        both = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        return both[:, 0], both[:, 1]


def _run_order(run: str | float) -> tuple[float, str]:
    try:
        return float(run), ""
    except ValueError:
        return math.inf, str(run)


class JudgeNames:
    """Judges of a table, each a model at a fixed revision, with the digest of its prompt and the days of its verdicts.

    Fields:
        prompts: judge -> digest.
        dates: judge -> days.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.prompts: dict[str, str] = {}
        self.dates: defaultdict[str, set[str]] = defaultdict(set)

    def read(self, line: int, row: Row) -> str:
        """Return the judge of a row, from `JUDGE_COLUMNS`.

        Raises:
            VttdataError: if they are not complete, the revision may mean another model tomorrow, or the judge has a
                second prompt.
        """
        judge, revision, prompt, date = (stated_text(self._file, line, row, names) for names in JUDGE_COLUMNS)
        where, name = f"{self._file}:{line}", f"{judge} {revision}"
        if _FLOATING.search(revision) or not _FIXED.search(revision):
            raise VttdataError(
                f"{where}: '{revision[:60]}' does not fix a model: name a date, a version or a digest as its revision."
            )
        if not _DIGEST.fullmatch(prompt):
            raise VttdataError(f"{where}: the prompt's digest is '{prompt[:40]}', not 8 to 64 hexadecimal digits.")
        if self.prompts.setdefault(name, prompt) != prompt:
            raise VttdataError(
                f"{where}: {name[:80]} has two prompts, {self.prompts[name][:16]} and {prompt[:16]}; put each into a "
                "table of its own."
            )
        try:
            self.dates[name].add(datetime.date.fromisoformat(date[:10]).isoformat())
        except ValueError:
            raise VttdataError(f"{where}: the date is '{date[:40]}', not like 2026-01-31.") from None
        return name


def stated_text(file: Path, line: int, row: Row, names: Sequence[str]) -> str:
    """Return the text of the first of some columns that has one, as it was before it was made safe for spreadsheets.

    Raises:
        VttdataError: if none has.
    """
    present = next((name for name in names if row.get(name) is not None), names[0])
    return unescape_formula(required_text(file, line, row, present))


def read_judges(file: Path) -> list[Judge]:
    """Read a table of verdicts.

    Columns: ``item`` (or ``video_id``), ``score``, ``judge``, ``revision`` (or ``model_revision``), ``prompt_digest``
    and ``date``; if known ``system``, ``repeat``, ``position`` and ``caption``. A revision is a date, a version or a
    digest, alone or in a name; a name that may mean another model tomorrow is refused.

    Returns:
        The judges, a model at a revision each, in the order of the table.

    Raises:
        VttdataError: if it cannot be read, a verdict is not complete, a judge has two prompts, or a caption has two
            verdicts of one run.
    """
    columns = Columns(
        (*_ITEM, "system", "repeat", "position", "score", *_TEXT, *chain(*JUDGE_COLUMNS)),
        [_ITEM, ("score",), *JUDGE_COLUMNS],
        ("score", "position"),
    )
    verdicts: dict[str, list[JudgeVerdict]] = {}
    judges = JudgeNames(file)
    seen: dict[tuple[str, str, str, str], int] = {}
    for line, row in read_table(file, columns):
        name = judges.read(line, row)
        system, repeat = (
            str(row.get(column)) if row.get(column) is not None else "" for column in ("system", "repeat")
        )
        caption = next((unescape_formula(str(row[key])) for key in _TEXT if row.get(key) is not None), None)
        position = None if row.get("position") is None else read_number(file, line, "position", row["position"])
        verdict = JudgeVerdict(
            stated_text(file, line, row, _ITEM),
            unescape_formula(system),
            read_number(file, line, "score", row["score"]),
            repeat,
            position,
            caption,
            line,
        )
        before = seen.setdefault((name, verdict.system, verdict.item, repeat), line)
        if before != line:
            raise VttdataError(
                f"{file}:{line}: {verdict.item[:80]!a} has a verdict of the same run on line {before}; number runs in "
                "a column 'repeat'."
            )
        verdicts.setdefault(name, []).append(verdict)
    if not verdicts:
        raise VttdataError(f"{file}: contains no verdicts.")
    return [
        Judge(name, judges.prompts[name], (min(judges.dates[name]), max(judges.dates[name])), rows)
        for name, rows in verdicts.items()
    ]
