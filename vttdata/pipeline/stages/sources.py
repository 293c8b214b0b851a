"""Stages that look at whole sources: probe, exact duplicates, screening, measuring, filtering."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from vttdata.media.filters import REASONS, VERSIONS, FilterSettings, judge, screen
from vttdata.media.fingerprint import Fingerprinter
from vttdata.media.measure import measure
from vttdata.media.probe import PROBING_SECONDS, decoding_limit, probe
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage, runtime
from vttdata.pipeline.stages.items import SourceFolders
from vttdata.records import Source


@dataclass(frozen=True)
class ProbeSources(Stage):
    """Reads each container's facts; a damaged structure is a failure with its reason."""

    name = "probe"
    output = Source

    folders: SourceFolders = runtime()

    def label(self, item: Source) -> str:
        """Name the file."""
        return item.file

    def seconds_limit(self, item: Source) -> float:  # noqa: ARG002
        """Reading a container takes a moment."""
        return PROBING_SECONDS

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep the source with its probe."""
        yield Kept(dataclasses.replace(item, probe=probe(self.folders.path(item))))


@dataclass(frozen=True)
class Duplicates(Stage):
    """Lets each content through once; of equal files the one with the smallest id and name stays. Sorts by id."""

    name = "duplicates"
    output = Source
    all_at_once = True
    reasons = frozenset({"duplicate", "same_id"})

    def process(self, item: tuple[Source, ...]) -> Iterator[Outcome]:
        """Keep one source per content and per id, in the order of ids."""
        by_content: dict[str, Source] = {}
        by_id: dict[str, Source] = {}
        for source in sorted(item, key=lambda source: (source.source_id, source.file, source.url or "")):
            twin = by_content.setdefault(source.sha256, source)
            namesake = by_id.setdefault(source.source_id, source)
            if twin is not source:
                detail = f"{source.file} has the same content as {twin.source_id} ({twin.file})"
                detail += f"; its {len(source.spans)} given clips go with it" if source.spans else ""
                yield Rejected(source.source_id, "duplicate", detail)
            elif namesake is not source:
                detail = f"{source.file} has the id of {namesake.file} but other content"
                yield Rejected(source.source_id, "same_id", detail)
            else:
                yield Kept(source)


@dataclass(frozen=True)
class Screen(Stage):
    """Turns away, before anything is decoded, what the container already shows to be unwanted."""

    name = "screen"
    output = Source
    reasons = REASONS

    settings: FilterSettings
    filters: tuple[tuple[str, int], ...] = VERSIONS

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep the source or say why not."""
        verdict = screen(item.probe, self.settings) if item.probe else None
        yield Rejected(item.source_id, *verdict) if verdict else Kept(item)


@dataclass(frozen=True)
class MeasureSources(Stage):
    """Decodes every frame once: frame count, true duration, quality scores, fingerprint."""

    name = "measure"
    version = 2
    output = Source
    part_size = 4

    decoder: str
    folders: SourceFolders = runtime()
    filters: tuple[tuple[str, int], ...] = VERSIONS

    def label(self, item: Source) -> str:
        """Name the file."""
        return item.file

    def seconds_limit(self, item: Source) -> float:
        """Follow the duration that the container states."""
        return decoding_limit(item.probe, item.bytes)

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep the source with its measure and its fingerprint."""
        fingerprinter = Fingerprinter()
        measured = measure(self.folders.path(item), watch=fingerprinter.add)
        fingerprint = fingerprinter.finish(measured.seconds)
        yield Kept(dataclasses.replace(item, measure=measured, fingerprint=fingerprint))


@dataclass(frozen=True)
class Filter(Stage):
    """Turns away what decoding showed to be unwanted: too short, dark, frozen, blurred, blocky."""

    name = "filter"
    output = Source
    reasons = REASONS

    settings: FilterSettings
    filters: tuple[tuple[str, int], ...] = VERSIONS

    def process(self, item: Source) -> Iterator[Outcome]:
        """Keep the source or say why not."""
        verdict = judge(item.measure, self.settings) if item.measure else None
        yield Rejected(item.source_id, *verdict) if verdict else Kept(item)
