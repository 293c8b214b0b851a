"""Captions are matched to clips by id, source and time."""

from __future__ import annotations

import pytest

from vttdata.records import Clip, Source
from vttdata.text.captions import RawCaption
from vttdata.text.clip_matching import CaptionMatcher, Loss, UnmatchedCaption, match_captions


def source(source_id: str, file: str, url: str | None = None) -> Source:
    return Source(source_id, file, "listed", "0" * 64, 1, url=url)


def clip(video_id: str, source_id: str, start: float, end: float) -> Clip:
    return Clip(video_id, source_id, start, end, 0, 1, 1)


CLIPS = [clip("c1", "s1", 0, 10), clip("c2", "s1", 10, 22), clip("c3", "s2", 5, 15)]
SOURCES = [
    source("s1", "a/one.mp4", "https://example.org/1"),
    source("s2", "b/two.mp4"),
    source("s3", "b/same.mp4"),
    source("s4", "c/same.mp4"),
]


def match(**fields: object) -> str:
    result = CaptionMatcher(CLIPS, SOURCES).match(RawCaption("x", 4, **fields))  # type: ignore[arg-type]
    return result.reason if isinstance(result, UnmatchedCaption) else result


@pytest.mark.parametrize("name", ["s1", "a/one.mp4", "one.mp4", "https://example.org/1"])
def test_source_is_found_by_id_path_name_and_url(name: str) -> None:
    assert match(source=name, start=11.0, end=14.0) == "c2"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0.0, 10.0, "c1"),
        (8.0, 11.0, "c1"),
        (9.0, 12.5, "c2"),
        (8.0, 12.0, "ambiguous"),
        # 2.2 s of both clips, but for rounding.
        (7.8, 12.2, "ambiguous"),
        (18.0, 26.0, "c2"),
        (18.0, 26.1, "outside_clips"),
        (40.0, 50.0, "outside_clips"),
        (5.0, 5.0, "outside_clips"),
        (9.0, 3.0, "outside_clips"),
    ],
)
def test_span_belongs_to_the_clip_that_covers_most_and_at_least_half_of_it(
    start: float, end: float, expected: str
) -> None:
    assert match(source="s1", start=start, end=end) == expected


def test_clip_id_takes_precedence_over_source_and_times() -> None:
    assert match(video_id="c3", source="s1", start=0.0, end=10.0) == "c3"


def test_unknown_clip_id_falls_back_to_the_source() -> None:
    assert match(video_id="other", source="s2") == "c3"


def test_untimed_caption_needs_single_clip_source() -> None:
    assert match(source="s2") == "c3"
    assert match(source="s1") == "ambiguous"


def test_unknown_and_ambiguous_names_have_their_reason() -> None:
    assert match(video_id="../c1") == "unknown_clip"
    assert match(source="nowhere.mp4") == "unknown_clip"
    assert match(source="same.mp4") == "ambiguous"
    assert match(source="b/same.mp4") == "outside_clips"


@pytest.mark.parametrize("name", ["c1.mp4", "videos/c1.MP4", "clips\\c1.webm"])
def test_clip_may_be_named_by_its_file(name: str) -> None:
    assert match(video_id=name) == "c1"


def test_id_of_a_table_that_guards_against_formulas_is_found() -> None:
    """A table of `campaign score` has a ' before ids that a spreadsheet would run."""
    names = ["-uwY3sjqYX0", "'quoted"]
    matcher = CaptionMatcher([clip(name, "s", 0, 9) for name in names], [])
    assert [matcher.match(RawCaption("x", 1, video_id=name)) for name in ("'-uwY3sjqYX0", *names)] == [names[0], *names]


@pytest.mark.parametrize("name", ["two.mp4", "two", "b/two.mp4", "b\\two.mp4", "./b/two.mp4"])
def test_file_name_of_a_source_serves_as_video_id_or_source(name: str) -> None:
    assert match(video_id=name) == match(source=name) == "c3"
    assert match(video_id="one.mp4", start=11.0, end=14.0) == "c2"
    assert match(video_id="same.mp4") == "ambiguous"


@pytest.mark.parametrize("name", ["s5", "d/copy.mp4", "copy.mp4", "copy", "https://example.org/5"])
def test_names_of_a_copy_stand_for_the_source_that_was_kept(name: str) -> None:
    copies = [(source("s5", "d/copy.mp4", "https://example.org/5"), "s2")]
    assert CaptionMatcher(CLIPS, SOURCES, copies).match(RawCaption("x", 4, name)) == "c3"


