"""Addresses of videos are compared in one form."""

from __future__ import annotations

import pytest

from vttdata.files.folded_addresses import fold_address


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
        (
            *("https://www.dailymotion.com/video/x7abc_a-title", "https://dai.ly/x7abc"),
            *("https://geo.dailymotion.com/player/x1.html?video=x7abc", "https://www.dailymotion.com/swf/video/x7abc"),
        ),
        (
            *("https://www.bilibili.com/video/BV1xx411c7mD/?p=1", "m.bilibili.com/video/bv1xx411c7mD"),
            *("https://player.bilibili.com/player.html?aid=170001&bvid=BV1xx411c7mD", "https://b23.tv/BV1xx411c7mD"),
        ),
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
        *("https://youtu.be/00000000000", "https://a.org/v/N/A", "https://a.org/get?id=null", "https://a.org/None.mp4"),
        *("https://vimeo.com/user", "https://youtu.be/AbCdEfGhIj12", "http://[bad", "words", "https://example.org/"),
    ],
)
def test_addresses_without_a_video_are_none(address: str) -> None:
    assert fold_address(address) is None
