"""Of addresses only what identifies a video is published; signatures, tokens, keys and passwords are left out."""

from __future__ import annotations

import random
import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.files.addresses import hide_secrets, without_secrets
from vttdata.files.strict_yaml import read_yaml
from vttdata.recipe.load import load_recipe
from vttdata.recipe.published import recipe_text

MD5 = "8f14e45fceea167a5a36dedd4bea2543"
SHA256 = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
BASE64 = "5fjv4KGl0cZ3hbXRyWn1nQ"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI4OGQ0MTA4YSIsImV4cCI6MTYwMH0.xkRJwLGkt0nZ_0BlPiwU7iW4pqb4lKkznkbKf"
# The forms of signed addresses that services document, after https://cdn.example.org; § stands for what is secret.
SIGNED_QUERIES = {
    "AWS S3, version 4": "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=§&X-Amz-Expires=9&X-Amz-Signature=§",
    "AWS S3, version 2": "?AWSAccessKeyId=§&Expires=1141889120&Signature=§",
    "AWS CloudFront": "?Policy=§&Signature=§&Key-Pair-Id=§",
    "Google Cloud Storage, version 4": "?X-Goog-Algorithm=GOOG4&X-Goog-Credential=§&X-Goog-Signature=§",
    "Google Cloud Storage, version 2": "?GoogleAccessId=§&Expires=1388534400&Signature=§",
    "Google Cloud CDN": "?Expires=1566268009&KeyName=§&Signature=§",
    "Azure Blob Storage": "?sv=2022-11-02&st=2024&se=2025&sr=b&sp=r&sig=§",
    "Azure CDN, token authentication": "?§",
    "Akamai, query": "?hdnts=exp=1700000000~acl=/*~hmac=§",
    "Akamai, long token": "?__gda__=1700000000_§",
    "Alibaba OSS": "?OSSAccessKeyId=§&Expires=1700000000&Signature=§",
    "Alibaba CDN, type A": "?auth_key=1444435200-0-0-§",
    "Tencent COS": "?q-sign-algorithm=sha1&q-ak=§&q-sign-time=1;2&q-url-param-list=&q-signature=§",
    "Tencent CDN, type A": "?sign=1700000000-0-0-§",
    "Tencent VOD": "?exper=0&rlimit=3&us=§&sign=§",
    "Huawei CDN": "?auth_info=§&vhost=a",
    "Bunny, query": "?token=§&token_path=%2F&expires=1598024587",
    "KeyCDN": "?token=§&expire=1700000000",
    "Fastly": "?token=1700000000_§",
    "Cloudflare, HMAC": "?verify=1700000000-§",
    "Mux": "?token=§",
    "Nimble Streamer": "?wmsAuthSign=§",
    "Wowza": "?wowzatokenstarttime=1&wowzatokenendtime=2&wowzatokenhash=§",
    "Edgio MediaVault": "?e=1700000000&h=§",
    "nginx secure_link, query": "?md5=§&expires=2147483647",
    "CacheFly": "?ps=§",
    "Dropbox": "?rlkey=§&dl=0",
    "Discord": "?ex=65d903de&is=65c68ede&hm=§",
    "Facebook": "?_nc_cat=1&oh=§&oe=65D9",
    "Instagram": "?efg=§&_nc_gid=§",
    "OneDrive": "?authkey=%21§",
    "SharePoint": "?tempauth=§",
    "Slack": "?pub_secret=§",
    "Slack, token": "?t=xoxe-§",
    "Kaltura": "?ks=§",
    "Backblaze B2": "?Authorization=§",
    "Zoom": "?pwd=§",
    "Vimeo, unlisted": "?h=§",
    "YouTube, stream": "?expire=1700000000&ei=§&ip=192.0.2.1&sig=§&lsig=§",
    "Mega": "#§",
    "OAuth 2, fragment": "#access_token=§&token_type=Bearer",
    "Java session": ";jsessionid=§",
    "name written with an escape": "?s%69g=§",
    "name that nobody knows": "?zq7=§",
}
SIGNED_PATHS = {
    "Google Media CDN": "/edge-cache-token=Expires=1700000000&KeyName=k&Signature=§/video.mp4",
    "Akamai": "/hdnea=exp=1700000000~acl=!*~hmac=§/video.mp4",
    "Vimeo": "/exp=1700000000~acl=%2Fabc%2F%2A~hmac=§/video.mp4",
    "Alibaba CDN, type B": f"/202401011200/{MD5}/video.mp4",
    "Alibaba CDN, type C": f"/{MD5}/65a00000/video.mp4",
    "Bunny": "/bcdn_token=§&expires=1598024587&token_path=%2F/video.mp4",
    "nginx secure_link": f"/s/{BASE64}/2147483647/video.mp4",
    "Cloudflare Stream": f"/{JWT}/manifest/video.m3u8",
    "Telegram bot": "/file/bot123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11/videos/file_0.mp4",
    "YouTube": f"/videoplayback/expire/1700000000/ei/{BASE64}/sig/{SHA256}",
    "parameter in a folder": "/token=§/video.mp4",
    "query in the path": "/video.mp4%3F§",
    "long random text as an id": "/video.mp4?v=§",
    "long random text in the name of a file": "/get?file=/§/a.mp4",
    "long random text in the fragment": "/video.mp4#id=§",
    "login in the path": "/x/user:hunter2@other.org/v.mp4",
    "nested address": "/proxy/https://me:§@example.com/video.mp4",
    "nested and escaped address": "/proxy/https%253A%252F%252Fme%3A§%40example.com%2Fvideo.mp4",
}


