"""Judgments of captions by people, whatever file they are in, as one table with candidates and references.

Read are datasets with the configuration ``judgments``, Flickr8k's files of experts and of the crowd, ``captions.csv``
or ``ratings.csv`` of ``vttdata people score``, and plain tables. Nothing here computes an agreement.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.items import number_sources
from vttdata.export.reader import DatasetReader
from vttdata.files.csv_safety import unescape_formula
from vttdata.files.tables import Columns, number_or_nan, open_text, read_table
from vttdata.json_types import Row
from vttdata.statistics.arrays import Flags, Floats, Integers

EXPERT, CROWD, TOKENS = "ExpertAnnotations.txt", "CrowdFlowerAnnotations.txt", "Flickr8k.token.txt"
"""Files of Flickr8k: judgments by experts and by the crowd, and the captions (Hodosh et al., JAIR 2013)."""
SCORED = ("captions.csv", "ratings.csv")
"""Files of folders of ``vttdata people score``, after which a table is called like its folder; the first one counts."""

_ITEM = ("video_id", "item", "image_id")
_CANDIDATE = ("candidate", "caption")
_SCORE = ("raw", "score", "human_score")
_ANNOTATOR = ("annotator", "worker")
_OTHERS = ("system", "z", "assessments", "references", "reference", "human")
COLUMNS = (*_ITEM, *_CANDIDATE, *_SCORE, *_ANNOTATOR, *_OTHERS)
"""Columns of tables of judgments, among which are those of tables of scores, candidates and references."""
# An annotator's scores need this many to have a standard deviation.
_LEAST_SCORES = 2

Candidates = Mapping[tuple[str, str], str]
"""(system, video_id) -> caption."""


class Headline(NamedTuple):
    """Figure by which a set of judgments is customarily summed up: score of people, level and coefficient."""

    human: str
    level: str
    coefficient: str


RAW_HEADLINE = Headline("raw", "caption", "kendall_b")
Z_HEADLINE = Headline("z", "caption", "pearson")
"""Pearson's r with z is what Direct Assessment is compared by; without z, tau-b depends on no scale."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgmentTable:
    """Captions with references and with what people gave them; n rows, one for each caption of an item.

    Captions that nobody judged have rows as well where they are known: scores of a metric may depend on all items, and
    alignment is checked against the neighbours of a judged caption.

    Fields:
        name: of the set, such as ``trecvid-vtt 2016-single``.
        video_ids: item of each row; the items occur in their official order.
        systems: author of each caption; empty where captions have no authors.
        candidates: text of each caption; None where it is not known.
        references: human captions of the item, the candidate itself left out; empty where they are not known.
        raw: mean score by people as they gave it; NaN where nobody judged the caption.
        z: mean of scores standardised by annotator; NaN where there is none.
        assessments: number of scores behind the means.
        human: whether the author is a person.
        sources: number of the original video of each row, from 0, for resampling.
        ratings: scores by each annotator, n x annotators, NaN where there is none; None where only means are known, or
            there is one annotator.
        annotators: names of all annotators, in the order of `ratings`; empty where a score has no name.
        headline: what the set is customarily summed up by.
        notes: sentences on what was left out.
        missing: judged captions whose text is not among the candidates, as system and item.
    """

    name: str
    video_ids: Sequence[str]
    systems: Sequence[str]
    candidates: Sequence[str | None]
    references: Sequence[Sequence[str]]
    raw: Floats
    z: Floats
    assessments: Integers
    human: Flags
    sources: Integers
    ratings: Floats | None = None
    annotators: Sequence[str] = ()
    headline: Headline = RAW_HEADLINE
    notes: tuple[str, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def judged(self) -> Flags:
        """Return a mask of the rows that people judged, ``(n,)``."""
        return ~np.isnan(self.raw)

    @property
    def items(self) -> list[str]:
        """Ids of the items in their order."""
        return list(dict.fromkeys(self.video_ids))

    @property
    def human_scores(self) -> dict[str, Floats]:
        """Scores by people that the set has, of ``raw`` and ``z``."""
        return {name: values for name, values in (("raw", self.raw), ("z", self.z)) if not np.isnan(values).all()}

    def select(self, rows: Flags) -> JudgmentTable:
        """Return the table of some rows; sources are numbered again."""
        chosen = np.flatnonzero(rows).tolist()
        columns = ("video_ids", "systems", "candidates", "references")
        lists: dict[str, Any] = {name: [getattr(self, name)[row] for row in chosen] for name in columns}
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in ("raw", "z", "assessments", "human")}
        ratings = None if self.ratings is None else self.ratings[rows]
        _, sources = np.unique(self.sources[rows], return_inverse=True)
        return dataclasses.replace(self, **lists, **arrays, ratings=ratings, sources=sources.astype(np.int64))

    def judged_in(self, rows: Flags) -> JudgmentTable:
        """Return the table in which only the judgments of some rows count; the captions of all rows stay."""
        raw, z = (np.where(rows, values, math.nan) for values in (self.raw, self.z))
        ratings = None if self.ratings is None else np.where(rows[:, np.newaxis], self.ratings, math.nan)
        return dataclasses.replace(self, raw=raw, z=z, ratings=ratings, assessments=np.where(rows, self.assessments, 0))

    def without(self, systems: Iterable[str], *, people: bool = True) -> JudgmentTable:
        """Return the table without some systems, and unless `people` is False without captions by people.

        Raises:
            VttdataError: if a system is unknown, or nothing judged is left.
        """
        unknown = sorted(set(systems) - set(self.systems))
        if unknown:
            known = ", ".join(sorted(filter(None, set(self.systems)))) or "none"
            raise VttdataError(f"{self.name}: there is no system {unknown[0]!a}; there are {known}.")
        left_out = np.isin(np.array(self.systems, dtype=object), list(systems)) | (self.human if people else False)
        table = self.select(~left_out) if left_out.any() else self
        if not table.judged.any():
            raise VttdataError(f"{self.name}: no judged caption is left without {', '.join(systems) or 'people'}.")
        return table


