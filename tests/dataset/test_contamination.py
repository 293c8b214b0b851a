"""What a corpus has of a benchmark, through the command line and beside a comparison of everything with everything."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.damage import write_rich_dataset
from vttdata.cli.main import main
from vttdata.dataset import Metadata, write_dataset
from vttdata.dataset.contamination import find_contamination
from vttdata.dataset.protocol_file import read_protocol_file
from vttdata.errors import VttdataError
from vttdata.ids import source_of, youtube_url
from vttdata.records import Caption, Clip

IDS = ("aaaaaaaaaaa", "bbbbbbbbbbb", "-c_c-c_c-c_", "ddddddddddd", "eeeeeeeeeee")


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five test clips of YouTube videos, 10-20 s, in the manner of different benchmarks, and one training clip."""
    names = ("video0", "bbbbbbbbbbb_10_20", "clip3", "v_ddddddddddd_1", "video4")
    clips = [
        Clip(name, f"v_{own}" if own[0] == "d" else own, 10.0, 20.0, None, None, None, youtube_url(own), split="test")
        for name, own in zip(names, IDS, strict=True)
    ]
    clips.append(Clip("web", "web", 0.0, 5.0, None, None, None, "https://example.com/film.mp4", split="train"))
    captions = [Caption(clip.video_id, 0, f"A thing happens in {clip.video_id}.") for clip in clips]
    folder = tmp_path_factory.mktemp("benchmark") / "dataset"
    write_dataset(folder, clips=clips, captions=captions, sources=(), metadata=Metadata("me/mine"), media=None)
    return folder


def audit(benchmark: Path, corpus: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    code = main(["audit", str(benchmark), "--against", str(corpus), "--json", *options])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (0 if report["ok"] else 3)
    return report


ROWS = [
    {"video_id": "x", "url": "https://youtu.be/aaaaaaaaaaa?t=3", "start": "12", "end": "0:15.5", "caption": "nothing"},
    {"video_id": "bbbbbbbbbbb_000020_000030", "url": "", "start": "20", "end": "30", "caption": "nothing"},
    {"video_id": "-c_c-c_c-c_", "url": "", "start": "", "end": "", "caption": "a thing happens in CLIP3"},
    {"video_id": "dddddddddddd", "url": "https://youtu.be/eeeeeeeeeeee", "start": "0", "end": "99", "caption": ""},
    {"video_id": "y", "url": "https://example.com/film.mp4", "start": "90", "end": "99", "caption": "nothing"},
]


def write(path: Path, rows: list[dict[str, str]] = ROWS) -> Path:
    head = list(rows[0])
    lines = [",".join(head), *(",".join(row[name] for name in head) for row in rows)]
    text = "\ufeff" + "\r\n".join(lines) + "\r\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif path.suffix == ".tsv":
        path.write_text(text.replace(",", "\t"))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["list.csv", "list.tsv", "list.csv.gz", "list.jsonl", "list.parquet"])
