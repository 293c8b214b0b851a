"""Collect the questions of official files: what readers of question benchmarks share.

A reader opens its files, and asks each question under the id, the options and the answer that they state. Videos become
clips when the first question about them is asked. How an answer is written is what the format says: an index from 0, or
the text, the letter or the label of an option; an answer that is none of the options is refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vttdata.annotations.files import OfficialFile
from vttdata.annotations.record_collector import RecordCollector
from vttdata.errors import VttdataError
from vttdata.records import VideoQuestion
from vttdata.text.questions import Choices, find_text, kind_of, letters, name_video


@dataclass(frozen=True, slots=True)
class OfficialQuestion:
    """Question as official files state it.

    Fields:
        question_id: unique in the benchmark.
        video: name of the video or of its file; see `vttdata.text.questions.name_video`.
        question: text without options.
        options: 2 to 26 texts.
        answer: index of the right option from 0, or a text that `find` reads.
        find: which option an answer that is a text names: `vttdata.text.questions.find_text`, `find_label` or
            `find_option`.
        kind: by default ``yes_no`` for the options yes and no, else ``multiple_choice``.
        labels: of the options as they are published; by default their letters.
        group: what it shares with the questions that it belongs together with; None alone.
        type: what it asks about, as the benchmark names it; None without one.
        source: take that the video is of; by default the video.
        split: of the video.
        span: start and end in the video, seconds; None for all of it.
    """

    question_id: str
    video: str
    question: str
    options: Sequence[str]
    answer: int | str
    find: Callable[[object, Choices], int | None] = find_text
    kind: str | None = None
    labels: Sequence[str] = ()
    group: str | None = None
    type: str | None = None
    source: str | None = None
    split: str = "test"
    span: tuple[float, float] | None = None


class QuestionCollector(RecordCollector):
    """Records of a benchmark of questions, with the clips of the videos that were asked about."""

    def __init__(self, language: str = "en") -> None:
        super().__init__(language)
        self._asked: set[tuple[str, str]] = set()

    def ask(self, file: OfficialFile, asked: OfficialQuestion, *, location: str) -> None:
        """Add a question, and the clip of its video where none of that split is there yet.

        Clips start and end at 0, since these files state no length. `location`, file and line or key, begins messages.

        Raises:
            VttdataError: when the answer is no option, or as `RecordCollector.add_clip` and `add_question`.
        """
        video = name_video(asked.video)
        if (video, asked.split) not in self._asked:
            self.add_clip(file, video, asked.source or video, 0, None, split=asked.split, location=location)
            self._asked.add((video, asked.split))
        options = tuple(asked.options)
        labels = tuple(asked.labels) or letters(len(options))
        kind, answer = asked.kind or kind_of(options), asked.answer
        if isinstance(answer, str):
            found = asked.find(answer, Choices(options, labels))
            if found is None:
                none = "neither yes nor no" if kind == "yes_no" else f"no option, of {len(options)}"
                raise VttdataError(f"{location}: the answer {answer[:60]!a} is {none}.")
            answer = found
        start, end = asked.span or (None, None)
        question = VideoQuestion(
            asked.question_id,
            video,
            kind,
            asked.question,
            options,
            labels,
            answer,
            group=asked.group,
            type=asked.type,
            start=start,
            end=end,
        )
        self.add_question(file, question, location=location)
