"""Choose clips: keep, trim to the frame, or reject the clips that the deterministic choice proposes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Any, ClassVar, TypeGuard

from vttdata.errors import VttdataError
from vttdata.files.results import Section
from vttdata.files.table_formats import as_csv
from vttdata.ids import clip_id
from vttdata.media import ClipSettings, choose_clips, detect_shots
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
)
from vttdata.people.tasks.caption import video_ids
from vttdata.people.videos import presentation_times
from vttdata.settings import Count, PositiveCount, PositiveSeconds, Ratio, Strict


@dataclass(frozen=True, slots=True)
class ChooseSettings(Strict):
    """Settings of the task `choose`.

    Fields:
        min_seconds, max_seconds: lengths of clips, in the proposal and as workers trim them.
        per_source: most clips that are proposed of one video.
        controls: share of proposals that are shown twice to check whether a worker is consistent.
        pass_mark: least share of repeated proposals that are kept or rejected as before.
        min_controls: repeated proposals from which on a worker is judged.
    """

    min_seconds: PositiveSeconds = 10.0
    max_seconds: PositiveSeconds = 30.0
    per_source: PositiveCount = 3
    controls: Ratio = 0.1
    pass_mark: Ratio = 0.5
    min_controls: Count = 3

    def __post_init__(self) -> None:
        if self.min_seconds > self.max_seconds:
            raise ValueError(f"min_seconds ({self.min_seconds:g}) must not exceed max_seconds ({self.max_seconds:g}).")


class ChooseTask(Task):
    """First and last frame of a clip, or its rejection."""

    Settings = ChooseSettings
    title = "Choose clips"
    takes = "a folder of videos, or tables with a column video_id"
    repeats_own = True
    keeps_times = True
    counted_controls = "repeated proposals decided as before"
    columns: ClassVar[Mapping[str, str]] = {
        "source_id": "video",
        "proposal": "number of the proposed clip in its video, from 0",
        "decision": "keep, trim or reject",
        "first_frame": "first frame of the clip, counted in presentation order from 0; empty if rejected",
        "last_frame": "last frame of the clip",
        "start": "seconds from the video's start at which the first frame is shown",
        "end": "seconds at which the frame after the last one is shown, or the video's end",
        "annotator": "hashed worker",
        "seconds": "from showing to answering",
    }

    def instructions(self) -> Sequence[str]:
        """Say what a good clip is."""
        ours = self.settings
        return (
            "Each proposal is a part of a longer video. Keep it if it shows one describable event with a beginning and "
            "an end; move its ends if it starts too early or ends too late; reject it if nothing can be described.",
            f"A clip lasts from {ours.min_seconds:g} to {ours.max_seconds:g} seconds. Its ends are the frames that you "
            "see when you set them.",
        )

    def make(self, material: Material) -> list[Unit]:
        """Return a unit for each proposed clip, and repeats as controls."""
        files = material.with_videos(video_ids(material))
        settings = ClipSettings(self.settings.min_seconds, self.settings.max_seconds, self.settings.per_source)
        units, without_clip = [], []
        for video in sorted(files):
            file = Path(files[video])
            times = presentation_times(file)
            detected = detect_shots(file)
            clips = choose_clips(detected.shots, settings)
            end = max(detected.seconds, times[-1])
            if not clips:
                without_clip.append(video)
            for number, clip in enumerate(clips):
                facts = {"proposal": number, "times": times, "end": end}
                shown = {
                    "first": clip.first_frame,
                    "last": clip.last_frame,
                    "limits": [self.settings.min_seconds, self.settings.max_seconds],
                    "end": end,
                }
                item = Item(material.name("choose", video, number), video, shown, facts)
                units.append(self.unit(material, item))
        if without_clip:
            material.notes.append(Note("no_clip", "videos without a clip of allowed length", tuple(without_clip)))
        if not units:
            raise VttdataError(
                f"No video has a clip of {settings.min_seconds:g} to {settings.max_seconds:g} s; set other lengths "
                "(--set min_seconds=4)."
            )
        controls = []
        for unit in material.draw_in_secret("controls").sample(units, self.number_of_controls(len(units))):
            item = unit.items[0]
            facts = dict(item.facts) | {"repeats": item.item}
            again = Item(material.name("again", item.item), item.video_id, item.shown, facts)
            controls.append(self.unit(material, again, is_control=True))
        return sorted([*units, *controls], key=lambda unit: material.draw_in_secret("order", unit.unit).random())

    def check(self, item: Item, answer: Mapping[str, Any], earlier: Earlier) -> Row:  # noqa: ARG002
        """Take a rejection, or two frames of a clip of allowed length."""
        if answer.get("decision") == "reject":
            return {"decision": "reject"}
        first, last, times = answer.get("first"), answer.get("last"), item.facts["times"]
        if not _is_frame(first, times) or not _is_frame(last, times):
            raise AnswerError("Set both ends of the clip, or reject it.")
        start, end = _span(item, first, last)
        low, high = self.settings.min_seconds, self.settings.max_seconds
        # Frames rarely lie where a limit does.
        slack = (times[-1] - times[0]) / max(len(times) - 1, 1)
        if not low - slack <= end - start <= high + slack:
            raise AnswerError(f"The clip lasts {max(end - start, 0):.1f} s; it should last from {low:g} to {high:g} s.")
        proposed = (first, last) == (item.shown["first"], item.shown["last"])
        return {"decision": "keep" if proposed else "trim", "first": first, "last": last}

    def label(self, answer: Mapping[str, Any]) -> str:
        """Return the decision."""
        return str(answer["decision"])

    def control_results(self, answers: Sequence[Answered]) -> list[bool]:
        """Return for each proposal that a worker saw twice whether it was decided as before."""
        first = {entry.item.item: entry.answer["decision"] == "reject" for entry in answers}
        return [
            (entry.answer["decision"] == "reject") == first[entry.item.facts["repeats"]]
            for entry in answers
            if entry.item.facts.get("repeats") in first
        ]

    def chance(self) -> float:
        """Return the probability that a proposal is kept or rejected as before."""
        return 0.5

    def ratings(self, answers: Iterable[Answered]) -> list[Ratings]:
        """Return whether proposals are taken, and the frames at which clips begin and end."""
        taken: dict[str, dict[str, float | str]] = {}
        starts: dict[str, dict[str, float | str]] = {}
        ends: dict[str, dict[str, float | str]] = {}
        for row in self.rows(list(answers)):
            proposal, worker = f"{row['source_id']}\t{row['proposal']}", row["annotator"]
            taken.setdefault(proposal, {})[worker] = str(row["decision"] != "reject")
            if row["decision"] != "reject":
                starts.setdefault(proposal, {})[worker] = row["start"]
                ends.setdefault(proposal, {})[worker] = row["end"]
        return [
            Ratings("taken", "nominal", taken),
            Ratings("start", "interval", starts),
            Ratings("end", "interval", ends),
        ]

    def rows(self, answers: Sequence[Answered]) -> list[Row]:
        """Return a row for each decision; repeats are left out."""
        rows = []
        for entry in answers:
            if "repeats" in entry.item.facts:
                continue
            rejected = entry.answer["decision"] == "reject"
            frames = ("", "") if rejected else (entry.answer["first"], entry.answer["last"])
            start, end = ("", "") if rejected else _span(entry.item, *frames)
            rows.append(
                {
                    "source_id": entry.item.video_id,
                    "proposal": entry.item.facts["proposal"],
                    "decision": entry.answer["decision"],
                    "first_frame": frames[0],
                    "last_frame": frames[1],
                    "start": start,
                    "end": end,
                    "annotator": entry.worker,
                    "seconds": entry.rounded_seconds(),
                }
            )
        return rows

    def further_files(
        self,
        answers: Sequence[Answered],
        rows: Sequence[Row],  # noqa: ARG002
        *,
        kept: Collection[str],
    ) -> dict[str, str | Sequence[Section]]:
        """Return the clips that most workers take, as the recipe `own-list` reads them."""
        decisions: dict[tuple[str, int], list[Answered]] = {}
        for entry in answers:
            if entry.worker in kept and "repeats" not in entry.item.facts:
                decisions.setdefault((entry.item.video_id, entry.item.facts["proposal"]), []).append(entry)
        table: list[list[Any]] = [["path", "id", "start", "end", "video_id"]]
        for (video, _), entries in sorted(decisions.items()):
            taken = [entry for entry in entries if entry.answer["decision"] != "reject"]
            if 2 * len(taken) <= len(entries):
                continue
            first, last = (median_low(entry.answer[name] for entry in taken) for name in ("first", "last"))
            start, end = _span(taken[0].item, first, last)
            table.append([taken[0].item.facts["file"], video, start, end, clip_id(video, start, end)])
        return {"clips.csv": as_csv(table)}


def _is_frame(value: Any, times: Sequence[float]) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(times)


def _span(item: Item, first: int, last: int) -> tuple[float, float]:
    """Return the half-open span of the frames from the first to the last, seconds from the video's start."""
    times = item.facts["times"]
    return times[first], times[last + 1] if last + 1 < len(times) else item.facts["end"]


TASK = ChooseTask