class _Row(NamedTuple):
    """Row of a table while it is read; a caption that nobody judged has no scores."""

    video_id: str
    system: str
    candidate: str | None
    references: Sequence[str]
    raw: float = math.nan
    z: float = math.nan
    assessments: int = 0
    human: bool = False
    source_id: str | None = None


def _make_table(name: str, rows: Sequence[_Row], **others: Any) -> JudgmentTable:
    return JudgmentTable(
        name,
        [row.video_id for row in rows],
        [row.system for row in rows],
        [row.candidate for row in rows],
        [row.references for row in rows],
        np.array([row.raw for row in rows], dtype=np.float64),
        np.array([row.z for row in rows], dtype=np.float64),
        np.array([row.assessments for row in rows], dtype=np.int64),
        np.array([row.human for row in rows], dtype=np.bool_),
        number_sources((row.source_id for row in rows), (row.video_id for row in rows))[0],
        **others,
    )


def read_dataset_judgments(folder: Path) -> list[JudgmentTable]:
    """Read the configuration ``judgments`` of a dataset: a table for each year, and for single and multiple annotators.

    Rows are all captions by the judged systems, and references what people wrote, the caption itself left out.

    Raises:
        VttdataError: if there is no such configuration, or a file is damaged.
    """
    dataset = DatasetReader(folder)
    tables = []
    for split in dataset.splits("judgments"):
        judgments: dict[str, list[Row]] = {}
        for row in dataset.rows("judgments", split):
            judgments.setdefault(f"{row['year']}-{row['annotators']}", []).append(row)
        captions: dict[str, dict[int, Row]] = {}
        for row in dataset.rows("captions", split) if split in dataset.configs.get("captions", {}) else ():
            captions.setdefault(row["video_id"], {})[row["sen_id"]] = row
        sources = {row["video_id"]: row["source_id"] for row in dataset.rows("clips", split, ["video_id", "source_id"])}
        for campaign, rows in judgments.items():
            name = f"{dataset.name.rpartition('/')[2]} {campaign}"
            tables.append(join_captions(name, rows, captions, sources))
    return tables


def join_captions(
    name: str,
    judgments: Sequence[Row],
    captions: Mapping[str, Mapping[int, Row]],
    sources: Mapping[str, str],
) -> JudgmentTable:
    """Return a row for each caption of the judged systems, with the means of its judgments."""
    by_caption: dict[tuple[str, str], list[Row]] = {}
    for row in judgments:
        by_caption.setdefault((row["system"], row["video_id"]), []).append(row)
    # A caption by a person has the author `human`, and the annotator tells people apart.
    authors: dict[str, tuple[str, str | None]] = {}
    for row in judgments:
        caption = captions.get(row["video_id"], {}).get(row["sen_id"])
        if caption is not None and row["system"] not in authors:
            authors[row["system"]] = (caption["author"], caption["annotator"])
    rows = []
    lost = sum(system not in authors for system, _ in by_caption)
    for system in sorted(authors):
        for video_id, texts in captions.items():
            judged = by_caption.get((system, video_id), ())
            chosen = [text for text in texts.values() if (text["author"], text["annotator"]) == authors[system]]
            if not chosen:
                lost += bool(judged)
                continue
            # An author may have several captions of a video, of which one was judged.
            caption = texts.get(judged[0]["sen_id"], chosen[0]) if judged else chosen[0]
            references = [
                text["caption"] for text in texts.values() if text["author"] == "human" and text is not caption
            ]
            numbers = [row["assessments"] for row in judged]
            raw, z = (
                sum(row[column] * number for row, number in zip(judged, numbers, strict=True)) / sum(numbers)
                if judged
                else math.nan
                for column in ("raw", "z")
            )
            is_human = caption["author"] == "human"
            scores = (raw, z, sum(numbers), is_human)
            rows.append(_Row(video_id, system, caption["caption"], references, *scores, sources.get(video_id)))
    notes = (f"Judged captions whose text is not known, left out: {lost:,}.",) if lost else ()
    return _make_table(name, rows, headline=Z_HEADLINE, notes=notes)


