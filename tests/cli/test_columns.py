"""Tables with columns of other names, from spreadsheets, through `--columns` of every command that reads captions."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers.builds import LOOSE, account, film, vttdata
from vttdata.cli.main import main

ROWS = [
    ("v1", "a man is running in a park", "s1"),
    ("v2", "a dog is barking in a garden", "s2"),
    ("v3", "a woman is singing in a red car", "s3"),
]
GERMAN = ["--columns", "video_id=Video,caption=Beschreibung"]
ADDRESS = ["--videos", "https://example.org/{video_id}.mp4"]
RATING = ["people", "make", "rate-slider", "t.csv", "--captions", "t.csv", *ADDRESS, "--out", "o"]


def spreadsheet(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table as a spreadsheet does where numbers have decimal commas."""
    with path.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=";").writerows([(*header, ""), *((*row, "") for row in rows), [""] * 4])
    return str(path)


def plain(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return str(path)


def tables(folder: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def test_degrade_gives_the_same_for_a_spreadsheet_whose_columns_are_named(tmp_path: Path) -> None:
    usual = plain(tmp_path / "usual.csv", ("video_id", "caption", "source_id"), ROWS)
    other = spreadsheet(tmp_path / "other.csv", ("Video", "Beschreibung", "Film"), ROWS)
    assert main(["degrade", usual, "--out", str(tmp_path / "a")]) == 0
    assert main(["degrade", other, "--out", str(tmp_path / "b"), *GERMAN, "--columns", "source_id=Film"]) == 0
    assert tables(tmp_path / "a") == tables(tmp_path / "b")


def test_times_of_a_table_of_videos_and_captions_are_named_once(tmp_path: Path) -> None:
    film(tmp_path / "a.mp4", 8)
    rows = [("a.mp4", "0:01", "0:04", "a pattern with numbers"), ("a.mp4", "0:04,5", "0:07", "the same later")]
    table = spreadsheet(tmp_path / "t.csv", ("Film", "Von", "Bis", "Text"), rows)
    columns = "path=Film,source=Film,start=Von,end=Bis,caption=Text"
    settings = [*LOOSE, f"collect.manifest={table}", f"captions.file={table}", "name=me/spans", "media.keep=none"]
    parts = [part for text in settings for part in ("--set", text)]
    out = tmp_path / "out"
    done = vttdata("build", "own-list", *parts, "--columns", columns, "--out", str(out), "--workers", "1")
    assert done.returncode == 0, done.stderr
    clips = pd.concat(map(pd.read_parquet, (out / "dataset" / "clips").glob("*.parquet"))).sort_values("start")
    assert [(row.start, row.end, *row.captions) for row in clips.itertuples()] == [
        (1.0, 4.0, "a pattern with numbers"),
        (4.5, 7.0, "the same later"),
    ]


def judged_captions(units: Path) -> set[tuple[str, str]]:
    """Return the captions of systems in a campaign, whose order and ids are its own."""
    items = [item for line in units.read_text().splitlines() for item in json.loads(line)["items"]]
    return {(item["video_id"], item["shown"]["caption"]) for item in items if item["facts"]["system"] == "ours"}


def test_hits_are_the_same_when_systems_name_video_files_and_columns_differ(tmp_path: Path) -> None:
    texts = [(f"v{number}", f"a man is running in park {number}") for number in range(40)]
    captions = [(video, text.replace("man", "boy")) for video, text in texts]
    human = plain(tmp_path / "human.csv", ("video_id", "caption"), texts)
    numbers = {"system": 14, "human": 2, "degraded": 2, "repeat": 2, "min_pairs": 2}
    command = ["people", "make", "rate-slider", *ADDRESS]
    command += [f"--set={name}={number}" for name, number in numbers.items()]
    usual = plain(tmp_path / "ours.csv", ("video_id", "caption"), captions)
    assert main([*command, usual, "--captions", human, "--out", str(tmp_path / "a")]) == 0
    (tmp_path / "other").mkdir()
    files = [(f"clips\\{video}.MP4", text) for video, text in captions]
    other = spreadsheet(tmp_path / "other" / "ours.csv", ("Video", "Beschreibung"), files)
    assert main([*command, other, "--captions", human, "--out", str(tmp_path / "b"), *GERMAN]) == 0
    one, two = (judged_captions(tmp_path / name / "units.jsonl") for name in ("a", "b"))
    assert one == two
    assert len(one) == 40


def test_tables_of_a_campaign_may_call_a_column_differently(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [(f"v{number}", f"a man is running in park {number}") for number in range(40)]
    ours = plain(tmp_path / "ours.csv", ("video_id", "says"), [(video, text.upper()) for video, text in texts])
    human = plain(tmp_path / "human.csv", ("clip", "text", "film"), [(*row, row[0]) for row in texts])
    command = ["people", "make", "rate-scale", *ADDRESS, ours, "--captions", human, "--out", str(tmp_path / "a")]
    named = ["--columns", "caption=says,caption=text,video_id=clip", "--columns", "source_id=film"]
    assert main([*command, *named]) == 0, capsys.readouterr().err
    units = (tmp_path / "a/units.jsonl").read_text()
    shown = {item["shown"]["caption"] for line in units.splitlines() for item in json.loads(line)["items"]}
    assert {text for _, text in texts} | {text.upper() for _, text in texts} <= shown
    capsys.readouterr()
    assert main([*command, *named, "--columns", "language=tongue"]) == 2
    assert capsys.readouterr().err == "vttdata: --columns: none of the tables has a column 'tongue'.\n"
    both = plain(tmp_path / "both.csv", ("video_id", "says", "text"), [(*row, row[1]) for row in texts])
    assert main([*command[:-1], str(tmp_path / "b"), both, *named]) == 2
    assert "the columns 'says' and 'text' could both be 'caption'" in capsys.readouterr().err


def test_build_makes_one_clip_of_each_video_that_a_spreadsheet_describes(videos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my videos"
    (folder / "Straße").mkdir(parents=True)
    names = ["mandelbrot.mp4", "Straße/test 2.mp4"]
    for name, drawn in zip(names, ("mandelbrot.mp4", "testsrc2.mp4"), strict=True):
        (folder / name).write_bytes((videos / drawn).read_bytes())
    rows = [(name.replace("/", "\\"), f"sentence {n} about it", f"w{n}") for name in names for n in range(2)]
    sheet = spreadsheet(folder / "sheet.csv", ("File", "Description", "Person"), rows)
    done = vttdata(
        *("build", "own-list", "--out", str(tmp_path / "out"), "--quiet", "--workers", "1"),
        *("--set", f"collect.manifest={sheet}", "--set", f"captions.file={sheet}", "--set", "clips.whole=true"),
        *("--columns", "path=File", "--columns", "video_id=File,caption=Description,annotator=Person"),
        *(part for setting in LOOSE for part in ("--set", setting)),
    )
    assert done.returncode == 0, done.stderr
    stages = account(tmp_path / "out")
    assert (stages["clips"]["kept"], stages["captions"]["kept"], stages["split"]["kept"]) == (2, 4, 2)


def test_build_takes_one_spreadsheet_for_videos_and_captions(videos: Path, tmp_path: Path) -> None:
    names = ["mandelbrot.mp4", "testsrc2.mp4"]
    rows = [(f"{videos}/{name}", name.upper(), "Tests", "0:00", "1,25", f"ein Testbild {name}") for name in names]
    header = ("Datei", "Titel", "Kategorie", "Von", "Bis", "Text")
    sheet = spreadsheet(tmp_path / "sheet.csv", header, rows)
    done = vttdata(
        *("build", "own-list", "--out", str(tmp_path / "out"), "--quiet", "--workers", "1"),
        *("--columns", "path=Datei,title=Titel,category=Kategorie", "--columns", "source=Datei,caption=Text"),
        *("--columns", "start=Von,end=Bis", "--set", f"collect.manifest={sheet}", "--set", f"captions.file={sheet}"),
        *(part for setting in LOOSE for part in ("--set", setting)),
    )
    assert done.returncode == 0, done.stderr
    assert account(tmp_path / "out")["captions"]["kept"] == 2
    sources = pd.read_parquet(tmp_path / "out" / "stages" / "collect" / "kept.parquet")
    assert sorted(sources["title"]) == sorted(name.upper() for name in names)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["degrade", "t.csv", "--out", "o", "--columns", "caption"], "'caption' is not NAME=COLUMN"),
        (["degrade", "t.csv", "--out", "o", "--columns", "captoin=x"], "'captoin' is not a column of captions"),
        (["degrade", "t.csv", "--out", "o", "--columns", "caption=Txt"], "t.csv:1: there is no column 'Txt'"),
        (["foil", "t.csv", "--out", "o", "--columns", "caption=a", "--columns", "caption=b"], "two columns are named"),
        ([*RATING, "--columns", "clip=Text"], "'clip' is not"),
        ([*RATING, "--columns", "system=M"], "none of the tables has a column 'M'"),
        (["build", "msvd", "--set", "annotations=.", "--columns", "caption=a"], "--columns is for recipes that read"),
        (["degrade", "me/x", "--out", "o", "--columns", "caption=a"], "me/x is a dataset; only those of a table"),
    ],
)  # fmt: skip
def test_wrong_names_of_columns_are_refused_in_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    plain(tmp_path / "t.csv", ("video_id", "caption", "Text"), [("v1", "x", "y")])
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
