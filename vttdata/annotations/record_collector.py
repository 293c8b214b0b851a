"""Collect the clips and captions of official files under the checks that every benchmark needs.

A reader adds clips and captions in the order of its files; what is odd becomes a finding, and every row is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vttdata.annotations.files import OfficialFile, parse_json_text, read_json, read_text
from vttdata.annotations.findings import Findings
from vttdata.annotations.model import Annotations, check_captions, check_spans, checked_id, sources_of
from vttdata.errors import VttdataError
from vttdata.records import Caption, Clip, QueryWindows, VideoQuestion
from vttdata.text.damage import find_text_damage
from vttdata.text.questions import MAX_OPTIONS, Choices, least_options

if TYPE_CHECKING:
    import pydantic


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What official files say of the video of a clip: its address, the name of its category, and its length."""

    url: str | None = None
    category: str | None = None
    seconds: float | None = None


class RecordCollector:
    """Records of one benchmark, irregularities found so far, and the SHA-256 of each file that was read.

    `language` is that of captions for which nothing else is said.
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self.findings = Findings()
        self.checksums: dict[str, str] = {}
        self._clips: list[tuple[str, Clip]] = []
        self._captions: dict[str, list[Caption]] = defaultdict(list)
        self._sentences: Counter[str] = Counter()
        self._seconds: dict[str, float] = {}
        self._questions: dict[str, VideoQuestion] = {}
        self._question_videos: set[str] = set()
        self._moments: list[QueryWindows] = []

    def read_json(self, file: OfficialFile, shape: pydantic.TypeAdapter[Any]) -> Any:
        """Return the content of a JSON file, as `vttdata.annotations.files.read_json` does."""
        return read_json(file, shape, self.checksums)

    def read_lines(self, file: OfficialFile) -> list[tuple[str, str]]:
        """Return the place (file and line) and the text of each line that is not blank."""
        text = read_text(file, self.checksums).replace("\r\n", "\n")
        return [(f"{file}:{number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]

    def read_json_lines(self, file: OfficialFile, shape: pydantic.TypeAdapter[Any]) -> Iterator[tuple[str, Any]]:
        """Yield the place (file and line) and the value of each line of JSON, checked as `read_json` does."""
        for location, line in self.read_lines(file):
            yield location, parse_json_text(location, line, shape)

    def add_clip(
        self,
        file: OfficialFile,
        video_id: str,
        source_id: str,
        start: float,
        end: float | None,
        *,
        split: str,
        video: VideoFacts = VideoFacts(),
        location: str | None = None,
    ) -> Clip:
        """Add a clip, its official ids and its span in seconds, and return it.

        Without an end, where the files state no length, the clip ends where it starts. `video` is what the files say of
        the whole video; `location`, file and line or key, begins messages instead of the file.

        Raises:
            VttdataError: when an id cannot be a file name.
        """
        for name in dict.fromkeys((video_id, source_id)):
            checked_id(name, location or str(file))
        last = start if end is None else end
        clip = Clip(video_id, source_id, start, last, None, None, None, video.url, video.category, split=split)
        if end is None:
            self.findings.add("unknown_length", file.name, video_id)
        else:
            check_spans(self.findings, file.name, clip, video.seconds)
        if video.seconds is not None:
            self._seconds[source_id] = video.seconds
        self._clips.append((file.name, clip))
        return clip

    def add_caption(
        self,
        file: OfficialFile,
        video_id: str,
        text: str,
        *,
        sen_id: int | None = None,
        annotator: str | None = None,
        language: str | None = None,
    ) -> None:
        """Add a caption of a clip; without an official number the captions of a clip are counted from 0."""
        number = self._sentences[video_id] if sen_id is None else sen_id
        self._sentences[video_id] += 1
        self._captions[file.name].append(Caption(video_id, number, text, annotator, language or self.language))

    def add_question(self, file: OfficialFile, question: VideoQuestion, *, location: str) -> None:
        """Add a question about a clip; `location`, file and line or key, begins messages.

        Raises:
            VttdataError: when it has not 2 to 26 options, one of them is empty, the answer is none of them, or another
                question has its id.
        """
        number, least = len(question.options), least_options(question.kind)
        if not least <= number <= MAX_OPTIONS or not all(option.strip() for option in question.options):
            raise VttdataError(
                f"{location}: {least} to {MAX_OPTIONS} options are expected, none of them empty; found "
                f"{str(list(question.options))[:80]}."
            )
        if not 0 <= question.answer < number:
            raise VttdataError(f"{location}: the answer is option {question.answer + 1}, of {number}.")
        if question.question_id in self._questions:
            raise VttdataError(f"{location}: there is another question with the id {question.question_id[:80]!a}.")
        choices = Choices(question.options, question.labels)
        copies = [len(choices.copies(place)) for place in range(number)]
        if max(copies) > 1:
            kind = "same_options" if copies[question.answer] == 1 else "same_as_answer"
            self.findings.add(kind, file.name, question.question_id)
        if not question.question.strip():
            self.findings.add("empty_question", file.name, question.question_id)
        damage = find_text_damage("\n".join((question.question, *question.options)))
        if damage is not None:
            self.findings.add(damage, file.name, question.question_id)
        self._questions[question.question_id] = question
        self._question_videos.add(question.video_id)

    def add_moments(self, file: OfficialFile, moments: QueryWindows, seconds: float) -> None:
        """Add the windows of a caption, whose clip has a length in seconds; odd windows are findings."""
        name = moments.video_id if moments.annotators else f"{moments.video_id}/{moments.sen_id}"
        spans = list(zip(moments.starts, moments.ends, strict=True))
        if not spans:
            self.findings.add("no_window", file.name, name)
        if any(end <= start for start, end in spans):
            self.findings.add("end_before_start", file.name, name)
        if any(end > seconds for _, end in spans):
            self.findings.add("end_after_duration", file.name, name)
        self._moments.append(moments)

    def result(
        self, *, categories: Sequence[str] = (), protocols: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    ) -> Annotations:
        """Return all records in the order in which they were added, and all findings.

        Raises:
            VttdataError: when there is no clip.
        """
        if not self._clips:
            raise VttdataError(f"{', '.join(self.checksums) or 'The folder'}: lists no video.")
        splits: dict[str, list[str | None]] = defaultdict(list)
        for _, clip in self._clips:
            splits[clip.video_id].append(clip.split)
        for name, clip in self._clips:
            listed = splits[clip.video_id]
            if len(listed) > len(set(listed)):
                self.findings.add("doubled_video", name, clip.video_id)
            if len(set(listed)) > 1:
                self.findings.add("several_splits", name, clip.video_id)
            if clip.video_id not in self._sentences and clip.video_id not in self._question_videos:
                self.findings.add("no_caption", name, clip.video_id)
        for name, captions in self._captions.items():
            check_captions(self.findings, name, captions)
            for caption in captions:
                if caption.video_id not in splits:
                    self.findings.add("unknown_video", name, f"{caption.video_id}/{caption.sen_id}")
        clips = tuple(clip for _, clip in self._clips)
        return Annotations(
            sources=sources_of(clips, self._seconds),
            clips=clips,
            captions=tuple(caption for captions in self._captions.values() for caption in captions),
            findings=self.findings.result(),
            files=self.checksums,
            categories=tuple(categories),
            protocols=protocols or {},
            questions=tuple(self._questions.values()),
            moments=tuple(self._moments),
        )
