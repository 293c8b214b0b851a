"""Direct Assessment: rate captions of systems from 0 to 100 on a slider, with hidden controls (Graham et al. 2018)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from vttdata.annotate.da_page.view import DEFAULT_SCALE_ENDS
from vttdata.annotate.task import (
    Answered,
    AnswerError,
    Earlier,
    Item,
    Material,
    Ratings,
    Row,
    Task,
    Unit,
    Verdict,
    ratings_csv,
)
from vttdata.assess import HitSettings, ReliabilitySettings, judge_workers, make_hits, summarise
from vttdata.assess.answers.intake import Results
from vttdata.assess.hits.hit_records import DEFAULT_QUESTION
from vttdata.assess.hits.system_captions import read_systems
from vttdata.errors import VttdataError
from vttdata.records import Judgment
from vttdata.settings import Count, PositiveCount, Strict


@dataclass(frozen=True, slots=True)
class SliderSettings(Strict):
    """Settings of the task `rate-slider`.

    Fields:
        system, human, degraded, repeat: items of each kind in a HIT; see `vttdata.assess.HitSettings`.
        assessments: in how many HITs each caption of a system is.
        min_pairs: pairs of a degraded and an original caption from which on a worker is judged.
        question: of every item.
        low, high: labels of the ends of the scale.
    """

    system: PositiveCount = 70
    human: Count = 10
    degraded: Count = 10
    repeat: Count = 10
    assessments: PositiveCount = 1
    min_pairs: PositiveCount = 10
    question: str = DEFAULT_QUESTION
    low: str = DEFAULT_SCALE_ENDS[0]
    high: str = DEFAULT_SCALE_ENDS[1]


class SliderTask(Task):
    """Score a caption from 0 to 100; a unit is a HIT."""

    Settings = SliderSettings
    title = "Video caption assessment"
    takes = "captions of systems, tables with video_id and caption; --captions has the human ones"
    columns: ClassVar[Mapping[str, str]] = {
        "item": "what was rated: the same for all workers who rated the same caption of the same video",
        "video_id": "clip",
        "system": "system, or human",
        "candidate": "caption that was rated",
        "score": "0 to 100, as given",
        "annotator": "hashed worker",
        "kind": "system, human, degraded or repeat; only system and human are ranked",
        "hit": "task in which it was shown",
        "seconds": "from showing to answering",
    }

    def instructions(self) -> Sequence[str]:
        """Say how captions are rated."""
        return (
            "You will see videos with a caption, one at a time, and rate how well each caption fits its video.",
            "Watch the video first, then read the caption. Judge each caption on its own, even if you have seen the "
            "video before. An answer cannot be changed afterwards.",
        )

    def make(self, material: Material) -> list[Unit]:
        """Return a unit for each HIT."""
        if not material.human:
            raise VttdataError("Direct Assessment needs human captions for its controls; name them with --captions.")
        known = {caption.video_id for caption in material.human}
        systems, _ = read_systems(map(Path, material.inputs), material.columns, known)
        files = material.with_videos(video for captions in systems.values() for video in captions)
        systems = {name: {v: text for v, text in texts.items() if v in files} for name, texts in systems.items()}
        ours = self.settings
        try:
            settings = HitSettings(
                ours.system,
                ours.human,
                ours.degraded,
                ours.repeat,
                ours.assessments,
                min(ours.min_pairs, ours.degraded),
            )
        except ValueError as error:
            raise VttdataError(str(error)) from error
        plan = make_hits(systems, material.human, material.source_of, settings, seed=material.seed)
        ends = [ours.low, ours.high]
        return [
            Unit(
                hit.hit,
                tuple(
                    Item(
                        entry.item,
                        entry.video_id,
                        {"caption": entry.caption, "question": ours.question, "ends": ends},
                        {"system": entry.system, "kind": entry.kind},
                    )
                    for entry in hit.items
                ),
            )
            for hit in plan.hits
        ]

    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:  # noqa: ARG002
        """Take whole numbers from 0 to 100."""
        score = answer.get("score")
        if not isinstance(score, int) or isinstance(score, bool) or not 0 <= score <= 100:
            raise AnswerError("Place your answer on the scale first.")
        return {"score": score}

    def label(self, answer: Mapping[str, Any]) -> str:
        """Return the score."""
        return str(answer["score"])

    def verdict(self, answers: Sequence[Answered]) -> Verdict:
        """Judge a worker by the scores of degraded captions, as `vttdata hits score` does."""
        report = judge_workers(_judgments(answers), ReliabilitySettings(min_pairs=self.settings.min_pairs))[0]
        evidence = (
            f"degraded captions {report.degraded.control:.0f}, their originals {report.degraded.original:.0f}, "
            f"{report.degraded.pairs} pairs, p = {report.p:.2g}"
        )
        return Verdict(report.verdict in ("reliable", "too_few_pairs"), report.verdict, evidence)

    def ratings(self, answers: Iterable[Answered]) -> list[Ratings]:
        """Return the scores of captions that are ranked."""
        values: dict[str, dict[str, float | str]] = {}
        for entry in answers:
            if entry.item.facts["kind"] in ("system", "human"):
                values.setdefault(_rated(entry), {}).setdefault(entry.worker, float(entry.answer["score"]))
        return [Ratings("score", "interval", values)]

    def rows(self, answers: Sequence[Answered]) -> list[Row]:
        """Return a row for each score, controls included."""
        return [
            {
                "item": _rated(entry),
                "video_id": entry.item.video_id,
                "system": entry.item.facts["system"],
                "candidate": entry.item.shown["caption"],
                "score": entry.answer["score"],
                "annotator": entry.worker,
                "kind": entry.item.facts["kind"],
                "hit": entry.unit,
                "seconds": round(entry.seconds, 1),
            }
            for entry in answers
        ]

    def further_files(self, answers: Sequence[Answered], rows: Sequence[Row]) -> dict[str, str]:
        """Return the ratings as `vttdata evaluate-metric` reads them, and the files of `vttdata hits score`."""
        ranked = [row for row in rows if row["kind"] in ("system", "human")]
        files = {"ratings.csv": ratings_csv(ranked, "human")}
        try:
            settings = ReliabilitySettings(min_pairs=self.settings.min_pairs)
            summary = summarise(Results(tuple(_judgments(answers)), {}), settings, keep_all=True)
        except VttdataError as error:
            return files | {"ranking.md": f"{error}\n"}
        tables = {name: text for name, text in summary.files().items() if name not in ("workers.csv", "findings.csv")}
        return files | {"ranking.md": tables.pop("report.md")} | tables


def _rated(entry: Answered) -> str:
    return f"{entry.item.facts['system']}/{entry.item.video_id}"


def _judgments(answers: Iterable[Answered]) -> list[Judgment]:
    counts: dict[tuple[str, str], int] = {}
    judgments = []
    for entry in answers:
        position = counts[entry.unit, entry.worker] = counts.get((entry.unit, entry.worker), -1) + 1
        facts, item = entry.item.facts, entry.item
        shown = (item.video_id, facts["system"], facts["kind"])
        score = float(entry.answer["score"])
        judgments.append(
            Judgment(entry.unit, entry.worker, item.item, *shown, score=score, position=position, seconds=entry.seconds)
        )
    return judgments


TASK = SliderTask
