"""Test that searches return candidates and nothing hostile."""

from __future__ import annotations

import json

import pytest

from tests.collect.test_download import quick
from tests.helpers.file_server import FileServer
from vttdata.collect import CollectSettings, FetchError, SearchSettings, search
from vttdata.collect.search import parse_results, search_address
from vttdata.records import Candidate

HOSTILE_QUERY = 'dogs & "cats" --exec=id\n100% ü'
YOUTUBE_RESULT = {
    "_type": "url",
    "ie_key": "Youtube",
    "id": "-aBcDeFgHiJ",
    "url": "https://www.youtube.com/watch?v=-aBcDeFgHiJ",
    "title": "A dog \ud83d",
    "extractor": "youtube:search",
    "extractor_key": "YoutubeSearch",
    "playlist_index": 1,
}


def searching(engine: str, per_query: int = 2) -> CollectSettings:
    return quick(folder=None, search=SearchSettings({"animals/pets": (HOSTILE_QUERY,)}, per_query, engine))


def test_results_of_a_server_become_candidates(server: FileServer) -> None:
    settings = searching(server.url("/feed.xml?q={query}&n={count}"))
    assert search(HOSTILE_QUERY, "animals/pets", settings) == (
        Candidate(
            "url",
            "https://www.youtube.com/watch?v=-aBcDeFgHiJ",
            title="A dog",
            category="animals/pets",
            query=HOSTILE_QUERY,
        ),
        Candidate(
            "url",
            server.url("/good.mp4"),
            title="Ein Hündchen & ein Ball",
            category="animals/pets",
            query=HOSTILE_QUERY,
        ),
    )
    assert {"q": [HOSTILE_QUERY], "n": ["2"]} in server.queries


def test_rejected_search_raises_its_reason(server: FileServer) -> None:
    with pytest.raises(FetchError) as caught:
        search("dogs", "animals/pets", searching(server.url("/busy.mp4?q={query}")))
    assert (caught.value.reason, caught.value.retry) == ("rate_limit", True)


def test_site_id_becomes_the_source_id() -> None:
    (candidate,) = parse_results(json.dumps(YOUTUBE_RESULT) + "\n", "dog", "animals/pets")
    assert candidate.source_id == "youtube--aBcDeFgHiJ"
    assert candidate.title == "A dog ?"


def test_duplicated_address_is_listed_once() -> None:
    line = json.dumps(YOUTUBE_RESULT) + "\n"
    assert len(parse_results(2 * line, "dog", "animals/pets")) == 1


def test_unsafe_ids_and_addresses_are_dropped() -> None:
    entries = [YOUTUBE_RESULT | {"id": "../x"}, {"url": "file:///etc/passwd"}, {"url": 7}, {}]
    candidates = parse_results("\n".join(map(json.dumps, entries)), "dog", "animals/pets")
    assert [(candidate.source_id, candidate.title) for candidate in candidates] == [(None, "A dog ?")]
    with pytest.raises(FetchError, match="not JSON"):
        parse_results("Traceback", "dog", "animals/pets")


def test_query_is_never_an_option() -> None:
    settings = SearchSettings({"music": ("x",)}, per_query=7)
    assert search_address("--exec=id", settings) == "ytsearch7:--exec=id"
    assert search_address("a", SearchSettings({"music": ("x",)}, 7, "https://a.example/{query}?{count}")) == (
        "https://a.example/a?7"
    )
