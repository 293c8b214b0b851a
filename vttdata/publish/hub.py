"""Publishes a dataset folder on the Hub: checks it, says what would change, and changes it in one commit with a tag.

Large files travel before the commit and are seen by nobody without it, so that an interruption leaves what was there;
the same call again goes on where it stopped. It builds nothing, and the folder stays as it is.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vttdata.dataset.manifest import MANIFEST, read_manifest
from vttdata.errors import HaltError, VttdataError
from vttdata.ids import is_dataset_name
from vttdata.publish.hub_api import Remote, connect, explain, look, patient, status_of
from vttdata.publish.plan import Previous, PublishPlan, make_plan, other_dataset, removable
from vttdata.publish.release_checks import check_dataset
from vttdata.publish.version_rule import build_again, is_version

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_TABLE = ".parquet"


@dataclass(frozen=True, slots=True)
class Publication:
    """What came of publishing.

    Fields:
        plan: what was to change.
        url: where the dataset is.
        commit: the commit that the version's tag names; None where nothing was done, as in a dry run.
    """

    plan: PublishPlan
    url: str
    commit: str | None


def publish(
    dataset: Path,
    repo_id: str,
    *,
    endpoint: str | None = None,
    tag: str | None = None,
    private: bool = False,
    dry_run: bool = False,
) -> Publication:
    """Publish a dataset folder as a version of a dataset on the Hub.

    Args:
        dataset: a folder of our layout, as it was built.
        repo_id: ``owner/name``; made where there is none.
        endpoint: another Hub than the usual one.
        tag: the version that is expected, ``1.2.0`` or ``v1.2.0``; another one in the dataset is refused.
        private: make a new repository that only its owner sees; refused for one that others see.
        dry_run: only check, and say what would change.

    Raises:
        VttdataError: when the dataset is not fit, the name, token or repository is wrong, or its version is not high
            enough for what changed; nothing is uploaded.
        LeakError: when the splits leak without a reason on the card.
        HaltError: when the Hub cannot be reached, or somebody else published meanwhile; the same call goes on.
    """
    with plan_publication(dataset, repo_id, endpoint=endpoint, tag=tag, private=private) as (plan, api):
        commit = None if dry_run else execute_plan(plan, api)
    return Publication(plan, f"{api.endpoint}/datasets/{repo_id}", commit)


@contextlib.contextmanager
def plan_publication(
    dataset: Path, repo_id: str, *, endpoint: str | None = None, tag: str | None = None, private: bool = False
) -> Iterator[tuple[PublishPlan, HfApi]]:
    """What `publish` would do, and the client to do it with; errors of the client in the block become sentences."""
    if not is_dataset_name(repo_id):
        raise VttdataError(
            f"'{repo_id}' is no name that the Hub takes; owner/name is, each of at most 96 letters, digits, '.', '_' "
            "and '-', with neither '.' nor '-' at its ends, and without '--' and '..'."
        )
    manifest = check_dataset(dataset)
    version = manifest["version"]
    if tag is not None and tag.removeprefix("v") != version:
        raise VttdataError(
            f"{dataset}: holds version {version}, and not {tag}; {build_again('version', tag.removeprefix('v'))}."
        )
    api = connect(endpoint)
    with tempfile.TemporaryDirectory(prefix="vttdata-") as folder:
        with _explained(repo_id, api):
            remote = look(api, repo_id)
            if remote is not None and private and not remote.private:
                raise VttdataError(f"'{repo_id}' exists and is public; make it private in its settings on the Hub.")
            previous = _fetch_previous(api, repo_id, remote, dataset, Path(folder)) if remote is not None else None
        plan = make_plan(dataset, repo_id, remote, previous, private=private)
    with _explained(repo_id, api):
        yield plan, api


@contextlib.contextmanager
def _explained(repo_id: str, api: HfApi) -> Iterator[None]:
    try:
        yield
    except VttdataError:
        raise
    except Exception as error:
        told = explain(error, repo_id, str(api.token))
        if told is None:
            raise
        raise told from None


def _fetch_previous(api: HfApi, repo_id: str, remote: Remote, dataset: Path, folder: Path) -> Previous | None:
    """Bring the card, the manifest and the tables of what is published into `folder`; None where there is nothing.

    Tables that the new version has too are linked and not fetched.

    Raises:
        VttdataError: when the repository holds something else.
    """
    if not removable(remote):
        return None
    if MANIFEST not in remote.files or "README.md" not in remote.files:
        raise other_dataset(repo_id, "files that are no dataset of vttdata")

    def fetch(path: str) -> None:
        patient(
            api.hf_hub_download, repo_id, path, repo_type="dataset", revision=remote.head, local_dir=folder, token=None
        )

    fetch(MANIFEST)
    try:
        manifest = read_manifest(folder)
    except VttdataError:
        raise other_dataset(repo_id, "files that are no dataset of vttdata") from None
    if not is_version(manifest.get("version")):
        raise other_dataset(repo_id, "a dataset without a version")
    ours = read_manifest(dataset)
    if manifest.get("name") != ours["name"]:
        raise other_dataset(repo_id, f"the dataset '{manifest.get('name')}'")
    fetch("README.md")
    tables = [path for path in remote.files if path.endswith(_TABLE) and path in manifest["files"]]
    same = {path for path in tables if ours["files"].get(path) == manifest["files"][path]}
    for path in tables:
        if path not in same:
            fetch(path)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).symlink_to((dataset / path).resolve())
    is_same = same == {*tables} == {path for path in ours["files"] if path.endswith(_TABLE)}
    return Previous(str(manifest["version"]), folder, is_same)


def execute_plan(plan: PublishPlan, api: HfApi) -> str:
    """Do what a plan says, and return the commit that its tag names.

    Raises:
        HaltError: when somebody else committed since the plan was made; nothing of theirs is overwritten.
    """
    head = plan.head
    if head is None:
        patient(api.create_repo, plan.repo_id, repo_type="dataset", private=plan.private or None, exist_ok=True)
        made = look(api, plan.repo_id)
        if made is None or removable(made):
            raise _lost_race(plan)
        head = made.head
    commit = _commit(plan, api, head) if plan.is_changed else head
    if plan.tagged != commit:
        _tag(plan, api, commit)
    return commit


def _commit(plan: PublishPlan, api: HfApi, head: str) -> str:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    additions = [CommitOperationAdd(path, plan.content(path)) for path in plan.uploads]
    removals = [CommitOperationDelete(path, is_folder=False) for path in plan.removals]
    api.preupload_lfs_files(plan.repo_id, additions, repo_type="dataset")
    try:
        commit = patient(
            lambda: api.create_commit(
                plan.repo_id,
                [*additions, *removals],
                commit_message=f"{plan.name} {plan.version}",
                repo_type="dataset",
                parent_commit=head,
            )
        )
    except HfHubHTTPError as error:
        if status_of(error) != 412:
            raise
        remote = look(api, plan.repo_id)
        if remote is None or not plan.is_there(remote):
            raise _lost_race(plan) from None
        return remote.head  # the commit had landed, and only the answer was lost
    return str(commit.oid)


def _lost_race(plan: PublishPlan) -> HaltError:
    return HaltError(
        f"Somebody else changed '{plan.repo_id}' meanwhile; nothing was overwritten. Run the same command again to see "
        "what would change now."
    )


def _tag(plan: PublishPlan, api: HfApi, commit: str) -> None:
    from huggingface_hub.errors import HfHubHTTPError

    try:
        patient(api.create_tag, plan.repo_id, tag=plan.tag, revision=commit, repo_type="dataset")
    except HfHubHTTPError as error:
        remote = look(api, plan.repo_id) if status_of(error) == 409 else None
        if remote is None:
            raise
        if remote.tags.get(plan.tag) != commit:
            raise _lost_race(plan) from None
