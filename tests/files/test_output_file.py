"""Files that users name are checked before the work, and old content stays where new content cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.helpers.leaking_dataset import write_leaking_dataset, write_predictions
from vttdata.cli.main import main
from vttdata.files.output_file import write_whole


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
