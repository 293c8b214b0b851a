"""Captions that many clips have word for word are set aside before those of a clip are cleaned."""

from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.errors import VttdataError
from vttdata.pipeline.stages.captions import CleanCaptions, group_raw_captions
from vttdata.records import Clip
from vttdata.text.captions import CaptionSettings, read_caption_table

ROWS = (
    ("v0", "A man is talking."),
    ("v0", "a chef slices onions"),
    ("v1", "a man  is talking"),
    ("v1", "a man is talking"),
    ("v1", "two dogs run"),
    ("v2", "a MAN is talking!"),
    ("v2", "two dogs run"),
)


def group(folder: Path, settings: CaptionSettings) -> dict[str, list[tuple[str | None, list[str]]]]:
    table = folder / "captions.csv"
    table.write_text("video_id,caption\n" + "".join(f"{video},{text}\n" for video, text in ROWS))
    clips = [Clip(f"v{n}", f"s{n}", 0.0, 10.0, 0, 1, 1) for n in range(3)]
    grouped: dict[str, list[tuple[str | None, list[str]]]] = {}
    for item in group_raw_captions(table, read_caption_table(table), settings, clips, []):
        grouped.setdefault(item.video_id, []).append((item.reason, [raw.caption for raw in item.captions]))
    return grouped


def test_captions_of_many_clips_are_generic_whatever_their_case_and_punctuation(tmp_path: Path) -> None:
    grouped = group(tmp_path, CaptionSettings(generic_from=3))
    assert grouped["v0"] == [(None, ["a chef slices onions"]), ("generic", ["A man is talking."])]
    # Twice in one clip is one clip, and two clips are too few.
    assert grouped["v1"][0] == (None, ["two dogs run"])
    assert [reason for reason, _ in grouped["v1"][1:]] == ["generic", "generic"]
    assert grouped["v2"] == [(None, ["two dogs run"]), ("generic", ["a MAN is talking!"])]
    assert "generic" in CleanCaptions.reasons


def test_nothing_is_generic_without_the_setting(tmp_path: Path) -> None:
    grouped = group(tmp_path, CaptionSettings())
    assert all(reason is None for entries in grouped.values() for reason, _ in entries)


def test_rejected_caption_names_its_video_without_secrets(tmp_path: Path) -> None:
    table = tmp_path / "captions.csv"
    named = ("https://a.org/x.mp4?token=SECRET", "me:SECRET@a.org/y.mp4", "v0")
    table.write_text("source,caption\n" + "".join(f"{name},a dog runs\n" for name in named))
    clips = [Clip("v0", "v0", 0.0, 10.0, 0, 1, 1)]
    rejected = [
        item
        for item in group_raw_captions(table, read_caption_table(table), CaptionSettings(), clips, [])
        if item.reason
    ]
    assert [item.video_id for item in rejected] == ["https://a.org/x.mp4", "a.org/y.mp4"]
    assert "SECRET" not in "".join(item.detail for item in rejected)
    table.write_text("source,caption\nhttps://a.org/x.mp4?token=SECRET,a dog runs\n")
    with pytest.raises(VttdataError, match="none of its 1 captions") as caught:
        list(group_raw_captions(table, read_caption_table(table), CaptionSettings(), clips, []))
    assert "SECRET" not in str(caught.value)
