"""A withdrawal reaches the Hub: the next version lacks the rows, and on request no revision has them any more."""

from __future__ import annotations

import contextlib
import hashlib
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi

from tests.compose.test_withdraw import build_official, official_files
from tests.compose.test_withdraw_own_files import write_errata
from tests.helpers.forked import COMMANDS
from tests.helpers.hub.built import build
from tests.helpers.hub.server import Hub
from tests.integration.hub.conftest import ROOT, Client
from vttdata.cli.main import main
from vttdata.compose.correct import correct_dataset
from vttdata.compose.withdraw import WithdrawalRequest, withdraw
from vttdata.errors import HaltError
from vttdata.export import export
from vttdata.people.store import Store, StoredAnswer
from vttdata.publish.hub import publish
from vttdata.report.build_report import write_report

NAME = "vttdata/small"
SECRETS = ("v1", "s1", "a dog runs after a ball")
pytestmark = pytest.mark.usefixtures("logged_in")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    texts = ("a person waves", SECRETS[2], "a child sings", "a cat sleeps")
    return build(tmp_path / "small", texts, sources=("alpha", "beta-source", "gamma", "delta"))


def kept_on(hub: Hub) -> str:
    """Everything that the Hub keeps, tables as the text of their rows."""
    found = []
    for path in (hub.store._folder).iterdir():
        try:
            found.append(str(pq.read_table(path).to_pylist()))
        except OSError:
            continue
        except ValueError:
            found.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(found)


def test_no_revision_has_what_was_withdrawn_after_the_history_is_erased(hub: Hub, dataset: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["v1"]))
    publish(dataset, NAME, endpoint=hub.url)
    repository = hub.store.find(NAME)
    assert set(repository.tags) == {"v1.0.0", "v2.0.0"}
    assert "beta-source" in kept_on(hub)  # in the old revision
    publish(dataset, NAME, endpoint=hub.url, erase=True)
    assert set(repository.tags) == {"v2.0.0"}
    assert repository.tags["v2.0.0"] == repository.head
    assert len(repository.history()) == 1
    kept = kept_on(hub)
    assert "beta-source" not in kept
    assert SECRETS[2] not in kept
    assert "a child sings" in kept


@pytest.fixture
def withdrawn(hub: Hub, dataset: Path) -> Path:
    """A dataset that lacks what its published version has."""
    publish(dataset, NAME, endpoint=hub.url)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["v1"]))
    return dataset


def state(hub: Hub) -> object:
    repository = hub.store.find(NAME)
    files = {path.name: path.read_bytes() for path in hub.store._folder.iterdir()}
    return repository.head, set(repository.commits), dict(repository.tags), dict(repository.branches), files


def test_references_of_others_are_in_the_way_unless_each_is_named(hub: Hub, withdrawn: Path, client: Client) -> None:
    repository = hub.store.find(NAME)
    repository.branches |= {"dev": repository.head, "refs/pr/1": repository.head}
    repository.tags["paper"] = repository.head
    arguments = ["publish", str(withdrawn), NAME, "--erase-history"]
    before = state(hub)
    for further in ([], ["--dry-run"], ["--erase-reference", "dev", "--erase-reference", "paper"]):
        done = client.vttdata(*arguments, *further)
        assert done.returncode == 2
        for name in ("dev", "paper", "refs/pr/1"):
            assert (f"--erase-reference {name}" in done.stderr) == (name not in further)
        assert state(hub) == before
    named = [part for name in ("dev", "paper", "refs/pr/1") for part in ("--erase-reference", name)]
    dry = client.vttdata(*arguments, *named, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert state(hub) == before
    listed = [line for line in dry.stdout.splitlines() if line.startswith(("erase", "kept"))]
    large = {f"{path} ({file.size:,} bytes, {str(file.sha256)[:12]})" for path, file in repository.pushed.values()}
    assert {"erase    tag v1.0.0", "erase    tag paper", "erase    branch dev"} < set(listed)
    assert "kept     refs/pr/1, which only the Hub can delete" in listed
    done = client.vttdata(*arguments, *named)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith(("erase", "kept"))] == listed
    remaining = {f"{path} ({file.size:,} bytes, {str(file.sha256)[:12]})" for path, file in repository.pushed.values()}
    assert {line.removeprefix("erase    ") for line in listed} & large == large - remaining != set()
    assert (set(repository.tags), set(repository.branches)) == ({"v2.0.0"}, {"refs/pr/1"})


