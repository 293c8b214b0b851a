"""Flickr8k: the real release where it is at hand, and small files of its format."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from builders.flickr8k import read
from vttdata.errors import VttdataError

TOKENS = "b.jpg#0\tA child in a pink dress .\nb.jpg#1\tA girl .\na.jpg.1#0\tA dog # 2\truns .\n"


def write(folder: Path, tokens: str = TOKENS, test: str = "b.jpg\r\n") -> Path:
    (folder / "Flickr8k.token.txt").write_text(tokens)
    for split, images in {"train": "c.jpg", "dev": "d.jpg\n", "test": test}.items():
        (folder / f"Flickr_8k.{split}Images.txt").write_text(images, newline="")
    return folder


def test_real_release_has_published_counts(shared: Path) -> None:
    flickr8k = read(shared / "data" / "flickr8k")
    splits = Counter(clip.split for clip in flickr8k.clips)
    assert (len(flickr8k.clips), len(flickr8k.captions)) == (8_092, 40_460)
    # The last line of the published training list has no newline, and lines are all that this copy has of it.
    assert [splits[split] for split in ("train", "validation", "test", "unlisted")] == [5_999, 1_000, 1_000, 93]
    assert {finding.kind for finding in flickr8k.findings} == {"no_split", "duplicate_caption", "unknown_length"}
    assert flickr8k.captions[2].caption == "A little girl climbing into a wooden playhouse ."


def test_images_are_clips_without_length(tmp_path: Path) -> None:
    flickr8k = read(write(tmp_path))
    assert [(clip.video_id, clip.end, clip.split) for clip in flickr8k.clips] == [
        ("c", 0, "train"),
        ("d", 0, "validation"),
        ("b", 0, "test"),
        ("a.jpg.1", 0, "unlisted"),
    ]
    assert [(caption.video_id, caption.sen_id, caption.caption) for caption in flickr8k.captions] == [
        ("b", 0, "A child in a pink dress ."),
        ("b", 1, "A girl ."),
        ("a.jpg.1", 0, "A dog # 2\truns ."),
    ]


@pytest.mark.parametrize(
    ("tokens", "test", "words"),
    [
        ("b.jpg\tA child\n", "b.jpg", r"token\.txt:1: 'b\.jpg\\tA child' is not <image>#<number>"),
        (TOKENS, "b.jpg\n../b.jpg\n", r"testImages\.txt:2: '\.\./b' is not a usable id"),
    ],
)
def test_damaged_line_is_named(tmp_path: Path, tokens: str, test: str, words: str) -> None:
    with pytest.raises(VttdataError, match=words):
        read(write(tmp_path, tokens, test))
