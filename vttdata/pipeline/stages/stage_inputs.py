"""Input types of stages that need more than one record, and the folders of original videos on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.records import Clip, Shot, Source


@dataclass(frozen=True, slots=True)
class SourceFolders:
    """Folders of originals: the one that was listed, and the build's own one of fetched files."""

    listed: Path
    fetched: Path

    def path(self, source: Source) -> Path:
        """Return the original's file."""
        return (self.listed if source.stored == "listed" else self.fetched) / source.file


def features_path(folder: Path, source: Source) -> Path:
    """Return the file of a source's shot features in a folder of such files."""
    return folder / f"{source.source_id}.npz"


@dataclass(frozen=True, slots=True)
class SourceShots:
    """Source with all its shots."""

    source: Source
    shots: tuple[Shot, ...]

    @property
    def source_id(self) -> str:
        """Id of the source."""
        return self.source.source_id


@dataclass(frozen=True, slots=True)
class SourceClip:
    """Clip with the source it is cut from."""

    source: Source
    clip: Clip

    @property
    def source_id(self) -> str:
        """Id of the source."""
        return self.source.source_id

    @property
    def video_id(self) -> str:
        """Id of the clip."""
        return self.clip.video_id


def join_shots(sources: Iterable[Source], shots: Iterable[Shot]) -> Iterator[SourceShots]:
    """Join each source with its shots; both come in the same order of sources, and sources without shots are left out.

    Neither is held in memory.
    """
    stream = iter(shots)
    shot = next(stream, None)
    for source in sources:
        of_source: list[Shot] = []
        while shot is not None and shot.source_id == source.source_id:
            of_source.append(shot)
            shot = next(stream, None)
        if of_source:
            yield SourceShots(source, tuple(of_source))


def join_sources(clips: Iterable[Clip], sources: Iterable[Source]) -> Iterator[SourceClip]:
    """Join each clip with its source; both come in the same order of sources, and neither is held in memory.

    Raises:
        LookupError: when a clip has no source, or the orders differ.
    """
    stream = iter(sources)
    source = next(stream, None)
    for clip in clips:
        while source is not None and source.source_id != clip.source_id:
            source = next(stream, None)
        if source is None:
            raise LookupError(f"clip {clip.video_id} has no source")
        yield SourceClip(source, clip)
