"""Files that users name are checked before the work, and old content stays where new content cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.leaking_dataset import write_leaking_dataset, write_predictions
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.files.output_file import write_files, write_whole


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("--page", "captions.json", "name a file that ends in .html"),
        ("--page", "folder.html", "is a folder; name a file"),
        ("--page", "captions.json/page.html", "cannot be a folder for results"),
        ("--clean", "captions.json", "cannot be a folder for results"),
    ],
)
def test_page_does_not_replace_what_is_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, name: str, words: str
) -> None:
    dataset = write_leaking_dataset(tmp_path / "dataset")
    captions = write_predictions(tmp_path / "captions.json")
    content = captions.read_bytes()
    (tmp_path / "folder.html").mkdir()
    audit = ["audit", str(dataset)]
    evaluate = ["evaluate", str(dataset), str(captions), "--metric", "bleu1"]
    for command in (audit, evaluate) if option == "--page" else (audit,):
        assert main([*command, option, str(tmp_path / name)]) == 2
        output = capsys.readouterr()
        assert (words in output.err, output.err.count("\n"), output.out) == (True, 1, "")
        assert captions.read_bytes() == content


def test_file_keeps_its_content_when_the_new_one_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_whole(path, "old\r\n")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new\ud800")
    assert path.read_bytes() == b"old\r\n"
    assert os.listdir(tmp_path) == ["page.html"]


def test_page_replaces_pages_of_vttdata_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = write_leaking_dataset(tmp_path / "dataset")
    captions = write_predictions(tmp_path / "captions.json")
    evaluate = ["evaluate", str(dataset), str(captions), "--metric", "bleu1"]
    audit, show = ["audit", str(dataset)], ["show", str(dataset)]
    for command, name in ((audit, "a.html"), (audit, "a.md"), (show, "s.html"), (evaluate, "e.html")):
        page = tmp_path / name
        page.write_text("<!doctype html>\n<p>vttdata audit</p>\n")
        assert main([*command, "--page", str(page)]) == 2
        output = capsys.readouterr()
        assert (output.err, output.out) == (
            f"vttdata: {page}: is not of this version of vttdata and would be replaced; name another file.\n",
            "",
        )
        assert page.read_text() == "<!doctype html>\n<p>vttdata audit</p>\n"
        page.unlink()
        codes = {main([*command, "--page", str(page)]), main([*command, "--page", str(page)])}
        assert codes <= {0, 3}, capsys.readouterr().err
        assert page.stat().st_size > 500
        capsys.readouterr()


def test_protocol_replaces_protocols_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = write_leaking_dataset(tmp_path / "dataset")
    clean = ["audit", str(dataset), "--clean", str(tmp_path / "clean")]
    assert {main(clean), main(clean)} <= {0, 3}
    protocol = tmp_path / "clean" / "protocol.json"
    capsys.readouterr()
    protocol.write_text('{"protocol": "mine"}')
    assert main(clean) == 2
    assert "would be replaced; name another file" in capsys.readouterr().err
    assert protocol.read_text() == '{"protocol": "mine"}'


def test_files_in_a_folder_are_replaced_as_they_were_written_only(tmp_path: Path) -> None:
    folder = tmp_path / "u"
    folder.mkdir()
    (folder / "mine.csv").write_text("mine")
    (folder / "captions.csv").write_text("mine")
    with pytest.raises(VttdataError, match=r"holds a captions\.csv that is not of this version"):
        write_files(folder, {"workers.csv": "1", "captions.csv": "2"})
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"captions.csv": "mine", "mine.csv": "mine"}
    (folder / "captions.csv").unlink()
    write_files(folder, {"captions.csv": "1"})
    write_files(folder, {"workers.csv": "1"})
    write_files(folder, {"captions.csv": "2", "workers.csv": "2"})
    assert [(folder / name).read_text() for name in ("captions.csv", "workers.csv", "mine.csv")] == ["2", "2", "mine"]
    (folder / "captions.csv").write_text("2, corrected")
    with pytest.raises(VttdataError, match=r"holds a captions\.csv that .* was changed since"):
        write_files(folder, {"captions.csv": "3"})
    assert (folder / "captions.csv").read_text() == "2, corrected"


def test_files_of_a_killed_run_are_replaced_by_the_next_one(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from vttdata.files.own_folder import replace_own_files\n"
        "folder = Path(sys.argv[1])\n"
        "with replace_own_files(folder, ['scores.csv']):\n"
        "    (folder / 'scores.csv').write_text('half'); os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path / "out")], check=False).returncode == 9
    write_files(tmp_path / "out", {"scores.csv": "whole"})
    assert (tmp_path / "out/scores.csv").read_text() == "whole"
    (tmp_path / "out/scores.csv").write_text("mine")
    with pytest.raises(VttdataError, match="not of this version"):
        write_files(tmp_path / "out", {"scores.csv": "whole"})
