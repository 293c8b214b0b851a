"""Rate captions on a scale of a few steps, such as 1 to 5, by one or several criteria (VATEX-EVAL, Shi et al. 2022)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Le

from vttdata.files.results import ResultColumn, ResultTable, Section
from vttdata.files.table_formats import as_csv, counted
from vttdata.generate.prefilter import STOP_WORDS
from vttdata.people.hits.system_captions import read_systems
from vttdata.people.scoring.scores import system_intervals, system_scores
from vttdata.people.scoring.significance import FEW_VIDEOS, RatedDifference, system_differences
from vttdata.people.task import (
    Answered,
    AnswerError,
    Earlier,
    Item,
    Material,
    Note,
    Ratings,
    Row,
    Task,
    Unit,
    ratings_csv,
)
from vttdata.records import CaptionScore
from vttdata.settings import Count, Ratio, Strict
from vttdata.text.captions import clean_text
from vttdata.text.weighted_word_overlap import distinct_words
from vttdata.text.word_spans import split_words

SYSTEMS: list[object] = ["criterion", "system", "score", "lower", "upper", "captions", "ratings"]
"""Columns of ``systems.csv``."""

# Share of a caption's words that those of another source's video may have, for a control.
_MOST_SHARED = 0.5


@dataclass(frozen=True, slots=True)
class ScaleSettings(Strict):
    """Settings of the task `rate-scale`.

    Fields:
        lowest, highest: ends of the scale.
        criteria: criterion -> question; all are answered of each caption.
        low, high: labels of the ends.
        human: human captions of `--captions` are rated too, one of each video, as the system of this name; an empty
            text for none.
        controls: share of captions, added to the others, that belong to a video of another source.
        pass_mark: least share of controls rated below the middle of the scale, by the first criterion.
        min_controls: controls from which on a worker is judged.
        min_shown: least share of a video's length that must have been shown, 0..1; the page asks for it, and at least
            half of a worker's answers must have it.
    """

    lowest: Count = 1
    highest: Annotated[int, Ge(1), Le(100)] = 5
    criteria: dict[str, str] | None = None
    low: str = "does not fit at all"
    high: str = "fits perfectly"
    human: str = "human"
    controls: Ratio = 0.1
    pass_mark: Ratio = 0.7
    min_controls: Count = 3
    min_shown: Ratio = 0.5

    def __post_init__(self) -> None:
        if self.highest <= self.lowest:
            raise ValueError(f"highest ({self.highest}) must be above lowest ({self.lowest}).")
        for name in self.questions:
            if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name) is None:
                raise ValueError(f"the criterion {name[:40]!a} must be letters, digits, '_' and '-'; it names a file.")

    @property
    def questions(self) -> dict[str, str]:
        """Criteria with their questions, at least one."""
        return self.criteria or {"score": "How well does the caption describe what happens in the video?"}


class ScaleTask(Task):
    """Rate a caption by each criterion."""

    Settings = ScaleSettings
    title = "Rate captions of videos"
    takes = "captions of systems, tables with video_id and caption; --captions may add human ones"
    columns: ClassVar[Mapping[str, str]] = {
        "item": "what was rated: the same for all workers who rated the same caption of the same video",
        "video_id": "clip",
        "system": "system, or the name of human captions",
        "candidate": "caption that was rated",
        "criterion": "what it was rated by",
        "score": "step of the scale",
        "annotator": "hashed worker",
        "seconds": "from showing to answering all criteria",
    }

    def instructions(self) -> Sequence[str]:
        """Say how captions are rated."""
        ours = self.settings
        return (
            "You will see videos with a caption, one at a time. Watch the video to its end before you answer.",
            f"Rate from {ours.lowest} ({ours.low}) to {ours.highest} ({ours.high}). Judge each caption on its own. An "
            "answer cannot be changed afterwards.",
        )

    def make(self, material: Material) -> list[Unit]:
        """Return a unit for each caption of each system, and controls."""
        known = {caption.video_id for caption in material.human}
        systems, _ = read_systems(map(Path, material.inputs), material.columns, known)
        people: dict[str, list[str]] = {}
        for caption in material.human:
            people.setdefault(caption.video_id, []).append(clean_text(caption.caption))
        videos = {video for captions in systems.values() for video in captions}
        if self.settings.human and people:
            systems[self.settings.human] = {
                video: material.draw("human", video).choice(sorted(people[video]))
                for video in sorted(videos & people.keys())
            }
        files = material.with_videos(videos)
        ours = self.settings
        shown = {"steps": [ours.lowest, ours.highest], "ends": [ours.low, ours.high], "questions": ours.questions}
        candidates = sorted(
            (video, text, system)
            for system, texts in systems.items()
            for video, text in texts.items()
            if video in files
        )
        units = []
        # Systems with the same caption of a video share its rating.
        systems_of: dict[tuple[str, str], list[str]] = {}
        for video, text, system in candidates:
            systems_of.setdefault((video, text), []).append(system)
        for (video, text), names in systems_of.items():
            item = material.name("scale", video, text)
            units.append(self.unit(material, Item(item, video, shown | {"caption": text}, {"systems": names})))
        units += self._controls(material, [(video, text) for video, text in systems_of], shown)
        return sorted(units, key=lambda unit: material.draw_in_secret("order", unit.unit).random())

    def _controls(
        self, material: Material, candidates: Sequence[tuple[str, str]], shown: Mapping[str, Any]
    ) -> list[Unit]:
        """Return captions with videos of other sources, with whose captions they share as few words as can be found."""
        draw = material.draw_in_secret("controls")
        words: dict[str, set[str]] = {}
        videos_of: dict[str, list[str]] = {}
        for video, text in candidates:
            words.setdefault(video, set()).update(_telling_words(text))
            videos_of.setdefault(text, []).append(video)
        shared: dict[tuple[str, str], float] = {}
        for _ in range(40 * len(candidates)):
            (video, _), (other, text) = draw.choice(candidates), draw.choice(candidates)
            sources = [material.source_of.get(name, name) for name in (video, other)]
            own = _telling_words(text)
            if sources[0] != sources[1] and own:
                shared[video, text] = len(own & words[video]) / len(own)
        # A caption most of whose words are about the video may be true of it.
        apart = sorted((pair for pair in shared if shared[pair] <= _MOST_SHARED), key=lambda pair: shared[pair])
        number = self.number_of_controls(len(candidates))
        if len(apart) < min(number, self.settings.min_controls):
            meaning = (
                f"captions give {len(apart)} controls, with videos of other sources of which they are surely wrong, "
                f"and workers are judged from {self.settings.min_controls} on"
            )
            material.notes.append(Note("few_controls", meaning, tuple(video for video, _ in candidates)))
        units = []
        for video, text in apart[:number]:
            name, texts = material.name("control", video, text), dict(shown) | {"caption": text}
            item = Item(name, video, texts, others=videos_of[text])
            units.append(self.unit(material, item, is_control=True))
        return units

    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:  # noqa: ARG002
        """Take a step of the scale for each criterion."""
        scores = answer.get("scores")
        criteria = item.shown["questions"]
        lowest, highest = item.shown["steps"]
        if not isinstance(scores, dict) or set(scores) != set(criteria):
            raise AnswerError("Please answer every question.")
        for score in scores.values():
            if not isinstance(score, int) or isinstance(score, bool) or not lowest <= score <= highest:
                raise AnswerError(f"Please choose from {lowest} to {highest}.")
        return {"scores": {name: scores[name] for name in criteria}}

    def control_passed(self, item: Item, answer: Mapping[str, Any]) -> bool | None:
        """Return whether a caption of another video was rated below the middle."""
        if "systems" in item.facts:
            return None
        first = next(iter(answer["scores"].values()))
        return bool(2 * first < self.settings.lowest + self.settings.highest)

    def chance(self) -> float:
        """Return the share of steps below the middle."""
        steps = self.settings.highest - self.settings.lowest + 1
        return float(steps // 2 / steps)

    def label(self, answer: Mapping[str, Any]) -> str:
        """Return the ratings."""
        return " ".join(map(str, answer["scores"].values()))

    def ratings(self, answers: Iterable[Answered]) -> list[Ratings]:
        """Return the ratings by each criterion."""
        values: dict[str, dict[str, dict[str, float | str]]] = {name: {} for name in self.settings.questions}
        for entry in answers:
            if "systems" in entry.item.facts:
                for name, score in entry.answer["scores"].items():
                    values[name].setdefault(entry.item.item, {})[entry.worker] = score
        return [Ratings(name, "ordinal", by_item) for name, by_item in values.items()]

    def rows(self, answers: Sequence[Answered]) -> list[Row]:
        """Return a row for each rating of a system's caption by a criterion; controls are left out."""
        return [
            {
                "item": f"{system}/{entry.item.video_id}",
                "video_id": entry.item.video_id,
                "system": system,
                "candidate": entry.item.shown["caption"],
                "criterion": criterion,
                "score": score,
                "annotator": entry.worker,
                "seconds": entry.rounded_seconds(),
            }
            for entry in answers
            for system in entry.item.facts.get("systems", ())
            for criterion, score in entry.answer["scores"].items()
        ]

    def further_files(
        self,
        answers: Sequence[Answered],  # noqa: ARG002
        rows: Sequence[Row],
        *,
        kept: Collection[str],  # noqa: ARG002
    ) -> dict[str, str | Sequence[Section]]:
        """Return the ratings by each criterion as `vttdata metric test` reads them, and the ranking of systems."""
        names = list(self.settings.questions)
        scores = {name: mean_ratings(rows, name) for name in names}
        ranked = [SYSTEMS, *(line for name in names for line in rank_systems(scores[name], name))]
        sentence = "Mean of the captions' mean ratings, with 95 % intervals over captions."
        compared = [(name, one) for name in names for one in system_differences(scores[name])]
        # A page for a narrow screen calls each row by its first cell.
        first = 0 if len(names) > 1 else 1
        table = ResultTable.of_rows([row[first:] for row in ranked])
        sections = [Section("Systems, best first", [sentence], table=table)]
        if compared:
            sections.append(_differences_section(compared, first))
        files: dict[str, str | Sequence[Section]] = {"systems.csv": as_csv(ranked), "ranking.md": sections}
        for name in names:
            of_criterion = [row for row in rows if row["criterion"] == name]
            ending = f"-{name}" if len(names) > 1 else ""
            files[f"ratings{ending}.csv"] = ratings_csv(of_criterion, self.settings.human)
        return files


