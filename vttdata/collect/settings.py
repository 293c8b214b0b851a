"""What a recipe may say about collecting: where videos come from and how politely they are fetched.

Only declarations and checks between fields; nothing here touches a file or the network.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from annotated_types import Gt

from vttdata.collect.demo_films.scenes import SceneSettings
from vttdata.settings import STRICT, Count, Pixels, PositiveCount, PositiveSeconds, Seconds

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")

PositiveNumber = Annotated[float, Gt(0)]


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Videos found by searching.

    Attributes:
        queries: for each category its search queries; no query may stand twice.
        per_query: how many results to take for each query. MSR-VTT (section 3.1) took the top 150.
        engine: a search prefix of yt-dlp (``ytsearch``, ``scsearch``, ...), or the http(s) address of a feed or page
            that lists videos, in which ``{query}`` stands for the query and ``{count}`` for `per_query`.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    queries: dict[str, tuple[str, ...]]
    per_query: PositiveCount = 150
    engine: str = "ytsearch"

    def __post_init__(self) -> None:
        texts = [query.strip() for group in self.queries.values() for query in group]
        if not texts or "" in texts:
            raise ValueError("queries must name at least one search query, and none may be empty")
        repeated = [text for text, count in Counter(texts).items() if count > 1]
        if repeated:
            raise ValueError(f"the query '{repeated[0]}' stands twice")
        address = self.engine.startswith(("http://", "https://")) and "{query}" in self.engine
        if not address and not _PREFIX.fullmatch(self.engine):
            raise ValueError("engine must be a search prefix of yt-dlp or an http(s) address with {query} in it")


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """What one video may cost.

    Attributes:
        seconds_per_item: wall-clock limit for one download, its retries included.
        megabytes_per_item: limit for one downloaded file, in millions of bytes. While picture and sound are joined a
            download may take twice as much disk space.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    seconds_per_item: PositiveSeconds = 600.0
    megabytes_per_item: PositiveNumber = 500.0


@dataclass(frozen=True, slots=True)
class CollectSettings:
    """Where the videos come from (exactly one of the first four) and how they are fetched.

    Attributes:
        folder: a folder of video files, searched with all its subfolders.
        manifest: a CSV, TSV or JSONL table with a column ``url`` or ``path``.
        search: search queries by category, asked through yt-dlp.
        scenes: generated videos.
        limits: what one video may cost.
        retries: how often a download is tried again after a network trouble.
        backoff_seconds: pause before the first retry; each further pause is twice as long.
        sleep_seconds: pause before each download or search. The default is the lower end of what yt-dlp's wiki
            recommends for YouTube, which lets a guest see about 300 videos an hour.
        socket_timeout_seconds: how long a server may stay silent.
        kilobytes_per_second: a ceiling for the speed of each download, in thousands of bytes; none by default.
        cookies: a Netscape cookie file. Each download works on a copy; the file itself is never written.
        cookies_from_browser: the browser to take cookies from, as ``--cookies-from-browser`` of yt-dlp takes it.
        proxy: the address of an HTTP, HTTPS or SOCKS proxy.
        js_runtime: a JavaScript runtime for sites that need one, as ``--js-runtimes`` of yt-dlp takes it.
        max_height: the greatest picture height to ask for, where a site offers several.
        breaker: this many bot checks or rate limits in a row stop the run.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    folder: str | None = None
    manifest: str | None = None
    search: SearchSettings | None = None
    scenes: SceneSettings | None = None
    limits: LimitSettings = field(default_factory=LimitSettings)
    retries: Count = 3
    backoff_seconds: Seconds = 5.0
    sleep_seconds: Seconds = 5.0
    socket_timeout_seconds: PositiveSeconds = 20.0
    kilobytes_per_second: PositiveNumber | None = None
    cookies: str | None = None
    cookies_from_browser: str | None = None
    proxy: str | None = None
    js_runtime: str | None = None
    max_height: Pixels = 720
    breaker: PositiveCount = 3

    def __post_init__(self) -> None:
        given = [name for name in ("folder", "manifest", "search", "scenes") if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"exactly one source is needed (folder, manifest, search or scenes), found {found}")
