"""Caption tables are read and captions cleaned."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vttdata.errors import VttdataError
from vttdata.ids import sentence_id
from vttdata.records import Caption
from vttdata.text.captions import (
    CaptionSettings,
    RawCaption,
    Removal,
    clean_captions,
    clean_text,
    read_caption_table,
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def clean(*texts: str, **settings: object) -> list[Caption | Removal]:
    raws = [RawCaption(text, line, "v1") for line, text in enumerate(texts, 2)]
    return clean_captions("v1", raws, CaptionSettings(**settings))  # type: ignore[arg-type]


def reasons(results: list[Caption | Removal]) -> list[str]:
    return [result.reason for result in results if isinstance(result, Removal)]


def kept(results: list[Caption | Removal]) -> set[str]:
    return {result.caption for result in results if isinstance(result, Caption)}


class TestReading:
    def test_mapped_columns_are_read(self, tmp_path: Path) -> None:
        file = write(tmp_path / "c.csv", "clip,text,worker\nv1,a man runs,w7\n")
        mapping = {"video_id": "clip", "caption": "text", "annotator": "worker"}
        assert list(read_caption_table(file, mapping)) == [RawCaption("a man runs", 2, "v1", annotator="w7")]

    def test_source_and_times_are_read_from_tsv(self, tmp_path: Path) -> None:
        text = "source\tstart\tend\tcaption\tsen_id\na.mp4\t1.5\t4\tone two\t9223372036854775807\n"
        file = write(tmp_path / "c.tsv", text)
        expected = RawCaption("one two", 2, None, "a.mp4", 1.5, 4.0, sen_id=2**63 - 1)
        assert list(read_caption_table(file)) == [expected]

    def test_json_lines_may_leave_optional_columns_out(self, tmp_path: Path) -> None:
        rows = [{"video_id": 7, "caption": "one two"}, {"video_id": "8", "caption": None, "who": "w"}]
        file = write(tmp_path / "c.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        raws = list(read_caption_table(file, {"annotator": "who"}))
        assert raws == [RawCaption("one two", 1, "7"), RawCaption("", 2, "8", annotator="w")]

    def test_times_may_be_clock_times_and_have_decimal_commas_between_semicolons(self, tmp_path: Path) -> None:
        text = "Source;START;End;Caption\r\na.mp4;0:05,5;1:02:03.250;one, two\r\na.mp4;12,5;75:30;three\r\n"
        spans = [(raw.start, raw.end) for raw in read_caption_table(write(tmp_path / "c.csv", text))]
        assert spans == [(5.5, 3723.25), (12.5, 4530.0)]

    def test_names_keep_their_inner_spaces(self, tmp_path: Path) -> None:
        file = write(tmp_path / "c.csv", "source,caption\n-a  b%.mp4,x y\n")
        assert next(read_caption_table(file)).source == "-a  b%.mp4"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "video_id,captoin\nv1,x\n",
                r"c\.csv:1: .*'caption'.*did you mean 'captoin'\?\); .* --columns caption=captoin",
            ),
            ("vidoe_id,caption\nv1,x\n", r"c\.csv:1: .*'video_id' or 'source'.*did you mean 'vidoe_id'"),
            ("clip,text\nv1,x\n", r"c\.csv:1: .* the columns are 'clip', 'text'; .* --columns caption=COLUMN --col"),
            ("video_id,caption\n,x\n", r"c\.csv:2: the video is not named; 'video_id' should not be empty"),
            ("source,start,end,caption\ns,0:61,3,x\n", r"c\.csv:2: 'start' is '0:61', not a time like 12\.5, 1:05"),
            ("source,start,end,caption\ns,1,inf,x\n", r"c\.csv:2: 'end' is 'inf', not a time"),
            ("source,start,end,caption\ns,1,,x\n", r"c\.csv:2: 'start' and 'end' go together"),
            ("video_id,caption,sen_id\nv,x,-3\n", r"c\.csv:2: 'sen_id' is '-3'"),
            ("video_id,caption,sen_id\nv,x,9223372036854775808\n", r"c\.csv:2: 'sen_id'"),
        ],
    )
    def test_error_names_file_and_line_of_a_wrong_row(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(VttdataError, match=message):
            list(read_caption_table(write(tmp_path / "c.csv", text)))

    @pytest.mark.parametrize("name", ["c.csv", "c.jsonl"])
    def test_missing_mapped_column_is_an_error(self, tmp_path: Path, name: str) -> None:
        table = {"c.csv": "video_id,caption,worker\nv,x,w\n", "c.jsonl": '{"video_id":"v","caption":"x","worker":1}\n'}
        with pytest.raises(VttdataError, match=r"no column 'wroker'.*did you mean 'worker'"):
            list(read_caption_table(write(tmp_path / name, table[name]), {"annotator": "wroker"}))

    def test_caption_that_is_not_a_text_is_an_error(self, tmp_path: Path) -> None:
        file = write(tmp_path / "c.jsonl", '{"video_id": "v", "caption": ["x"]}\n')
        with pytest.raises(VttdataError, match=r"c\.jsonl:1: the caption is list"):
            list(read_caption_table(file))

    def test_settings_refuse_unknown_columns_and_contradictions(self) -> None:
        with pytest.raises(ValueError, match="did you mean 'annotator'"):
            CaptionSettings(columns={"anotator": "worker"})
        with pytest.raises(ValueError, match="below min_words"):
            CaptionSettings(min_words=5, max_words=4)
        with pytest.raises(ValueError, match="ISO 639"):
            CaptionSettings(language="English")


class TestCleaning:
    def test_clean_text_is_composed_visible_and_evenly_spaced(self) -> None:
        assert clean_text(" e\u0301te\x00\u0301\t\u00a0a\u200bb\u2028c\ufeff \u202e") == "été ab c"

    def test_joiners_within_words_stay(self) -> None:
        assert clean_text("\u0645\u06cc\u200c\u062e\u0648") == "\u0645\u06cc\u200c\u062e\u0648"

    @given(st.text())
    def test_cleaning_twice_changes_nothing(self, text: str) -> None:
        once = clean_text(text)
        assert clean_text(once) == once
        assert unicodedata.is_normalized("NFC", once)
        once.encode()

    def test_every_removal_has_its_reason(self) -> None:
        results = clean("a man runs", "a man runs", "A man  runs", "\u200d\x00", "runs", "w " * 9, max_words=8)
        assert kept(results) == {"A man runs"}
        assert sorted(reasons(results)) == ["case_duplicate", "case_duplicate", "empty", "too_long", "too_short"]

    @pytest.mark.parametrize("text", ["一个男人在跑步", "男の子が走る", "เขากำลังวิ่ง", "ຊາຍແລ່ນ"])
    def test_words_of_scripts_without_spaces_are_letters(self, text: str) -> None:
        assert kept(clean(text)) == {text}
        assert reasons(clean(text[:1])) == ["too_short"]
        assert reasons(clean(text * 20)) == ["too_long"]

    def test_longest_caption_may_have_max_words(self) -> None:
        assert reasons(clean("w x y z", "w x y z v", max_words=4)) == ["too_long"]

    def test_exact_and_caseless_duplicates_are_distinguished(self) -> None:
        assert reasons(clean("so it is", "so  it is", "So it is")) == ["case_duplicate", "case_duplicate"]
        assert reasons(clean("so it is", "so  it is", "zebra crossing")) == ["duplicate"]

    def test_very_long_word_is_too_long(self) -> None:
        assert reasons(clean("a " + "x" * 2000)) == ["too_long"]

    def test_annotator_and_official_id_stay(self) -> None:
        raws = [RawCaption("a man runs", 2, "v1", annotator="w7", sen_id=99, author="system-a", language="en-GB")]
        expected = Caption("v1", 99, "a man runs", "w7", "en-GB", "system-a")
        assert clean_captions("v1", raws, CaptionSettings()) == [expected]

    def test_language_is_not_taken_from_others_where_the_script_is_another(self) -> None:
        raws = [
            RawCaption("狗在跑", 2, "v1"),
            RawCaption("猫在睡", 3, "v1", language="zh"),
            RawCaption("a dog", 4, "v1"),
        ]
        results = clean_captions("v1", raws, CaptionSettings())
        languages = {result.caption: result.language for result in results if isinstance(result, Caption)}
        assert languages == {"狗在跑": "und", "猫在睡": "zh", "a dog": "en"}

    def test_id_without_an_official_one_comes_from_the_text(self) -> None:
        (caption,) = clean("a man runs")
        assert isinstance(caption, Caption)
        assert caption.sen_id == sentence_id("v1", None, "a man runs")

    def test_lowest_official_id_survives_among_duplicates(self) -> None:
        raws = [RawCaption("A man runs", 2, sen_id=5), RawCaption("a man runs", 3, sen_id=4)]
        (caption, removal) = clean_captions("v1", raws, CaptionSettings())
        assert isinstance(caption, Caption)
        assert caption.sen_id == 4
        assert isinstance(removal, Removal)
        assert (removal.reason, removal.line) == ("case_duplicate", 2)

    def test_captions_with_the_same_official_id_are_removed(self) -> None:
        raws = [RawCaption("a man runs", 2, sen_id=5), RawCaption("a man walks", 3, sen_id=5)]
        results = clean_captions("v1", raws, CaptionSettings())
        assert [(result.reason, result.line) for result in results if isinstance(result, Removal)] == [
            ("doubled_id", 2),
            ("doubled_id", 3),
        ]

    @given(st.permutations(["a b", "A b", "a  b", "a B", "", "x", "c d", "C D", "c d e f"]), st.booleans())
    def test_kept_captions_do_not_depend_on_the_order_of_rows(self, texts: list[str], official: bool) -> None:
        numbers = {text: number for number, text in enumerate(sorted(texts))}
        raws = [RawCaption(t, line, sen_id=numbers[t] if official else None) for line, t in enumerate(texts)]
        settings = CaptionSettings(max_words=3)
        results = clean_captions("v", raws, settings)
        expected = clean_captions("v", sorted(raws, key=lambda raw: raw.caption), settings)
        assert [r for r in results if isinstance(r, Caption)] == [r for r in expected if isinstance(r, Caption)]
        assert sorted(reasons(results)) == sorted(reasons(expected))
        assert len(results) == len(texts)


class TestLanguage:
    def test_other_languages_are_removed_and_short_or_odd_english_is_kept(self) -> None:
        results = clean(
            "ein mann fährt mit dem fahrrad durch den park",
            "一个女人正在厨房里 做饭",
            "spongebob lego skit",
            "kung fu fight",
            "a man is singing",
            language="en",
        )
        assert kept(results) == {"spongebob lego skit", "kung fu fight", "a man is singing"}
        assert reasons(results) == ["language", "language"]

    def test_language_stated_in_a_row_is_trusted(self) -> None:
        raws = [RawCaption("hola amigo mio", 2, language="en-US"), RawCaption("a man runs", 3, language="de")]
        results = clean_captions("v1", raws, CaptionSettings(language="en"))
        assert kept(results) == {"hola amigo mio"}
        assert reasons(results) == ["language"]

    def test_language_unknown_to_the_detector_is_an_error(self) -> None:
        with pytest.raises(VttdataError, match="does not know 'qq'"):
            clean("a man runs", language="qq")
