"""Test the HTML of the page and the errors of its views."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.campaigns import human_captions, system_captions
from vttdata.errors import VttdataError
from vttdata.people import HitSettings, make_hits
from vttdata.people.hits.hit_records import DEFAULT_QUESTION
from vttdata.people.static_page import HitView, ItemView, hit_view, page_text, write_page


def hit(*captions: str, video: str = "a.mp4") -> HitView:
    return HitView("h", tuple(ItemView(f"i{n}", video, caption) for n, caption in enumerate(captions)))


def data(text: str) -> dict[str, Any]:
    scripts = re.findall(r'<script type="application/json" id="hit">(.*?)</script>', text, re.DOTALL)
    assert len(scripts) == 1
    value = json.loads(scripts[0])
    assert isinstance(value, dict)
    return value


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_captions_are_data_and_add_no_markup(captions: list[str]) -> None:
    text = page_text(hit(*captions))
    assert [item["caption"] for item in data(text)["items"]] == captions
    assert text.isascii()
    plain = page_text(hit("x"))
    assert re.findall(r"<[^\s>]*", text) == re.findall(r"<[^\s>]*", plain)


@pytest.mark.parametrize(
    "caption", ["</script><script>alert(1)</script>", "<!--<script>", "\u2028\u2029", "\ud800", "{{data}}"]
)
def test_caption_cannot_end_its_element(caption: str) -> None:
    text = page_text(hit(caption))
    assert data(text)["items"][0]["caption"] == caption
    assert text.lower().count("</script") == 2


def test_page_contains_only_id_video_and_caption_of_items() -> None:
    content = data(page_text(hit("a", "b")))
    assert set(content) == {"hit", "digest", "question", "ends", "items", "submit", "min_shown"}
    assert all(set(item) == {"item", "video", "caption"} for item in content["items"])
    assert content["question"] == DEFAULT_QUESTION


def test_page_loads_nothing_from_other_hosts() -> None:
    text = page_text(hit("a"))
    assert not re.findall(r"""(?:src|href|action)\s*=\s*["'](?!data:,)[^"']""", text)
    assert not re.findall(r"@import|url\(", text)
    assert "default-src &#x27;none&#x27;" in text
    assert "connect-src &#x27;none&#x27;" in text
    assert "unsafe" not in text


def test_security_policy_names_hosts_of_videos_and_answers() -> None:
    items = (ItemView("i0", "HTTPS://Example.org:8443/a.mp4?x=1", ""), ItemView("i1", "a.mp4", ""))
    text = page_text(HitView("h", items), submit_url="https://answers.example/in?c=1")
    assert "media-src &#x27;self&#x27; https://example.org:8443 file:;" in text
    assert "connect-src https://answers.example;" in text
    assert data(text)["submit"] == "https://answers.example/in?c=1"
    assert "connect-src &#x27;self&#x27;;" in page_text(HitView("h", items), submit_url="/in")


def test_paths_are_quoted_and_urls_unchanged() -> None:
    paths = {"clips/a #1 100%?.mp4": "clips/a%20%231%20100%25%3F.mp4", "-é.mp4": "-%C3%A9.mp4"}
    for path, address in (paths | {"https://example.org/a%20b.mp4?q#t=1": None}).items():
        assert data(page_text(hit("a", video=path)))["items"][0]["video"] == (address or path)


@pytest.mark.parametrize(
    "video",
    ["", " ", "//example.org/a.mp4", "javascript:alert(1)", "data:video/mp4,x", "C:\\a.mp4", "a\nb.mp4", "https://",
     "https://a b/x.mp4", "https://a;script-src *", "http://a:99999999/x", "http://[::1/x", "\ud800.mp4"],
)  # fmt: skip
def test_invalid_video_address_raises_one_sentence(video: str) -> None:
    with pytest.raises(
        VttdataError, match=r"^The video .* is neither an http\(s\) URL nor a path relative to the page\.$"
    ):
        ItemView("i", video, "a")


@pytest.mark.parametrize("name", ["", "=cmd()", "-1", "a|b", "a b", "a,b", "<b>", "é", "x" * 101, "a\n"])
def test_invalid_ids_are_rejected(name: str) -> None:
    with pytest.raises(VttdataError, match="item id"):
        ItemView(name, "a.mp4", "a")
    with pytest.raises(VttdataError, match="HIT id"):
        HitView(name, (ItemView("i", "a.mp4", "a"),))


def test_hit_needs_items_with_unique_ids() -> None:
    item = ItemView("i", "a.mp4", "a")
    with pytest.raises(VttdataError, match=r"^The HIT 'h' has no items\.$"):
        HitView("h", ())
    with pytest.raises(VttdataError, match=r"^The item 'i' of HIT 'h' is duplicated\.$"):
        HitView("h", (item, item))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//example.org/in", "", "ftp://example.org"])
def test_invalid_submit_url_is_rejected(url: str) -> None:
    with pytest.raises(VttdataError, match="Answers cannot be sent"):
        page_text(hit("a"), submit_url=url)


def test_same_hit_gives_same_file_and_other_content_another_digest(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_page(tmp_path / name, hit("a"))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert data(page_text(hit("a")))["digest"] != data(page_text(hit("b")))["digest"]


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="cannot be written"):
        write_page(tmp_path / "no" / "page.html", hit("a"))


def test_view_has_the_items_of_the_hit_in_order() -> None:
    plan = make_hits(
        system_captions(["a", "b"], 20),
        human_captions(20),
        settings=HitSettings(system=7, human=1, degraded=1, repeat=1, min_pairs=1),
    )
    view = hit_view(plan.hits[0], {f"v{n}": f"../videos/v{n}.mp4" for n in range(20)}, "Good?")
    assert (view.hit, view.question) == (plan.hits[0].hit, "Good?")
    assert [(shown.item, shown.video, shown.caption) for shown in view.items] == [
        (item.item, f"../videos/{item.video_id}.mp4", item.caption) for item in plan.hits[0].items
    ]