def test_name_of_a_copy_and_of_another_source_is_ambiguous() -> None:
    matcher = CaptionMatcher(CLIPS, SOURCES, [(source("s5", "d/one.mp4"), "s2"), (source("s6", "d/two.mp4"), "s2")])
    shared = matcher.match(RawCaption("x", 4, "one.mp4"))
    assert isinstance(shared, UnmatchedCaption)
    assert shared.reason == "ambiguous"
    # Both files of this name have the same pictures.
    assert matcher.match(RawCaption("x", 4, "two.mp4")) == "c3"
    assert matcher.match(RawCaption("x", 4, "s1", start=0.0, end=9.0)) == "c1"


def test_every_caption_is_matched_or_unmatched_with_its_line() -> None:
    raws = [RawCaption("one", 2, "c1"), RawCaption("two", 3, "c9"), RawCaption("three", 4, "c1")]
    by_clip, unmatched = match_captions(raws, CLIPS, SOURCES)
    assert by_clip == {"c1": [raws[0], raws[2]], "c2": [], "c3": []}
    assert [(caption.reason, caption.raw.line) for caption in unmatched] == [("unknown_clip", 3)]


def test_order_of_clips_and_sources_does_not_matter() -> None:
    raw = RawCaption("x", 2, source="s1", start=9.0, end=12.5)
    assert CaptionMatcher(CLIPS[::-1], SOURCES[::-1]).match(raw) == CaptionMatcher(CLIPS, SOURCES).match(raw) == "c2"


@pytest.mark.parametrize("file", ["caf\u00e9.mp4", "cafe\u0301.mp4"])
@pytest.mark.parametrize("name", ["caf\u00e9.mp4", "cafe\u0301"])
def test_names_are_compared_in_their_composed_form(file: str, name: str) -> None:
    matcher = CaptionMatcher([clip("c1", "s1", 0, 10)], [source("s1", file)])
    assert matcher.match(RawCaption("x", 4, source=name)) == "c1"


def test_names_that_differ_only_by_composition_are_ambiguous() -> None:
    sources = [source("s1", "a/caf\u00e9.mp4"), source("s2", "b/cafe\u0301.mp4")]
    matcher = CaptionMatcher([clip("c1", "s1", 0, 10), clip("c2", "s2", 0, 10)], sources)
    result = matcher.match(RawCaption("x", 4, source="caf\u00e9.mp4"))
    assert isinstance(result, UnmatchedCaption)
    assert result.reason == "ambiguous"


LOSSES = [
    Loss("s7", "d/short.mp4", "was rejected in stage screen: too_short (2 s)"),
    Loss("s8", "https://example.org/8", "failed in stage collect: gone (404)"),
    Loss("s9", "d/one.mp4", "was rejected in stage filter: dark (0.9)"),
    Loss("c7", None, "failed in stage cut: damaged (x)"),
    Loss("s3", "b/same.mp4", "was rejected in stage clips: too_short (1 s)"),
]


@pytest.mark.parametrize(
    ("fields", "reason", "why"),
    [
        ({"source": "s7"}, "rejected_source", "source s7 was rejected in stage screen: too_short (2 s)"),
        ({"source": "d/short.mp4"}, "rejected_source", "source s7 was rejected in stage screen: too_short (2 s)"),
        ({"video_id": "short"}, "rejected_source", "source s7 was rejected in stage screen: too_short (2 s)"),
        ({"source": "https://example.org/8"}, "rejected_source", "source s8 failed in stage collect: gone (404)"),
        ({"source": "b/same.mp4"}, "rejected_source", "source s3 was rejected in stage clips: too_short (1 s)"),
        ({"video_id": "c7.mp4"}, "rejected_clip", "clip c7 failed in stage cut: damaged (x)"),
        # A rejected source has the name too, so that the caption may be about either.
        ({"source": "one.mp4", "start": 0.0, "end": 9.0}, "ambiguous", "several sources are called 'one.mp4'"),
        ({"source": "8"}, "unknown_clip", "there is no clip or source '8'"),
    ],
)
def test_caption_of_what_was_lost_says_where_and_why(fields: dict[str, object], reason: str, why: str) -> None:
    result = CaptionMatcher(CLIPS, SOURCES, [], LOSSES).match(RawCaption("x", 4, **fields))  # type: ignore[arg-type]
    assert isinstance(result, UnmatchedCaption)
    assert (result.reason, result.detail) == (reason, f"line 4: {why}")


def test_copy_that_was_left_out_still_stands_for_the_source_that_was_kept() -> None:
    copies, losses = [(source("s5", "d/copy.mp4"), "s2")], [Loss("s5", "d/copy.mp4", "was rejected")]
    for name in ("s5", "d/copy.mp4", "copy"):
        assert CaptionMatcher(CLIPS, SOURCES, copies, losses).match(RawCaption("x", 4, name)) == "c3"
