"""Options have one meaning, one style and completion, whatever command they belong to."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from tests.cli.test_main import COMMANDS
from vttdata.cli.main import cli, main
from vttdata.dataset import Metadata, WriteHooks, write_dataset
from vttdata.dataset.leak_audit import audit_all
from vttdata.records import Caption, Clip

# Options that several commands have with another meaning, because both are fixed.
DIFFERENT = {
    "--split": {"NAME", "[NAME=]FILE"},
    "--captions": {"INPUT", "TABLE"},
    "--videos": {"DIR", "N", "WHERE"},
    "--against": {"CAPTIONS", "CORPUS", "OTHER"},
    "--candidates": {"FILE", "N"},
    "--limit": {"N", "SECONDS"},
    "--model": {"MODEL", "[METRIC=]MODEL"},
    "--out": {"DIR", "FILE"},
}


def complete(arguments: str, incomplete: str) -> list[str]:
    completion = ShellComplete(cli, {}, "vttdata", "_VTTDATA_COMPLETE")
    return [item.value for item in completion.get_completions(arguments.split(), incomplete)]


def test_option_of_several_commands_takes_the_same_kind_of_value() -> None:
    metavars: dict[str, set[str | None]] = defaultdict(set)
    for command in COMMANDS.values():
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden and not option.is_flag:
                metavars[option.opts[0]].add(option.metavar)
    assert {name: found for name, found in metavars.items() if len(found) > 1} == DIFFERENT
    assert "--protocol" not in metavars


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Return a dataset with two splits."""
    clips = [
        Clip(f"v{number}", f"s{number}", 0.0, 4.0, None, None, 1, split=split)
        for number, split in enumerate(("train", "test"))
    ]
    captions = [Caption(clip.video_id, 0, f"about {clip.video_id}") for clip in clips]
    folder = tmp_path / "dataset"
    tables = {"clips": clips, "captions": captions, "sources": []}
    write_dataset(folder, **tables, metadata=Metadata("me/x"), media=None, hooks=WriteHooks(audit_all))
    return folder


def test_values_of_options_are_completed(dataset: Path) -> None:
    assert complete(f"export {dataset} --format jsonl --split", "t") == ["train", "test"]
    assert complete(f"evaluate {dataset} --config", "c") == ["clips"]
    assert complete(f"audit {dataset} --split", "te") == ["test"]
    assert complete(f"audit {dataset} --split", "v") == []
    assert complete("evaluate --split", "v") == ["validation"]
    assert complete("build own-folder --set", "clips.max") == ["clips.max_seconds="]
    assert complete("build no-such-recipe --set", "clips.max") == []
    assert complete("foil captions.csv --columns", "cap") == ["caption="]
    assert "ngram" in complete("foil captions.csv --scorer", "n")


def test_audit_takes_some_of_the_splits_of_a_dataset(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(dataset), "--split", "test"]) == 0
    shown = capsys.readouterr().out
    assert "test" in shown
    assert "train" not in shown
    assert main(["audit", str(dataset), "--split", "tset"]) == 2
    assert "There is no split 'tset'; the splits are train, test." in capsys.readouterr().err


def test_text_for_a_number_is_called_by_the_noun_of_the_number(capsys: pytest.CaptureFixture[str]) -> None:
    for option, noun in (("--options", "integer"), ("--imbalance", "number")):
        assert main(["foil", "captions.csv", "--out", "foils", option, "x"]) == 2
        error = capsys.readouterr().err
        assert option in error
        assert "'x'" in error
        assert noun in error
