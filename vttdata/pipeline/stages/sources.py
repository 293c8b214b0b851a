"""Stages over source videos: probing, exact duplicates, screening, measuring, filtering; and their folders."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.media.filters import REASONS, VERSIONS, FilterSettings, judge, screen
from vttdata.media.probe import PROBING_SECONDS, decoding_limit, probe
from vttdata.media.shots.detect import Method
from vttdata.media.shots.features import save_features
from vttdata.media.source_analysis import analyse_source
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage, runtime
from vttdata.records import Source


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


@dataclass(frozen=True)
class ProbeSources(Stage):
    """Read of each container's facts; a damaged structure is a failure with its reason."""

    name = "probe"
    version = 2
    output = Source
    shardable = True

    folders: SourceFolders = runtime()

    def label(self, item: Source) -> str:
        """Name the file."""
        return item.file

    def seconds_limit(self, item: Source) -> float:  # noqa: ARG002
        """Return the limit for reading a container."""
        return PROBING_SECONDS

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep the source with its probe."""
        yield Kept(dataclasses.replace(item, probe=probe(self.folders.path(item))))


@dataclass(frozen=True)
class Duplicates(Stage):
    """Removal of exact duplicates: of equal files the one with the smallest id and name stays. Sorts by id."""

    name = "duplicates"
    output = Source
    all_at_once = True
    reasons = frozenset({"duplicate", "same_id"})

    def process(self, item: tuple[Source, ...]) -> Iterator[Outcome]:
        """Keep one source per content and per id, in the order of ids."""
        by_content: dict[str, Source] = {}
        by_id: dict[str, Source] = {}
        for source in sorted(item, key=lambda source: (source.source_id, source.file, source.url or "")):
            same_content = by_content.setdefault(source.sha256, source)
            same_id = by_id.setdefault(source.source_id, source)
            if same_content is not source:
                detail = f"{source.file} has the same content as {same_content.source_id} ({same_content.file})"
                detail += f"; its {len(source.spans)} listed clips are dropped too" if source.spans else ""
                yield Rejected(source.source_id, "duplicate", detail, source.file)
            elif same_id is not source:
                detail = f"{source.file} has the id of {same_id.file} but other content"
                yield Rejected(source.source_id, "same_id", detail, source.file)
            else:
                yield Kept(source)


@dataclass(frozen=True)
class Screen(Stage):
    """Rejection of sources by what their containers state, before anything is decoded."""

    name = "screen"
    output = Source
    shardable = True
    reasons = REASONS

    settings: FilterSettings
    filters: tuple[tuple[str, int], ...] = VERSIONS

    def verdict(self, source: Source) -> tuple[str, str] | None:
        """Return the reason against a source and the facts; None to keep it."""
        return screen(source.probe, self.settings) if source.probe else None

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep the source or say why not."""
        verdict = self.verdict(item)
        yield Rejected(item.source_id, *verdict) if verdict else Kept(item)


@dataclass(frozen=True)
class MeasureSources(Stage):
    """One reading of each source: frame count, exact duration, quality scores, fingerprint, and the shots' features.

    The features go to a file of their own, so that other settings of shots need no decoding.
    """

    name = "measure"
    version = 6
    output = Source
    shardable = True
    part_size = 4

    method: Method
    decoder: str
    folders: SourceFolders = runtime()
    features: Path = runtime()
    filters: tuple[tuple[str, int], ...] = VERSIONS

    def label(self, item: Source) -> str:
        """Name the file."""
        return item.file

    def seconds_limit(self, item: Source) -> float:
        """Return the limit for decoding a file of the stated duration."""
        return decoding_limit(item.probe, item.bytes)

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep the source with its measure and its fingerprint, and write its shots' features."""
        analysis = analyse_source(self.folders.path(item), self.method)
        save_features(analysis.features, features_path(self.features, item))
        yield Kept(dataclasses.replace(item, measure=analysis.measure, fingerprint=analysis.fingerprint))

    def intact(self, record: Source) -> bool:
        """Return whether the source's features exist."""
        return features_path(self.features, record).is_file()


@dataclass(frozen=True)
class Filter(Screen):
    """Rejection of sources by what decoding showed, with the filters of `vttdata.media.filters`."""

    name = "filter"

    def verdict(self, source: Source) -> tuple[str, str] | None:
        """Return the reason against a source and the facts; None to keep it."""
        return judge(source.measure, self.settings) if source.measure else None
