"""Base types of export formats, and the import of a format by its name.

An export format is a module with a constant ``FORMAT``. Its file name is the format's name, with ``-`` for ``_``, and
the first line of its docstring describes it. `vttdata.export.formats` finds such modules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vttdata.export.formats import FORMATS
from vttdata.export.reader import CaptionCounts, DatasetReader


class ShownClips(NamedTuple):
    """Condition of `vttdata.conditions.CONDITIONS`, and the clips of which something is shown in it."""

    condition: str
    video_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Dataset to export, the folder to write to, and the options that were given.

    Fields:
        dataset: dataset to read.
        folder: empty folder for the files.
        config: name of a configuration, None if the format's default is wanted.
        split: name of a split, None if the format's default is wanted.
        captions: table of a system's captions; only for formats with `Format.takes_captions`.
        every_caption: every human caption is a query, not only the first; only for formats with
            `Format.takes_every_caption`.
        stimuli: what is shown of the clips in a condition instead of their videos; None for the videos.
        counts: counts of the captions that were read, for the README; pass it on to `DatasetReader.references`.
    """

    dataset: DatasetReader
    folder: Path
    config: str | None = None
    split: str | None = None
    captions: Path | None = None
    every_caption: bool = False
    stimuli: ShownClips | None = None
    counts: CaptionCounts = field(default_factory=CaptionCounts)

    @property
    def clip_config(self) -> str:
        """Return the requested configuration with a row per clip, `clips` by default."""
        return self.config or "clips"

    def splits(self) -> list[str]:
        """Return the requested split, or all of them.

        Raises:
            VttdataError: if the split does not exist.
        """
        return self.dataset.splits(self.clip_config, self.split)

    def single_split(self) -> str:
        """Return the requested split, by default `test` or the only one.

        Raises:
            VttdataError: if the split does not exist, or none is requested and there are several without `test`.
        """
        return self.dataset.single_split(self.clip_config, self.split)


class Written(NamedTuple):
    """Result of writing an export.

    Fields:
        usage: Markdown that shows how to read the files.
        notes: sentences about this export, such as how many clips were left out.
        front_matter: YAML front matter of the README, with its ``---`` lines; empty if there is none.
    """

    usage: str
    notes: Sequence[str] = ()
    front_matter: str = ""


@dataclass(frozen=True, slots=True)
class Format:
    """Export format.

    Fields:
        write: writes the files of an export; raises VttdataError if the dataset cannot be written in this format.
        rules: paragraph of the README on what the files contain and what is left out.
        takes_captions: the option `captions` is required; it is an error for other formats.
        any_config: every configuration of every dataset can be exported. Other formats need a dataset with captions,
            and take `clips` or a protocol.
        takes_videos: videos are exported too, and are downloaded with a dataset that is elsewhere.
        takes_every_caption: the option `every_caption` is possible.
        takes_stimuli: a task of each condition can be written in place of one.
        shows_videos: what will not work, as a part of a sentence, with a dataset that holds no videos; empty where
            videos make no difference.
    """

    write: Callable[[ExportRequest], Written]
    rules: str
    takes_captions: bool = False
    any_config: bool = False
    takes_videos: bool = False
    takes_every_caption: bool = False
    takes_stimuli: bool = False
    shows_videos: str = ""


def load_format(name: str) -> Format:
    """Import an export format.

    Raises:
        VttdataError: if there is no such format, or its module cannot be imported or does not define a format.
    """
    return FORMATS.load_definition(name, "FORMAT", Format)
