"""Read a dataset folder for exports: its configurations, and each clip with its human captions.

Rows are read in batches, and only the ids of a split are kept in memory. Nothing here depends on an export format.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

import pyarrow as pa

from vttdata.dataset.front_matter import Layout, read_front_matter, read_layout
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import open_parquet, without_nan
from vttdata.dataset.questions import StoredQuestion, is_answerable
from vttdata.dataset.sorted_captions import SortedCaptions
from vttdata.errors import VttdataError, list_choices
from vttdata.ids import is_safe_id
from vttdata.json_types import Row
from vttdata.records import Caption
from vttdata.text.captions import MACHINE_COLUMNS
from vttdata.text.questions import OPEN

# Names of configurations and splits become parts of file names.
_CONFIG_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_SPLIT_NAME = re.compile(r"\w{1,95}", re.ASCII)
_BATCH_ROWS = 2_000


class ClipFacts(TypedDict):
    """Columns of a clip's row that are read for exports."""

    video_id: str
    source_id: str
    url: str | None
    start: float | None
    end: float | None
    category: int | str | None
    video: str | None


_CLIP_COLUMNS = list(ClipFacts.__annotations__)
# Not who wrote and checked them, which no format has.
_CAPTION_COLUMNS = [each.name for each in fields(Caption) if each.name not in ("annotator", *MACHINE_COLUMNS)]


_Captioned = tuple[ClipFacts, Iterable[Caption]]


class Reference(NamedTuple):
    """Human caption of a clip, with its number."""

    sen_id: int
    text: str


class ClipReferences(NamedTuple):
    """Clip with its human captions.

    Fields:
        clip: row of the clip.
        references: its human captions by ascending `sen_id`.
        repeated: the clip occurs earlier in the same split, as in some official files. A repeated clip has no
            references; they are with its first occurrence.
    """

    clip: ClipFacts
    references: list[Reference]
    repeated: bool


class PairRow(NamedTuple):
    """Pair of a true text and a foil: its id, its row, and the columns of the two texts."""

    name: str
    row: Row
    true_column: str
    foil_column: str

    @property
    def true(self) -> list[str]:
        """Captions of the true text."""
        return self._captions(self.true_column)

    @property
    def foil(self) -> list[str]:
        """Captions of the foil."""
        return self._captions(self.foil_column)

    def _captions(self, column: str) -> list[str]:
        text = self.row[column]
        return text if isinstance(text, list) else [text]


@dataclass(slots=True)
class CaptionCounts:
    """Counts of the captions that were read, by systems and human ones by language, and of clips without human ones.

    `left_out` is counted by those who leave such clips out.
    """

    by_systems: int = 0
    left_out: int = 0
    languages: Counter[str] = field(default_factory=Counter)

    def notes(self) -> list[str]:
        """Return sentences on what a reader of the export should know."""
        notes = []
        if self.left_out:
            notes.append(f"Clips without a human caption, which are left out: {self.left_out:,}.")
        if self.by_systems:
            notes.append(
                f"Left out are captions that systems wrote, since references come from people: {self.by_systems:,}."
            )
        if len(self.languages) > 1:
            parts = ", ".join(f"{number:,} {language}" for language, number in sorted(self.languages.items()))
            notes.append(f"The captions are in several languages ({parts}), which the format does not tell apart.")
        return notes

    def add_human(self, captions: Iterable[Caption]) -> list[Reference]:
        """Count captions, and return the human ones."""
        references = []
        for caption in captions:
            if caption.author != "human":
                self.by_systems += 1
                continue
            self.languages[caption.language or "unknown"] += 1
            references.append(Reference(caption.sen_id, caption.caption))
        return references


