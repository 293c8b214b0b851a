"""Tests of the findings on captions: counts of words, and texts that several clips share."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from vttdata.report.caption_findings import find_odd_captions

TEXTS = st.text(st.sampled_from([*"ab \t\n\x1c-", "é", "\u00a0", "\u3000", "\u0085"]), max_size=8)


@given(st.lists(TEXTS, max_size=6))
def test_words_are_what_white_space_separates(texts: list[str]) -> None:
    table = pa.table({"video_id": ["v"] * len(texts), "caption": texts, "annotator": pa.nulls(len(texts), pa.string())})
    # A slice has its texts in the middle of a buffer.
    for captions in (table, table.slice(1)):
        found = find_odd_captions(captions)
        assert found.words == Counter(len(text.split()) for text in captions["caption"].to_pylist())


def test_words_of_scripts_without_spaces_are_letters() -> None:
    table = pa.table({"video_id": ["v"], "caption": ["一个 man 跑"], "annotator": pa.nulls(1, pa.string())})
    assert find_odd_captions(table).words == {4: 1}


def test_damaged_captions_are_listed() -> None:
    texts = ["a café", "a cafÃ©", "a dog", "a \ufffd"]
    table = pa.table({"video_id": ["v1", "v2", "v3", "v4"], "caption": texts, "annotator": pa.nulls(4, pa.string())})
    assert find_odd_captions(table).damaged == [("v2", "a cafÃ©"), ("v4", "a \ufffd")]


def test_texts_are_shared_by_clips_and_not_by_captions_of_one() -> None:
    rows = [("v1", "A dog"), ("v1", "a dog"), ("v1", "a cat"), ("v2", "a cow"), ("v2", "a Cat"), ("v3", "a cow")]
    video_ids, captions = zip(*rows, strict=True)
    annotators = pa.nulls(len(rows), pa.string())
    found = find_odd_captions(pa.table({"video_id": video_ids, "caption": captions, "annotator": annotators}))
    assert found.shared == {"a cat": 2, "a cow": 2}
    assert found.shared_captions == 4
