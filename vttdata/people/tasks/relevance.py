"""Judge which captions describe a video, with controls among the videos (Hodosh, Young and Hockenmaier 2013)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from vttdata.errors import VttdataError
from vttdata.files.results import Section
from vttdata.files.table_formats import as_csv
from vttdata.files.tables import Columns, read_table
from vttdata.people.scoring.relevance import is_relevant
from vttdata.people.task import (
    Answered,
    AnswerError,
    Earlier,
    Item,
    Material,
    Ratings,
    Row,
    Task,
    Unit,
)
from vttdata.settings import Count, PositiveCount, Ratio, Strict

_COLUMNS = ("video_id", "caption_id", "caption", "expected")


@dataclass(frozen=True, slots=True)
class RelevanceSettings(Strict):
    """Settings of the task `relevance`; the defaults are those of Hodosh et al., section 4.2.1.

    Fields:
        videos: videos of a unit, one of which is a control if there are controls.
        captions: captions beside each video.
        pass_mark: least share of right answers about the captions of controls.
        min_controls: captions of controls from which on a worker is judged.
        min_shown: least share of a video's length that must have been shown, 0..1; the page asks for it, and at least
            half of a worker's answers must have it.
    """

    videos: PositiveCount = 6
    captions: PositiveCount = 10
    pass_mark: Ratio = 0.7
    min_controls: Count = 10
    min_shown: Ratio = 0.5


class RelevanceTask(Task):
    """Yes or no for each caption beside a video."""

    Settings = RelevanceSettings
    title = "Which sentences describe the video?"
    counted_controls = "captions of controls right"
    takes = (
        "tables of pairs with video_id, caption_id and caption; a column expected (yes or no) makes a pair a control"
    )
    columns: ClassVar[Mapping[str, str]] = {
        "caption_id": "caption",
        "video_id": "clip",
        "relevant": "yes or no: the caption describes the clip",
        "annotator": "hashed worker",
        "seconds": "from showing the clip to answering about all captions beside it",
    }

    def instructions(self) -> Sequence[str]:
        """Say what counts as describing."""
        return (
            "Watch each video and mark every sentence that describes it. Several may, or none.",
            "A sentence describes the video if nothing in it is wrong; it need not say everything that is to be seen.",
        )

    def make(self, material: Material) -> list[Unit]:
        """Return units of several videos with several captions each; one video is a control if there are any."""
        pairs: dict[str, dict[str, str]] = {}
        controls: dict[str, dict[str, tuple[str, str]]] = {}
        for reference in material.inputs:
            self._read(Path(reference), material.columns, pairs, controls)
        files = material.with_videos([*pairs, *controls])
        items = self._items(material, {video: texts for video, texts in pairs.items() if video in files})
        checks = [
            self._item(
                material,
                video,
                {name: text for name, (text, _) in texts.items()},
                {name: expected for name, (_, expected) in texts.items()},
            )
            for video, texts in sorted(controls.items())
            if video in files
        ]
        per_unit = self.settings.videos - bool(checks)
        if per_unit < 1:
            raise VttdataError("A unit of one video has no room for a control; set videos to 2 or more.")
        units = []
        for number in range(0, len(items), per_unit):
            chosen = items[number : number + per_unit]
            if checks:
                chosen.append(checks[(number // per_unit) % len(checks)])
            material.draw_in_secret("unit", number).shuffle(chosen)
            # A control may be in several units, and an id that a worker meets twice would give it away.
            named = (replace(item, item=material.name("item", number, item.item)) for item in chosen)
            units.append(self.unit(material, *named))
        return units

    def _read(
        self,
        path: Path,
        columns: Mapping[str, str | Sequence[str]],
        pairs: dict[str, dict[str, str]],
        controls: dict[str, dict[str, tuple[str, str]]],
    ) -> None:
        required = tuple((name,) for name in _COLUMNS[:3])
        for line, row in read_table(path, Columns(_COLUMNS, required, (), columns, any_table=True)):
            cells = (row.get(column) for column in _COLUMNS[:3])
            texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
            expected = row.get("expected")
            if len(texts) < 3:
                raise VttdataError(f"{path}:{line}: a pair needs a video_id, a caption_id and a caption.")
            if expected not in (None, "yes", "no"):
                raise VttdataError(f"{path}:{line}: 'expected' is {str(expected)[:40]!a}, not yes, no or empty.")
            video, name, text = texts
            if expected is None:
                if len(f"{video} {name}".split()) != 2:
                    raise VttdataError(f"{path}:{line}: ids with spaces cannot be judged for retrieval; rename them.")
                pairs.setdefault(video, {})[name] = text
            else:
                controls.setdefault(video, {})[name] = (text, expected)

    def _items(self, material: Material, pairs: Mapping[str, Mapping[str, str]]) -> list[Item]:
        """Return an item for each group of captions of a video, all groups of a video as equal as possible."""
        items = []
        for video, texts in sorted(pairs.items()):
            names = sorted(texts)
            material.draw_in_secret("captions", video).shuffle(names)
            groups = -(-len(names) // self.settings.captions)
            for group in range(groups):
                items.append(self._item(material, video, {name: texts[name] for name in names[group::groups]}, {}))
        material.draw_in_secret("items").shuffle(items)
        return items

    def _item(self, material: Material, video: str, texts: Mapping[str, str], expected: Mapping[str, str]) -> Item:
        names = sorted(texts)
        material.draw_in_secret("shown", video, *names).shuffle(names)
        shown = {"captions": [texts[name] for name in names]}
        facts = {"ids": names, "expected": [expected[name] for name in names] if expected else None}
        return Item(material.name("relevance", video, *names), video, shown, facts)

    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:  # noqa: ARG002
        """Take yes or no for each caption."""
        chosen = answer.get("relevant")
        number = len(item.shown["captions"])
        if (
            not isinstance(chosen, list)
            or len(chosen) != number
            or not all(isinstance(value, bool) for value in chosen)
        ):
            raise AnswerError("Please mark the sentences that describe the video, or say that none does.")
        return {"relevant": chosen}

    def label(self, answer: Mapping[str, Any]) -> str:
        """Return a digit for each caption."""
        return "".join(str(int(value)) for value in answer["relevant"])

    def control_results(self, answers: Sequence[Answered]) -> list[bool]:
        """Return for each caption of a control whether it was marked rightly."""
        return [
            value == (expected == "yes")
            for entry in answers
            if entry.item.facts["expected"]
            for value, expected in zip(entry.answer["relevant"], entry.item.facts["expected"], strict=True)
        ]

    def chance(self) -> float:
        """Return the probability that yes or no is right."""
        return 0.5

    def ratings(self, answers: Iterable[Answered]) -> list[Ratings]:
        """Return the judgments of pairs."""
        values: dict[str, dict[str, float | str]] = {}
        for row in self.rows(list(answers)):
            values.setdefault(f"{row['caption_id']}\t{row['video_id']}", {})[row["annotator"]] = row["relevant"]
        return [Ratings("relevant", "nominal", values)]

    def rows(self, answers: Sequence[Answered]) -> list[Row]:
        """Return a row for each judgment of a pair that is no control."""
        return [
            {
                "caption_id": name,
                "video_id": entry.item.video_id,
                "relevant": "yes" if value else "no",
                "annotator": entry.worker,
                "seconds": entry.rounded_seconds(),
            }
            for entry in answers
            if not entry.item.facts["expected"]
            for name, value in zip(entry.item.facts["ids"], entry.answer["relevant"], strict=True)
        ]

    def further_files(
        self,
        answers: Sequence[Answered],  # noqa: ARG002
        rows: Sequence[Row],
        *,
        kept: Collection[str],  # noqa: ARG002
    ) -> dict[str, str | Sequence[Section]]:
        """Return the pairs with their votes, and their relevance as `vttdata evaluate --relevance` reads it."""
        votes: dict[tuple[str, str], list[bool]] = {}
        for row in rows:
            votes.setdefault((row["caption_id"], row["video_id"]), []).append(row["relevant"] == "yes")
        table: list[list[Any]] = [["caption_id", "video_id", "yes", "judgments", "relevant"]]
        lines = []
        for (name, video), values in sorted(votes.items()):
            relevant = is_relevant(sum(values), len(values))
            table.append([name, video, sum(values), len(values), "yes" if relevant else "no"])
            lines.append(f"{name} 0 {video} {int(relevant)}\n")
        return {"pairs.csv": as_csv(table), "relevance.txt": "".join(lines)}


TASK = RelevanceTask
