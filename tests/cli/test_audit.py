"""`vttdata audit` and the audit of every build: what is printed, what is refused, and what stays."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers.builds import LOOSE, build, film
from vttdata.cli.main import main
from vttdata.dataset import Metadata, OfficialLayout, WriteHooks, write_dataset
from vttdata.dataset.leak_audit import audit_all, audit_dataset
from vttdata.records import Caption, Clip

SPLITS = {"v1": "train", "v2": "train", "v3": "validation", "v4": "test"}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Four clips of three sources without a leak; one caption stands in two splits."""
    sources = {"v1": "a", "v2": "a", "v3": "b", "v4": "c"}
    clips = [
        Clip(v, s, 3.0 * int(v[1]), 3.0 * int(v[1]) + 4, None, None, 1, split=SPLITS[v]) for v, s in sources.items()
    ]
    captions = [
        Caption(v, n, text) for v in sources for n, text in enumerate([f"about {v}", "one\x1b text"][: 1 + (v > "v2")])
    ]
    folder = tmp_path / "dataset"
    write_dataset(
        folder,
        clips=clips,
        captions=captions,
        sources=[],
        metadata=Metadata("me/x"),
        media=None,
        hooks=WriteHooks(audit_all),
    )
    return folder


def test_json_has_the_keys_of_the_interface(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--json", str(dataset)]) == 0
    found = json.loads(capsys.readouterr().out)
    none = {"train": 0, "validation": 0, "test": 0}
    assert found["splits"]["train"] == {"clips": 2, "sources": 1, "captions": 2}
    assert found["leaks"] == {
        "source": {"sources": 0, "clips": none},
        "overlap": {"pairs": 0, "clips": none},
        "caption_set": {"pairs": 0, "clips": none},
        "caption": {"captions": 1, "sentences": 2, "clips": {"train": 0, "validation": 1, "test": 1}},
    }
    assert found["compared"] == {"source_id": 4, "video_id": 4, "times": 4, "captions": 6}
    assert found["within"] == {
        "overlap_pairs": 1,
        "duplicate_captions": 0,
        "duplicate_captions_in_split": 0,
        "ambiguous_captions": 0,
    }
    assert found["ok"] is True


def test_splits_from_files_are_audited_and_leaks_end_with_code_3(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("key,video_id\n1,v1\n2,v3\n")
    (tmp_path / "b.txt").write_text("v2\n")
    files = ["--split", f"one={tmp_path / 'a.csv'}", "--split", f"two={tmp_path / 'b.txt'}"]
    assert main(["audit", "--json", str(dataset), *files]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["splits"] == {
        "one": {"clips": 2, "sources": 2, "captions": 3},
        "two": {"clips": 1, "sources": 1, "captions": 1},
    }
    assert found["leaks"]["source"] == {"sources": 1, "clips": {"one": 1, "two": 1}}
    assert found["leaks"]["overlap"] == {"pairs": 1, "clips": {"one": 1, "two": 1}}
    assert main(["audit", str(dataset), *files]) == 3
    text = capsys.readouterr().out
    assert "a: 1 in one (v1); 1 in two (v2)" in text
    assert "1.00 s: v1 (one) and v2 (two) of a" in text
    assert text.rstrip().endswith("LEAKS: source in several splits (1 source), overlap in time (1 pair of clips).")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("splits.csv", "video_id,split\nv1,train\nv2,test\nv3,test\n"),
        ("splits.json", '{"train": ["v1"], "test": ["v2", "v3"]}'),
    ],
)
def test_one_file_of_splits_is_audited_cleaned_and_shown(
    dataset: Path, tmp_path: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    written = ["--clean", str(tmp_path / "clean"), "--page", str(tmp_path / "a.md"), "--page", str(tmp_path / "a.html")]
    assert main(["audit", str(dataset), "--split", str(path), *written]) == 3
    assert "LEAKS: source in several splits (1 source)" in capsys.readouterr().out
    protocol = json.loads((tmp_path / "clean" / "protocol.json").read_text())
    # `v1` and `v2` are of one source; of the tested clips, only `v3` is left.
    assert protocol["splits"] == {"train": ["v1"], "test": ["v3"]}
    assert f"--split {path} --page a.md" in (tmp_path / "a.md").read_text()
    assert "leaves out what the splits share: train 1, test 1 clips" in (tmp_path / "a.md").read_text()
    # Without the dataset nothing says that the clips are of one source.
    assert main(["audit", str(path), *written]) == 0
    assert f"a dataset does: vttdata audit DATASET --split {path}" in capsys.readouterr().out
    protocol = json.loads((tmp_path / "clean" / "protocol.json").read_text())
    assert protocol["splits"] == {"train": ["v1"], "test": ["v2", "v3"]}
    assert main(["audit", str(dataset), "--split", str(tmp_path / "clean" / "protocol.json")]) == 3


def test_one_clip_in_two_files_counts_in_both(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("v3\nv1\nv3\n")
    (tmp_path / "b.txt").write_text("v3\n")
    found = audit_dataset(dataset, {"a": tmp_path / "a.txt", "b": tmp_path / "b.txt"})
    assert found.leaks["overlap"]["pairs"] == 1
    assert found.leaks["caption"] == {"captions": 2, "sentences": 4, "clips": {"a": 1, "b": 1}}


def test_all_rows_of_a_duplicated_id_are_audited(tmp_path: Path) -> None:
    spans = [("v1", "a", 0.0), ("v1", "b", 50.0), ("v2", "b", 55.0)]
    clips = [Clip(v, s, start, start + 9, None, None, 1, split="train") for v, s, start in spans]
    folder = tmp_path / "dataset"
    write_dataset(
        folder, clips=clips, captions=[], sources=[], metadata=Metadata("me/x"), media=None, official=OfficialLayout()
    )
    (tmp_path / "a.txt").write_text("v1\n")
    (tmp_path / "b.txt").write_text("v2\n")
    found = audit_dataset(folder, {"a": tmp_path / "a.txt", "b": tmp_path / "b.txt"})
    # Its rows are one clip, whatever sources they state, so that both are of the source of `v2`.
    assert found.leaks["source"] == {"sources": 1, "clips": {"a": 2, "b": 1}}
    assert [(conflict["column"], conflict["other"]) for conflict in found.conflicts] == [("video_id", "source_id")]
    assert found.leaks["overlap"]["pairs"] == 1


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        (["a=ids.csv"], "ids.csv: 2 of its ids are not in the dataset, the first is 'z'"),
        (["a=ids.csv", "a=ids.csv"], "--split names the split a twice"),
        (["a=gone.csv"], "gone.csv: cannot be read"),
        (["head.txt"], "1 of its ids are not in the dataset, the first is 'my clips'; if that is the head of the list"),
    ],
)
def test_unusable_id_lists_are_refused(
    dataset: Path,
    tmp_path: Path,
    splits: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ids.csv").write_text("video_id\nv1\nz\ny\n")
    Path("head.txt").write_text("my clips\nv1\n")
    assert main(["audit", str(dataset), *(part for split in splits for part in ("--split", split))]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("text", ["video_id,split\n", "true,foil\n", ""])
def test_a_table_without_rows_is_refused_as_such(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file := tmp_path / "mine.csv").write_text(text)
    assert main(["audit", str(file)]) == 2
    assert capsys.readouterr().err == f"vttdata: {file}: has no rows.\n"


def test_text_on_the_terminal_holds_no_control_characters(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(dataset)]) == 0
    text = capsys.readouterr().out
    assert '1 in validation, 1 in test: "one? text"' in text
    assert "\x1b" not in text


def test_a_damaged_table_is_named(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = next(dataset.glob("clips/test*.parquet"))
    table.write_bytes(table.read_bytes()[:-9])
    assert main(["audit", str(dataset)]) == 2
    assert "damaged or unreadable" in capsys.readouterr().err


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One video of which four clips are given."""
    folder = tmp_path_factory.mktemp("listed")
    film(folder / "a.mp4", 6)
    spans = [(0, 2), (1, 3), (3, 5), (4, 6)]
    rows = [f"a.mp4,{start},{end}" for start, end in spans]
    (folder / "list.csv").write_text("\n".join(["path,start,end", *rows]) + "\n")
    return folder / "list.csv"


@pytest.mark.not_on("win32")
def test_a_build_refuses_splits_that_leak_and_packages_them_for_a_reason(manifest: Path, tmp_path: Path) -> None:
    settings = [f"collect.manifest={manifest}", *LOOSE, "filter.max_frozen=1.0", "media.keep=none"]
    settings += ["split.ratios={train: 0.5, test: 0.5}", "split.method=balanced"]
    whole = build(tmp_path, *settings, recipe="own-list")
    assert whole.returncode == 0, whole.stderr
    account = json.loads((tmp_path / "build.json").read_text())
    assert account["audit"]["ok"] is True
    card = (tmp_path / "dataset" / "README.md").read_text()
    assert "## Leaks" in card
    assert "These splits leak" not in card

    apart = [*settings, "split.together=[]"]
    refused = build(tmp_path, *apart, recipe="own-list")
    assert refused.returncode == 3
    assert "source in several splits (1 source)" in refused.stderr
    account = json.loads((tmp_path / "build.json").read_text())
    assert (account["status"], account["audit"]["ok"]) == ("stopped", False)
    assert account["audit"]["leaks"]["source"]["clips"] == {"train": 2, "test": 2}
    assert (tmp_path / "dataset" / "README.md").read_text() == card

    accepted = build(tmp_path, *apart, "allow_leaks=one *take* only", recipe="own-list")
    assert accepted.returncode == 0, accepted.stderr
    account = json.loads((tmp_path / "build.json").read_text())
    assert all(stage["reused"] == stage["parts"] for stage in account["stages"])
    card = (tmp_path / "dataset" / "README.md").read_text()
    assert r"Why leaks are accepted: one \*take\* only" in card
    assert main(["audit", str(tmp_path)]) == 3


@pytest.mark.not_on("win32")
def test_build_with_only_unknown_pins_is_refused_and_known_pins_keep_their_split(
    manifest: Path, tmp_path: Path
) -> None:
    settings = [f"collect.manifest={manifest}", *LOOSE, "filter.max_frozen=1.0", "media.keep=none"]
    (tmp_path / "pins.csv").write_text("video_id,split\ngone,test\n")
    pin = f"split.pin={tmp_path / 'pins.csv'}"
    refused = build(tmp_path / "out", *settings, pin, recipe="own-list")
    assert refused.returncode == 2
    assert "No pinned clip exists, of 1 such as 'gone'" in refused.stderr
    assert build(tmp_path / "out", *settings, recipe="own-list").returncode == 0
    found = audit_dataset(tmp_path / "out" / "dataset")
    assert list(found.splits) == ["train"]

    kept = pd.read_parquet(tmp_path / "out" / "stages" / "split" / "kept.parquet")
    video_id = kept["video_id"][0]
    (tmp_path / "pins.csv").write_text(f"video_id,split\ngone,test\n{video_id},test\n")
    assert build(tmp_path / "out", *settings, pin, recipe="own-list").returncode == 0
    assert list(audit_dataset(tmp_path / "out" / "dataset").splits) == ["test"]
    split = json.loads((tmp_path / "out" / "build.json").read_text())["stages"][-1]
    assert split["rejected"] == {"pinned_but_missing": 1}
