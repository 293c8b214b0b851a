"""Stages that bring originals in: queries to candidates, candidates to sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.collect import BREAKER_REASONS, CollectSettings, fetch, list_manifest, search
from vttdata.collect.demo_films.scenes import SceneSettings, draw_scenes
from vttdata.pipeline.stage import Kept, Outcome, Rejected, Stage, runtime
from vttdata.pipeline.stages.items import SourceFolders
from vttdata.records import Candidate, Source

_CLEANING_SECONDS = 60.0


def _item_limit(settings: CollectSettings) -> float:
    return settings.limits.seconds_per_item + settings.sleep_seconds + _CLEANING_SECONDS


@dataclass(frozen=True, slots=True)
class Query:
    """One search query and the category its results get."""

    category: str
    query: str


@dataclass(frozen=True)
class Search(Stage):
    """Asks a site for each query's first results."""

    name = "search"
    output = Candidate
    part_size = 1
    halting_reasons = BREAKER_REASONS

    engine: str
    per_query: int
    settings: CollectSettings = runtime()

    def item_id(self, item: Query) -> str:
        """A query is reported as its category and text."""
        return f"{item.category}: {item.query}"

    def halt_after(self) -> int:
        """As the recipe says."""
        return self.settings.breaker

    def seconds_limit(self, item: Query) -> float:  # noqa: ARG002
        """Leave a search, which keeps its own limit, time to clean up."""
        return _item_limit(self.settings)

    def process(self, item: Query) -> Iterator[Outcome]:
        """Keep each result as a candidate."""
        yield from (Kept(candidate) for candidate in search(item.query, item.category, self.settings))


@dataclass(frozen=True)
class DrawScenes(Stage):
    """Draws the demo's videos and writes the captions of what is in them."""

    name = "scenes"
    output = Candidate

    seed: int
    encoder: str
    folder: Path = runtime()

    def item_id(self, item: SceneSettings) -> str:  # noqa: ARG002
        """There is one item."""
        return "scenes"

    def process(self, item: SceneSettings) -> Iterator[Outcome]:
        """Keep each drawn file as a candidate."""
        draw_scenes(self.folder, item, self.seed)
        yield from (Kept(candidate) for candidate in list_manifest(self.folder / "manifest.csv"))

    def intact(self, record: Candidate) -> bool:
        """Ask whether the drawn file is still there."""
        return (self.folder / record.locator).is_file()


@dataclass(frozen=True)
class Found(Stage):
    """Lets each video through once that several queries found; the query that comes first keeps it."""

    name = "found"
    output = Candidate
    all_at_once = True
    reasons = frozenset({"found_before"})

    def process(self, item: tuple[Candidate, ...]) -> Iterator[Outcome]:
        """Keep a candidate unless one with its address, or its id, came before."""
        seen: dict[str, Candidate] = {}
        for candidate in item:
            names = [name for name in (candidate.locator, candidate.source_id) if name]
            first = next((seen[name] for name in names if name in seen), None)
            if first is not None:
                detail = f"{candidate.query!r} finds {candidate.locator}, and {first.query!r} did before"
                yield Rejected(candidate.source_id or candidate.locator, "found_before", detail)
                continue
            seen |= dict.fromkeys(names, candidate)
            yield Kept(candidate)


@dataclass(frozen=True)
class Fetch(Stage):
    """Reads a local file's content hash, or downloads a URL into the build.

    How politely and patiently is `settings`; only the height asked for decides what a download would be.
    """

    name = "collect"
    output = Source
    part_size = 1
    halting_reasons = BREAKER_REASONS

    max_height: int
    settings: CollectSettings = runtime()
    folders: SourceFolders = runtime()

    def item_id(self, item: Candidate) -> str:
        """Use the official id where there is one; until the content is known, a hash of the locator stands for it."""
        return item.source_id or "r" + hashlib.sha256(item.locator.encode()).hexdigest()[:16]

    def label(self, item: Candidate) -> str:
        """Name the file or address."""
        return item.locator

    def halt_after(self) -> int:
        """As the recipe says."""
        return self.settings.breaker

    def seconds_limit(self, item: Candidate) -> float | None:
        """Leave downloads, which keep their own limit, time to clean up; a local file takes as long as reading it."""
        return _item_limit(self.settings) if item.kind == "url" else None

    def process(self, item: Candidate) -> Iterator[Outcome]:
        """Keep the source that the candidate turned out to be."""
        yield Kept(fetch(item, originals=self.folders.listed, store=self.folders.fetched, settings=self.settings))

    def intact(self, record: Source) -> bool:
        """Ask whether the file is there in its full size."""
        path = self.folders.path(record)
        return path.is_file() and path.stat().st_size == record.bytes