def mean_ratings(rows: Iterable[Row], criterion: str) -> list[CaptionScore]:
    """Return the mean rating of each system's caption of each video by a criterion."""
    ratings: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if row["criterion"] == criterion:
            ratings.setdefault((row["video_id"], row["system"]), []).append(row["score"])
    return [
        CaptionScore(video, system, raw=(mean := sum(values) / len(values)), z=mean, assessments=len(values))
        for (video, system), values in ratings.items()
    ]


def rank_systems(scores: Sequence[CaptionScore], criterion: str) -> list[list[object]]:
    """Return a row of `SYSTEMS` for each system, the one with the highest mean rating by a criterion first."""
    intervals = system_intervals(scores)
    return [
        [criterion, score.system, score.raw, *intervals[score.system], score.captions, score.assessments]
        for score in system_scores(scores)
    ]


def _differences_section(compared: Sequence[tuple[str, RatedDifference]], first: int) -> Section:
    """Return the section on the differences of systems, with a sentence on each for a paper.

    The column of criteria is left out where `first` is 1, since there is only one.
    """
    pairs = len({(one.ahead, one.behind) for _, one in compared})
    sentences = [
        "Differences over the videos of which both systems were rated, with 95 % intervals from bootstrap draws of "
        "videos; p of paired randomisation of videos, two-sided, corrected by Holm's method for "
        f"{counted(pairs, 'comparison')}."
    ]
    videos = min(one.videos for _, one in compared)
    if videos < FEW_VIDEOS:
        wide = max(compared, key=lambda entry: entry[1].difference.high - entry[1].difference.low)[1].difference
        sentences.append(
            f"{counted(videos, 'video')} are few: differences below about {(wide.high - wide.low) / 2:.2f} are not "
            "told from chance."
        )
    lines = [
        f"{one.ahead} is rated {one.difference.score:.3f} higher than {one.behind}"
        f"{'' if first else f' by {name}'} on {counted(one.videos, 'video')} (95 % interval {one.difference.low:.3f} "
        f"to {one.difference.high:.3f}, p = {one.p_holm:.4f})."
        for name, one in compared
    ]
    columns = (
        "criterion",
        "system",
        "lower system",
        "difference",
        "videos",
        ResultColumn("p", 4),
        ResultColumn("p (Holm)", 4),
    )
    table = [[name, one.ahead, one.behind, one.difference, one.videos, one.p, one.p_holm] for name, one in compared]
    return Section(
        "Differences of systems", sentences, lines, ResultTable(columns[first:], [row[first:] for row in table])
    )


def _telling_words(text: str) -> set[str]:
    return {word for part in split_words(text.casefold()) for word in distinct_words(part)} - STOP_WORDS


TASK = ScaleTask