@pytest.mark.parametrize("moment", ["list_lfs_files", "super_squash_history"])
def test_what_is_pushed_meanwhile_is_not_erased(
    hub: Hub, withdrawn: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody pushes before the plan is executed, or just before the Hub squashes."""
    publish(withdrawn, NAME, endpoint=hub.url)
    repository = hub.store.find(NAME)
    asked = getattr(HfApi, moment)
    large = hashlib.sha256(b"a table of somebody else").hexdigest()

    def push_first(*arguments: object, **options: object) -> object:
        if large not in repository.pushed:
            hub.store.keep_large(large, b"a table of somebody else")
            file = {"path": "theirs.parquet", "oid": large, "size": 24}
            hub.store.commit(repository, "theirs", [("lfsFile", file)], repository.head)
        return asked(*arguments, **options)

    monkeypatch.setattr(HfApi, moment, push_first)
    with pytest.raises(HaltError, match="Somebody else changed"):
        publish(withdrawn, NAME, endpoint=hub.url, erase=True)
    assert hub.store.read(NAME, "theirs.parquet") == b"a table of somebody else"
    assert "v1.0.0" in repository.tags
    assert "beta-source" in kept_on(hub)


@pytest.mark.parametrize("moment", ["super_squash_history", "permanently_delete_lfs_files", "delete_tag"])
def test_interrupted_erasure_is_finished_by_the_same_call(
    hub: Hub, withdrawn: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = getattr(HfApi, moment)

    def break_afterwards(*arguments: object, **options: object) -> None:
        asked(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(HfApi, moment, break_afterwards)
        with pytest.raises(KeyboardInterrupt):
            publish(withdrawn, NAME, endpoint=hub.url, erase=True)
    publish(withdrawn, NAME, endpoint=hub.url, erase=True)
    repository = hub.store.find(NAME)
    assert repository.tags == {"v2.0.0": repository.head}
    assert "beta-source" not in kept_on(hub)


def test_the_published_card_names_no_withdrawn_row(hub: Hub, dataset: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["beta-source"]))
    publish(dataset, NAME, endpoint=hub.url)
    card = hub.store.read(NAME, "README.md").decode()
    assert "### 2.0.0, after 1.0.0" in card
    assert "v1" not in card.partition("\n---\n")[2].replace("v1.0.0", "")


def test_loading_an_older_version_names_what_was_withdrawn_since(hub: Hub, dataset: Path, client: Client) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["v1"]))
    publish(dataset, NAME, endpoint=hub.url)
    program = f"from vttdata import load_dataset; load_dataset('{NAME}', revision='v{{}}', hub=True)"
    environment = client.environment(PYTHONPATH=str(ROOT))
    old, new = (COMMANDS.run(["-c", program.format(version)], environment) for version in ("1.0.0", "2.0.0"))
    assert (old.returncode, new.returncode) == (0, 0), old.stderr + new.stderr
    assert "1 clips of this version were withdrawn since, v1;" in old.stderr
    assert "withdrawn" not in new.stderr


def test_a_corrected_version_is_published_after_the_old_one(hub: Hub, dataset: Path, tmp_path: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    table = tmp_path / "errata.csv"
    table.write_text(
        "id,field,old value,new value,reason,who,date\n"
        "v0#1,caption,a person waves,a man waves,imprecise,ann,2026-11-27\n"
    )
    correct_dataset(dataset, table)
    plan = publish(dataset, NAME, endpoint=hub.url).plan
    assert plan.version == "2.0.0"
    assert plan.difference is not None
    assert {config.config: config.changed for config in plan.difference.configs if config.changed} == {
        "clips": 1,
        "captions": 1,
    }


def test_files_of_others_keep_their_bytes(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 files that mention names and captions, beside everything and in the build folder, through all commands."""
    pytest.importorskip("starlette")
    pytest.importorskip("httpx")
    from tests.people.served import make, write_rows

    home = tmp_path / "home"
    monkeypatch.setenv("VTTDATA_HOME", str(home / ".cache/vttdata"))
    files, out = official_files(tmp_path / "files"), home / "work/out"
    home.mkdir()
    dataset = build_official(files, out)
    draw = random.Random(5)
    suffixes = [".txt", ".csv", ".json", ".jsonl", ".mp4", ".py", ".html", ".npy", ".md", ".sqlite", ".arrow", ".zip"]
    places = ["", "work", "work/out", "work/out/stages", "work/notes", ".cache/vttdata", "Videos/videos"]
    theirs = set()
    for number in range(500):
        folder = home / draw.choice(places)
        folder.mkdir(parents=True, exist_ok=True)
        name = draw.choice([f"notes{number}", f"video2-{number}", f"{number}"]) + draw.choice(suffixes)
        lines = ["video2", "sentence 0 about the clip of number 2", '{"video_id": "video3"}', "nothing", "abcdefgh001"]
        (folder / name).write_text("\n".join(draw.choices(lines, k=4)))
        theirs.add(folder / name)
    (home / "Videos/videos/video2.mp4").write_bytes(b"their own")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in theirs}
    export(dataset, "jsonl", home / "work/exported")
    correct_dataset(
        out,
        write_errata(tmp_path / "e.jsonl", "video0#0", "sentence 0 about the clip of number 0", "a corrected sentence"),
    )
    table = write_rows(tmp_path / "clips.csv", ["video_id"], *([f"video{number}"] for number in range(8)))
    campaign = make(home / "work/campaign", "caption", table, "--videos", "https://example.org/{video_id}.mp4")
    with contextlib.closing(Store(campaign)) as store:
        store.add_worker("ann")
        for (unit, _), item in campaign.items.items():
            answer = {"caption": f"somebody writes about {item.video_id}"}
            store.save(StoredAnswer(f"a{unit}", "ann", unit, item.item, answer, None, 3.0, 1.0), None)
    publish(dataset, NAME, endpoint=hub.url)
    also = [home / "work" / name for name in ("exported", "notes", "campaign")]
    report = withdraw(out, WithdrawalRequest(ids=["video2"], also=also))
    write_report(out, home / "page.html")
    assert main(["people", "score", str(campaign.folder), "--out", str(home / "work/scored")]) == 0
    publish(dataset, NAME, endpoint=hub.url, erase=True)
    assert "abcdefgh001" not in kept_on(hub)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in theirs} == before
    assert (home / "Videos/videos/video2.mp4").read_bytes() == b"their own"
    mentioned = {trace.path for trace in report.traces if trace.path.is_relative_to(home)}
    # Of videos, only names are looked at.
    named = {
        path
        for path in theirs
        if (path.is_relative_to(out) or path.is_relative_to(home / "work/notes")) and path.suffix != ".mp4"
    }
    assert {path for path in named if b"video2" in before[path][0]} <= mentioned <= named | {out / "build.json"}
