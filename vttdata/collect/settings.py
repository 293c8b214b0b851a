"""Settings of a recipe's ``collect`` section: where videos come from and how politely they are fetched."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le

from vttdata.collect.video_list import COLUMNS
from vttdata.settings import Count, Pixels, PositiveCount, PositiveSeconds, Seconds, Strict

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")

PositiveNumber = Annotated[float, Gt(0)]


@dataclass(frozen=True, slots=True)
class SceneSettings(Strict):
    """Number and format of the generated videos.

    Attributes:
        videos: how many good videos to draw.
        width, height: of the frames in pixels; even.
        frame_rate: frames per second of most videos; others have 0.6, 0.8, 0.96 or 1200/1001 times as many.
        spoiled: whether to add a truncated file, one of 2 seconds, an exact copy, a frozen and a dark video, and a
            text file with a video's name, all listed as if they were good.
    """

    videos: PositiveCount = 14
    width: Pixels = 320
    height: Pixels = 180
    frame_rate: Annotated[float, Ge(5), Le(120)] = 25.0
    spoiled: bool = True

    def __post_init__(self) -> None:
        if self.width % 2 or self.height % 2:
            raise ValueError("width and height must be even, since videos store colour at half the resolution")


@dataclass(frozen=True, slots=True)
class SearchSettings(Strict):
    """Search for videos.

    Attributes:
        queries: search queries by category; no query may be duplicated.
        per_query: number of results to take for each query. MSR-VTT (section 3.1) took the top 150.
        engine: a search prefix of yt-dlp (``ytsearch``, ``scsearch``, ...), or the http(s) address of a feed or page
            that lists videos, in which ``{query}`` stands for the query and ``{count}`` for `per_query`.
    """

    queries: dict[str, tuple[str, ...]]
    per_query: PositiveCount = 150
    engine: str = "ytsearch"

    def __post_init__(self) -> None:
        texts = [query.strip() for group in self.queries.values() for query in group]
        if not texts or "" in texts:
            raise ValueError("queries must contain at least one search query and no empty one")
        repeated = [text for text, count in Counter(texts).items() if count > 1]
        if repeated:
            raise ValueError(f"the query '{repeated[0]}' is duplicated")
        address = self.engine.startswith(("http://", "https://")) and "{query}" in self.engine
        if not address and not _PREFIX.fullmatch(self.engine):
            raise ValueError("engine must be a search prefix of yt-dlp or an http(s) address with {query} in it")


@dataclass(frozen=True, slots=True)
class LimitSettings(Strict):
    """Limits for one video.

    Attributes:
        seconds_per_item: wall-clock limit for one download including its retries.
        megabytes_per_item: limit for one downloaded file, in millions of bytes. A download may take twice as much disk
            space while video and audio are merged, and as much memory beside the 500 MB of yt-dlp itself.
    """

    seconds_per_item: PositiveSeconds = 600.0
    megabytes_per_item: PositiveNumber = 500.0


@dataclass(frozen=True, slots=True)
class CollectSettings(Strict):
    """Origin of the videos (exactly one of the first four attributes) and how to fetch them.

    Attributes:
        folder: a folder of video files, searched with all its subfolders.
        category: ``folder`` gives each video of a folder the name of the subfolder it lies in as its category; of
            several the outermost one.
        manifest: a CSV, TSV or JSON table with a column ``url`` or ``path``.
        columns: name of a column of the manifest -> its name in the file.
        search: search queries by category, sent through yt-dlp.
        scenes: generated videos.
        retries: number of retries after a network error.
        backoff_seconds: pause before the first retry; each further pause is twice as long.
        sleep_seconds: pause before each download or search. The default is the lower end of what yt-dlp's wiki
            recommends for YouTube, where guests are limited to about 300 videos an hour.
        socket_timeout_seconds: how long a server may stay silent.
        kilobytes_per_second: maximum speed of each download, in thousands of bytes; unlimited by default.
        cookies: a Netscape cookie file. Each download uses a copy; the file itself is never written.
        cookies_from_browser: browser to take cookies from, as in yt-dlp's ``--cookies-from-browser``.
        proxy: address of an HTTP, HTTPS or SOCKS proxy.
        js_runtime: JavaScript runtime for sites that need one, as in yt-dlp's ``--js-runtimes``.
        max_height: greatest height to download where a site offers several, in pixels.
        new_times: whether a file whose times go back, such as transport streams joined end to end, is copied into the
            build with new times, the packets as they are.
        breaker: number of consecutive bot checks or rate limits that stops the run, or of consecutive hosts out of
            reach while no other host of the list answers.
    """

    folder: str | None = None
    category: Literal["folder"] | None = None
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
    new_times: bool = False
    breaker: PositiveCount = 3
    columns: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        origins = [name for name in ("folder", "manifest", "search", "scenes") if getattr(self, name) is not None]
        if len(origins) != 1:
            found = " and ".join(origins) or "none"
            raise ValueError(f"exactly one source is needed (folder, manifest, search or scenes), found {found}")
        unknown = [name for name in self.columns if name not in COLUMNS]
        if unknown:
            raise ValueError(f"columns: '{unknown[0]}' is not a column of a manifest; they are {', '.join(COLUMNS)}")
