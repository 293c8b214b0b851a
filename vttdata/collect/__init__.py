"""Collect original videos from a folder, a manifest, search queries or generated scenes.

Folders, manifests and searches yield candidates; `fetch` turns a candidate into a source on disk or raises the reason
why it cannot be had.
"""

from vttdata.collect.download import fetch, format_selector, remove_unfinished
from vttdata.collect.search import search
from vttdata.collect.settings import CollectSettings, LimitSettings, SearchSettings
from vttdata.collect.video_list import list_folder, list_manifest
from vttdata.collect.ytdlp import BREAKER_REASONS, UNREACHABLE, FetchError, classify

__all__ = [
    "BREAKER_REASONS",
    "UNREACHABLE",
    "CollectSettings",
    "FetchError",
    "LimitSettings",
    "SearchSettings",
    "classify",
    "fetch",
    "format_selector",
    "list_folder",
    "list_manifest",
    "remove_unfinished",
    "search",
]
