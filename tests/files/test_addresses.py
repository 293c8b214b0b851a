"""Addresses are published without signatures, tokens, keys and passwords, and otherwise as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.files.addresses import fold_address, without_secrets
from vttdata.files.strict_yaml import read_yaml
from vttdata.recipe.load import load_recipe
from vttdata.recipe.published import recipe_text


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("?v=abc&sig=deadbeef", "?v=abc"),
        (
            "?X-Amz-Signature=1&X-Amz-Credential=2&X-Amz-Date=3&response-content-type=video/mp4",
            "?response-content-type=video/mp4",
        ),
        ("?sv=2020&st=1&se=2&sr=b&sp=r&sig=x%2By", ""),
        ("?Policy=a&Signature=b&Key-Pair-Id=c", ""),
        ("?access_token=1&id=5#t=30", "?id=5#t=30"),
        ("?id=5#access_token=1&x=2", "?id=5"),
        ("?api_key=1;q=cats", "?q=cats"),
        ("?s%69g=1&a=2", "?a=2"),
        ("?h=" + "a1" * 30, ""),
    ],
)
def test_what_signs_a_request_is_left_out(query: str, kept: str) -> None:
    assert without_secrets(f"https://example.org/a%20b.mp4{query}") == f"https://example.org/a%20b.mp4{kept}"


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf&t=3s",
        "https://vimeo.com/1?h=0123abcdef",
        "https://example.org/v?id=123e4567-e89b-12d3-a456-426614174000&design=a&assign=b&keyword=c&stop=d",
        "https://example.org/?q=a+long+search+query+of+many+words+that+is+no+token+at+all+but+words",
        "not an address?sig=1",
        "https://example.org/?&&=&sig",
        "http://[bad?sig=1",
    ],
)
def test_other_addresses_are_kept_as_they_are(url: str) -> None:
    assert without_secrets(url) == url


def test_password_is_left_out() -> None:
    assert without_secrets("https://me:secret@example.org/x?a=1") == "https://example.org/x?a=1"


@given(st.text())
def test_any_text_is_taken_and_the_result_stays_the_same(text: str) -> None:
    for url in (text, f"https://example.org/{text}", f"https://example.org/?{text}"):
        assert without_secrets(without_secrets(url)) == without_secrets(url)


def test_address_of_a_search_with_a_key_is_not_written_into_the_dataset(tmp_path: Path) -> None:
    given = [
        "collect.search.engine=https://example.org/feed?api_key=SECRET&q={query}",
        "description=see https://x.org/?key=1",
    ]
    text = recipe_text(load_recipe("msrvtt-collect", given).recipe)
    assert "SECRET" not in text
    (tmp_path / "recipe.yaml").write_text(text)
    recipe = read_yaml(tmp_path / "recipe.yaml")
    assert recipe["collect"]["search"]["engine"] == "give it with --set collect.search.engine=PATH"
    assert recipe["description"] == "see https://x.org/?key=1"


@pytest.mark.parametrize(
    "forms",
    [
        (
            *(
                "https://www.youtube.com/watch?v=-bCdEfGhI_1",
                "youtu.be/-bCdEfGhI_1?t=3",
                "//youtube.com/embed/-bCdEfGhI_1",
            ),
            *("https://m.youtube.com/watch?app=desktop&v=-bCdEfGhI_1", "https://youtube.com/shorts/-bCdEfGhI_1?si=x"),
            "http://web.archive.org/web/2016id_/http://www.youtube.com/watch?v=-bCdEfGhI_1",
            "https://www.youtube.com/attribution_link?u=%2Fwatch%3Fv%3D-bCdEfGhI_1%26feature%3Dshare",
        ),
        (
            "https://vimeo.com/12345678/abc",
            "https://player.vimeo.com/video/12345678?h=1",
            "vimeo.com/channels/x/12345678",
        ),
        ("https://www.dailymotion.com/video/x7abc_a-title", "https://dai.ly/x7abc"),
        ("https://www.tiktok.com/@u/video/7123456789012345678?is=1", "tiktok.com/embed/v2/7123456789012345678"),
        ("https://www.facebook.com/watch/?v=123456789", "https://facebook.com/u/videos/123456789/"),
        (
            "HTTPS://A.org:443/a%20b.mp4?y=2&x=1&utm_source=z#t=3",
            "http://u:p@www.a.org//a b.mp4/?x=1&y=2&X-Amz-Signature=1",
        ),
    ],
)
def test_forms_of_one_address_are_equal(forms: tuple[str, ...]) -> None:
    folded = {fold_address(form) for form in forms}
    assert len(folded) == 1
    assert None not in folded


def test_addresses_of_different_videos_differ() -> None:
    addresses = [
        *("https://youtu.be/AbCdEfGhIj1", "https://youtu.be/AbCdEfGhIj2", "https://vimeo.com/12345678"),
        *("https://a.org/12345678", "https://a.org/get?key=1", "https://a.org/get?key=2", "https://a.org/get?index=1"),
        *("https://a.org/app#/video/1", "https://a.org/app#/video/2", "s3://bucket/a.mp4", "s3://other/a.mp4"),
    ]
    assert len({fold_address(address) for address in addresses}) == len(addresses)


@pytest.mark.parametrize(
    "address",
    [
        *("", "https://www.youtube.com/", "youtube.com/@channel", "https://www.youtube.com/playlist?list=PL1", "a.org"),
        *("https://vimeo.com/user", "https://youtu.be/AbCdEfGhIj12", "http://[bad", "words", "https://example.org/"),
    ],
)
def test_addresses_without_a_video_are_none(address: str) -> None:
    assert fold_address(address) is None