@pytest.mark.parametrize("secret", [MD5, SHA256, BASE64, "hunter2", "12345"])
@pytest.mark.parametrize("form", SIGNED_QUERIES.values(), ids=SIGNED_QUERIES.keys())
def test_what_signs_a_request_is_left_out(form: str, secret: str) -> None:
    video = "https://cdn.example.org/videos/a%20b.mp4"
    assert without_secrets(video + form.replace("§", secret)) == video
    if form.startswith("?"):
        assert without_secrets(f"{video}?id=5&{form[1:]}".replace("§", secret)) == f"{video}?id=5"


@pytest.mark.parametrize("form", SIGNED_PATHS.values(), ids=SIGNED_PATHS.keys())
def test_path_with_a_token_becomes_a_digest(form: str) -> None:
    signed = f"https://cdn.example.org{form.replace('§', BASE64)}"
    published = without_secrets(signed)
    assert re.fullmatch("https://cdn[.]example[.]org/#sha256=[0-9a-f]{64}", published)
    assert without_secrets(published) == published
    assert published != without_secrets(signed.replace("org/", "org/5/"))


def test_digest_of_a_nested_address_does_not_depend_on_its_password() -> None:
    nested = [without_secrets(f"https://example.org/get/https://me:{word}@example.com/1.mp4") for word in ("a", "b")]
    assert nested[0] == nested[1]


@pytest.mark.parametrize(
    "url",
    [
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf&t=3s",
        "https://youtu.be/dQw4w9WgXcQ",
        "https://www.facebook.com/watch/?v=647537299265662",
        "https://www.facebook.com/story.php?story_fbid=10102577175875681&id=4",
        "https://www.bilibili.com/video/BV1bK411W797?p=2",
        "https://vk.com/videos-77521?z=video-77521_162222515%2Fclub77521",
        "https://www.nicovideo.jp/watch/sm22312215",
        "https://www.dailymotion.com/video/x5kesuj",
        "https://vimeo.com/56015672#t=30",
        "https://www.tiktok.com/@leenabhushan/video/6748451240264420610",
        "https://clips.twitch.tv/CulturedAmazingKuduDatSheffy-TiZ_-ixAGYR3y2Uy",
        "https://drive.google.com/file/d/1ENcQ_jeCuj7y19s66_Ou9dRP4GKGsodiDQ/view",
        "https://drive.google.com/uc?id=0ByeS4oOUV-49Zzh4R1J6R09zazQ",
        "https://video.example.org/w/6gvhZpUGQVd4SQ6oYDc9pC",
        "https://framatube.org/videos/watch/9c9de5e8-0a1e-484a-b099-e80766180a6d",
        "https://v.youku.com/v_show/id_XNTA2NTA0MjA1Mg==.html",
        "https://upload.wikimedia.org/wikipedia/commons/c/c0/Big_Buck_Bunny_4K.webm/Big_Buck_Bunny_4K.webm.480p.vp9.webm",
        "https://archive.org/download/BigBuckBunny_124/Content/big_buck_bunny_720p_surround.mp4",
        "https://example.org/GX010123_1080p60_h265_v2_x264_aac_2ch.mp4",
        f"https://example.org/data/videos/mp4/8f1/4e4/{MD5}.mp4",
        "https://example.org/talks/2024-05-17_opening-keynote_1080p60_h264_v2.mp4",
        "https://example.org/vid%C3%A9os/%E6%98%A0%E7%94%BB%E3%81%AE%E4%BA%88%E5%91%8A%E7%B7%A8.mp4",
        "https://example.org/v?id=123e4567-e89b-12d3-a456-426614174000",
        "https://example.org/feed?q={query}&n={count}",
        "not an address?sig=1",
        "videos/a.mp4;x=1?sig=1#y",
    ],
)
def test_what_identifies_a_video_is_kept_as_it_is_written(url: str) -> None:
    assert without_secrets(url) == url


