"""Finds videos by searching: asks a search engine through yt-dlp for addresses and fetches none of them."""

from __future__ import annotations

import json
import tempfile
import time
import urllib.parse
from pathlib import Path
from typing import Any

from vttdata.collect.settings import CollectSettings, SearchSettings
from vttdata.collect.ytdlp import call, retrying, site_id, text_of
from vttdata.collect.ytdlp_errors import FetchError
from vttdata.records import Candidate
from vttdata.subprocesses import Completed


def search(query: str, category: str, settings: CollectSettings) -> tuple[Candidate, ...]:
    """The first `per_query` results for a query, best first, each address once.

    Args:
        query: what a person would type into the search box; whatever it holds, it is taken as words.
        category: the category that these videos belong to.
        settings: with `settings.search`; one search has the time limit of one item.

    Returns:
        URL candidates with title, query, category and, where the site has ids of its own, the id that `fetch` would
        give. A video that several queries find comes back from each of them.

    Raises:
        FetchError: when the search fails, with a reason; nothing is returned then, not even half a list.
        ValueError: when `settings` is not about searching.
    """
    if settings.search is None:
        raise ValueError("these settings name no search")
    address = search_address(query, settings.search)
    time.sleep(settings.sleep_seconds)
    with tempfile.TemporaryDirectory(prefix="vttdata-search-") as folder:
        done = retrying(lambda seconds: _ask(address, Path(folder), settings, seconds), settings)
    return read_results(done.stdout, query, category)[: settings.search.per_query]


def search_address(query: str, settings: SearchSettings) -> str:
    """What yt-dlp is asked for: ``prefixN:query``, or the engine's address with the query filled in."""
    if "{query}" in settings.engine:
        filled = settings.engine.replace("{count}", str(settings.per_query))
        return filled.replace("{query}", urllib.parse.quote(query, safe=""))
    return f"{settings.engine}{settings.per_query}:{query}"


def read_results(output: str, query: str, category: str) -> tuple[Candidate, ...]:
    """Candidates from what ``yt-dlp --flat-playlist --dump-json`` prints: one JSON object a line."""
    found: dict[str, Candidate] = {}
    for line in output.splitlines():
        entry = _entry(line)
        url = entry.get("url")
        if not isinstance(url, str) or not url.startswith(("http://", "https://")) or url in found:
            continue
        found[url] = Candidate(
            kind="url",
            locator=url,
            source_id=site_id(entry.get("ie_key"), entry.get("id")),
            title=text_of(entry.get("title")),
            category=category,
            query=query,
        )
    return tuple(found.values())


def _entry(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FetchError("other", "yt-dlp printed a search result that is not JSON.", retry=True) from error
    return value if isinstance(value, dict) else {}


def _ask(address: str, folder: Path, settings: CollectSettings, seconds: float) -> Completed:
    count = settings.search.per_query if settings.search else 1
    options = ["--flat-playlist", "--dump-json", "--yes-playlist", f"--playlist-items=1:{count}"]
    return call(options, address, folder=folder, settings=settings, seconds=seconds)