def read_flickr8k(path: Path) -> list[JudgmentTable]:
    """Read the judgments of Flickr8k by the conventions of published comparisons (Hessel et al., EMNLP 2021).

    Experts: pairs of an image and one of its own captions are left out, and each of the three ratings counts, summed up
    by Kendall's tau-c. Crowd: the score is the share of yes, a caption is no reference of its own image, summed up by
    Kendall's tau-b. There are no systems.

    Args:
        path: folder with `TOKENS` and one or both of `EXPERT` and `CROWD`, or one of these two beside `TOKENS`.

    Raises:
        VttdataError: if a file is missing or damaged, or no judgment is about a known caption.
    """
    folder = path if path.is_dir() else path.parent
    files = [folder / name for name in (EXPERT, CROWD) if (folder / name).is_file()] if path.is_dir() else [path]
    captions: dict[str, str] = {}
    for line, cells in _tab_separated(folder / TOKENS, 2):
        captions[cells[0]] = cells[1]
        if "#" not in cells[0]:
            raise VttdataError(f"{folder / TOKENS}:{line}: {cells[0][:40]!a} is not like image.jpg#0.")
    by_image: dict[str, list[str]] = {}
    for caption_id in captions:
        by_image.setdefault(caption_id.partition("#")[0], []).append(caption_id)
    tables = []
    for file in files:
        rows: list[_Row] = []
        ratings, lost, own = [], 0, 0
        is_expert = file.name == EXPERT
        for line, (image, caption_id, *cells) in _tab_separated(file, 5):
            if caption_id not in captions or image not in by_image:
                lost += 1
                continue
            numbers = [number_or_nan(cell) for cell in cells]
            if not all(map(math.isfinite, numbers)):
                raise VttdataError(f"{file}:{line}: a cell among {', '.join(cells)[:40]!a} is not a number.")
            is_own = caption_id in by_image[image]
            if is_expert and is_own:
                own += 1
                continue
            references = [captions[other] for other in by_image[image] if other != caption_id]
            raw, number = (sum(numbers) / 3, 3) if is_expert else (numbers[0], int(sum(numbers[1:])))
            rows.append(_Row(image, "", captions[caption_id], references, raw, assessments=number))
            ratings.append(numbers)
        if not rows:
            raise VttdataError(f"{file}: no judgment is about a caption of {TOKENS}.")
        notes = [f"Judgments of captions that {TOKENS} does not have, left out: {lost:,}."] if lost else []
        notes += [f"Judgments of an image's own captions, left out by convention: {own:,}."] if own else []
        tables.append(
            _make_table(
                "flickr8k-expert" if is_expert else "flickr8k-cf",
                rows,
                ratings=np.array(ratings, dtype=np.float64) if is_expert else None,
                headline=Headline("raw", "rating", "kendall_c") if is_expert else RAW_HEADLINE,
                notes=tuple(notes),
            )
        )
    return tables


def _tab_separated(file: Path, width: int) -> Iterable[tuple[int, list[str]]]:
    with open_text(file) as stream:
        for line, text in enumerate(stream, 1):
            cells = text.rstrip("\r\n").split("\t")
            if len(cells) != width:
                raise VttdataError(f"{file}:{line}: {len(cells)} cells instead of {width}, separated by tabs.")
            yield line, cells


@dataclass(slots=True)
class _Judged:
    """Caption and its judgments in a plain table."""

    candidate: str | None
    references: list[str]
    raw: dict[str, float] = field(default_factory=dict)
    z: list[float] = field(default_factory=list)
    assessments: int = 0
    human: bool = False
    repeated: int = 0


