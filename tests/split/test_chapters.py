"""Chapters of one recording of a camera, as GoPro names them, stay in one split."""

from __future__ import annotations

from tests.split.test_assign import clip
from vttdata.split import group_clips
from vttdata.split.chapters import chapter_pairs

# https://community.gopro.com/s/article/GoPro-Camera-File-Naming-Convention: recordings and their chapters.
RECORDINGS = [
    ["GH011234.MP4", "GH021234.MP4", "GH031234.MP4"],
    ["GX011234.MP4", "GX021234.MP4"],
    ["GOPR1234.MP4", "GP011234.MP4", "GP021234.MP4"],
    ["second card/GX011234.MP4"],
    ["GX011235.MP4"],
    ["holiday-GX021235.MP4"],
]


def test_chapters_of_a_recording_are_one_group_and_other_recordings_are_not() -> None:
    files = [file for recording in RECORDINGS for file in recording]
    clips = [clip(number, file) for number, file in enumerate(files)]
    groups = group_clips(clips, ("source", "near_duplicate"), chapter_pairs((file, file) for file in files))
    found: dict[str, list[str]] = {}
    for each in clips:
        found.setdefault(groups[each.video_id], []).append(each.source_id)
    assert sorted(found.values()) == sorted(RECORDINGS)
