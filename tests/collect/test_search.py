from __future__ import annotations

import json

import pytest

from tests.collect.test_download import quick
from tests.helpers.media_server import MediaServer
from vttdata.collect import CollectSettings, FetchError, SearchSettings, search
from vttdata.collect.search import read_results, search_address
from vttdata.records import Candidate

ODD_QUERY = 'dogs & "cats" --exec=id\n100% ü'
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


def asking(engine: str, per_query: int = 2) -> CollectSettings:
    return quick(folder=None, search=SearchSettings({"animals/pets": (ODD_QUERY,)}, per_query, engine))


def test_results_of_a_real_answer_become_candidates(server: MediaServer) -> None:
    settings = asking(server.url("/feed.xml?q={query}&n={count}"))
    assert search(ODD_QUERY, "animals/pets", settings) == (
        Candidate(
            "url",
            "https://www.youtube.com/watch?v=-aBcDeFgHiJ",
            title="A dog",
            category="animals/pets",
            query=ODD_QUERY,
        ),
        Candidate(
            "url",
            server.url("/good.mp4"),
            title="Ein Hündchen & ein Ball",
            category="animals/pets",
            query=ODD_QUERY,
        ),
    )
    assert {"q": [ODD_QUERY], "n": ["2"]} in server.queries


def test_a_search_that_is_turned_away_says_why(server: MediaServer) -> None:
    with pytest.raises(FetchError) as caught:
        search("dogs", "animals/pets", asking(server.url("/busy.mp4?q={query}")))
    assert (caught.value.reason, caught.value.retry) == ("rate_limit", True)


def test_the_sites_own_id_becomes_the_sources_id() -> None:
    (candidate,) = read_results(json.dumps(YOUTUBE_RESULT) + "\n", "dog", "animals/pets")
    assert candidate.source_id == "youtube--aBcDeFgHiJ"
    assert candidate.title == "A dog ?"


def test_an_address_found_twice_is_listed_once() -> None:
    line = json.dumps(YOUTUBE_RESULT) + "\n"
    assert len(read_results(2 * line, "dog", "animals/pets")) == 1


def test_an_id_that_could_not_be_a_file_name_and_an_odd_address_are_left_out() -> None:
    odd = [YOUTUBE_RESULT | {"id": "../x"}, {"url": "file:///etc/passwd"}, {"url": 7}, {}]
    found = read_results("\n".join(map(json.dumps, odd)), "dog", "animals/pets")
    assert [(one.source_id, one.title) for one in found] == [(None, "A dog ?")]
    with pytest.raises(FetchError, match="not JSON"):
        read_results("Traceback", "dog", "animals/pets")


def test_a_query_is_only_ever_words() -> None:
    settings = SearchSettings({"music": ("x",)}, per_query=7)
    assert search_address("--exec=id", settings) == "ytsearch7:--exec=id"
    assert search_address("a", SearchSettings({"music": ("x",)}, 7, "https://a.example/{query}?{count}")) == (
        "https://a.example/a?7"
    )
