"""Protocol files: the same subset has the same digest anywhere, and a changed one is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import vttdata
from tests.helpers.damage import write_rich_dataset
from vttdata.cli.main import main
from vttdata.dataset.protocol_file import Protocol, read_protocol_file
from vttdata.errors import VttdataError

SPLITS = st.dictionaries(
    st.sampled_from(["train", "validation", "test"]),
    st.lists(st.sampled_from([f"video{number}" for number in range(30)]), unique=True, max_size=10),
    min_size=1,
)


@given(SPLITS, st.randoms(use_true_random=False))
def test_digest_depends_on_the_ids_alone(splits: dict[str, list[str]], draw: Any) -> None:
    shuffled = {split: draw.sample(ids, len(ids)) for split, ids in reversed(splits.items())}
    assert Protocol("a", splits).digest == Protocol("b", shuffled, {"date": "2026-11-22"}).digest


@given(SPLITS, st.data())
def test_any_swapped_id_is_refused(tmp_path_factory: pytest.TempPathFactory, splits: Any, data: Any) -> None:
    path = tmp_path_factory.mktemp("protocol") / "p.json"
    assume(any(splits.values()))
    Protocol("mine", splits).write(path)
    assert dict(read_protocol_file(path).splits) == splits
    content = json.loads(path.read_text())
    indices = [(split, index) for split, ids in splits.items() for index in range(len(ids))]
    split, index = data.draw(st.sampled_from(indices))
    content["splits"][split][index] = "video99"
    path.write_text(json.dumps(content))
    with pytest.raises(VttdataError, match="they were changed after it was written"):
        read_protocol_file(path)


def test_digest_is_that_of_sorted_lines() -> None:
    # printf 'test\tb\ntrain\ta\n' | sha256sum
    digest = "88404c031505ef6b2568594b91dc766079d85c6cad572b4500186eff9eb28c74"
    assert Protocol("a", {"train": ["a"], "test": ["b"]}).digest == digest


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rich_dataset(tmp_path_factory.mktemp("rich") / "dataset")


@pytest.fixture
def protocol(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    Protocol("mine", {"train": ["v1"], "test": ["v3", "v0"]}).write(path)
    return path


def test_protocol_file_is_loaded_in_its_splits_and_order(dataset: Path, protocol: Path) -> None:
    loaded = vttdata.load_dataset(str(dataset), str(protocol))
    assert {split: rows["video_id"][:] for split, rows in loaded.items()} == {"train": ["v1"], "test": ["v3", "v0"]}
    assert vttdata.load_dataset(str(dataset), str(protocol), split="test").num_rows == 2
    with pytest.raises(VttdataError, match="has no split 'dev'; it has train, test"):
        vttdata.load_dataset(str(dataset), str(protocol), split="dev")


def test_evaluate_and_audit_take_a_protocol_file(
    dataset: Path, protocol: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "captions.csv").write_text("video_id,caption\nv0,a person runs\nv3,a person does thing 1\n")
    command = ["evaluate", str(dataset), str(tmp_path / "captions.csv"), "--config", str(protocol), "--json"]
    assert main([*command, "--metric", "bleu1", "--train-split", "train"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["config"] == f"mine@{read_protocol_file(protocol).digest[:12]}"
    assert report["items"]["expected"] == 2
    # v0 is a training clip of the dataset itself, and none of the protocol.
    assert report["leaks"]["leaked"] == 0
    assert any("the 1 clips of its train count as seen" in finding for finding in report["findings"])
    (tmp_path / "seen.csv").write_text("video_id\nv0\n")
    assert main([*command, "--metric", "bleu1", "--train-split", str(tmp_path / "seen.csv")]) == 0
    assert json.loads(capsys.readouterr().out)["leaks"]["leaked"] == 1
    assert main(["audit", str(dataset), "--config", str(protocol), "--json"]) == 0
    splits = json.loads(capsys.readouterr().out)["splits"]
    assert {split: counts["clips"] for split, counts in splits.items()} == {"train": 1, "test": 2}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cut off, damaged or not JSON"),
        ("[]", "is no protocol file"),
        ('{"protocol": "a", "splits": {"test": [1]}}', "is not a list of ids"),
        ('{"protocol": "a", "splits": {"test": ["x", "x"]}}', "an id of the split test is duplicated"),
        ('{"protocol": "a b", "splits": {"test": ["x"]}}', "is no protocol file"),
        ('{"protocol": "a", "splits": {"test": ["x"]}}', "they were changed after it was written"),
    ],
)
def test_damaged_protocol_file_is_one_sentence(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, words: str
) -> None:
    (tmp_path / "p.json").write_text(content)
    assert main(["audit", str(dataset), "--config", str(tmp_path / "p.json")]) == 2
    assert words in capsys.readouterr().err


def test_protocol_of_another_dataset_is_refused(dataset: Path, tmp_path: Path) -> None:
    Protocol("other", {"test": ["video7"]}).write(tmp_path / "p.json")
    with pytest.raises(VttdataError, match="no clip has the id 'video7'"):
        vttdata.load_dataset(str(dataset), str(tmp_path / "p.json"))
    command = ["evaluate", str(dataset), "--baseline", "random-caption", "--config", str(tmp_path / "p.json")]
    assert main(command) == 2
