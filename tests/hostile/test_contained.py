"""A dataset from anybody reads no file outside of its folder, whatever its card, its manifest and its links say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.builds import vttdata
from tests.helpers.damage import write_rich_dataset
from vttdata.errors import VttdataError
from vttdata.load.load_dataset import load_dataset


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Tables of somebody else, of the right shape."""
    dataset = write_rich_dataset(tmp_path / "private")
    for split in ("train", "test"):
        next((dataset / "captions").glob(f"{split}*")).rename(tmp_path / f"secret-{split}.parquet")
    return tmp_path / "secret-train.parquet"


@pytest.fixture
def dataset(tmp_path: Path, secret: Path) -> Path:
    return write_rich_dataset(tmp_path / "dataset")


def edit_card(dataset: Path, old: str, new: str) -> None:
    """Change the card, and leave it out of the manifest's checks."""
    card = dataset / "README.md"
    text = card.read_text()
    assert old in text
    card.write_text(text.replace(old, new, 1))
    manifest = json.loads((dataset / "manifest.json").read_text())
    del manifest["files"]["README.md"]
    (dataset / "manifest.json").write_text(json.dumps(manifest))


def check_refusal(dataset: Path, words: str, tmp_path: Path) -> None:
    commands = [
        ("show", str(dataset)),
        ("audit", str(dataset)),
        ("export", str(dataset), "--format", "jsonl", "--out", str(tmp_path / "out")),
        ("diff", str(dataset), str(dataset)),
    ]
    for command in commands:
        ended = vttdata(*command)
        assert (ended.returncode, words in ended.stderr, ended.stderr.count("\n")) == (2, True, 1), ended
    verified = vttdata("verify", str(dataset), "--files-only")
    assert (verified.returncode, words in verified.stdout) == (4, True), verified
    with pytest.raises(VttdataError) as caught:
        load_dataset(str(dataset), "captions", cache_dir=str(tmp_path / "cache"))
    assert words in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("pattern", ["{secret}", "../secret-*.parquet", "clips/../../secret-train.parquet"])
def test_pattern_that_leads_out_is_refused(pattern: str, dataset: Path, secret: Path, tmp_path: Path) -> None:
    edit_card(dataset, "captions/train-*", pattern.format(secret=secret))
    check_refusal(dataset, "leads out of the dataset", tmp_path)


@pytest.mark.parametrize("pattern", ["http://127.0.0.1:9/a.parquet", "zip://a.parquet::http://127.0.0.1:9/a.zip"])
def test_pattern_that_is_an_address_is_refused(pattern: str, dataset: Path, tmp_path: Path) -> None:
    edit_card(dataset, "captions/train-*", pattern)
    check_refusal(dataset, "leads out of the dataset", tmp_path)


def test_configuration_of_embedded_videos_is_checked_where_it_is_not_there(dataset: Path, tmp_path: Path) -> None:
    edit_card(dataset, "configs:\n", "configs:\n- config_name: videos\n  data_files:\n  - {split: x, path: ../s*}\n")
    check_refusal(dataset, "leads out of the dataset", tmp_path)


@pytest.mark.parametrize("line", ["data_dir: ..", "data_dir: /etc", "filters: [[a, '==', 1]]"])
def test_argument_of_a_reader_in_the_card_is_refused(line: str, dataset: Path, tmp_path: Path) -> None:
    edit_card(dataset, "configs:\n- config_name: clips\n", f"configs:\n- config_name: clips\n  {line}\n")
    check_refusal(dataset, f"the key '{line.partition(':')[0]}' of a configuration is not known", tmp_path)


@pytest.mark.parametrize("linked", ["file", "folder"])
def test_link_that_leads_out_is_refused(linked: str, dataset: Path, secret: Path, tmp_path: Path) -> None:
    (table,) = (dataset / "captions").glob("train*")
    if linked == "file":
        table.unlink()
        table.symlink_to(secret)
    else:
        shutil.copy(secret, tmp_path / "private" / "captions" / table.name)
        shutil.rmtree(dataset / "captions")
        (dataset / "captions").symlink_to(tmp_path / "private" / "captions")
    check_refusal(dataset, "is a link that leads out of the dataset; put the file itself there", tmp_path)


@pytest.mark.parametrize("name", ["README.md", "manifest.json", "provenance.json", "recipe.yaml"])
def test_description_that_is_a_link_out_is_not_read(name: str, dataset: Path, tmp_path: Path) -> None:
    outside = tmp_path / "id_rsa"
    outside.write_text("PRIVATE: [\n")
    (dataset / name).unlink()
    (dataset / name).symlink_to(outside)
    for command in (("show",), ("verify",), ("verify", "--rebuild"), ("list",)):
        ended = vttdata(command[0], str(dataset), *command[1:])
        assert "PRIVATE" not in ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
    assert vttdata("verify", str(dataset)).returncode in (2, 4)


def test_links_inside_of_a_dataset_and_to_it_are_followed(dataset: Path, tmp_path: Path) -> None:
    (table,) = (dataset / "captions").glob("train*")
    table.rename(dataset / "captions" / "kept.bin")
    table.symlink_to("kept.bin")
    linked = tmp_path / "linked"
    linked.symlink_to(dataset)
    assert vttdata("show", str(linked)).returncode == 0


def test_video_of_a_row_is_no_file_outside(dataset: Path, tmp_path: Path) -> None:
    (dataset / "videos" / "train").mkdir(parents=True)
    (dataset / "videos" / "train" / "metadata.jsonl").write_text("")
    (tmp_path / "private.mp4").write_bytes(b"x")
    (table,) = (dataset / "clips").glob("train*")
    rows = pq.read_table(table)
    (dataset / "videos" / "train" / "a.mp4").symlink_to(tmp_path / "private.mp4")
    for name in ("videos/train/a.mp4", "../private.mp4", str(tmp_path / "private.mp4")):
        column = pa.array([name] * rows.num_rows)
        pq.write_table(rows.set_column(rows.column_names.index("video"), "video", column), table)
        loaded = load_dataset(str(dataset), "clips", split="train", cache_dir=str(tmp_path / name.replace("/", "_")))
        assert loaded["video"][0] is None
