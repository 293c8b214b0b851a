"""Write a dataset folder that plain `datasets.load_dataset` opens: Parquet tables, card, media, manifest.

The same records give the same bytes in whatever order they come. The folder is replaced as a whole, so that a reader
sees the old dataset or the new one.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vttdata.dataset.description_files import write_description
from vttdata.dataset.facts import DatasetFacts
from vttdata.dataset.foils.statistics import write_attacks
from vttdata.dataset.metadata import Metadata, OfficialLayout
from vttdata.dataset.replace_folder import replace_folder
from vttdata.dataset.rows import ROWS, clip_row, columns_of, concept_row, question_row, source_row
from vttdata.dataset.schema import LabelNames, Role, label_counts, table_schema
from vttdata.dataset.shards import SplitFiles, split_key, write_split
from vttdata.dataset.sorted_captions import SortedCaptions
from vttdata.dataset.statistics import Statistics, count_files
from vttdata.dataset.videos import MediaFiles, add_video_files, video_path, video_rows, write_video_lists
from vttdata.errors import VttdataError
from vttdata.ids import is_safe_id, is_split_name
from vttdata.json_types import Row
from vttdata.records import Caption, Clip, Source, to_row
from vttdata.split import Audit

_DIGITS = re.compile(r"([0-9]+)")

Rows = Iterator[Row]
Tables = dict[str, list[SplitFiles]]


@dataclass(frozen=True, slots=True)
class WriteHooks:
    """What a caller does while a dataset is written.

    Fields:
        audit: Function from the Parquet files (configuration -> split -> files) to the audits of ``clips`` and of each
            protocol for the card. It is called before anything is replaced, and may raise an error to prevent that.
        add_files: Function that adds files to the folder once its tables and media are there.
        finish: Function that may change the folder once it is complete, before it takes the place of the other.
    """

    audit: Callable[[Mapping[str, Mapping[str, Sequence[Path]]]], Mapping[str, Audit]] | None = None
    add_files: Callable[[Path], None] | None = None
    finish: Callable[[Path], object] | None = None


def write_dataset(
    folder: Path,
    *,
    clips: Iterable[Clip],
    captions: Iterable[Caption],
    sources: Iterable[Source],
    metadata: Metadata,
    media: MediaFiles | None,
    official: OfficialLayout | None = None,
    hooks: WriteHooks = WriteHooks(),
) -> Statistics:
    """Write a dataset in the place of the one in `folder`, and return its figures, as in its card.

    Args:
        folder: Folder of the dataset; it must be a dataset, empty or missing.
        clips: At least one; a clip without a split counts as ``train``.
        captions: Captions of these clips in any order; read once and never held in memory as a whole.
        sources: At least those of the clips, or none at all; those without clips are left out.
        metadata: Metadata of the dataset.
        media: Files of the clips; None leaves them out.
        official: Layout of an official release: with it, the order of clips and of sources is kept, and so are
            duplicated rows.
        hooks: What is done with the tables before they replace others, and with the folder.

    Raises:
        VttdataError: If there are no clips, records contradict each other, a clip's file is missing or has changed, or
            `folder` holds something else than a dataset.
    """
    writer = _DatasetWriter(clips, sources, official)
    with replace_folder(folder) as partial:
        tables = writer.write_tables(partial, captions, shipped=media is not None and media.mode == "files")
        paths = {
            config: {split.split: [partial / shard.path for shard in split.shards] for split in splits}
            for config, splits in tables.items()
        }
        audits = hooks.audit(paths) if hooks.audit is not None else {}
        video_files: dict[str, Row] = {}
        if media is not None and media.mode == "files":
            video_files = add_video_files(partial, media.folder, writer.clips)
            write_video_lists(partial, paths["clips"])
        elif media is not None:
            tables |= writer.write_videos(partial, media.folder)
        questions = writer.official.questions
        if questions is not None and questions.attacks:
            write_attacks(partial, {f"questions/{kind}": attacks for kind, attacks in questions.attacks.items()})
        if hooks.add_files is not None:
            hooks.add_files(partial)
        statistics = count_files(paths, writer.categories, writer.official.classes)
        write_description(
            partial,
            DatasetFacts(metadata, audited=hooks.audit is not None),
            tables,
            statistics=statistics,
            audits=audits,
            labels=writer.labels,
            known_files=video_files,
        )
        if hooks.finish is not None:
            hooks.finish(partial)
    return statistics


class _DatasetWriter:
    """Writer of the tables: clips in the order of the dataset, by split and then by id with numbers by value."""

    def __init__(self, clips: Iterable[Clip], sources: Iterable[Source], official: OfficialLayout | None) -> None:
        self.official = official or OfficialLayout()
        self._is_official = official is not None
        by_id = clips if self._is_official else sorted(clips, key=lambda clip: _natural_key(clip.video_id))
        self.clips = sorted(by_id, key=lambda clip: split_key(clip.split))
        used = {clip.source_id for clip in self.clips}
        stream = iter(sources)
        first = next(stream, None)
        kept = [s for s in itertools.chain([first] if first else [], stream) if s.source_id in used]
        if not self._is_official:
            kept.sort(key=lambda source: _natural_key(source.source_id))
        self.sources = {source.source_id: source for source in kept}
        self._check_clips()
        missing = used - self.sources.keys() if first is not None else set()
        if missing:
            raise VttdataError(
                f"The source '{min(missing)}' of a clip is not among the sources ({len(missing)} are missing)."
            )
        numbered = list(self.official.categories)
        named = {clip.category for clip in self.clips} | {source.category for source in kept}
        self.categories = numbered + sorted(name for name in named if name is not None and name not in numbered)
        self.labels: LabelNames = {Role.CATEGORY: self.categories, Role.CLASS: self.official.classes}
        self._category_labels = {name: label for label, name in enumerate(self.categories)}
        # Duplicated clips of official files share the position of the first of them.
        self._positions: dict[str, int] = {}
        for position, clip in enumerate(self.clips):
            self._positions.setdefault(clip.video_id, position)
        self._splits = {
            split: list(group) for split, group in itertools.groupby(self.clips, key=lambda clip: clip.split or "train")
        }

    def _check_clips(self) -> None:
        if not self.clips:
            raise VttdataError("There are no clips, so there is no dataset to write.")
        for clip in self.clips:
            if not is_safe_id(clip.video_id):
                raise VttdataError(f"The clip id {clip.video_id!r} cannot be a file name; use letters, digits, . _ -")
            if not is_split_name(clip.split or "train"):
                raise VttdataError(f"Clip {clip.video_id}: {clip.split!r} cannot name a split.")
        duplicated = [name for name, count in Counter(clip.video_id for clip in self.clips).items() if count > 1]
        if duplicated and not self._is_official:
            raise VttdataError(f"The clip id '{min(duplicated)}' is duplicated.")

    def write_tables(self, dataset: Path, captions: Iterable[Caption], *, shipped: bool) -> Tables:
        """Write the Parquet files of all configurations that have rows, except the videos."""
        scratch = dataset / ".captions.sqlite"
        tables: Tables = {config: [] for config in ROWS}
        with closing(SortedCaptions(scratch, self._positions, captions, duplicates=self._is_official)) as ordered:
            for config, split, rows in self._tables(ordered, shipped=shipped):
                columns = columns_of(config, self.labels)
                counts = label_counts(columns, self.labels)
                written = write_split(dataset, config, split, table_schema(columns), rows, counts)
                tables.setdefault(config, []).extend([written] if written else [])
        scratch.unlink(missing_ok=True)
        return {config: splits for config, splits in tables.items() if splits}

    def write_videos(self, dataset: Path, media: Path) -> Tables:
        """Write the configuration `videos` with the bytes of all clips that have a file."""
        schema = table_schema(columns_of("videos"))
        written = [
            write_split(dataset, "videos", split, schema, map(to_row, video_rows(media, clips)))
            for split, clips in self._splits.items()
        ]
        return {"videos": [split for split in written if split]} if any(written) else {}

    def _tables(self, captions: SortedCaptions, *, shipped: bool) -> Iterator[tuple[str, str, Rows]]:
        """Yield configuration, split and rows of each table."""
        first = 0
        for split, clips in self._splits.items():
            yield "clips", split, self._clip_rows(clips, captions, shipped=shipped)
            yield "captions", split, map(to_row, captions.between(first, first + len(clips)))
            used = Counter(clip.source_id for clip in clips)
            yield "sources", split, self._source_rows(used)
            first += len(clips)
        classes = {name: label for label, name in enumerate(self.official.classes)}
        concepts = {record.video_id: record for record in self.official.concepts}
        for split, clips in self._splits.items():
            annotated = ((concepts[clip.video_id], clip) for clip in clips if clip.video_id in concepts)
            yield (
                "concepts",
                split,
                (to_row(concept_row(record, clip.source_id, classes)) for record, clip in annotated),
            )
            yield "degraded", split, self._degraded_rows(split)
            yield "questions", split, self._question_rows(split)
            yield "moments", split, self._moment_rows(split)
        for config, rows in self.official.judgments.items():
            for split in sorted(rows, key=split_key):
                yield config, split, map(to_row, rows[split])
        for protocol, splits in self.official.protocols.items():
            for split in sorted(splits, key=split_key):
                clips = [self._find_clip(video_id, f"The protocol {protocol}") for video_id in splits[split]]
                yield protocol, split, self._clip_rows(clips, captions, shipped=shipped)

    def _clip_rows(self, clips: list[Clip], captions: SortedCaptions, *, shipped: bool) -> Rows:
        for clip in clips:
            position = self._positions[clip.video_id]
            texts = [caption.caption for caption in captions.between(position, position + 1)]
            video = video_path(clip) if shipped and clip.media is not None else None
            yield to_row(clip_row(clip, self.sources.get(clip.source_id), texts, self._category_labels, video))

    def _source_rows(self, clips: Counter[str]) -> Rows:
        for source in self.sources.values():
            if clips[source.source_id]:
                yield to_row(source_row(source, clips[source.source_id], self._category_labels))

    def _degraded_rows(self, split: str) -> Rows:
        for degraded in self.official.degraded:
            clip = self._find_clip(degraded.video_id, "A degraded caption")
            if (clip.split or "train") == split:
                yield to_row(degraded) | {"source_id": clip.source_id}

    def _question_rows(self, split: str) -> Rows:
        made = self.official.questions
        blind = made.blind if made is not None else {}
        for question in made.questions if made is not None else ():
            clip = self._find_clip(question.video_id, "A question")
            if (clip.split or "train") == split:
                yield to_row(question_row(question, clip.source_id, blind.get(question.question_id)))

    def _moment_rows(self, split: str) -> Rows:
        for moments in self.official.moments:
            clip = self._find_clip(moments.video_id, "A query")
            if (clip.split or "train") == split:
                yield to_row(moments) | {"source_id": clip.source_id}

    def _find_clip(self, video_id: str, subject: str) -> Clip:
        position = self._positions.get(video_id)
        if position is None:
            raise VttdataError(f"{subject} belongs to clip {video_id!a}, which is not in the dataset.")
        return self.clips[position]


def _natural_key(name: str) -> tuple[object, ...]:
    """Return a sort key that puts video10 after video9.

    Texts and numbers alternate, so that only like is compared with like. A number is compared by its length and then by
    its digits, since an id may have more digits than Python converts.
    """
    parts: list[Any] = _DIGITS.split(name)
    parts[1::2] = [(len(digits.lstrip("0")), digits.lstrip("0")) for digits in parts[1::2]]
    return (*parts, name)
