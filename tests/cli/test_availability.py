"""`vttdata verify --videos` and `--online`, with files in a folder and with a server on this machine."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.helpers.file_server import FileServer, serving_files
from tests.helpers.session_files import make_once
from vttdata.cli.main import main
from vttdata.dataset import Metadata, write_dataset
from vttdata.dataset.protocol_file import read_protocol_file
from vttdata.records import Caption, Clip


def write(folder: Path, urls: list[str | None]) -> Path:
    """Write a dataset with two clips of each source, the sources in the splits train and test by turns."""
    clips = [
        Clip(f"v{n}_{k}", f"s{n}", 10.0 * k, 10.0 * k + 5, None, None, None, url, split=("train", "test")[n % 2])
        for n, url in enumerate(urls)
        for k in range(2)
    ]
    captions = [Caption(clip.video_id, 0, "a person runs") for clip in clips]
    write_dataset(folder, clips=clips, captions=captions, sources=(), metadata=Metadata("me/mine"), media=None)
    return folder


def check(dataset: Path, out: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """Return what a check reports, whose exit code says whether a video is gone."""
    capsys.readouterr()
    code = main(["verify", str(dataset), "--out", str(out), "--json", *options])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (4 if report["sources"]["no"] else 0)
    return report


def test_files_are_those_of_sources_or_of_all_their_clips(
    tiny: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write(tmp_path / "dataset", ["http://a", "http://b", None, "http://d"])
    (tmp_path / "videos").mkdir()
    for name in ("s0.mp4", "v1_0.mkv", "v1_1.webm", "v2_0.mp4", "s3.txt"):
        (tmp_path / "videos" / name).write_bytes(tiny)
    report = check(dataset, tmp_path / "out", capsys, "--videos", str(tmp_path / "videos"))
    assert report["sources"] == {"yes": 2, "no": 2, "unknown": 0}
    protocol = read_protocol_file(tmp_path / "out" / "protocol.json")
    assert dict(protocol.splits) == {"train": ["v0_0", "v0_1"], "test": ["v1_0", "v1_1"]}
    assert protocol.digest == report["digest"]
    assert (protocol.about["dataset"], protocol.about["version"]) == ("me/mine", "1.0.0")
    table = pd.read_csv(tmp_path / "out" / "availability.csv", keep_default_na=False)
    assert table["available"].tolist() == ["yes", "no", "yes", "no"]
    assert table["reason"].tolist() == ["file", "missing_file", "file", "missing_file"]
    assert protocol.name == f"available-{table['date'][0]}"
    scores = ["evaluate", str(dataset), "--baseline", "random-caption", "--metric", "bleu1", "--json"]
    assert main([*scores, "--config", str(tmp_path / "out" / "protocol.json")]) == 0
    assert json.loads(capsys.readouterr().out)["config"] == protocol.label


def test_files_are_checked_as_a_build_checks_them(
    tiny: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write(tmp_path / "dataset", [None] * 5)
    (tmp_path / "videos").mkdir()
    contents = {"s0": b"", "s1": b"x", "s2": tiny[: len(tiny) // 2], "s3": tiny, "v4_0": tiny, "v4_1": b""}
    for name, content in contents.items():
        (tmp_path / "videos" / f"{name}.mp4").write_bytes(content)
    check(dataset, tmp_path / "out", capsys, "--videos", str(tmp_path / "videos"))
    table = pd.read_csv(tmp_path / "out" / "availability.csv", keep_default_na=False).set_index("source_id")
    assert dict(table.available) == {"s0": "no", "s1": "no", "s2": "no", "s3": "yes", "s4": "no"}
    assert (table.reason["s0"], table.reason["s3"], table.reason["s4"]) == ("file_empty", "file", "file_empty")
    # What files say is replaced by what files say.
    check(dataset, tmp_path / "out", capsys, "--videos", str(tmp_path / "videos"))


def test_list_of_ids_stands_for_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = write(tmp_path / "dataset", [None] * 4)
    (tmp_path / "ids.txt").write_text("s0\nv1_0.mp4\nv1_1.mp4\nv2_0\n")
    report = check(dataset, tmp_path / "out", capsys, "--videos", str(tmp_path / "ids.txt"))
    assert report["sources"] == {"yes": 2, "no": 2, "unknown": 0}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The smallest video."""
    from tests.helpers.builds import film

    folder = make_once(tmp_path_factory, "tiny", lambda folder: film(folder / "tiny.mp4", 1))
    return (folder / "tiny.mp4").read_bytes()


@pytest.fixture(scope="module")
def server(tiny: bytes) -> Any:
    with serving_files(tiny) as running:
        yield running