def read_judgment_table(
    file: Path,
    candidates: Candidates | None = None,
    references: Mapping[str, Sequence[str]] | None = None,
    offset: int = 0,
    columns: Mapping[str, str] = {},
) -> JudgmentTable:
    """Read a table with a row for each judged caption, or for each caption and annotator.

    Columns: ``video_id`` (or ``item``) and ``score`` (or ``raw``); if known ``system``, ``candidate`` (or ``caption``),
    ``annotator`` (or ``worker``), ``z``, ``assessments``, and ``references``, a list of texts, in CSV as JSON. Without
    ``z``, scores are standardised by annotator over all rows of the annotator. Of several scores that an annotator gave
    one caption the first counts, as in ``vttdata people score``.

    Args:
        file: CSV, TSV or JSON.
        candidates: texts of captions that the table does not have; every caption of a judged system gets a row.
        references: human captions by item, where the table has none.
        offset: added to the number of each judged item, where ids do not lead to the right candidates: to ids that are
            whole numbers, or to the item's place among the candidates.
        columns: name -> what the column is called in one of several tables.

    Raises:
        VttdataError: if it cannot be read, a score is not a finite number, a caption is duplicated, or an item has no
            references.
    """
    known = Columns(COLUMNS, [_ITEM, _SCORE], (*_SCORE, "z", "assessments"), columns, any_table=True)
    captions: dict[tuple[str, str, str], _Judged] = {}
    for line, row in read_table(file, known):
        _add_row(captions, f"{file}:{line}", row)
    if not captions:
        raise VttdataError(f"{file}: contains no judgments.")
    scores_by_annotator: dict[str, list[float]] = {}
    for judged in captions.values():
        for annotator, score in judged.raw.items():
            scores_by_annotator.setdefault(annotator, []).append(score)
    annotators = sorted(filter(None, scores_by_annotator))
    moments = {
        name: (float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) >= _LEAST_SCORES else 0.0)
        for name, values in scores_by_annotator.items()
        if name
    }
    rows = []
    ratings: list[list[float]] = []
    for (video_id, system, _), judged in captions.items():
        z = judged.z or [
            (score - moments[name][0]) / moments[name][1]
            for name, score in judged.raw.items()
            if name and moments[name][1] > 0
        ]
        scores = (sum(judged.raw.values()) / len(judged.raw), sum(z) / len(z) if z else math.nan)
        rows.append(
            _Row(video_id, system, judged.candidate, judged.references, *scores, judged.assessments, judged.human)
        )
        ratings.append([judged.raw.get(name, math.nan) for name in annotators])
    repeated = sum(judged.repeated for judged in captions.values())
    notes = (
        [f"Further scores by an annotator of a caption, of which the first counts: {repeated:,}."] if repeated else []
    )
    if len(annotators) == 1:
        notes.append(f"All judgments are by one annotator, {annotators[0]!a}: z orders captions as raw scores do.")
    constant = [name for name in annotators if moments[name][1] == 0]
    if constant and any(not judged.z for judged in captions.values()):
        notes.append(
            "Annotators who gave everything in this table the same score, which it cannot standardise: "
            f"{len(constant):,}."
        )
    has_z = not all(math.isnan(row.z) for row in rows)
    table = _make_table(
        file.parent.name if file.name in SCORED and file.parent.name else file.stem,
        rows,
        ratings=np.array(ratings, dtype=np.float64) if len(annotators) > 1 else None,
        annotators=annotators if all(scores_by_annotator) else (),
        headline=Z_HEADLINE if has_z else RAW_HEADLINE,
        notes=tuple(notes),
    )
    if offset and candidates is None:
        raise VttdataError(
            f"{file}: an offset of ids moves judgments to other candidates, which must be in another file."
        )
    return _complete(file, table, candidates, references, offset)


