"""Collect the clips and captions of official files under the checks that every benchmark needs.

A reader adds clips and captions in the order of its files; what is odd becomes a finding, and every row is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vttdata.annotations.files import OfficialFile, parse_json_text, read_json, read_text
from vttdata.annotations.findings import Findings
from vttdata.annotations.model import Annotations, check_captions, check_spans, checked_id, sources_of
from vttdata.errors import VttdataError
from vttdata.records import Caption, Clip

if TYPE_CHECKING:
    import pydantic


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

    def read_json(self, file: OfficialFile, shape: pydantic.TypeAdapter[Any]) -> Any:
        """Return the content of a JSON file, as `vttdata.annotations.files.read_json` does."""
        return read_json(file, shape, self.checksums)

    def read_lines(self, file: OfficialFile) -> list[tuple[str, str]]:
        """Return the place (file and line) and the text of each line that is not blank."""
        text = read_text(file, self.checksums).replace("\r\n", "\n")
        return [(f"{file}:{number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]

    def read_json_lines(self, file: OfficialFile, shape: pydantic.TypeAdapter[Any]) -> Iterator[tuple[str, Any]]:
        """Yield the place (file and line) and the value of each line of JSON, checked as `read_json` does."""
        for place, line in self.read_lines(file):
            yield place, parse_json_text(place, line, shape)

    def add_clip(
        self,
        file: OfficialFile,
        video_id: str,
        source_id: str,
        start: float,
        end: float | None,
        *,
        split: str,
        url: str | None = None,
        category: str | None = None,
        duration: float | None = None,
        place: str | None = None,
    ) -> Clip:
        """Add a clip, its official ids and its span in seconds, and return it.

        Without an end, where the files state no length, the clip ends where it starts. `url`, `category` (its name) and
        `duration` (in seconds) are those of the video; `place`, file and line or key, begins messages instead of the
        file.

        Raises:
            VttdataError: when an id cannot be a file name.
        """
        for name in dict.fromkeys((video_id, source_id)):
            checked_id(name, place or str(file))
        clip = Clip(
            video_id, source_id, start, start if end is None else end, None, None, None, url, category, split=split
        )
        if end is None:
            self.findings.add("unknown_length", file.name, video_id)
        else:
            check_spans(self.findings, file.name, clip, duration)
        if duration is not None:
            self._seconds[source_id] = duration
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
            if clip.video_id not in self._sentences:
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
        )
