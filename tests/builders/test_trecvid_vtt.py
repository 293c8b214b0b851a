"""TRECVID's judgments: real counts, the lines that ids mean, and every oddity of the published files."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.trecvid_vtt import read as read_trecvid
from vttdata.annotations import Annotations
from vttdata.annotations.trecvid.id_offsets import peak
from vttdata.errors import VttdataError
from vttdata.people import replication, significance, system_scores

VIDEOS = 260
WORDS = [f"word{number}" for number in range(20)]


def write_set(
    folder: Path,
    *,
    lines: list[int],
    number: Callable[[int], int] = lambda line: line + 1,
    reference: str = "trecvid16-vtt-enen-ref.en",
    reference_lines: list[int] | None = None,
    rows_per_line: int = 1,
    hit: bool = False,
) -> Path:
    """A set about some of the year's videos; a caption shares words with its video's reference if it is judged well."""
    (folder / "systems").mkdir(parents=True)
    (folder / "references").mkdir()
    texts = {line: random.Random(line).sample(WORDS, 6) for line in range(VIDEOS)}
    quality = {(line, system): random.Random(f"{line}{system}").random() for line in range(VIDEOS) for system in "AB"}
    rows = []
    for system in "AB":
        captions = []
        for line in lines:
            shared = round(6 * quality[line, system])
            captions.append(" ".join([*texts[line][:shared], f"{system}{line}", "x" * (6 - shared)]))
        (folder / "systems" / f"trecvid16-vtt.en-en.{system}").write_text("\r\n".join(captions) + "\r\n")
        for index, line in enumerate(lines):
            score = quality[line, system]
            cells = [system, number(index), 100 * score, 2 * score - 1, 17]
            rows += [[*cells, copy] if hit else cells for copy in range(rows_per_line)]
    reference_lines_of_file = [" ".join(texts[line]) for line in (reference_lines or lines)]
    (folder / "references" / reference).write_text("\n".join(reference_lines_of_file) + "\n")
    head = "SYS,SID,RAW.SCR,Z.SCR,N" + ",HIT" * hit
    (folder / "ad-seg-scores-en-en.csv").write_text(
        "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n"
    )
    (folder / "urls").write_text("\n".join(f"https://v.example/{line}.mp4" for line in lines) + "\n")
    return folder


def write_single(root: Path, year: str = "2016", **options: object) -> Path:
    return write_set(root / "single-annotator" / year, lines=list(range(VIDEOS)), **options)  # type: ignore[arg-type]


def found(read: Annotations) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for finding in read.findings:
        counts[finding.kind] += finding.count
    del counts["unknown_length"]
    return dict(counts)


@pytest.fixture(scope="module")
def real(shared: Path) -> Annotations:
    return read_trecvid(shared / "data" / "trecvid-vtt")


def test_real_judgments_have_published_counts_and_lines(real: Annotations) -> None:
    read = real
    assert Counter(own.campaign for own in read.scores) == {
        "2016-single": 6640,
        "2017-single": 22440,
        "2016-multiple": 1540,
        "2017-multiple": 1540,
    }
    assert Counter(clip.split for clip in read.clips) == {"year2016": 1873, "year2017": 1880}
    totals: Counter[str] = Counter()
    for own in read.scores:
        totals[own.campaign] += own.assessments
    assert (totals["2016-single"], totals["2017-single"]) == (106 * 85, 415 * 85)
    for campaign in totals:
        scans = [scan for scan in read.alignment if scan.campaign == campaign]
        assert peak(scans) == -1
        highest = {scan.offset: scan.correlation for scan in scans}
        assert highest[-1] > 2.5 * max(value for offset, value in highest.items() if offset != -1)
    assert found(read)["wrapped_id"] == 4 + 12 + 1 + 1
    assert found(read)["video_not_in_set"] == (1873 - 1760) + (1880 - 1773)
    assert found(read)["unusable_urls"] == 1
    assert found(read)["video_of_several_years"] == 2 * 2


def test_single_and_multiple_annotators_rank_real_systems_alike(real: Annotations) -> None:
    read = real
    for year, systems, published in (("2016", 5, (".973", ".986")), ("2017", 13, (".946", ".947"))):
        one, many = (
            system_scores(own for own in read.scores if own.campaign == f"{year}-{kind}")
            for kind in ("single", "multiple")
        )
        raw, z = replication(one, many, leave_out=["HUMAN-b"])
        assert (raw.n, f"{raw.pearson:.3f}"[1:], f"{z.pearson:.3f}"[1:]) == (systems, *published)
    own = system_scores(score for score in read.scores if score.campaign == "2016-single")
    assert [(score.system, f"{score.z:.3f}", f"{score.raw:.1f}") for score in own] == [
        ("HUMAN-b", "0.768", "85.1"),
        ("SHEF-UETlahore", "0.224", "66.2"),
        ("MEDIAMILL", "-0.092", "54.2"),
        ("INF-coco", "-0.213", "50.4"),
        ("DCU-adapt", "-0.308", "47.0"),
        ("NII-resnet", "-0.312", "48.0"),
    ]
    tested = significance(score for score in read.scores if score.campaign == "2016-single")
    assert [tested.wins(row, row + 1) for row in range(5)] == [True, True, True, True, False]


def test_ids_count_from_one_and_scores_match_their_captions(tmp_path: Path) -> None:
    write_single(tmp_path, rows_per_line=3, hit=True)
    read = read_trecvid(tmp_path)
    assert found(read) == {}
    texts = {(caption.video_id, caption.sen_id): caption for caption in read.captions}
    for own in read.scores:
        caption = texts[own.video_id, own.sen_id or 0]
        assert caption.author == own.system
        assert f"{own.system}{int(own.video_id.partition('_')[2]) - 1}" in caption.caption.split()
    assert read.captions[0].annotator == "A"
    assert "\r" not in "".join(caption.caption for caption in read.captions)


def test_shifted_ids_are_corrected_and_reported(tmp_path: Path) -> None:
    write_single(tmp_path, number=lambda line: line, rows_per_line=3, hit=True)
    read = read_trecvid(tmp_path)
    assert found(read) == {"shifted_ids": 1}
    assert read.scores[0].video_id == "vtt2016_1"
    assert peak(read.alignment) == 0


def test_unmatchable_ids_are_an_error(tmp_path: Path) -> None:
    shuffled = random.Random(3).sample(range(VIDEOS), VIDEOS)
    write_single(tmp_path, number=lambda line: shuffled[line] + 1, rows_per_line=3, hit=True)
    with pytest.raises(VttdataError, match="at no offset from -6 to 6 do judgments fit the captions"):
        read_trecvid(tmp_path)


def test_too_few_judgments_for_an_offset_are_reported(tmp_path: Path) -> None:
    lines = list(range(4))
    write_set(tmp_path / "single-annotator" / "2016", lines=lines)
    assert found(read_trecvid(tmp_path)) == {"alignment_unknown": 1}


def test_id_zero_is_the_last_line(tmp_path: Path) -> None:
    write_single(tmp_path, number=lambda line: (line + 1) % VIDEOS, rows_per_line=3, hit=True)
    read = read_trecvid(tmp_path)
    assert found(read) == {"wrapped_id": 6}
    assert {own.video_id for own in read.scores[3 * VIDEOS - 3 : 3 * VIDEOS]} == {f"vtt2016_{VIDEOS}"}


def test_subset_of_the_videos_is_matched_with_references_for_all(tmp_path: Path) -> None:
    write_single(tmp_path)
    part = [line for line in range(VIDEOS) if line % 7]
    folder = write_set(
        tmp_path / "multiple-annotator" / "2016",
        lines=part,
        reference="trecvid16-vtt.en-en.HUMAN-B",
        reference_lines=list(range(VIDEOS)),
        rows_per_line=4,
        hit=True,
    )
    (folder / "urls").write_text("x\n")
    (folder / "systems" / "trecvid2020-vtt.en-en.C").write_text("astray\n")
    (folder / "systems" / ".~lock.A#").write_text("lock")
    read = read_trecvid(tmp_path)
    outside = VIDEOS - len(part)
    assert found(read) == {
        "duplicate_caption": VIDEOS,
        "video_not_in_set": outside,
        "longer_references": 1,
        "unusable_urls": 1,
        "stray_file": 2,
    }
    many = [own for own in read.scores if own.campaign == "2016-multiple"]
    assert many[0].video_id == f"vtt2016_{part[0] + 1}"
    one = {(own.video_id, own.system): own.raw for own in read.scores if own.campaign == "2016-single"}
    assert all(one[own.video_id, own.system] == own.raw for own in many)
    humans = [own for own in read.captions if own.author == "human" and own.video_id == "vtt2016_1"]
    assert [own.annotator for own in humans] == ["A", "B"]


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("ad-seg-scores-en-en.csv", "SYS,SID\n", "its columns are"),
        ("ad-seg-scores-en-en.csv", "SYS,SID,RAW.SCR,Z.SCR,N\nA,1,5,0.1\n", ":2: 4 cells"),
        ("ad-seg-scores-en-en.csv", "SYS,SID,RAW.SCR,Z.SCR,N\nA,x,5,0.1,1\n", "not a number"),
        ("ad-seg-scores-en-en.csv", "SYS,SID,RAW.SCR,Z.SCR,N\nA,261,5,0.1,1\n", "is about line 261, but there are 260"),
        ("ad-seg-scores-en-en.csv", "SYS,SID,RAW.SCR,Z.SCR,N\nA,1,500,0.1,1\n", "a score of 0..100"),
        ("ad-seg-scores-en-en.csv", "SYS,SID,RAW.SCR,Z.SCR,N\nA,1,50,nan,1\n", "a finite z"),
        ("systems/trecvid16-vtt.en-en.A", "one line\n", "every system has one line for each video"),
        ("references/trecvid16-vtt-enen-ref.en", "one line\n", "1 captions of annotator A for 260 videos"),
    ],
)
def test_damaged_file_is_one_sentence(tmp_path: Path, file: str, text: str, words: str) -> None:
    folder = write_single(tmp_path)
    (folder / file).write_text(text)
    with pytest.raises(VttdataError) as caught:
        read_trecvid(tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_set_that_is_not_part_of_its_year_is_an_error(tmp_path: Path) -> None:
    write_single(tmp_path)
    lines = list(range(VIDEOS))[::-1]
    write_set(tmp_path / "multiple-annotator" / "2016", lines=lines, reference="trecvid16-vtt.en-en.HUMAN-B")
    with pytest.raises(VttdataError, match="are not a part of those of 2016-single in the same order"):
        read_trecvid(tmp_path)


def test_folder_without_years_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="holds neither single-annotator/YEAR"):
        read_trecvid(tmp_path)