def _add_row(captions: dict[tuple[str, str, str], _Judged], location: str, row: Row) -> None:
    def cell(names: Sequence[str]) -> str | None:
        value = next((row[name] for name in names if row.get(name) is not None), None)
        return None if value is None else unescape_formula(str(value))

    video_id, candidate = cell(_ITEM), cell(_CANDIDATE)
    if not video_id:
        raise VttdataError(f"{location}: the item is empty.")
    numbers: dict[str, float] = {}
    for name, names in (("score", _SCORE), ("z", ("z",)), ("assessments", ("assessments",))):
        text = cell(names)
        numbers[name] = math.nan if text is None else number_or_nan(text)
        if text is None and name == "score":
            raise VttdataError(f"{location}: the score is empty.")
        if text is not None and not math.isfinite(numbers[name]):
            raise VttdataError(f"{location}: the {name} is {text[:40]!a}, which is not a finite number.")
    key = (video_id, cell(("system",)) or "", candidate or "")
    references = parse_references(location, row)
    judged = captions.setdefault(key, _Judged(candidate, references))
    judged.references = judged.references or references
    annotator = cell(_ANNOTATOR) or ""
    if judged.raw and not (annotator and all(judged.raw)):
        what = f"the caption of {video_id[:80]!a}" + (f" by {key[1][:80]!a}" if key[1] else "")
        raise VttdataError(f"{location}: {what} is duplicated; name who judged it in a column 'annotator'.")
    if annotator in judged.raw:
        judged.repeated += 1
        return
    judged.raw[annotator] = numbers["score"]
    judged.z += [] if math.isnan(numbers["z"]) else [numbers["z"]]
    judged.assessments += 1 if math.isnan(numbers["assessments"]) else int(numbers["assessments"])
    judged.human = judged.human or str(row.get("human")).lower() in ("true", "1", "yes") or key[1] == "human"


def parse_references(location: str, row: Row) -> list[str]:
    """Return the references in a row's cells; raise VttdataError if they are not texts."""
    value = row.get("references")
    if value is None:
        return [str(row["reference"])] if row.get("reference") is not None else []
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise VttdataError(f"{location}: 'references' is not a JSON list of texts ({error}).") from error
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise VttdataError(f"{location}: 'references' is not a list of texts.")
    return texts


def _complete(
    file: Path,
    table: JudgmentTable,
    candidates: Candidates | None,
    references: Mapping[str, Sequence[str]] | None,
    offset: int,
) -> JudgmentTable:
    """Add texts from other files, and rows of captions that nobody judged."""
    if candidates is not None:
        table = add_candidates(file, table, candidates, offset)
    if references is None:
        return table
    missing = [video_id for video_id in table.items if not references.get(video_id)]
    if missing:
        raise VttdataError(
            f"{file}: {len(missing):,} of {len(table.items):,} items have no references (first {missing[0][:80]!a})."
        )
    # A person's caption is no reference of its own.
    texts = [
        [text for text in references[video_id] if not (human and text == candidate)]
        for video_id, human, candidate in zip(table.video_ids, table.human, table.candidates, strict=True)
    ]
    return dataclasses.replace(table, references=texts)


def add_candidates(file: Path, table: JudgmentTable, candidates: Candidates, offset: int) -> JudgmentTable:
    """Return the table with the texts of candidates, and rows of those that nobody judged."""
    items = list(dict.fromkeys(video_id for _, video_id in candidates))
    index_of = {video_id: index for index, video_id in enumerate(items)}

    def move(video_id: str) -> str:
        if video_id.lstrip("-").isdecimal():
            return str(int(video_id) + offset)
        return items[(index_of[video_id] + offset) % len(items)] if video_id in index_of else video_id

    ids = [move(video_id) for video_id in table.video_ids] if offset else table.video_ids
    judged = {key: row for row, key in enumerate(zip(table.systems, ids, strict=True))}
    missing = tuple(key for key in judged if key not in candidates)
    if len(missing) == len(judged):
        (system, video_id), (other, known) = missing[0], next(iter(candidates), ("", ""))
        raise VttdataError(
            f"{file}: no judgment is about a caption among the candidates; the first is about {video_id[:80]!a} by "
            f"{system[:80]!a}, and the first candidate is about {known[:80]!a} by {other[:80]!a}."
        )
    rows = []
    order: list[int] = []
    for system in sorted(set(table.systems)):
        for video_id in items:
            if (system, video_id) not in candidates:
                continue
            row = judged.get((system, video_id), -1)
            scores = (
                (table.references[row], table.raw[row], table.z[row], table.assessments[row], table.human[row])
                if row >= 0
                else ((), math.nan, math.nan, 0, system == "human")
            )
            rows.append(_Row(video_id, system, candidates[system, video_id], *scores))
            order.append(row)
    ratings = table.ratings
    if ratings is not None:
        ratings = np.vstack([ratings, np.full((1, ratings.shape[1]), math.nan)])[order]
    others = {name: getattr(table, name) for name in ("annotators", "headline", "notes")}
    return _make_table(table.name, rows, ratings=ratings, missing=missing, **others)


def check_unique_names(tables: Sequence[JudgmentTable]) -> None:
    """Raise VttdataError if two tables have the same name, which names their results."""
    repeated = [name for name, number in Counter(table.name for table in tables).items() if number > 1]
    if repeated:
        raise VttdataError(f"Two sets of judgments are called {repeated[0]!a}; rename a file or its folder.")