class DatasetReader:
    """Dataset folder of our layout, opened for reading.

    Fields:
        name, version, licence, citation: as stated by its manifest and its README; empty where there is no citation.
        configs: configuration -> split -> files.
        categories, classes: names of its labels.

    Raises:
        VttdataError: if `folder` is not a dataset, a file is missing, or the name of a configuration or split could be
            a path.
    """

    def __init__(self, folder: Path) -> None:
        layout: Layout = read_layout(folder, needs=None)
        manifest, front_matter = read_dataset_manifest(folder), read_front_matter(folder)
        self.folder = folder
        self.name, self.version = str(manifest.get("name")), str(manifest.get("version"))
        self.licence = str(front_matter.get("license_name") or front_matter.get("license") or "unknown")
        facts = manifest.get("facts")
        about = facts.get("metadata") if isinstance(facts, dict) else None
        self.citation = str(about.get("citation") or "") if isinstance(about, dict) else ""
        self.configs: Mapping[str, Mapping[str, Sequence[Path]]] = layout.files
        self.categories, self.classes = layout.categories, layout.classes
        for config, splits in layout.files.items():
            unsafe = [name for name in splits if not _SPLIT_NAME.fullmatch(str(name))]
            if not _CONFIG_NAME.fullmatch(str(config)) or ".." in config or unsafe:
                raise VttdataError(
                    f"{folder}: {(unsafe or [config])[0]!a} cannot name a configuration, a split or a file."
                )

    def require_captions(self, config: str | None = None) -> None:
        """Check that there are clips with captions, and that a configuration has a row per clip.

        Raises:
            VttdataError: if there are none, or it has not.
        """
        if "foils" in self.configs and "clips" not in self.configs:
            raise VttdataError(
                f"{self.folder}: a set of foils pairs texts and has no references; 'vttdata export' writes it with "
                "--format evaluation or jsonl."
            )
        if "clips" not in self.configs or "captions" not in self.configs:
            raise VttdataError(
                f"{self.folder}: this dataset has no captions; 'vttdata export --format jsonl' writes the rest."
            )
        if config is not None and config not in self.clip_configs():
            self.splits(config)
            configs = ", ".join(self.clip_configs())
            raise VttdataError(f"'{config}' does not have a row per clip; choose from {configs}.")

    def clip_configs(self) -> list[str]:
        """Return the configurations with a row per clip: `clips` and the protocols."""
        columns = {"video_id", "start", "end", "captions"}
        return [config for config in self.configs if columns <= set(self.schema(config).names)]

    def has_videos(self) -> bool:
        """Return whether videos are part of the dataset, as files or embedded."""
        return "videos" in self.configs or any((self.folder / "videos").glob("*/*"))

    def schema(self, config: str) -> pa.Schema:
        """Return the columns of a configuration."""
        path = next(path for paths in self.configs[config].values() for path in paths)
        with open_parquet(path) as table:
            return table.schema_arrow

    def splits(self, config: str, split: str | None = None) -> list[str]:
        """Return the splits of a configuration, or only `split`.

        Raises:
            VttdataError: if the configuration or the split does not exist; the message lists the existing ones.
        """
        if config not in self.configs:
            choices = list_choices(config, self.configs)
            raise VttdataError(f"{self.folder}: no configuration is called {config!a}; choose from {choices}.")
        names = list(self.configs[config])
        if split is not None and split not in names:
            raise VttdataError(
                f"{self.folder}: no split of '{config}' is called {split!a}; choose from {list_choices(split, names)}."
            )
        return [split] if split is not None else names

    def single_split(self, config: str, split: str | None = None) -> str:
        """Return a split of a configuration: the requested one, else ``test``, else the only one.

        Raises:
            VttdataError: if it does not exist, or none is requested and there are several without ``test``.
        """
        names = self.splits(config, split)
        if len(names) > 1 and "test" not in names:
            raise VttdataError(f"{self.folder}: choose a split with --split; '{config}' has {', '.join(names)}.")
        return "test" if len(names) > 1 else names[0]

    def pairs(self, config: str, split: str) -> Iterator[PairRow]:
        """Yield each pair of texts of a set of foils; `config` is ``foils`` or ``paragraphs``.

        The id of a paragraph is its ``video_id``, followed by ``:`` and the annotator where a video has several.
        """
        if config == "foils":
            yield from (PairRow(row["foil_id"], row, "caption", "foil") for row in self.rows(config, split))
            return
        paragraphs = Counter(row["video_id"] for row in self.rows(config, split, ["video_id"]))
        for row in self.rows(config, split):
            video_id = row["video_id"]
            name = f"{video_id}:{row['annotator']}" if paragraphs[video_id] > 1 else video_id
            yield PairRow(name, row, "captions", "foils")

    def questions(self, config: str, split: str | None, *, with_open: bool = False) -> tuple[str, list[StoredQuestion]]:
        """Return the split and its questions; `config` is ``questions``, or ``questions/KIND`` for one kind.

        Raises:
            VttdataError: if there is no such split, no question is of the kind, or one cannot be answered, or has no
                options to choose from, unless `with_open`.
        """
        table, _, kind = config.partition("/")
        split = self.single_split(table, split)
        rows = list(self.rows(table, split))
        kinds = list(dict.fromkeys(row["kind"] for row in rows))
        if kind and kind not in kinds:
            choices = list_choices(kind, kinds)
            raise VttdataError(f"{self.folder}: no question is of the kind {kind!a}; choose from {choices}.")
        rows = [row for row in rows if kind in ("", row["kind"])]
        damaged = next((row["question_id"] for row in rows if not is_answerable(row)), None)
        if damaged is not None:
            raise VttdataError(
                f"{self.folder}: the question {damaged[:80]!a} has no text, no options, or an answer beyond them."
            )
        if not with_open and any(row["kind"] == OPEN for row in rows):
            raise VttdataError(
                f"{self.folder}: has open questions, without options; 'vttdata evaluate --task open-answers' scores "
                "answers to them."
            )
        return split, [StoredQuestion.of_row(row) for row in rows]

    def count_rows(self, config: str, split: str) -> int:
        """Return the number of rows of a split, from the metadata of its files."""
        total = 0
        for path in self.configs[config][split]:
            with open_parquet(path) as table:
                total += table.metadata.num_rows
        return total

    def rows(self, config: str, split: str, columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Yield the rows of a split in order, with all columns or only some.

        Raises:
            VttdataError: if a file is corrupt, a column is missing, or a clip's id is not safe as a file name.
        """
        for path in self.configs[config][split]:
            with open_parquet(path, *(columns or ())) as table:
                for batch in table.iter_batches(_BATCH_ROWS, columns=columns):
                    for row in without_nan(batch).to_pylist():
                        video_id = row.get("video_id", "-")
                        if not isinstance(video_id, str) or not is_safe_id(video_id):
                            raise VttdataError(
                                f"{path}: {video_id!a} is not a usable id: letters, digits, '.', '_' and '-', no '..'."
                            )
                        yield row

    def references(self, config: str, split: str, scratch: Path, counts: CaptionCounts) -> Iterator[ClipReferences]:
        """Yield the clips of a split of `clips` or of a protocol, in order, with their human captions.

        A temporary file in the folder `scratch` is removed at the end; `counts` is increased by the captions that are
        read.

        Raises:
            VttdataError: as `rows`, or if captions are about clips that the dataset does not have.
        """
        in_order = config == "clips"
        clips = self._merge_captions(split) if in_order else self._look_up_captions(config, split, scratch)
        seen: set[str] = set()
        for clip, captions in clips:
            repeated = clip["video_id"] in seen
            seen.add(clip["video_id"])
            yield ClipReferences(clip, [] if repeated else counts.add_human(captions), repeated)

    def _clip_facts(self, config: str, split: str) -> Iterator[ClipFacts]:
        return (cast(ClipFacts, row) for row in self.rows(config, split, _CLIP_COLUMNS))

    def captions(self, split: str) -> Iterator[Caption]:
        """Yield the captions of a split, in order, without their annotators.

        Raises:
            VttdataError: as `rows`, or if a caption has no text or no number.
        """
        for row in self.rows("captions", split, _CAPTION_COLUMNS):
            if row["caption"] is None or row["sen_id"] is None:
                raise VttdataError(f"{self.folder}: a caption of {row['video_id']!a} has no text or no number.")
            yield Caption(**row)

    def _merge_captions(self, split: str) -> Iterator[_Captioned]:
        # The captions of a split are stored in the order of its clips, so both are read side by side.
        captions = self.captions(split) if split in self.configs["captions"] else iter(())
        groups = itertools.groupby(captions, key=lambda caption: caption.video_id)
        video_id, of_clip = next(groups, (None, iter(())))
        for clip in self._clip_facts("clips", split):
            if clip["video_id"] != video_id:
                yield clip, ()
                continue
            yield clip, of_clip
            video_id, of_clip = next(groups, (None, iter(())))
        if video_id is not None:
            raise VttdataError(
                f"{self.folder}: captions of {split} are not in the order of its clips, at {video_id!a}."
            )

    def _look_up_captions(self, config: str, split: str, scratch: Path) -> Iterator[_Captioned]:
        # A protocol has its own order of clips, so captions of all splits are first sorted into it on disk.
        ids = (row["video_id"] for row in self.rows(config, split, ["video_id"]))
        positions = {video_id: position for position, video_id in enumerate(ids)}
        captions = (
            caption
            for caption_split in self.configs["captions"]
            for caption in self.captions(caption_split)
            if caption.video_id in positions
        )
        path = scratch / ".captions.sqlite"
        with closing(SortedCaptions(path, positions, captions, duplicates=True)) as ordered:
            for clip in self._clip_facts(config, split):
                position = positions[clip["video_id"]]
                yield clip, ordered.between(position, position + 1)
        path.unlink(missing_ok=True)
