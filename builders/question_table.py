"""Questions about videos from a table of your own: multiple choice, yes or no, pairs and groups.

The table is CSV, TSV, a JSON list or JSON lines; `vttdata.text.questions` says which columns it has and how
options and answers are written.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import pydantic

from vttdata.annotations import Annotations
from vttdata.annotations.files import OfficialFile
from vttdata.annotations.model import SPLITS
from vttdata.annotations.question_collector import OfficialQuestion, QuestionCollector
from vttdata.compose.official_benchmark import OfficialRecipe, build_official
from vttdata.errors import VttdataError
from vttdata.files.reading import file_sha256
from vttdata.files.tables import parse_seconds
from vttdata.pipeline.build_folder import Build
from vttdata.recipe.load import Paths
from vttdata.text.questions import TableQuestion, group_derived_videos, no_questions, plain_id, read_question_table


class Recipe(OfficialRecipe):
    """Recipe for a table of questions.

    Fields:
        columns: name of a column -> what it is called in the table, such as ``{video_id: clip, option_0: opt_a}``.
        plain_ids: in names of videos that cannot be ids, ``_`` stands for spaces and the like, and a digest follows.
    """

    paths: ClassVar[Paths] = {**OfficialRecipe.paths, "annotations": "file"}

    annotations: str = pydantic.Field(description="a table of questions, such as --set annotations=questions.csv")
    columns: dict[str, str] = pydantic.Field(default_factory=dict)
    plain_ids: bool = False


def build(recipe: Recipe, run: Build) -> None:
    """Bring the build folder up to date with the recipe; the dataset is replaced in one step at the end."""
    path = Path(recipe.annotations)
    official = read(path, language=recipe.language, columns=recipe.columns, plain_ids=recipe.plain_ids)
    build_official(recipe, run, official)


def read(
    path: Path, *, language: str = "en", columns: dict[str, str] | None = None, plain_ids: bool = False
) -> Annotations:
    """Read a table of questions.

    Returns:
        One clip for each video, and its questions in the order of the table. Its source is `source_id` if there is such
        a column, else the video, or the one that it is named after (`group_derived_videos`). Without a column of ids, a
        question is ``<video>/<number>``, with numbers from 1.

    Raises:
        VttdataError: when it is no such table, or a row has no video, no usable options, or an answer that is none of
            them; names file and line.
    """
    records = QuestionCollector(language)
    if not path.is_file():
        raise VttdataError(f"{path}: there is no such table of questions.")
    rows = read_question_table(path, columns)
    if rows is None:
        raise no_questions(path)
    file = OfficialFile(path)
    records.checksums[file.name] = file_sha256(path)
    if plain_ids:
        _make_plain(rows)
    takes = group_derived_videos(row.video_id for row in rows if row.video_id is not None)
    has_ids = all("question_id" in row.cells for row in rows)
    numbers: Counter[str] = Counter()
    clips: dict[str, tuple[str, str]] = {}
    locations: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        video = _checked_video(row)
        split = str(row.cells.get("split") or "test")
        facts = (str(row.cells.get("source_id") or takes[video]), SPLITS.get(split.lower(), split))
        locations[video].append(row.location)
        if clips.setdefault(video, facts) != facts:
            raise VttdataError(
                f"{row.location}: the video {video[:80]!a} has another source or split than in {locations[video][0]}."
            )
        if len(locations[video]) == 1 and row.cells.get("source_id") is None and takes[video] != video:
            records.findings.add("derived_video", file.name, video)
        numbers[video] += 1
        name = str(row.cells["question_id"]) if has_ids else f"{video}/{numbers[video]}"
        records.ask(file, _question(row, name, facts), location=row.location)
    return records.result()


def _make_plain(rows: Iterable[TableQuestion]) -> None:
    """Make ids of the names of videos that can be none."""
    for row in rows:
        if row.video_id is not None and row.video_id != plain_id(row.video_id):
            row.cells["video_id"] = plain_id(row.video_id)


def _checked_video(row: TableQuestion) -> str:
    video = row.video_id
    if video is None:
        raise VttdataError(f"{row.location}: the row names no video; the column is video_id, video or --columns.")
    if video != plain_id(video):
        raise VttdataError(
            f"{row.location}: {video[:80]!a} is not a usable id of a video; with --set plain_ids=true it is "
            f"{plain_id(video)}, and its file should have that name."
        )
    return video


def _question(row: TableQuestion, name: str, facts: tuple[str, str]) -> OfficialQuestion:
    """Return the question of a row, given its id, and the source and the split of its video."""
    cells = row.cells
    times: dict[str, float | None] = {"start": None, "end": None}
    for key in times.keys() & cells.keys():
        seconds = parse_seconds(cells[key])
        if not 0 <= seconds < float("inf"):
            raise VttdataError(f"{row.location}: '{key}' should be seconds, such as 12.5.")
        times[key] = seconds
    start, end = times["start"], times["end"]
    if (start is None) != (end is None):
        raise VttdataError(f"{row.location}: a span has both 'start' and 'end', in seconds.")
    group, kind, type_ = (str(cells[key]) if key in cells else None for key in ("group", "kind", "type"))
    return OfficialQuestion(
        name,
        row.video_id or "",
        row.question,
        row.choices.options,
        row.answer,
        kind=kind,
        labels=row.choices.labels,
        group=group,
        type=type_,
        source=facts[0],
        split=facts[1],
        span=None if start is None or end is None else (start, end),
    )
