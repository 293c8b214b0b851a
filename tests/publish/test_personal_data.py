"""What a publication would say of people is listed, and pseudonyms hide the names of annotators."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.builds import film
from vttdata.dataset import Metadata, write_dataset
from vttdata.errors import VttdataError
from vttdata.publish.personal_data import find_personal_data
from vttdata.records import Caption, Clip, Source
from vttdata.text.captions import RawCaption, pseudonymise, read_salt


def write(folder: Path, *captions: Caption, uploader: str | None = None) -> Path:
    write_dataset(
        folder,
        clips=[Clip("v1", "s1", 0.0, 3.0, None, None, 1, split="test")],
        captions=list(captions),
        sources=[Source("s1", "", "nowhere", "", 0, uploader=uploader)],
        metadata=Metadata("me/x"),
        media=None,
    )
    return folder


def test_names_addresses_and_tags_of_devices_are_listed(tmp_path: Path) -> None:
    captions = [
        Caption("v1", 1, "write to ann@example.org", "Ann Lee"),
        Caption("v1", 2, "a picture", "w0123456789ab"),
        Caption("v1", 3, "a film", "17"),
    ]
    dataset = write(tmp_path / "dataset", *captions, uploader="Bob's films")
    (dataset / "videos" / "test").mkdir(parents=True)
    tags = ("-metadata", "location=+48.1374+011.5755/", "-metadata", "comment=my phone")
    film(dataset / "videos" / "test" / "v1.mp4", 1, options=tags)
    items = "\n".join(find_personal_data(dataset).items)
    assert "names of annotators: 'Ann Lee'; captions.pseudonyms=FILE" in items
    assert "names of uploaders: 'Bob's films'" in items
    assert "e-mail addresses in captions.caption: 'ann@example.org'" in items
    assert "tags of places, devices or people in 1 videos: 'videos/test/v1.mp4: " in items
    assert "+48.1374+011.5755/" in items


def test_where_nothing_is_personal_that_is_said(tmp_path: Path) -> None:
    section = find_personal_data(write(tmp_path / "dataset", Caption("v1", 1, "a picture", "w0123456789ab")))
    assert (list(section.items), section.sentences) == (
        [],
        ["No names, addresses or tags of people were found in tables and videos."],
    )


def test_pseudonyms_are_those_of_the_secret(tmp_path: Path) -> None:
    salt = tmp_path / "salt.txt"
    salt.write_text("0123456789abcdef\n")
    raws = [RawCaption("a film", 1, annotator="Ann Lee"), RawCaption("a film", 2, verified_by="Ann Lee")]
    first, second = pseudonymise(raws, read_salt(salt))
    # printf 'Ann Lee' | openssl dgst -sha256 -hmac 0123456789abcdef
    assert first.annotator == second.verified_by == "w6feb3f654fcd"
    assert (first.verified_by, second.annotator) == (None, None)
    salt.write_text("short\n")
    with pytest.raises(VttdataError, match="holds 5 characters, and a secret needs 16"):
        read_salt(salt)
