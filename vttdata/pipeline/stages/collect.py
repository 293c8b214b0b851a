"""Stages that collect originals: queries or drawn films to candidates, candidates to sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.collect import BREAKER_REASONS, UNREACHABLE, CollectSettings, fetch, list_manifest, search
from vttdata.collect.reachability import Address, addresses, any_answers
from vttdata.collect.settings import SceneSettings
from vttdata.collect.ytdlp import message_of
from vttdata.files.addresses import without_secrets
from vttdata.files.reading import file_sha256
from vttdata.pipeline.stage import Failed, Kept, Outcome, Rejected, Stage, WholeStage, runtime
from vttdata.pipeline.stages.videos import SourceFolders
from vttdata.records import Candidate, Source

# yt-dlp keeps a limit of its own; the worker is killed only if that fails, or if cleaning up takes this long.
_CLEANUP_SECONDS = 60.0


def download_limit(settings: CollectSettings) -> float:
    """Return the wall-clock limit in seconds of an item that accesses the network."""
    return settings.limits.seconds_per_item + settings.sleep_seconds + _CLEANUP_SECONDS


@dataclass(frozen=True, slots=True)
class Query:
    """Search query and the category of its results."""

    category: str
    query: str


@dataclass(frozen=True)
class Search(Stage[Query, Candidate]):
    """Ask a site for the first results of each query."""

    name = "search"
    output = Candidate
    part_size = 1
    halting_reasons = BREAKER_REASONS | {UNREACHABLE}

    engine: str
    per_query: int
    settings: CollectSettings = runtime()

    def item_id(self, item: Query) -> str:
        """Return the category and the text of the query."""
        return f"{item.category}: {item.query}"

    def halt_after(self) -> int:
        """Return the number that the recipe sets."""
        return self.settings.breaker

    def seconds_limit(self, item: Query) -> float:  # noqa: ARG002
        """Return the limit of a download."""
        return download_limit(self.settings)

    def process(self, item: Query) -> Iterator[Outcome[Candidate]]:
        """Keep each result as a candidate."""
        yield from (Kept(candidate) for candidate in search(item.query, item.category, self.settings))


@dataclass(frozen=True)
class DrawScenes(Stage[SceneSettings, Candidate]):
    """Draw the demo's videos, and write captions of what is in them."""

    name = "scenes"
    output = Candidate

    seed: int
    encoder: str
    folder: Path = runtime()

    def item_id(self, item: SceneSettings) -> str:  # noqa: ARG002
        """Return the same id for every item; there is only one."""
        return "scenes"

    def process(self, item: SceneSettings) -> Iterator[Outcome[Candidate]]:
        """Keep each drawn file as a candidate."""
        from vttdata.collect.demo_films.corpus import draw_scenes

        draw_scenes(self.folder, item, self.seed)
        yield from (Kept(candidate) for candidate in list_manifest(self.folder / "manifest.csv"))

    def intact(self, record: Candidate) -> bool:
        """Check that the drawn file is still there."""
        return (self.folder / record.locator).is_file()


@dataclass(frozen=True)
class DeduplicateCandidates(WholeStage[Candidate, Candidate]):
    """Keep each video once that several queries found, for the first of these queries."""

    name = "found"
    output = Candidate
    reasons = frozenset({"found_before"})

    def process(self, item: tuple[Candidate, ...]) -> Iterator[Outcome[Candidate]]:
        """Keep a candidate unless one with its address, or its id, came before."""
        seen: dict[str, Candidate] = {}
        for candidate in item:
            keys = [key for key in (candidate.locator, candidate.source_id) if key]
            first = next((seen[key] for key in keys if key in seen), None)
            if first is not None:
                address = without_secrets(candidate.locator)
                detail = f"{candidate.query!r} finds {address}, and {first.query!r} did before"
                yield Rejected(candidate.source_id or address, "found_before", detail)
                continue
            seen |= dict.fromkeys(keys, candidate)
            yield Kept(candidate)


@dataclass(frozen=True)
class Fetch(Stage[Candidate, Source]):
    """Hash a local file, or download a URL into the build.

    Of the settings, only the maximum height in pixels makes earlier downloads stale; the others are patience and
    politeness. While one of `hosts`, those of all items, answers, others that do not are their own matter.
    """

    name = "collect"
    output = Source
    part_size = 1
    halting_reasons = BREAKER_REASONS | {UNREACHABLE}

    max_height: int
    settings: CollectSettings = runtime()
    folders: SourceFolders = runtime()
    hosts: frozenset[Address] = runtime()

    def item_id(self, item: Candidate) -> str:
        """Return the official id, or else a hash of the locator, since the content is not known yet."""
        return item.source_id or "r" + hashlib.sha256(item.locator.encode()).hexdigest()[:16]

    def label(self, item: Candidate) -> str:
        """Return the file name, or the address without what signs or authorises it."""
        return without_secrets(item.locator)

    def halt_after(self) -> int:
        """Return the number that the recipe sets."""
        return self.settings.breaker

    def must_halt(self, row: Sequence[tuple[Candidate, Failed]]) -> bool:
        """Check that the failures are about this machine or its network, not about hosts that are gone."""
        if any(failure.reason != UNREACHABLE for _, failure in row):
            return True
        others = self.hosts - addresses(candidate.locator for candidate, _ in row)
        return not any_answers(others, proxy=self.settings.proxy)

    def unexplained(self, item: Candidate, failure: Failed) -> str:
        """Return yt-dlp's message without the video's id and addresses, if it says no known reason."""
        return message_of(failure.detail.removeprefix(f"{self.label(item)}: ")) if failure.reason == "other" else ""

    def seconds_limit(self, item: Candidate) -> float | None:
        """Return the limit of a download; reading a local file has none."""
        return download_limit(self.settings) if item.kind == "url" else None

    def process(self, item: Candidate) -> Iterator[Outcome[Source]]:
        """Keep the source."""
        yield Kept(fetch(item, originals=self.folders.listed, store=self.folders.fetched, settings=self.settings))

    def intact(self, record: Source) -> bool:
        """Check that the file is there in its full size."""
        path = self.folders.path(record)
        return path.is_file() and path.stat().st_size == record.bytes

    def unchanged(self, record: Source) -> bool:
        """Check the content of the file."""
        return self.intact(record) and file_sha256(self.folders.path(record)) == record.sha256
