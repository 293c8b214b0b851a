"""A dataset is made again from its own account: identical, or the rows that differ are named."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.test_foil import write_captions
from tests.helpers.official_files import held_out, train_val, write_unpacked, write_zipped
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.load.load_dataset import load_dataset

Capture = pytest.CaptureFixture[str]


def run(capture: Capture, *arguments: object) -> tuple[int, str, str]:
    capture.readouterr()
    code = main([str(own) for own in arguments])
    captured = capture.readouterr()
    return code, captured.out, captured.err


def build(out: Path, files: Path, *settings: str, recipe: str = "msrvtt-degraded") -> Path:
    parts = [part for setting in (f"annotations={files}", *settings) for part in ("--set", setting)]
    assert main(["build", recipe, "--quiet", "--workers", "1", "--out", str(out), *parts]) == 0
    return out / "dataset"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with official files and the degraded set built from them."""
    folder = tmp_path_factory.mktemp("made")
    build(folder / "out", write_unpacked(folder / "files"))
    return folder


@pytest.fixture
def dataset(made: Path, tmp_path: Path) -> Path:
    """The degraded set alone, far from where it was built."""
    return Path(shutil.copytree(made / "out" / "dataset", tmp_path / "elsewhere"))


@pytest.fixture(scope="module")
def foils(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of captions and what `vttdata foil` and `vttdata degrade` make of it."""
    folder = tmp_path_factory.mktemp("foils")
    captions = write_captions(folder / "captions.csv", 80)
    assert main(["foil", str(captions), "--out", str(folder / "foil"), "--seed", "3", "--min-count", "5"]) == 0
    assert main(["degrade", str(captions), "--out", str(folder / "degrade"), "--seed", "3", "--whole"]) == 0
    return folder


def edit_row(table: Path, column: str, row: int, value: Any) -> None:
    content = pq.read_table(table)
    values = content.column(column).to_pylist()
    values[row] = value
    index = content.schema.get_field_index(column)
    pq.write_table(content.set_column(index, column, pa.array(values, content.schema.field(column).type)), table)


def rewrite(dataset: Path, name: str, text: str) -> None:
    """Put a text into a dataset so that its manifest agrees."""
    (dataset / name).write_text(text)
    manifest = json.loads((dataset / "manifest.json").read_text())
    raw = text.encode()
    manifest["files"][name] = {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    (dataset / "manifest.json").write_text(json.dumps(manifest))


def test_a_dataset_is_made_again_to_the_byte_wherever_it_and_its_inputs_lie(
    dataset: Path, tmp_path: Path, capsys: Capture
) -> None:
    code, out, err = run(capsys, "verify", dataset, "--set", f"annotations={write_zipped(tmp_path / 'packed')}")
    assert (code, err) == (0, "")
    assert "inputs: those that it was made from\ntools: the same versions\nidentical: all" in out
    assert "data files" in out


def test_unlisted_files_are_named(dataset: Path, capsys: Capture) -> None:
    table = next((dataset / "captions").glob("train-*"))
    shutil.copy(table, table.with_name("train-more.parquet"))
    (dataset / ".hidden").write_text("x")
    code, out, _ = run(capsys, "verify", dataset, "--files-only")
    assert (code, out.splitlines()[0]) == (4, "captions/train-more.parquet: is not in the manifest.")
    with pytest.raises(VttdataError, match=r"built: captions/train-more\.parquet: is not in the manifest"):
        load_dataset(dataset, verify=True)


def test_unlisted_files_beside_tables_without_a_card_are_ignored(foils: Path, tmp_path: Path, capsys: Capture) -> None:
    folder = shutil.copytree(foils / "degrade", tmp_path / "degraded")
    (folder / "notes.txt").write_text("mine")
    assert run(capsys, "verify", folder, "--files-only")[0] == 0


def test_verify_without_inputs_checks_files_and_prints_the_rebuild_command(dataset: Path, capsys: Capture) -> None:
    code, out, err = run(capsys, "verify", dataset)
    assert (code, out.count("\n")) == (0, 1)
    assert err == f"To make it again from official files, which are fetched: vttdata verify {dataset} --rebuild\n"
    assert run(capsys, "verify", dataset, "--files-only")[2] == ""


def test_base_install_verifies_files(dataset: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vttdata.recipe.published", None)
    code, out, err = run(capsys, "verify", dataset)
    assert (code, out.count("\n")) == (0, 1)
    assert err == "Its README says how to make it again; that takes pip install 'vttdata[build]'.\n"


def test_another_seed_gives_other_rows(made: Path, dataset: Path, capsys: Capture) -> None:
    code, out, _ = run(capsys, "verify", dataset, "--set", f"annotations={made / 'files'}", "--set", "seed=1")
    assert code == 4
    assert "degraded: 34 changed in" in out
    assert "seed (34)" in out
    assert "captions:" not in out


def test_a_row_that_was_edited_by_hand_is_named(made: Path, dataset: Path, capsys: Capture) -> None:
    table = next((dataset / "captions").glob("train-*"))
    edit_row(table, "caption", 5, "=HYPERLINK()")
    code, out, _ = run(capsys, "verify", dataset)
    assert (code, table.name in out) == (4, True)
    code, out, _ = run(capsys, "verify", dataset, "--set", f"annotations={made / 'files'}")
    assert code == 4
    assert "captions: 1 changed in caption (1), namely video2 5 (caption)\n" in out


def test_inputs_that_are_other_files_are_named_before_the_rows(dataset: Path, tmp_path: Path, capsys: Capture) -> None:
    second = held_out()
    second["sentences"][0]["caption"] = "somebody does something else"
    files = write_unpacked(tmp_path / "others", train_val(), second)
    code, out, _ = run(capsys, "verify", dataset, "--set", f"annotations={files}")
    assert code == 4
    position = out.index("inputs: 1 are other files than those it was made from: test_videodatainfo.json")
    assert position < out.index("captions: 1 changed in caption (1)")


@pytest.mark.parametrize("command", ["foil", "degrade"])
def test_result_of_a_command_is_rebuilt_with_its_options(foils: Path, capsys: Capture, command: str) -> None:
    captions = foils / "captions.csv"
    code, out, err = run(capsys, "verify", foils / command, "--input", captions)
    assert (code, err) == (0, "")
    assert "identical: all" in out
    code, out, _ = run(capsys, "verify", foils / command, "--input", captions, "--set", "seed=4")
    assert (code, "seed" in out) == (4, True)
    code, _, err = run(capsys, "verify", foils / command)
    assert (code, err.rstrip().endswith("--input captions.csv")) == (0, True)


def test_a_foil_that_was_edited_by_hand_is_named(foils: Path, tmp_path: Path, capsys: Capture) -> None:
    edited = shutil.copytree(foils / "foil", tmp_path / "edited")
    table = next((edited / "foils").glob("*.parquet"))
    row = pq.read_table(table).to_pylist()[2]
    edit_row(table, "foil", 2, f"{row['foil']} indeed")
    code, out, _ = run(capsys, "verify", edited, "--input", foils / "captions.csv")
    assert (code, f"1 changed in foil (1), namely {row['foil_id']} (foil)\n" in out) == (4, True)


def test_a_dataset_in_the_cache_of_the_hub_is_verified_without_what_was_not_fetched(
    foils: Path, tmp_path: Path, capsys: Capture
) -> None:
    blobs = shutil.copytree(foils / "foil", tmp_path / "blobs")
    (blobs / "videos").mkdir()
    rewrite(blobs, "videos/left.mp4", "on the Hub")
    snapshot = tmp_path / "snapshots" / "abc"
    for path in blobs.rglob("*.*"):
        if path.suffix != ".mp4":
            linked = snapshot / path.relative_to(blobs)
            linked.parent.mkdir(parents=True, exist_ok=True)
            linked.symlink_to(path)
    code, out, _ = run(capsys, "verify", snapshot, "--input", foils / "captions.csv")
    assert code == 0
    assert "as the manifest lists them; 1 were not fetched from the Hub\n" in out
    assert "identical: all 3 data files" in out
    (snapshot / "README.md").unlink()
    code, out, _ = run(capsys, "verify", snapshot)
    assert (code, "README.md: is missing." in out) == (4, True)


def test_other_versions_of_tools_are_named_and_the_rebuild_is_tried(made: Path, dataset: Path, capsys: Capture) -> None:
    account = json.loads((dataset / "provenance.json").read_text())
    account |= {"vttdata_version": "0.0.1", "tools": account["tools"] | {"pyarrow": "1.0", "strange": "2"}}
    rewrite(dataset, "provenance.json", json.dumps(account))
    code, out, _ = run(capsys, "verify", dataset, "--set", f"annotations={made / 'files'}")
    assert code == 0
    assert f"pyarrow {pa.__version__} (then 1.0), strange none (then 2), vttdata" in out
    assert "also not the same: provenance.json\nidentical: all" in out


HEAD = "name: a/b\nbuilder: msrvtt\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{HEAD}annotations: give it with --set annotations=FOLDER\n", "needs what the dataset was made from"),
        (f"{HEAD}annotations: /etc\n", "say where it is with --set annotations=PATH"),
        (f"{HEAD}annotations: {{files}}\n", "names a path of another machine"),
        ("name: a/b\nbuilder: evil.py\n", "'evil.py', which is not packaged"),
        ("name: a/b\nbuilder: [official]\n", "is not packaged"),
        (f"{HEAD}seed: !!python/object/apply:os.system ['true']\n", "not valid YAML"),
        (f"{HEAD}a: &x [1]\nb: *x\n", "aliases"),
        (
            "name: a/b\nbuilder: own_videos\ncollect: {scenes: {}, proxy: 'http://evil.example'}\n",
            "collect.proxy: is set to 'http://evil.example', which is not packaged; what is opened, run",
        ),
        ("- 1\n", "a mapping of keys is expected"),
    ],
)
def test_untrustworthy_recipe_is_refused_in_one_sentence(
    made: Path, dataset: Path, capsys: Capture, text: str, words: str
) -> None:
    (dataset / "evil.py").write_text("raise SystemExit('ran')\n")
    rewrite(dataset, "recipe.yaml", text.replace("{files}", str(made / "files")))
    code, _, err = run(capsys, "verify", dataset, "--rebuild")
    assert (code, err.count("\n"), words in err) == (2, 1, True), err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"seed": 0}',
        '{"seed": 0, "inputs": [], "tools": {}, "vttdata_version": 1}',
        '{"seed": "0", "inputs": [], "tools": [], "vttdata_version": "1"}',
        '{"seed": 0, "inputs": [{"key": "a"}], "tools": {}, "vttdata_version": "1"}',
    ],
)
def test_malformed_provenance_is_refused_in_one_sentence(dataset: Path, capsys: Capture, text: str) -> None:
    rewrite(dataset, "provenance.json", text)
    code, _, err = run(capsys, "verify", dataset, "--input", __file__)
    assert (code, err.count("\n")) == (2, 1), err


def test_dataset_that_cannot_be_rebuilt_is_refused_in_one_sentence(
    made: Path, dataset: Path, foils: Path, capsys: Capture
) -> None:
    code, _, err = run(capsys, "verify", dataset, "--input", "x.csv")
    assert (code, err.count("\n")) == (2, 1)
    code, _, err = run(capsys, "verify", foils / "foil", "--rebuild")
    assert (code, "needs what the dataset was made from: --set input=INPUT" in err) == (2, True)
    code, _, err = run(capsys, "verify", foils / "foil", "--input", foils / "captions.csv", "--set", "out=/tmp/x")
    assert (code, "out: there is no such key; allowed are allow_leaks" in err) == (2, True)
    with (dataset / "recipe.yaml").open("a") as stream:
        stream.write("# edited\n")
    code, out, err = run(capsys, "verify", dataset, "--set", f"annotations={made / 'files'}")
    assert (code, "recipe.yaml: has" in out, err.startswith("It is not made again: recipe.yaml:")) == (4, True, True)
    (dataset / "provenance.json").unlink()
    code, _, err = run(capsys, "verify", dataset)
    assert (code, "so it cannot be made again" in err) == (4, True)


def test_a_build_says_when_it_replaces_rows_under_the_same_version(made: Path, tmp_path: Path, capsys: Capture) -> None:
    shutil.copytree(made / "out", tmp_path / "out")
    for settings, warns in (([], False), (["seed=1"], True), (["seed=2", "version=4.0.0"], False)):
        capsys.readouterr()
        build(tmp_path / "out", made / "files", *settings)
        err = capsys.readouterr().err
        assert ("both have version 3.0.0 (degraded: 34 changed" in err, "set version to 4.0.0" in err) == (warns, warns)
    assert not (tmp_path / "out" / ".dataset.vttdata-before").exists()
    next((tmp_path / "out" / "dataset" / "captions").glob("test-*")).write_bytes(b"damaged")
    capsys.readouterr()
    build(tmp_path / "out", made / "files", "seed=3", "version=4.0.0")
    assert capsys.readouterr().err == ""


def test_two_datasets_are_compared_by_name_or_folder(made: Path, dataset: Path, capsys: Capture) -> None:
    assert run(capsys, "diff", made / "out", dataset)[:2] == (0, "No row differs.\n")
    edit_row(next((dataset / "clips").glob("test-*")), "end", 0, 0.5)
    code, out, _ = run(capsys, "diff", made / "out", dataset, "--json")
    found = json.loads(out)
    assert (code, found["needed"], found["version"], found["next_version"]) == (4, "major", "3.0.0", "4.0.0")
    clips = next(own for own in found["configs"] if own["config"] == "clips")
    assert (clips["changed"], clips["columns"], clips["examples"]["changed"]) == (1, {"end": 1}, ["video12 (end)"])
    code, out, _ = run(capsys, "diff", made / "out", dataset)
    assert (code, "The newer one needs a new MAJOR version (after 3.0.0: 4.0.0)." in out) == (4, True)
    assert run(capsys, "diff", dataset, dataset.parent)[0] == 2
