"""Collecting: from a folder, a manifest, search queries or generated scenes to original videos on disk.

Every way gives candidates; `fetch` turns one candidate into one source or says why there is none.
"""

from vttdata.collect.download import fetch, format_choice, sweep
from vttdata.collect.folder import list_folder
from vttdata.collect.manifest import list_manifest
from vttdata.collect.search import search
from vttdata.collect.settings import CollectSettings, LimitSettings, SearchSettings
from vttdata.collect.ytdlp_errors import BREAKER_REASONS, FetchError, classify

__all__ = [
    "BREAKER_REASONS",
    "CollectSettings",
    "FetchError",
    "LimitSettings",
    "SearchSettings",
    "classify",
    "fetch",
    "format_choice",
    "list_folder",
    "list_manifest",
    "search",
    "sweep",
]
