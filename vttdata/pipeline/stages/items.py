"""What stages take in where a record alone is not enough, and where the originals lie on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.records import Clip, Shot, Source


@dataclass(frozen=True, slots=True)
class SourceFolders:
    """Where originals lie: the folder that was listed, and the build's own folder of fetched files."""

    listed: Path
    fetched: Path

    def path(self, source: Source) -> Path:
        """The original's file."""
        return (self.listed if source.stored == "listed" else self.fetched) / source.file


@dataclass(frozen=True, slots=True)
class SourceShots:
    """A source with all its shots."""

    source: Source
    shots: tuple[Shot, ...]

    @property
    def source_id(self) -> str:
        """The source's id."""
        return self.source.source_id


@dataclass(frozen=True, slots=True)
class SourceClip:
    """One clip with the source it is cut from."""

    source: Source
    clip: Clip

    @property
    def video_id(self) -> str:
        """The clip's id."""
        return self.clip.video_id


def with_shots(sources: Iterable[Source], shots: Iterable[Shot]) -> Iterator[SourceShots]:
    """Give each source its shots; both come in the same order of sources, and a source without shots is left out."""
    stream = iter(shots)
    shot = next(stream, None)
    for source in sources:
        own: list[Shot] = []
        while shot is not None and shot.source_id == source.source_id:
            own.append(shot)
            shot = next(stream, None)
        if own:
            yield SourceShots(source, tuple(own))


def with_source(clips: Iterable[Clip], sources: Iterable[Source]) -> Iterator[SourceClip]:
    """Give each clip its source; both come in the same order of sources."""
    stream = iter(sources)
    source = next(stream, None)
    for clip in clips:
        while source is not None and source.source_id != clip.source_id:
            source = next(stream, None)
        if source is None:
            raise LookupError(f"clip {clip.video_id} has no source")
        yield SourceClip(source, clip)
