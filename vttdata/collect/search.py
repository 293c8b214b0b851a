"""Search for videos with yt-dlp. Searching yields addresses and downloads none of them."""

from __future__ import annotations

import json
import tempfile
import time
import urllib.parse
from pathlib import Path

from vttdata.collect.settings import CollectSettings, SearchSettings
from vttdata.collect.ytdlp import FetchError, clean_field, retry_download, run_ytdlp, site_source_id
from vttdata.records import Candidate


def search(query: str, category: str, settings: CollectSettings) -> tuple[Candidate, ...]:
    """Return the first `per_query` results for a query, best first, without repeated addresses.

    `query` holds words for the search box, never interpreted as an option or an address. One search has the time limit
    of one item. Candidates have title, query, category and, where the site has ids, the id that `fetch` would give. A
    video that several queries find is returned by each of them.

    Raises:
        FetchError: if the search fails; no partial list is returned.
        ValueError: if `settings` has no search.
    """
    if settings.search is None:
        raise ValueError("these settings have no search")
    address = search_address(query, settings.search)
    limit = settings.search.per_query
    options = ["--flat-playlist", "--dump-json", "--yes-playlist", f"--playlist-items=1:{limit}"]
    time.sleep(settings.sleep_seconds)
    with tempfile.TemporaryDirectory(prefix="vttdata-search-") as folder:
        done = retry_download(
            lambda seconds: run_ytdlp(options, address, folder=Path(folder), settings=settings, seconds=seconds),
            settings,
        )
    return parse_results(done.stdout, query, category)[:limit]


def search_address(query: str, settings: SearchSettings) -> str:
    """Return the address to give to yt-dlp: ``prefixN:query``, or the engine's URL with the query filled in."""
    if "{query}" in settings.engine:
        url = settings.engine.replace("{count}", str(settings.per_query))
        return url.replace("{query}", urllib.parse.quote(query, safe=""))
    return f"{settings.engine}{settings.per_query}:{query}"


def parse_results(output: str, query: str, category: str) -> tuple[Candidate, ...]:
    """Parse the output of ``yt-dlp --flat-playlist --dump-json``, one JSON object per line.

    Raises:
        FetchError: if a line is not JSON.
    """
    candidates: dict[str, Candidate] = {}
    for line in output.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FetchError("other", "yt-dlp printed a search result that is not JSON.", retry=True) from error
        url = entry.get("url") if isinstance(entry, dict) else None
        if isinstance(url, str) and url.startswith(("http://", "https://")) and url not in candidates:
            candidates[url] = Candidate(
                kind="url",
                locator=url,
                source_id=site_source_id(entry.get("ie_key"), entry.get("id")),
                title=clean_field(entry.get("title")),
                category=category,
                query=query,
            )
    return tuple(candidates.values())
