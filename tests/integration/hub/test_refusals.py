"""What is not published: one sentence each, and nothing is uploaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.hub.built import build, edit, seal
from tests.helpers.hub.server import READER, Hub
from tests.integration.hub.conftest import Client
from tests.integration.test_damaged_datasets import with_column
from vttdata.errors import HaltError, LeakError, VttdataError
from vttdata.publish.hub import publish

NAME = "vttdata/small"
pytestmark = pytest.mark.usefixtures("logged_in")


def table(dataset: Path, pattern: str) -> Path:
    return next(dataset.glob(pattern))


def changed(pattern: str, change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    """Return what changes a table of a dataset in a way that its manifest agrees with."""

    def spoil(dataset: Path) -> None:
        path = table(dataset, pattern)
        rows = change(pq.read_table(path))
        pq.write_table(rows, path)
        manifest = json.loads((dataset / "manifest.json").read_text())
        manifest["files"][path.relative_to(dataset).as_posix()]["rows"] = rows.num_rows
        (dataset / "manifest.json").write_text(json.dumps(manifest))
        seal(dataset)

    return spoil


def unnumber(dataset: Path) -> None:
    path = dataset / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": "1"}))


def lengthen(dataset: Path) -> None:
    (dataset / "README.md").write_text((dataset / "README.md").read_text() + "One more line.\n")


def swap_bytes(dataset: Path) -> None:
    path = table(dataset, "captions/test*")
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lengthen, r"differs from its manifest\.json.*README\.md: has \d+ bytes instead of \d+; change the recipe"),
        (swap_bytes, r"captions/test-\S+: its content has changed"),
        (lambda own: table(own, "captions/test*").unlink(), r"captions/test-\S+: is missing"),
        (lambda own: (own / "notes.txt").write_text("x"), r"notes\.txt: is not in the manifest"),
        (lambda own: (own / "manifest.json").unlink(), r"manifest\.json: cannot be read"),
        (lambda own: (own / "manifest.json").write_text("[]"), "not the manifest of a dataset"),
        (unnumber, r"manifest\.json: '1' is not a version such as 1\.0\.0"),
        (lambda own: edit(own, "license: cc-by-4.0", "license: unknown"), "has no licence.*'--set licence=NAME'"),
        (lambda own: edit(own, "\nlicense: cc-by-4.0\n", "\n"), "has no licence"),
        (lambda own: edit(own, "version: 1.0.0", "version: 1.0.1"), "has version 1.0.0, but its README 1.0.1"),
        (lambda own: edit(own, "num_examples: 1", "num_examples: 3"), r"has 1 rows, but its README says 3"),
        (lambda own: edit(own, "dataset_info:", "infos:"), "does not describe the columns of 'clips'"),
        (lambda own: edit(own, "configs:", "configs: ]"), "not valid YAML"),
        (
            changed("clips/test*", with_column("start", ["0.0"])),
            r"the column 'start' is string, but the README says double",
        ),
        (
            changed("captions/test*", lambda rows: rows.rename_columns(["clip_id", *rows.column_names[1:]])),
            "the column 'video_id' is not in its file",
        ),
        (
            changed("clips/test*", with_column("category", [7])),
            "the column 'category' has the label 7, but its labels are 0 to 0",
        ),
        (changed("captions/test*", lambda rows: rows.slice(0, 0)), "its split captions/test is empty"),
        (
            changed("captions/test*", lambda rows: pa.concat_tables([rows, rows])),
            "captions/test has 2 rows, but its README says 1",
        ),
    ],
)
def test_changed_dataset_is_refused(hub: Hub, dataset: Path, spoil: Callable[[Path], object], message: str) -> None:
    spoil(dataset)
    with pytest.raises(VttdataError, match=message) as caught:
        publish(dataset, NAME, endpoint=hub.url)
    assert "\n" not in str(caught.value)
    assert hub.requests == []


def test_negative_label_is_refused_and_none_is_not(hub: Hub, dataset: Path) -> None:
    def without_category(rows: pa.Table) -> pa.Table:
        return rows.set_column(rows.column_names.index("category"), "category", pa.nulls(1, pa.int64()))

    changed("clips/test*", without_category)(dataset)
    publish(dataset, NAME, endpoint=hub.url, dry_run=True)
    changed("clips/test*", with_column("category", [-1]))(dataset)
    with pytest.raises(VttdataError, match="has the label -1"):
        publish(dataset, NAME, endpoint=hub.url)


def test_incomplete_dataset_is_published_only_on_request(hub: Hub, client: Client, tmp_path: Path) -> None:
    incomplete = build(tmp_path / "incomplete", unprocessed="stage 'cut' (1 killed)")
    refused = client.vttdata("publish", str(incomplete), NAME, "--endpoint", hub.url)
    assert (refused.returncode, refused.stderr) == (
        2,
        f"vttdata: {incomplete}: is incomplete: items of stage 'cut' (1 killed) are missing, because their processing "
        "was cut short; run the same build again, or publish it as it is with --allow-incomplete.\n",
    )
    assert not hub.requests
    done = client.vttdata("publish", str(incomplete), NAME, "--endpoint", hub.url, "--allow-incomplete")
    assert done.returncode == 0, done.stderr
    assert hub.store.find(NAME).tags


def test_splits_that_leak_need_a_reason(hub: Hub, tmp_path: Path) -> None:
    leaking = {"texts": ["a", "b"], "sources": ["s", "s"]}
    with pytest.raises(LeakError, match=r"its splits leak: .*'allow_leaks: REASON'"):
        publish(build(tmp_path / "a", **leaking), NAME, endpoint=hub.url)
    assert hub.requests == []


@pytest.mark.parametrize(
    "name",
    ["small", "a/b/c", "vttdata/sm all", "vttdata/-small", "vttdata/a--b", "../small", "vttdata/..", "", "a/b\n"],
)
def test_invalid_repository_name_is_refused(hub: Hub, dataset: Path, name: str) -> None:
    with pytest.raises(VttdataError, match="is not a name on the Hub"):
        publish(dataset, name, endpoint=hub.url)
    assert hub.requests == []


def test_version_other_than_the_expected_tag_is_refused(hub: Hub, dataset: Path) -> None:
    with pytest.raises(VttdataError, match=r"has version 1\.0\.0, not v1\.1\.0; .*'version: 1\.1\.0'"):
        publish(dataset, NAME, endpoint=hub.url, tag="v1.1.0")
    assert hub.requests == []


def test_missing_token_is_refused_with_how_to_give_one(hub: Hub, client: Client, dataset: Path) -> None:
    done = client.vttdata("publish", str(dataset), NAME, token=None)
    assert done.returncode == 2
    assert "There is no token for the Hub: log in with 'hf auth login', or set HF_TOKEN" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert hub.requests == []


def test_dry_run_without_a_token_says_what_a_first_publish_would_send(hub: Hub, client: Client, dataset: Path) -> None:
    done = client.vttdata("publish", str(dataset), NAME, "--dry-run", "--private", token=None)
    assert done.returncode == 0
    sizes = {path.relative_to(dataset).as_posix(): path.stat().st_size for path in dataset.rglob("*.*")}
    lines = done.stdout.splitlines()
    *files, version = lines[: lines.index("")]
    assert {tuple(line.split()) for line in files} == {
        ("added", name, f"{size:,}", "bytes") for name, size in sizes.items()
    }
    total = f"{len(sizes)} added files, {sum(sizes.values()):,} bytes to send"
    note, end = lines[-2:]
    assert (version, end) == (f"{NAME}, version 1.0.0: a new private repository, {total}", "Nothing was changed.")
    assert any(line.startswith("- names of original files: 's0.mp4', ") for line in lines)
    assert note.startswith("note")
    assert {"rai:dataBiases", "rai:dataSocialImpact"} < set(note.replace(",", " ").split())
    assert done.stderr == (
        "vttdata: There is no token, so the Hub was not asked: this is what a first publish would send. To compare it "
        "with what is published, log in with 'hf auth login', or set HF_TOKEN.\n"
    )
    assert hub.requests == []


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("hf_unknownTokenThatNobodyMaySee", "does not accept the token"),
        (READER, "may not write to 'vttdata/small'"),
        ("hf_damagedTokenThat\x07NobodyMaySee", "has characters that no token has"),
        ("hf_damagedToken ThatNobodyMaySee", "has characters that no token has"),
    ],
)
def test_invalid_or_read_only_token_is_refused(
    hub: Hub, dataset: Path, monkeypatch: pytest.MonkeyPatch, token: str, message: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(VttdataError, match=message) as caught:
        publish(dataset, NAME, endpoint=hub.url)
    assert "NobodyMaySee" not in str(caught.value)
    assert not isinstance(caught.value, HaltError)
    assert hub.store.repositories == {}


def test_repository_of_another_dataset_is_refused(hub: Hub, dataset: Path, tmp_path: Path) -> None:
    publish(build(tmp_path / "other", name="vttdata/other"), NAME, endpoint=hub.url)
    before = hub.store.find(NAME).head
    with pytest.raises(VttdataError, match="'vttdata/small' holds the dataset 'vttdata/other', which is not replaced"):
        publish(dataset, NAME, endpoint=hub.url)
    assert hub.store.find(NAME).head == before


def test_repository_without_a_readable_version_is_refused(hub: Hub, dataset: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    content = json.dumps({"name": NAME, "version": "latest", "files": {}}).encode()
    hub.store.commit(hub.store.find(NAME), "mine", [("file", {"path": "manifest.json", "content": content})], None)
    with pytest.raises(VttdataError, match="holds a dataset without a version, which is not replaced"):
        publish(dataset, NAME, endpoint=hub.url)


@pytest.mark.parametrize("name", ["README.md", "data/train.csv", "manifest.json"])
def test_repository_with_other_files_is_refused(hub: Hub, dataset: Path, name: str) -> None:
    made = hub.store.create(NAME, private=False)
    hub.store.commit(made, "mine", [("file", {"path": name, "content": b"{}"})], None)
    hub.store.commit(made, "mine", [("file", {"path": "README.md", "content": b"mine"})], None)
    with pytest.raises(VttdataError, match="holds files that are not a dataset of vttdata"):
        publish(dataset, NAME, endpoint=hub.url)
    assert len(made.commits) == 3


def test_private_publication_into_a_public_repository_is_refused(hub: Hub, dataset: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    with pytest.raises(VttdataError, match="exists and is public; make it private in its settings"):
        publish(dataset, NAME, endpoint=hub.url, private=True)


def test_a_leaking_dataset_with_a_reason_is_published(hub: Hub, tmp_path: Path) -> None:
    reason = "they are the *official* splits"
    publish(build(tmp_path / "a", ["a", "b"], sources=["s", "s"], allow_leaks=reason), NAME, endpoint=hub.url)
    assert hub.store.find(NAME).tags
