"""Publishing to the local Hub: what gets there, what a new version changes, and what is left alone."""

from __future__ import annotations

import contextlib
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from tests.helpers.hub.built import build, build_foils
from tests.helpers.hub.server import WRITER, Hub
from tests.helpers.hub.store import Repository
from tests.integration.hub.conftest import Client
from vttdata.dataset.manifest import find_damage
from vttdata.errors import VttdataError
from vttdata.pipeline.journal import locked
from vttdata.publish.hub import publish

NAME = "vttdata/small"
pytestmark = pytest.mark.usefixtures("logged_in")


def files(hub: Hub, revision: str = "main", name: str = NAME) -> dict[str, bytes]:
    repository = hub.store.find(name)
    paths = repository.find(revision).files
    return {path: hub.store.read(name, path, revision) for path in paths if path != ".gitattributes"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def repository(hub: Hub) -> Repository:
    return hub.store.find(NAME)


def test_a_dataset_is_published_as_one_commit_and_a_tag(hub: Hub, dataset: Path) -> None:
    done = publish(dataset, NAME, endpoint=hub.url)
    assert files(hub) == contents(dataset)
    assert [commit.title for commit in repository(hub).history()] == ["vttdata/small 1.0.0", "initial commit"]
    assert repository(hub).tags == {"v1.0.0": repository(hub).head} == {"v1.0.0": done.commit}
    assert done.url == f"{hub.url}/datasets/{NAME}"
    assert not repository(hub).private


def test_clips_and_foils_are_published_alike(hub: Hub, tmp_path: Path) -> None:
    films = build(tmp_path / "films", media=tmp_path / "cut", name="vttdata/films")
    foils = build_foils(tmp_path / "foils")
    for folder, name in ((films, "vttdata/films"), (foils, "vttdata/small-foil")):
        publish(folder, name, endpoint=hub.url)
        assert files(hub, "v1.0.0", name) == contents(folder)
    assert "videos/train/v0.mp4" in files(hub, name="vttdata/films")


def test_plan_groups_many_files_and_notes_another_name(hub: Hub, tmp_path: Path) -> None:
    many = build(tmp_path / "many", [f"text {number}" for number in range(25)], media=tmp_path / "cut")
    text = publish(many, "vttdata/many", endpoint=hub.url, dry_run=True).plan.as_text()
    assert re.search(r"added +videos/train/ \(\d+ files\) +[\d,]+ bytes", text)
    assert "the card shows how to load 'vttdata/small'; set 'name: vttdata/many' in the recipe" in text


def test_publishing_again_does_nothing(hub: Hub, dataset: Path) -> None:
    first = publish(dataset, NAME, endpoint=hub.url)
    before = len(hub.requests)
    again = publish(dataset, NAME, endpoint=hub.url)
    assert again.commit == first.commit
    assert {own.method for own in hub.requests[before:]} <= {"GET", "HEAD"}
    assert again.plan.as_text() == "vttdata/small, version 1.0.0: is published already"


def test_a_dry_run_says_what_would_change_and_changes_nothing(hub: Hub, dataset: Path) -> None:
    planned = publish(dataset, NAME, endpoint=hub.url, dry_run=True)
    assert planned.commit is None
    assert not hub.store.repositories
    assert {own.method for own in hub.requests} == {"GET"}
    text = planned.plan.as_text()
    assert f"a new repository, {len(contents(dataset))} added files" in text
    assert all(name in text for name in contents(dataset))


def test_private_repository_is_invisible_to_others(hub: Hub, dataset: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url, private=True)
    assert repository(hub).private
    publish(dataset, NAME, endpoint=hub.url, private=True)


def test_a_new_version_replaces_files_and_lists_the_rows_that_differ(hub: Hub, tmp_path: Path) -> None:
    publish(build(tmp_path / "a"), NAME, endpoint=hub.url)
    first = files(hub)
    newer = build(tmp_path / "b", ["a person waves", "a cat runs", "a dog sleeps"], version="2.0.0")
    done = publish(newer, NAME, endpoint=hub.url)
    assert files(hub, "v1.0.0") == first
    assert set(files(hub)) == set(contents(newer))
    assert repository(hub).tags["v2.0.0"] == repository(hub).head == done.commit
    card = files(hub)["README.md"].decode()
    assert card.startswith((newer / "README.md").read_text().rstrip())
    section = card.partition("## Changes")[2]
    assert "### 2.0.0, after 1.0.0" in section
    assert "- captions: 1 added, namely v2 1; 1 changed in caption" in section
    assert done.plan.difference is not None
    assert done.plan.previous_version == "1.0.0"
    for name, content in files(hub).items():
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copy" / name).write_bytes(content)
    assert find_damage(tmp_path / "copy") == []
    before = repository(hub).head
    assert publish(newer, NAME, endpoint=hub.url).commit == before == repository(hub).head


def test_the_list_of_changes_grows_with_the_versions(hub: Hub, tmp_path: Path) -> None:
    for number, texts in enumerate((["a", "b"], ["a", "c"], ["a", "d"]), 1):
        publish(build(tmp_path / str(number), texts, version=f"{number}.0.0"), NAME, endpoint=hub.url)
    card = files(hub)["README.md"].decode()
    assert card.count("## Changes\n") == 1
    assert card.index("### 3.0.0, after 2.0.0") < card.index("### 2.0.0, after 1.0.0")


@pytest.mark.parametrize(
    ("texts", "version", "needed"),
    [
        (["a person waves", "a dog runs"], "0.9.0", "1.0.1"),
        (["a person waves", "a dog barks"], "1.0.0", "2.0.0"),
        (["a person waves", "a dog barks"], "1.9.0", "2.0.0"),
        (["a person waves"], "1.1.0", "2.0.0"),
    ],
)
def test_version_must_rise_with_the_change(
    hub: Hub, dataset: Path, tmp_path: Path, texts: list[str], version: str, needed: str
) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    before = files(hub), len(hub.find_requests("PUT", ""))
    newer = build(tmp_path / "newer", texts, version=version)
    with pytest.raises(VttdataError, match=rf"{version} is not high enough .*'version: {needed}' in the recipe"):
        publish(newer, NAME, endpoint=hub.url)
    assert before == (files(hub), len(hub.find_requests("PUT", "")))


def test_changed_card_alone_needs_a_patch_version(hub: Hub, dataset: Path, tmp_path: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    card = {"description": "Now with a description."}
    with pytest.raises(VttdataError, match=r"files differ, though no row does; .*'version: 1\.0\.1'"):
        publish(build(tmp_path / "b", **card), NAME, endpoint=hub.url)
    publish(build(tmp_path / "c", version="1.0.1", **card), NAME, endpoint=hub.url)
    card = files(hub)["README.md"].decode()
    assert "### 1.0.1, after 1.0.0\n\nNo row differs." in card
    assert hub.find_requests("GET", "/resolve/.*parquet") == []


def test_tag_of_another_commit_is_not_moved(hub: Hub, dataset: Path, tmp_path: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    repository(hub).tags["v2.0.0"] = repository(hub).head
    newer = build(tmp_path / "newer", ["x", "y"], version="2.0.0")
    with pytest.raises(VttdataError, match=r"another version 2\.0\.0 already, .*'version: 2\.0\.1'"):
        publish(newer, NAME, endpoint=hub.url)


def test_a_missing_tag_is_set_by_the_next_run(hub: Hub, dataset: Path) -> None:
    done = publish(dataset, NAME, endpoint=hub.url)
    repository(hub).tags.clear()
    again = publish(dataset, NAME, endpoint=hub.url)
    assert "only its tag v1.0.0 is missing" in again.plan.as_text()
    assert repository(hub).tags == {"v1.0.0": done.commit}
    assert len(repository(hub).commits) == 2


def test_an_empty_repository_is_filled(hub: Hub, dataset: Path) -> None:
    hub.store.create(NAME, private=False)
    publish(dataset, NAME, endpoint=hub.url)
    assert files(hub) == contents(dataset)


def test_no_token_reaches_the_storage_of_large_files(hub: Hub, dataset: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    stored = hub.find_requests("PUT", "^/storage/")
    assert len(stored) == 6
    assert not any("authorization" in own.headers for own in stored)


def test_command_prints_its_steps_and_never_the_token(hub: Hub, client: Client, dataset: Path) -> None:
    arguments = ["publish", str(dataset), NAME, "--private", "--tag", "1.0.0"]
    dry, wet = client.vttdata(*arguments, "--dry-run"), client.vttdata(*arguments)
    assert (dry.returncode, wet.returncode) == (0, 0), dry.stderr + wet.stderr
    assert dry.stdout.endswith("Nothing was changed.\n")
    assert wet.stdout.endswith(f"{hub.url}/datasets/{NAME} has version 1.0.0 under the tag v1.0.0\n")
    assert wet.stderr == f"publishing {len(contents(dataset))} files\n"
    written = b"".join(path.read_bytes() for path in client.home.rglob("*") if path.is_file())
    published = b"".join(files(hub).values())
    for text in (
        dry.stdout,
        dry.stderr,
        wet.stdout,
        wet.stderr,
        written.decode("latin-1"),
        published.decode("latin-1"),
    ):
        assert WRITER not in text


def test_publication_and_build_keep_out_of_each_others_way(
    hub: Hub, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "around").mkdir()
    folder = dataset.rename(tmp_path / "around" / "dataset")
    build_at_work = contextlib.ExitStack()
    build_at_work.enter_context(locked(folder.parent))
    away = folder.rename(tmp_path / "away")

    waiting, said = threading.Event(), []

    def warn(text: str, *_: Any, **_options: Any) -> None:
        said.append(text)
        waiting.set()

    def finish() -> None:
        waiting.wait(60)
        away.rename(folder)
        build_at_work.close()

    refusals: list[str] = []
    commit = HfApi.create_commit

    def commit_beside_a_build(*arguments: Any, **options: Any) -> Any:
        with pytest.raises(VttdataError) as refused, locked(folder.parent):
            pass
        refusals.append(str(refused.value))
        return commit(*arguments, **options)

    monkeypatch.setattr(HfApi, "create_commit", commit_beside_a_build)
    finisher = threading.Thread(target=finish)
    finisher.start()
    with monkeypatch.context() as patch:
        patch.setattr("vttdata.publish.hub.warnings.warn", warn)
        publish(folder, NAME, endpoint=hub.url)
    finisher.join()
    assert f"{folder.parent}: a build is at work here; waiting for it." in said
    assert files(hub) == contents(folder)
    assert len(refusals) == 1
    assert "is at work here; wait for it" in refusals[0]
    with locked(folder.parent):
        pass
