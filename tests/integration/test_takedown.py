"""Takedowns from a build of somebody's own films: by the names of their files, and what is said of it later."""

from __future__ import annotations

import json
import shutil
import subprocess
import unicodedata
from pathlib import Path

import pytest

from tests.helpers.builds import LOOSE, film, vttdata
from tests.helpers.builds import build as run_build

COPY, KEPT, ACCENTED = "Mandel brot (final) 2.mp4", "Kopie von Mandel brot.mp4", "Café Zürich.mp4"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the films, two of which are the same, their captions, and a build of them."""
    folder = tmp_path_factory.mktemp("takedown")
    films = folder / "films/alt"
    films.mkdir(parents=True)
    film(films / KEPT, 3)
    shutil.copy(films / KEPT, films / COPY)
    film(films / unicodedata.normalize("NFD", ACCENTED), 3, "mandelbrot")
    film(films / "other.mp4", 3, "rgbtestsrc")
    rows = [(COPY, "bread is cut"), (ACCENTED, "people sit in a café"), ("other.mp4", "colours stand still")]
    (folder / "captions.csv").write_text(
        "source,start,end,caption\n" + "".join(f"{name},0,3,{text}\n" for name, text in rows), encoding="utf-8"
    )
    done = build(folder, "the first one")
    assert done.returncode == 0, done.stderr
    return folder


def build(folder: Path, description: str) -> subprocess.CompletedProcess[str]:
    settings = [f"collect.folder={folder / 'films'}", f"captions.file={folder / 'captions.csv'}", "name=me/ugly"]
    settings += [*LOOSE, "filter.max_frozen=1", f"description={description}"]
    return run_build(folder / "ugly", *settings)


def withdraw(folder: Path, name: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "gone").write_text(f"{name}\n", encoding="utf-8")
    return vttdata("withdraw", str(folder / "ugly"), "--ids", str(folder / "gone"), *options)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy whose build reads the films of the first one."""
    return Path(shutil.copytree(made, tmp_path / "copy", symlinks=True))


def test_a_name_counts_however_its_letters_are_composed(folder: Path) -> None:
    for form in ("NFC", "NFD"):
        name = unicodedata.normalize(form, ACCENTED)
        said = vttdata("rejects", str(folder / "ugly"), "--video", name)
        assert (said.returncode, said.stdout) == (0, f"{name}: 1 clip in the dataset\n")
        dry = withdraw(folder, f"alt/{name}", "--dry-run")
        assert (dry.returncode, dry.stdout.splitlines()[1]) == (0, f"withdrawn: alt/{ACCENTED}")
    refused = withdraw(folder, "Zürich\x1b.mp4")
    assert (refused.returncode, "a source 'Zürich\\x1b.mp4'" in refused.stderr) == (2, True)


def test_the_name_of_an_identical_file_withdraws_what_was_kept_of_both(folder: Path) -> None:
    dry = withdraw(folder, f"alt/{COPY}", "--dry-run").stdout.splitlines()
    assert dry[0].endswith(": 1 source and 0 edited copies of it, with 1 clip and 1 caption, would be withdrawn.")
    assert dry[1:3] == [f"withdrawn: alt/{KEPT}", f"withdrawn: alt/{COPY}"]
    stages = folder / "ugly/stages"
    assert {line.partition(" ")[0] for line in dry if line.endswith(f" files in {stages}")} == {"changed", "removed"}
    assert not any(f"{stages}/" in line for line in dry)
    unreached = [line for line in dry if line.startswith("not reached: /")]
    assert sum("captions.csv" in line for line in unreached) == 1
    assert {
        name
        for name in (KEPT, COPY)
        if any(line.endswith(f"/alt/{name} is a withdrawn video and stays.") for line in unreached)
    } == {KEPT, COPY}
    listed = json.loads(withdraw(folder, f"alt/{COPY}", "--dry-run", "--json").stdout)
    assert sum(f"{stages}/" in entry["file"] for entry in listed["files"]) > 20
    assert listed["names"] == [f"alt/{KEPT}", f"alt/{COPY}"]
    assert withdraw(folder, f"alt/{COPY}").returncode == 0
    for name in (COPY, KEPT):
        again = withdraw(folder, f"alt/{name}")
        assert (again.returncode, ": 0 sources and " in again.stdout) == (0, True), again.stderr


def test_captions_of_a_withdrawn_film_are_counted_and_listed_without_its_name(folder: Path) -> None:
    assert withdraw(folder, f"alt/{COPY}").returncode == 0
    done = build(folder, "without it")
    assert "Left out: 1 withdrawn (captions); 'vttdata rejects " in done.stdout, done.stderr
    (entry,) = json.loads(vttdata("rejects", str(folder / "ugly"), "--json").stdout)
    assert (entry["reason"], entry["detail"]) == ("withdrawn", "line 2: its video was withdrawn")
    assert "Mandel" not in "".join(map(str, entry.values()))
    assert (folder / "films/alt" / KEPT).is_file()