def test_clips_are_found_by_address_id_time_and_caption(
    benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    report = audit(benchmark, write(tmp_path / name), capsys, "--clean", str(tmp_path / "clean"))
    assert report["rows"] == 5
    assert report["shared"] == {
        "source": {"train": 1, "test": 3},
        # A row without times is the whole video; bbbbbbbbbbb is listed from where the clip ends.
        "overlap": {"train": 0, "test": 2},
        "near_duplicate": None,
        "caption": {"train": 0, "test": 1},
    }
    assert report["splits"]["test"] == {"clips": 5, "clean": 2}
    clean = read_protocol_file(tmp_path / "clean" / "protocol.json")
    assert dict(clean.splits) == {"test": ["v_ddddddddddd_1", "video4"]}


@pytest.mark.parametrize(
    "row",
    [
        {"id": "videos/train/VIDEO0.mp4"},
        {"id": " video0 "},
        {"id": "C:\\clips\\Video0.MKV"},
        {"youtube_id": " AAAAAAAAAAA"},
        {"youtube_id": "v_aaaaaaaaaaa"},
        {"id": "youtube-aaaaaaaaaaa_3_9.webm"},
        {"id": "https://youtu.be/aaaaaaaaaaa"},
        {"url": "https://i.ytimg.com/vi/aaaaaaaaaaa/hqdefault.jpg"},
        {"link": "//m.youtube.com/watch?app=desktop&v=aaaaaaaaaaa"},
        {"url": "HTTP://www.Example.com:80/film.mp4?utm_source=x#t=3"},
    ],
)
def test_ids_and_addresses_are_folded(benchmark: Path, tmp_path: Path, row: dict[str, str]) -> None:
    corpus = tmp_path / "list.jsonl"
    corpus.write_text(json.dumps({key: f"not {value}" for key, value in row.items()}) + "\n" + json.dumps(row) + "\n")
    found = find_contamination(benchmark, corpus).found["source"]
    assert found == {"web" if "xample" in str(row) else "video0"}


@pytest.mark.parametrize(
    "caption",
    ["a thing happens in clip3", "  A THING, happens -- in clip3!", "\u201cA thing happens in\u00a0clip3\u201d"],
)
def test_captions_are_compared_without_case_and_punctuation(benchmark: Path, tmp_path: Path, caption: str) -> None:
    corpus = tmp_path / "list.jsonl"
    corpus.write_text(json.dumps({"captions": [caption, "A thing happens in clip"]}) + "\n")
    assert find_contamination(benchmark, corpus).found["caption"] == {"clip3"}


@pytest.mark.parametrize("name", ["list.jsonl", "list.json", "list.parquet"])
def test_ids_that_are_lists_are_refused(
    benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    rows = [{"video_id": ["video0", "clip3"], "caption": "x"}]
    corpus = tmp_path / name
    if name == "list.parquet":
        pq.write_table(pa.Table.from_pylist(rows), corpus)
    else:
        corpus.write_text(json.dumps(rows if name == "list.json" else rows[0]) + "\n")
    assert main(["audit", str(benchmark), "--against", str(corpus)]) == 2
    error = capsys.readouterr().err
    assert f"{name}: the column 'video_id' holds list<" in error
    assert "where texts or numbers are expected" in error
    assert error.count("\n") == 1


def test_shards_of_a_folder_and_columns_of_other_names_are_read(
    benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "b.csv", [{"VideoID": "eeeeeeeeeee"}])
    write(tmp_path / "a.csv", [{"which": "v_ddddddddddd"}])
    with pytest.raises(VttdataError, match="no column says which video a row is about"):
        find_contamination(benchmark, tmp_path)
    write(tmp_path / "a.csv", [{"youtube_id": "v_ddddddddddd"}])
    report = audit(benchmark, tmp_path, capsys, "--split", "test")
    assert (report["rows"], report["shared"]["source"]) == (2, {"test": 2})
    assert report["shared"]["overlap"] is None
    write(tmp_path / "deep" / "a.csv", [{"which": "aaaaaaaaaaa"}])
    report = audit(benchmark, tmp_path / "deep" / "a.csv", capsys, "--columns", "video_id=which")
    assert report["shared"]["source"] == {"train": 0, "test": 1}


def test_clean_corpus_ends_with_zero(benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write(tmp_path / "list.csv", [{"url": "https://youtu.be/zzzzzzzzzzz", "caption": "A thing."}])
    assert audit(benchmark, corpus, capsys)["ok"]
    assert main(["audit", str(benchmark), "--against", str(corpus)]) == 0
    assert "No clip shares source or pictures with the corpus" in capsys.readouterr().out


def test_copies_under_other_ids_are_found_by_fingerprints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rich = write_rich_dataset(tmp_path / "rich")
    sources = pa.concat_tables(
        pq.read_table(path, columns=["source_id", "hash_scheme", "hashes"]) for path in sorted(rich.glob("sources/*"))
    ).to_pylist()
    hashed = [row | {"source_id": f"copy-{row['source_id']}"} for row in sources if row["hashes"]]
    pq.write_table(pa.Table.from_pylist(hashed), tmp_path / "hashed.parquet")
    report = audit(rich, tmp_path / "hashed.parquet", capsys)
    clips_with_hashes = {row["source_id"] for row in sources if row["hashes"]}
    assert sum(report["shared"]["near_duplicate"].values()) >= len(clips_with_hashes) > 0
    assert sum(report["shared"]["source"].values()) == 0
    against_itself = audit(rich, rich, capsys)
    assert sum(against_itself["shared"]["overlap"].values()) == sum(
        s["clips"] for s in against_itself["splits"].values()
    )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"video_id,url\nx\n", "a.csv: cannot be parsed ("),
        ("a.csv", b"video_id\ncaf\xe9\n", "a.csv: cannot be parsed ("),
        ("a.csv", b"", "a.csv: is empty"),
        ("a.jsonl", b'{"video_id": "x"}\n{"video', "a.jsonl: cannot be parsed"),
        ("a.jsonl", b"[1]\n", "a.jsonl:1: a JSON object on each line"),
        ("a.parquet", b"PAR1 and no more", "a.parquet: is damaged or unreadable"),
        ("a.xlsx", b"PK", "a table, or a folder of tables, is expected"),
    ],
)
def test_damaged_corpus_is_one_sentence(
    benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["audit", str(benchmark), "--against", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_misspelled_column_is_refused(benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("id,adress\nx,y\n")
    assert main(["audit", str(benchmark), "--against", str(tmp_path / "a.csv"), "--columns", "ulr=adress"]) == 2
    assert "there is no such column; choose from source_id, video_id, url" in capsys.readouterr().err


def test_options_without_a_corpus_are_refused(
    benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", str(benchmark), "--columns", "url=address"]) == 2
    assert "--columns goes with --against CORPUS" in capsys.readouterr().err
    assert main(["audit", str(benchmark), "--against", str(tmp_path / "nowhere.csv")]) == 2
    assert "nowhere.csv" in capsys.readouterr().err
    everything = write(tmp_path / "all.csv", [{"video_id": own} for own in (*IDS, "web")])
    assert main(["audit", str(benchmark), "--against", str(everything), "--clean", str(tmp_path / "clean")]) == 2
    assert "no clip is left, so there is no protocol to write" in capsys.readouterr().err


def test_planted_rows_are_all_found_and_nothing_else(benchmark: Path, tmp_path: Path) -> None:
    draw = random.Random(22)
    pool = [*IDS, *("".join(draw.choices("abcde_-", k=11)) for _ in range(200))]
    rows = [
        {"url": f"http://m.youtube.com/watch?list=1&v={draw.choice(pool)}", "start": str(start), "end": str(start + 3)}
        for start in (draw.randrange(60) for _ in range(400))
    ]
    found = find_contamination(benchmark, write(tmp_path / "list.csv", rows)).found
    listed = {source_of(row["url"]): [] for row in rows}
    for row in rows:
        listed[source_of(row["url"])].append((float(row["start"]), float(row["end"])))
    of_clip = dict(zip(("video0", "bbbbbbbbbbb_10_20", "clip3", "v_ddddddddddd_1", "video4"), IDS, strict=True))
    assert found["source"] == {clip for clip, own in of_clip.items() if own in listed}
    overlapping = {
        clip for clip, own in of_clip.items() if any(start < 20 and end > 10 for start, end in listed.get(own, ()))
    }
    assert found["overlap"] == overlapping


def test_placeholders_of_a_benchmark_and_a_corpus_are_no_sources(tmp_path: Path) -> None:
    clips = [
        Clip(name, source, 0.0, 5.0, None, None, None, url, split="test")
        for name, source, url in (
            *(("00731", "unknown", "https://a.org/v/None"), ("b", "unknown", None), ("c", "n-a", None)),
            *(("d", "SRC", None), ("e", "src", None), ("f", "f", "https://player.bilibili.com/player.html?aid=170001")),
        )
    ]
    captions = [Caption(clip.video_id, 0, f"A thing happens in {clip.video_id}.") for clip in clips]
    write_dataset(tmp_path / "set", clips=clips, captions=captions, sources=(), metadata=Metadata("a/b"), media=None)
    corpus = tmp_path / "corpus.csv"
    corpus.write_text("id,url\nunknown,https://a.org/v/None\nn/a,n/a\n")
    assert find_contamination(tmp_path / "set", corpus).ok
    corpus.write_text("id,url\n731,\nsrc.mp4,\nx,https://b23.tv/av170001?p=1\n")
    found = find_contamination(tmp_path / "set", corpus)
    assert found.found["source"] == {"00731", "d", "e", "f"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"video_id": "x", "caption": {"text": "a"}}], "the column 'caption' holds struct"),
        ([{"video_id": "x", "caption": [{"text": "a"}]}], "the column 'caption' holds struct"),
        ([{"video_id": "\ud800", "caption": "a"}], "cannot be parsed|not valid"),
    ],
)
def test_odd_columns_of_a_corpus_are_one_sentence(
    benchmark: Path, tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    corpus = tmp_path / "corpus.json"
    corpus.write_text(json.dumps(rows))
    with pytest.raises(VttdataError, match=message) as caught:
        find_contamination(benchmark, corpus)
    assert "\n" not in str(caught.value)


def test_columns_that_the_first_object_lacks_are_compared(benchmark: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('\n{"url": "https://a.org/1"}\n{"video_id": "video0"}\n')
    assert find_contamination(benchmark, corpus).found["source"] == {"video0"}
