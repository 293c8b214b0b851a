"""Direct Assessment: rate captions of systems from 0 to 100 on a slider, with hidden controls (Graham et al. 2018)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Gt, Lt

from vttdata.errors import VttdataError
from vttdata.files.results import Section
from vttdata.files.table_formats import counted
from vttdata.people.answers.intake import Results
from vttdata.people.hits.caption_selection import TooFewCaptionsError
from vttdata.people.hits.hit_records import (
    DEFAULT_QUESTION,
    DEFAULT_SCALE_ENDS,
    DEFAULT_TITLE,
    INSTRUCTIONS,
    HitItem,
    HitPlan,
    HitSettings,
)
from vttdata.people.hits.make import make_hits, make_smaller_hits
from vttdata.people.hits.system_captions import COLUMNS, read_systems
from vttdata.people.hits.write import plan_notes
from vttdata.people.scoring.score_hits import summarise
from vttdata.people.scoring.scores import Convention
from vttdata.people.scoring.workers import ReliabilitySettings, judge_workers
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
    Verdict,
    ratings_csv,
)
from vttdata.records import Judgment
from vttdata.settings import Count, PositiveCount, Ratio, Strict
from vttdata.statistics.hypothesis_tests import PairedTest
from vttdata.text.captions import INPUT_COLUMNS, check_column_names

_COMPOSITION = ("system", "human", "degraded", "repeat", "min_pairs")


@dataclass(frozen=True, slots=True)
class SliderSettings(Strict):
    """Settings of the task `rate-slider`.

    Where there are fewer captions than a HIT of the default numbers needs, HITs are made smaller; the campaign has the
    numbers.

    Fields:
        system, human, degraded, repeat: items of each kind in a HIT; see `vttdata.people.HitSettings`.
        assessments: in how many HITs each caption of a system is.
        min_distance: positions between a control and its original, at least; None for two fifths of the HIT.
        min_pairs: pairs of a degraded and an original caption from which on a worker is judged. Every HIT must have as
            many, so that a worker may do a single one.
        question: of every item.
        low, high: labels of the ends of the scale.
        test, alpha: test and level of significance by which a worker is reliable; see `ReliabilitySettings`.
        convention: see `vttdata.people.scoring.scores.Convention`.
        seed: of the bootstrap intervals.
        min_shown: least share of a video's length that must have been shown, 0..1; the page asks for it, and at least
            half of a worker's answers must have it.
    """

    system: PositiveCount = 70
    human: Count = 10
    degraded: Count = 10
    repeat: Count = 10
    assessments: PositiveCount = 1
    min_distance: Annotated[int, Ge(1)] | None = None
    min_pairs: Count = 10
    question: str = DEFAULT_QUESTION
    low: str = DEFAULT_SCALE_ENDS[0]
    high: str = DEFAULT_SCALE_ENDS[1]
    test: PairedTest = "paired_t"
    alpha: Annotated[float, Gt(0), Lt(1)] = 0.05
    convention: Convention = "all"
    seed: Count = 0
    min_shown: Ratio = 0.5

    @property
    def reliability(self) -> ReliabilitySettings:
        """Return the conditions of reliability; nobody is judged without a pair."""
        return ReliabilitySettings(self.test, self.alpha, max(self.min_pairs, 1), min_shown=self.min_shown)


class SliderTask(Task):
    """Score a caption from 0 to 100; a unit is a HIT."""

    Settings = SliderSettings
    title = DEFAULT_TITLE
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
        return INSTRUCTIONS

    def make(self, material: Material) -> list[Unit]:
        """Return a unit for each HIT."""
        if not material.human:
            raise VttdataError("Direct Assessment needs human captions for its controls; name them with --captions.")
        try:
            check_column_names(material.columns, dict.fromkeys((*INPUT_COLUMNS, *COLUMNS)))
        except ValueError as error:
            raise VttdataError(f"--columns: {error}") from error
        known = {caption.video_id for caption in material.human}
        systems, repeated = read_systems(map(Path, material.inputs), material.columns, known)
        files = material.with_videos(video for captions in systems.values() for video in captions)
        systems = {name: {v: text for v, text in texts.items() if v in files} for name, texts in systems.items()}
        plan = self._plan(systems, material)
        ours = self.settings
        if repeated:
            meaning = "rows that say what another row says; left out"
            material.notes.append(Note("repeated_row", meaning, tuple(repeated)))
        if len(systems) == 1:
            meaning = "system only, which can be compared with human captions alone"
            material.notes.append(Note("single_system", meaning, tuple(systems)))
        material.notes.extend(plan_notes(plan))
        common = {"question": ours.question, "ends": [ours.low, ours.high], "min_shown": ours.min_shown}
        return [
            Unit(
                hit.hit,
                tuple(
                    Item(
                        entry.item,
                        entry.video_id,
                        {"caption": entry.caption, **common},
                        _facts(entry),
                        () if entry.degraded is None else (entry.degraded.donor_video_id or "",),
                    )
                    for entry in hit.items
                ),
            )
            for hit in plan.hits
        ]

    def _plan(self, systems: Mapping[str, Mapping[str, str]], material: Material) -> HitPlan:
        """Return HITs of the composition that is set, or the largest smaller ones if the default is too large."""
        default = SliderSettings()
        # Positions of controls follow from the seed.
        seed = material.draw_in_secret("hits").randrange(2**63)
        try:
            return make_hits(systems, material.human, material.source_of, self._hit_settings(), seed=seed)
        except TooFewCaptionsError:
            if any(getattr(self.settings, name) != getattr(default, name) for name in _COMPOSITION):
                raise
        try:
            plan = make_smaller_hits(systems, material.human, material.source_of, self._hit_settings(), seed=seed)
        except ValueError as error:
            raise VttdataError(str(error)) from error
        made = plan.settings
        self.settings = dataclasses.replace(self.settings, **{name: getattr(made, name) for name in _COMPOSITION})
        meaning = (
            f"captions of systems, fewer than the {default.system} of a HIT and their controls take: HITs have "
            f"{made.system} captions of systems, {made.human} human and {made.degraded} degraded ones and "
            f"{counted(made.repeat, 'repeat')}, and workers are judged from {made.min_pairs} pairs on"
        )
        names = sorted(f"{name}/{video}" for name, texts in systems.items() for video in texts)
        material.notes.append(Note("small_hits", meaning, tuple(names)))
        return plan

    def _hit_settings(self) -> HitSettings:
        ours = self.settings
        numbers = (ours.system, ours.human, ours.degraded, ours.repeat, ours.assessments, ours.min_pairs)
        try:
            return HitSettings(*numbers, ours.min_distance)
        except ValueError as error:
            raise VttdataError(str(error)) from error

    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:  # noqa: ARG002
        """Take whole numbers from 0 to 100."""
        score = answer.get("score")
        if not isinstance(score, int) or isinstance(score, bool) or not 0 <= score <= 100:
            raise AnswerError("Place your answer on the scale first.")
        return {"score": score}

    def verdict(self, answers: Sequence[Answered]) -> Verdict:
        """Judge a worker by the scores of degraded captions; only reliable workers count."""
        reliability = self.settings.reliability
        report = judge_workers(_judgments(answers), reliability)[0]
        pairs = report.degraded.pairs
        if report.verdict == "too_few_pairs":
            evidence = f"not yet judged: {pairs} of {reliability.min_pairs} pairs of a degraded and an original caption"
        elif report.verdict == "not_shown":
            evidence = (
                f"median {report.shown:.0%} of a video's length was shown, of at least {reliability.min_shown:.0%}"
            )
        else:
            evidence = (
                f"degraded captions {report.degraded.control:.0f}, their originals {report.degraded.original:.0f}, "
                f"{pairs} pairs, p = {report.p:.2g}"
            )
        return Verdict(report.verdict == "reliable", report.verdict, evidence)

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
                "seconds": entry.rounded_seconds(),
            }
            for entry in answers
        ]

    def further_files(
        self, answers: Sequence[Answered], rows: Sequence[Row], *, kept: Collection[str]
    ) -> dict[str, str | Sequence[Section]]:
        """Return the ratings as `vttdata metric test` reads them, and the ranking of systems."""
        ranked = [row for row in rows if row["kind"] in ("system", "human")]
        files: dict[str, str | Sequence[Section]] = {"ratings.csv": ratings_csv(ranked, "human")}
        try:
            summary = summarise(
                Results(tuple(_judgments(answers)), {}),
                self.settings.reliability,
                convention=self.settings.convention,
                keep_all=all(entry.worker in kept for entry in answers),
                seed=self.settings.seed,
            )
        except VttdataError as error:
            return files | {"ranking.md": [Section("Systems", [str(error)])]}
        tables = summary.files()
        tables["reliability.csv"] = tables.pop("workers.csv")
        of_campaign = {name: text for name, text in tables.items() if name not in ("findings.csv", "report.md")}
        return files | of_campaign | {"ranking.md": list(summary.sections())}


def _facts(entry: HitItem) -> Row:
    facts: Row = {"system": entry.system, "kind": entry.kind}
    return facts if entry.degraded is None else facts | {"degraded": dataclasses.asdict(entry.degraded)}


def _rated(entry: Answered) -> str:
    return f"{entry.item.facts['system']}/{entry.item.video_id}"


def _judgments(answers: Iterable[Answered]) -> list[Judgment]:
    """Return answers as judgments, in an order that does not depend on that in which they came."""
    counts: dict[tuple[str, str], int] = {}
    judgments = []
    for entry in answers:
        position = counts[entry.unit, entry.worker] = counts.get((entry.unit, entry.worker), -1) + 1
        facts, item = entry.item.facts, entry.item
        shown = (item.video_id, facts["system"], facts["kind"])
        score = float(entry.answer["score"])
        share = entry.observed.shown if entry.observed is not None else None
        judgments.append(
            Judgment(entry.unit, entry.worker, item.item, *shown, score, position, entry.seconds, shown=share)
        )
    return sorted(judgments, key=lambda judgment: (judgment.hit, judgment.item, judgment.worker))


TASK = SliderTask
