"""Whatever somebody else's dataset folder holds, commands and `load_dataset` end with a sentence, never a traceback."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.dataset.conftest import written_foils
from tests.helpers.builds import vttdata
from tests.helpers.damage import damage, write_rich_dataset
from tests.helpers.hub.server import WRITER, Hub
from vttdata.errors import VttdataError
from vttdata.load.load_dataset import load_dataset

MUTATIONS = 120
FORMATS = ("coco", "jsonl", "retrieval", "msrvtt", "mteb", "lmms-eval")


def with_column(name: str, values: list[object]) -> Callable[[pa.Table], pa.Table]:
    """Return a function that replaces a column of a table."""
    return lambda rows: rows.set_column(rows.column_names.index(name), name, pa.array(values))


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    (tmp_path / "blobs").mkdir()
    running = Hub(tmp_path / "blobs")
    yield running
    running.close()


def list_commands(seed: int, folder: Path, intact: Path, out: Path, endpoint: str) -> list[tuple[str, ...]]:
    """Return all commands that read a dataset folder; the seed chooses among their options."""
    dataset = str(folder)
    json = ("--json",) if seed % 2 else ()
    return [
        ("list", *json),
        ("list", dataset, *json),
        ("show", dataset, *json),
        ("diff", *((str(intact), dataset) if seed % 3 else (dataset, str(intact))), *json),
        ("audit", dataset, *json, *(() if seed % 3 else ("--config", "one-k"))),
        ("verify", dataset),
        ("export", dataset, "--format", FORMATS[seed % len(FORMATS)], "--out", str(out)),
        ("publish", dataset, "me/rich", "--dry-run", "--endpoint", endpoint),
    ]


def find_problem(command: tuple[str, ...]) -> str:
    """Run a command and return what is wrong with its end; empty if nothing is."""
    try:
        ended = vttdata(*command)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    if ended.returncode not in (0, 2, 3, 4) or "Traceback" in ended.stderr:
        return f"{ended.returncode}: {ended.stderr}"[:300]
    if command[:2] in (("list",), ("list", "--json")) and (ended.returncode or "me/intact" not in ended.stdout):
        return f"the other dataset is not listed: {ended.stderr}"[:300]
    return ""


def find_problem_in_loading(folder: Path, *, verify: bool) -> str:
    """Load the default configuration and return what is wrong with the error; empty if nothing is."""
    try:
        load_dataset(str(folder), download_mode="force_redownload", verify=verify)
    except VttdataError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


@pytest.mark.long
def test_damaged_folders_never_give_a_traceback(tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("VTTDATA_HOME", str(home))
    monkeypatch.setenv("HF_TOKEN", WRITER)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    intact = {"rich": write_rich_dataset(tmp_path / "rich"), "foils": written_foils(tmp_path / "foils")}
    shutil.copytree(intact["rich"], home / "me" / "intact")
    problems = []
    for seed in range(MUTATIONS):
        kind = "foils" if seed % 4 == 3 else "rich"
        folder = home / "me" / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(intact[kind], folder)
        done = damage(folder, seed)
        commands = list_commands(seed, folder, intact[kind], tmp_path / "out", hub.url)
        for command in commands[seed % 4 :: 4]:
            if problem := find_problem(command):
                problems.append(f"{seed} ({done}): {command[0]}: {problem}")
        if seed % 10 == 0 and (problem := find_problem_in_loading(folder, verify=seed % 20 == 0)):
            problems.append(f"{seed} ({done}): load_dataset: {problem}")
    assert not problems, "\n".join(problems)


@pytest.fixture
def rich(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset that is known by its name, beside another one."""
    monkeypatch.setenv("VTTDATA_HOME", str(tmp_path / "home"))
    write_rich_dataset(tmp_path / "home" / "me" / "other")
    return write_rich_dataset(tmp_path / "home" / "me" / "rich")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("dataset_info:\n", "dataset_info: 7\nrest:\n", "  me/rich: 1.0.0; "),
        ("num_examples: 2", "num_examples: [many]", "  me/rich: 1.0.0, 2 clips; "),
        ("license: cc-by-4.0", "license: 2026-01-01", "  me/rich: 1.0.0, 4 clips; "),
        ("license: cc-by-4.0", r'license: "\ud800"', "README.md: its front matter contains an unpaired surrogate."),
        ("---\n", "--\n", "README.md: does not begin with the YAML front matter of a dataset card."),
        ("---\n", "---\n" + "[" * 5000, "README.md: its front matter: line 1: not valid YAML ("),
    ],
)
@pytest.mark.sampled(2)
def test_odd_card_is_listed_beside_the_others(rich: Path, old: str, new: str, line: str) -> None:
    card = rich / "README.md"
    card.write_text(card.read_text().replace(old, new, 1))
    for command in (("list",), ("list", "--json")):
        ended = vttdata(*command)
        assert (ended.returncode, ended.stderr) == (0, "")
    lines = vttdata("list").stdout.splitlines()
    assert any(text.startswith("  me/other: 1.0.0, 4 clips; ") for text in lines)
    (listed,) = (text for text in lines if text.startswith("  me/rich: "))
    assert line in listed