def test_sites_are_asked_once_and_again_where_the_answer_was_not_about_the_video(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write(tmp_path / "dataset", [server.url("/good.mp4"), server.url("/gone.mp4"), server.url("/busy.mp4")])
    online = ["--online", "--sleep", "0"]
    first = check(dataset, tmp_path / "out", capsys, *online, "--limit", "1")
    assert first["sources"] == {"yes": 1, "no": 0, "unknown": 0}
    hits = server.hits["/good.mp4"]
    second = check(dataset, tmp_path / "out", capsys, *online)
    assert second["sources"] == {"yes": 1, "no": 1, "unknown": 1}
    assert server.hits["/good.mp4"] == hits
    table = pd.read_csv(tmp_path / "out" / "availability.csv", keep_default_na=False)
    assert dict(zip(table["source_id"], table["reason"], strict=True)) == {
        "s0": "",
        "s1": "removed",
        "s2": "rate_limit",
    }
    assert dict(read_protocol_file(tmp_path / "out" / "protocol.json").splits) == {"train": ["v0_0", "v0_1"]}


def test_check_ends_when_no_host_can_be_reached(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        dataset = write(tmp_path / "dataset", [f"{address}/{number}.mp4" for number in range(5)])
        assert main(["verify", str(dataset), "--out", str(tmp_path / "out"), "--online", "--sleep", "0"]) == 1
    assert "3 addresses in a row could not be reached, nor could others" in capsys.readouterr().err
    table = pd.read_csv(tmp_path / "out" / "availability.csv", keep_default_na=False)
    assert table["reason"].tolist() == ["unreachable"] * 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--videos", "{out}", "--online"], "--videos and --online exclude each other"),
        (["--videos", "{out}/nowhere"], "nowhere: cannot be read"),
        (["--videos", "{out}", "--limit", "3"], "--limit goes with --online"),
        (["--videos", "{out}", "--rebuild"], "are about videos only"),
        (["--online", "--set", "seed=1"], "are about videos only"),
        (["--online", "--sleep", "-1"], "--sleep"),
        ([], "--out and --json go with --videos or --online"),
    ],
)
def test_mistake_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    dataset = write(tmp_path / "dataset", ["http://a"])
    given = [option.format(out=tmp_path) for option in options]
    assert main(["verify", str(dataset), "--out", str(tmp_path / "out"), *given]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_folder_for_what_is_found_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = write(tmp_path / "dataset", ["http://a"])
    for options in (["--online"], ["--videos", str(tmp_path)]):
        assert main(["verify", str(dataset), *options]) == 2
        assert "--out DIR" in capsys.readouterr().err


def test_damaged_table_of_an_earlier_check_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = write(tmp_path / "dataset", ["http://a"])
    (tmp_path / "availability.csv").write_text("source_id,url,available,reason,date\ns0,http://a,perhaps,,2026-11-22\n")
    assert main(["verify", str(dataset), "--out", str(tmp_path), "--online", "--sleep", "0"]) == 2
    assert "availability.csv:2: 'available' is yes, no or unknown" in capsys.readouterr().err


def test_ids_that_a_spreadsheet_would_run_are_answered(
    tiny: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clip = Clip("-a_0", "-a", 0.0, 5.0, None, None, None, "http://a", split="test")
    captions = [Caption("-a_0", 0, "a person runs")]
    dataset = tmp_path / "dataset"
    write_dataset(dataset, clips=[clip], captions=captions, sources=(), metadata=Metadata("me/mine"), media=None)
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "-a.mp4").write_bytes(tiny)
    report = check(dataset, tmp_path / "out", capsys, "--videos", str(tmp_path / "videos"))
    assert report["sources"]["yes"] == 1
    assert dict(read_protocol_file(tmp_path / "out" / "protocol.json").splits) == {"test": ["-a_0"]}


def test_answers_of_files_and_of_sites_are_not_mixed(
    server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = write(tmp_path / "dataset", [server.url("/good.mp4")])
    (tmp_path / "videos").mkdir()
    files = ["--videos", str(tmp_path / "videos")]
    assert check(dataset, tmp_path / "out", capsys, *files)["sources"]["no"] == 1
    assert check(dataset, tmp_path / "out", capsys, "--online", "--sleep", "0")["sources"]["yes"] == 1
    answers = (tmp_path / "out" / "availability.csv").read_bytes()
    assert main(["verify", str(dataset), "--out", str(tmp_path / "out"), *files]) == 2
    assert "holds answers of sites" in capsys.readouterr().err
    assert (tmp_path / "out" / "availability.csv").read_bytes() == answers