@pytest.mark.parametrize("mark", ["/", "?", "#", "%2F", "@", "%40", ":", "%2540"])
@pytest.mark.parametrize(
    "form", ["https://{}@a.org/v.mp4", "{}@a.org/v.mp4", "//{}@a.org/v.mp4", "https:/{}@a.org/v.mp4"]
)
@pytest.mark.parametrize(
    "login", ["me:SECRET{}1", "me:1{}SECRET", "m.e:SECRET{}1", "me%3ASECRET{}1", "me@x.org:1{}SECRET"]
)
def test_password_with_any_character_is_left_out(mark: str, form: str, login: str) -> None:
    address = form.format(login.format(mark))
    for text in (address, address.replace("@a", "%40a")):
        assert "SECRET" not in hide_secrets(f"{text}: cannot be read ({text!r}).")
        assert "://" not in text or "SECRET" not in without_secrets(text)


def test_password_is_left_out() -> None:
    assert without_secrets("https://me:secret@example.org/x?v=1") == "https://example.org/x?v=1"
    assert without_secrets("http://[bad/me:secret@x?v=1") == "http:"
    text = "cannot read https://me:secret@example.org/x?v=1&sig=2 nor 's3://key:secret@bucket/x'"
    assert hide_secrets(text) == "cannot read https://example.org/x?v=1 nor 's3://bucket/x'"


@pytest.mark.parametrize(
    ("alphabet", "length"),
    [
        ("0123456789abcdef", 32),
        (string.ascii_letters + string.digits + "-_", 22),
        (string.ascii_letters + string.digits, 32),
        (string.ascii_lowercase + string.digits, 24),
        (string.ascii_uppercase + "234567", 32),
    ],
)
def test_nearly_no_drawn_token_is_published(alphabet: str, length: int) -> None:
    draw = random.Random(58)
    tokens = ["".join(draw.choices(alphabet, k=length)) for _ in range(1000)]
    published = sum(token in without_secrets(f"https://example.org/{token}/1.mp4") for token in tokens)
    assert published <= 40


@given(st.text())
def test_any_text_is_taken_and_the_result_stays_the_same(text: str) -> None:
    for url in (text, f"https://example.org/{text}", f"https://example.org/?{text}", f"https://example.org/x#{text}"):
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
    "text",
    [
        "HTTP Error 403: Forbidden /v/a.mp4?token=SECRET (caused by <HTTPError 403: Forbidden /v/a.mp4?token=SECRET>)",
        "Max retries exceeded with url: a.mp4?SECRET",
        "cannot read 'example.org/a.mp4?token=SECRET'",
        "moved to //example.org/a.mp4?token=SECRET.",
        "https://example.org/a.mp4?name='SECRET'",
        "https://user:'SECRET@example.org/a.mp4",
        'GET https://example.org/a.mp4?name="SECRET" failed',
        "see_https://user:SECRET@example.org/a.mp4",
    ],
)
def test_secrets_of_requests_that_a_message_repeats_are_hidden(text: str) -> None:
    hidden = hide_secrets(text)
    assert "SECRET" not in hidden
    assert "a.mp4" in hidden


def test_questions_in_a_message_stay() -> None:
    text = "Is this a video? See docs/faq.md, and/or ask: what? '/v?id=7' is one."
    assert hide_secrets(text) == text
