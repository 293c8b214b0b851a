"""Collect the questions of official files: what readers of question benchmarks share.

A reader opens its files, and asks each question under the id, the options and the answer that they state. Videos become
clips when the first question about them is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vttdata.annotations.files import OfficialFile
from vttdata.annotations.record_collector import RecordCollector, VideoFacts
from vttdata.records import VideoQuestion
from vttdata.text.questions import kind_of, letters, name_video


@dataclass(frozen=True, slots=True)
class OfficialQuestion:
    """Question as official files state it.

    Fields:
        question_id: unique in the benchmark.
        video: name of the video or of its file; see `vttdata.text.questions.name_video`.
        question: text without options.
        options: 2 to 26 texts.
        answer: index of the right option from 0; `vttdata.text.questions.find_answers` reads other notations.
        kind: by default ``yes_no`` for the options yes and no, else ``multiple_choice``.
        labels: of the options as they are published; by default their letters.
        group: what it shares with the questions that it belongs together with; None alone.
        type: what it asks about, as the benchmark names it; None without one.
        source: take that the video is of; by default the video.
        split: of the video.
        span: start and end in the video, seconds; None for all of it.
        seconds: length of the video, where the files state it.
    """

    question_id: str
    video: str
    question: str
    options: Sequence[str]
    answer: int
    kind: str | None = None
    labels: Sequence[str] = ()
    group: str | None = None
    type: str | None = None
    source: str | None = None
    split: str = "test"
    span: tuple[float, float] | None = None
    seconds: float | None = None


class QuestionCollector(RecordCollector):
    """Records of a benchmark of questions, with the clips of the videos that were asked about."""

    def __init__(self, language: str = "en") -> None:
        super().__init__(language)
        self._asked: set[tuple[str, str]] = set()

    def ask(self, file: OfficialFile, asked: OfficialQuestion, *, location: str) -> None:
        """Add a question, and the clip of its video where none of that split is there yet.

        Clips start at 0, and end there too where these files state no length. `location`, file and line or key, begins
        messages.

        Raises:
            VttdataError: as `RecordCollector.add_clip` and `add_question`.
        """
        video = name_video(asked.video)
        if (video, asked.split) not in self._asked:
            facts = VideoFacts(seconds=asked.seconds)
            source, split = asked.source or video, asked.split
            self.add_clip(file, video, source, 0, asked.seconds, split=split, video=facts, location=location)
            self._asked.add((video, asked.split))
        options = tuple(asked.options)
        labels = tuple(asked.labels) or letters(len(options))
        start, end = asked.span or (None, None)
        if end is not None and asked.seconds is not None and end > asked.seconds:
            self.findings.add("span_after_video", file.name, asked.question_id)
        question = VideoQuestion(
            asked.question_id,
            video,
            asked.kind or kind_of(options),
            asked.question,
            options,
            labels,
            asked.answer,
            group=asked.group,
            type=asked.type,
            start=start,
            end=end,
        )
        self.add_question(file, question, location=location)
