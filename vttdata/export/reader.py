"""Reads a dataset folder for exports: its configurations, and each clip with what people wrote about it.

Everything is read piece by piece, so that memory stays flat as datasets grow. What a format makes of it is said in the
module of that format.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from vttdata.dataset.captions import OrderedCaptions
from vttdata.dataset.front_matter import Layout, read_front_matter, read_layout
from vttdata.dataset.manifest import read_manifest
from vttdata.dataset.parquet import opened
from vttdata.errors import VttdataError
from vttdata.export.repeated_ids import Repeated
from vttdata.ids import is_safe_id
from vttdata.records import Caption

_CONFIG_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_SPLIT_NAME = re.compile(r"\w{1,95}", re.ASCII)
_CLIP = ["video_id", "source_id", "url", "start", "end", "category", "video"]
_CAPTION = ["video_id", "sen_id", "caption", "language", "author"]
_ROWS_AT_A_TIME = 2_000


class Sentence(NamedTuple):
    """What somebody wrote about a clip, under its number."""

    sen_id: int
    text: str


class Described(NamedTuple):
    """A clip, its sentences by people in the order of `sen_id`, and whether it stood in the split before.

    A clip that official files list again comes without sentences; they are with the first one, in whatever split.
    """

    clip: dict[str, Any]
    sentences: list[Sentence]
    again: bool


@dataclass(slots=True)
class Tally:
    """What is to be told about the sentences that were read: how many are by whom, and in which languages."""

    by_systems: int = 0
    languages: Counter[str] = field(default_factory=Counter)

    def notes(self) -> list[str]:
        """A sentence for each thing worth telling."""
        told = []
        if self.by_systems:
            told.append(
                f"Captions by systems, which are left out since references are what people wrote: {self.by_systems:,}."
            )
        if len(self.languages) > 1:
            parts = ", ".join(f"{number:,} {language}" for language, number in sorted(self.languages.items()))
            told.append(f"The captions are in several languages ({parts}), which the format does not tell apart.")
        return told


class Source:
    """A dataset folder of our layout, opened for reading.

    Fields:
        name, version, licence: as its manifest and its README state them.
        configs: configuration -> split -> files.
        categories, classes: the names of its labels.

    Raises:
        VttdataError: when `folder` is no dataset, a file is missing, or a configuration or split is named like a path.
    """

    def __init__(self, folder: Path) -> None:
        layout: Layout = read_layout(folder, needs=None)
        manifest, head = read_manifest(folder), read_front_matter(folder)
        self.folder = folder
        self.name, self.version = str(manifest.get("name")), str(manifest.get("version"))
        self.licence = str(head.get("license_name") or head.get("license") or "unknown")
        self.configs: Mapping[str, Mapping[str, Sequence[Path]]] = layout.files
        self.categories, self.classes = layout.categories, layout.classes
        for config, splits in layout.files.items():
            bad = [name for name in splits if not _SPLIT_NAME.fullmatch(str(name))]
            if not _CONFIG_NAME.fullmatch(str(config)) or ".." in config or bad:
                raise VttdataError(
                    f"{folder}: {(bad or [config])[0]!a} cannot name a configuration, a split or a file."
                )

    def need_captions(self) -> None:
        """See that there are clips with captions.

        Raises:
            VttdataError: when there are none.
        """
        if "foils" in self.configs and "clips" not in self.configs:
            raise VttdataError(
                f"{self.folder}: a set of foils pairs texts and holds no references; use --format jsonl."
            )
        if "clips" not in self.configs or "captions" not in self.configs:
            raise VttdataError(f"{self.folder}: this dataset has no captions; use --format jsonl.")

    def clip_configs(self) -> list[str]:
        """`clips` and the protocols: all configurations with a row a clip."""
        wanted = {"video_id", "start", "end", "captions"}
        return [config for config in self.configs if wanted <= set(self.schema(config).names)]

    def schema(self, config: str) -> pa.Schema:
        """The columns of a configuration."""
        path = next(path for paths in self.configs[config].values() for path in paths)
        with opened(path) as table:
            return table.schema_arrow

    def splits(self, config: str, split: str | None = None) -> list[str]:
        """The splits of a configuration, or the one that is asked for.

        Raises:
            VttdataError: when there is no such configuration or split; the message lists what there is.
        """
        for wanted, known, what in (
            (config, self.configs, "configuration"),
            (split, self.configs.get(config), "split"),
        ):
            if wanted is not None and wanted not in (known or {}):
                of = "" if what == "configuration" else f" of '{config}'"
                raise VttdataError(
                    f"{self.folder}: no {what}{of} is called {wanted!a}; there is {', '.join(known or {})}."
                )
        return [split] if split is not None else list(self.configs[config])

    def one_split(self, config: str, split: str | None) -> str:
        """The split that is asked for, or `test`, or the only one.

        Raises:
            VttdataError: when it does not exist, or none is asked for and there are several without a `test`.
        """
        known = self.splits(config, split)
        if len(known) > 1 and "test" not in known:
            raise VttdataError(f"{self.folder}: say which split with --split; '{config}' has {', '.join(known)}.")
        return "test" if len(known) > 1 else known[0]

    def number_of_rows(self, config: str, split: str) -> int:
        """How many rows there are, without reading them."""
        total = 0
        for path in self.configs[config][split]:
            with opened(path) as table:
                total += table.metadata.num_rows
        return total

    def rows(self, config: str, split: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows of a split, in order.

        Raises:
            VttdataError: when a file is damaged, a column is missing, or a clip's id could not be a file's name.
        """
        for path in self.configs[config][split]:
            with opened(path, *(columns or ())) as table:
                for batch in table.iter_batches(_ROWS_AT_A_TIME, columns=columns):
                    yield from map(_checked, batch.to_pylist(), itertools.repeat(path))

    def described(self, config: str, split: str, scratch: Path, tally: Tally) -> Iterator[Described]:
        """The clips of a split with their sentences.

        Args:
            config: `clips`, or a protocol.
            split: of it.
            scratch: a folder for a scratch file, which is gone at the end.
            tally: learns of the sentences.

        Raises:
            VttdataError: as `rows`, and when captions are about other clips than those of the dataset.
        """
        seen = Repeated(self._ids(config, split))
        clips = ((clip, seen.before(clip["video_id"])) for clip in self.rows(config, split, _CLIP))
        if config == "clips":
            return self._merged(split, clips, tally)
        return self._looked_up(
            clips, [row["video_id"] for row in self.rows(config, split, ["video_id"])], scratch, tally
        )

    def _merged(self, split: str, clips: Iterable[tuple[dict[str, Any], bool]], tally: Tally) -> Iterator[Described]:
        """Captions lie in the order of the clips, so both are read side by side."""
        there = self.rows("captions", split, _CAPTION) if split in self.configs["captions"] else iter(())
        groups = itertools.groupby(there, key=lambda row: row["video_id"])
        video_id, own = next(groups, (None, iter(())))
        for clip, again in clips:
            if clip["video_id"] != video_id:
                yield Described(clip, [], again)
                continue
            yield Described(clip, _by_people(own, tally), again)
            video_id, own = next(groups, (None, iter(())))
        if video_id is not None:
            raise VttdataError(
                f"{self.folder}: captions of {split} are not in the order of its clips, at {video_id!a}."
            )

    def _looked_up(
        self, clips: Iterable[tuple[dict[str, Any], bool]], ids: Sequence[str], scratch: Path, tally: Tally
    ) -> Iterator[Described]:
        """A protocol has an order of its own, so the captions are sorted into it, on disk."""
        places = {video_id: place for place, video_id in enumerate(ids)}
        captions = (
            Caption(row["video_id"], row["sen_id"], row["caption"], None, row["language"], row["author"])
            for split in self.configs["captions"]
            for row in self.rows("captions", split, _CAPTION)
            if row["video_id"] in places
        )
        path = scratch / ".captions.sqlite"
        with closing(OrderedCaptions(path, places, captions, doubles=True)) as ordered:
            for clip, again in clips:
                place = places[clip["video_id"]]
                own = ordered.between(place, place + 1)
                fields = ({name: getattr(caption, name) for name in _CAPTION} for caption in own)
                yield Described(clip, [] if again else _by_people(fields, tally), again)
        path.unlink()

    def _ids(self, config: str, split: str) -> Iterator[Sequence[str]]:
        rows = (row["video_id"] for row in self.rows(config, split, ["video_id"]))
        while batch := list(itertools.islice(rows, _ROWS_AT_A_TIME)):
            yield batch


def _by_people(rows: Iterable[Mapping[str, Any]], tally: Tally) -> list[Sentence]:
    sentences = []
    for row in rows:
        if row["author"] != "human":
            tally.by_systems += 1
            continue
        tally.languages[row["language"] or "unknown"] += 1
        sentences.append(Sentence(row["sen_id"], row["caption"]))
    return sentences


def _checked(row: dict[str, Any], path: Path) -> dict[str, Any]:
    video_id = row.get("video_id", "-")
    if not isinstance(video_id, str) or not is_safe_id(video_id):
        raise VttdataError(f"{path}: {video_id!a} cannot be an id; letters, digits, . _ - can, no '..'.")
    return row
