"""The command line says the right thing on the right stream and ends with the right code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vttdata.cli.main import main
from vttdata.recipe import packaged


def test_recipes_lists_every_packaged_one_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(packaged.recipes())
    assert all(len(line.split()) > 3 for line in lines)


def test_shots_prints_one_json_object_a_video_and_goes_on_after_a_bad_one(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = shared / "videos" / "shots" / "sintel-trailer-30s.mp4", shared / "videos" / "broken" / "corrupted.mp4"
    assert main(["shots", "--json", str(bad), str(good)]) == 1
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert set(first) == {"file", "error"}
    assert set(second) == {"file", "frames", "fps", "seconds", "method", "shots"}
    assert (second["frames"], second["fps"], second["seconds"]) == (720, 24.0, 30.0)
    assert set(second["shots"][0]) == {"start", "end", "first_frame", "last_frame", "transition"}
    assert second["shots"][0]["first_frame"] == 0
    assert second["shots"][-1]["last_frame"] == 719


@pytest.mark.parametrize("arguments", [["shots"], ["bild"], [], ["build", "demo", "--workers", "0"]])
def test_bad_usage_is_one_sentence_and_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("module", ["yt_dlp", "spacy", "torch", "av", "datasets", "pandas"])
def test_importing_the_package_pulls_nothing_heavy(module: str) -> None:
    code = f"import vttdata, sys; sys.exit('{module}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_closed_pipe_ends_quietly_and_a_full_disk_with_a_sentence() -> None:
    recipes = [sys.executable, "-m", "vttdata", "recipes"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(recipes, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.stderr == ""
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            done = subprocess.run(recipes, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr == "vttdata: No space left on device.\n"


def test_a_contact_sheet_is_drawn_for_one_video(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    video = str(shared / "videos" / "shots" / "bikes.mp4")
    assert main(["shots", "--sheet", str(tmp_path / "sheet.png"), video]) == 0
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")
    assert main(["shots", "--sheet", str(tmp_path / "two.png"), video, video]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["shots", "--sheet", str(tmp_path / "no" / "folder.png"), video]) == 1
    assert capsys.readouterr().err.count("\n") == 1