@pytest.mark.parametrize(
    ("table", "change", "command", "message"),
    [
        ("captions", lambda rows: rows.drop_columns(["caption"]), "show", "has no column 'caption'"),
        ("clips", lambda rows: rows.drop_columns(["duration"]), "show", "has no column 'duration'"),
        ("clips", with_column("start", [["x"], ["y"]]), "audit", "'start' is list<element: string>, where float64"),
        ("sources", with_column("hashes", [1.5, 2.5]), "audit", "'hashes' is double, where string is expected"),
        ("clips", with_column("category", [7, -1]), "show", "has the category 7, but the card names 2 categories"),
        ("captions", with_column("caption", [None] * 6), "export", "'caption' of row 1 is null"),
    ],
)
def test_table_of_another_shape_is_named(
    rich: Path, tmp_path: Path, table: str, change: Callable[[pa.Table], pa.Table], command: str, message: str
) -> None:
    path = next((rich / table).glob("train*.parquet"))
    pq.write_table(change(pq.read_table(path)), path)
    more = ("--format", "coco", "--out", str(tmp_path / "out")) if command == "export" else ()
    ended = vttdata(command, str(rich), *more)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
    assert message in ended.stderr


def test_column_that_only_some_files_have_is_named(rich: Path, tmp_path: Path) -> None:
    path = next((rich / "clips").glob("test*.parquet"))
    pq.write_table(pq.read_table(path).drop_columns(["category"]), path)
    ended = vttdata("export", str(rich), "--format", "jsonl", "--out", str(tmp_path / "out"))
    assert (ended.returncode, ended.stderr) == (2, f"vttdata: {path.resolve()}: has no column 'category'.\n")


def test_loading_a_damaged_table_raises_one_sentence(rich: Path, tmp_path: Path) -> None:
    path = next((rich / "clips").glob("train*.parquet"))
    content = bytearray(path.read_bytes())
    content[100:400] = bytes(300)
    path.write_bytes(content)
    with pytest.raises(VttdataError, match=r"'vttdata verify .*' compares all files with the manifest"):
        load_dataset(str(rich), cache_dir=str(tmp_path / "cache"))
    rows = pq.read_table(next((rich / "clips").glob("test*.parquet")))
    pq.write_table(pa.concat_tables([rows] * 3), path)
    with pytest.raises(VttdataError, match="is not as the card says"):
        load_dataset(str(rich), cache_dir=str(tmp_path / "cache"))
    card = rich / "README.md"
    card.write_text(card.read_text().replace("dtype: string", "dtype: nonsense", 1))
    with pytest.raises(VttdataError, match="README"):
        load_dataset(str(rich), cache_dir=str(tmp_path / "cache"))
