"""Publish a dataset folder on the HuggingFace Hub: check it, plan the changes, and make them in one tagged commit.

Large files are uploaded before the commit and are invisible without it, so an interruption leaves the published version
as it was, and the same call again continues. Nothing is built, and the folder is not changed.
"""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.errors import HaltError, VttdataError, VttdataWarning
from vttdata.files.file_lock import wait_for_lock
from vttdata.files.output_file import link_file
from vttdata.ids import is_dataset_name
from vttdata.publish.hub_requests import (
    Remote,
    connect,
    explain_error,
    read_remote,
    retry_request,
    retry_upload,
    status_of,
)
from vttdata.publish.plan import Previous, PublishPlan, foreign_repository, make_plan, replaceable_files
from vttdata.publish.release_checks import check_dataset
from vttdata.publish.version_rule import build_again, is_version

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_TABLE_SUFFIX = ".parquet"
# Of the patience with a build at work.
_MAX_WAIT_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Erasure:
    """What goes when a dataset on the Hub keeps its newest version only.

    Fields:
        files: Large files that the newest version lacks, by SHA-256: path and size in bytes.
        tags: Tags to delete.
        branches: Branches to delete.
        kept: References that the Hub does not let anybody delete.
    """

    files: Mapping[str, tuple[str, int]]
    tags: Sequence[str]
    branches: Sequence[str]
    kept: Sequence[str]

    def as_text(self) -> str:
        """Return a line for each file and reference."""
        lines = [f"erase    {path} ({size:,} bytes, {sha256[:12]})" for sha256, (path, size) in self.files.items()]
        lines += [f"erase    tag {name}" for name in self.tags] + [f"erase    branch {name}" for name in self.branches]
        lines += [f"kept     {name}, which only the Hub can delete" for name in self.kept]
        return "\n".join(["erase    all commits but the newest version's", *lines])


@dataclass(frozen=True, slots=True)
class Publication:
    """Result of publishing: the address of the dataset, and the commit of the version; None in a dry run."""

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
    allow_incomplete: bool = False,
    erase: bool = False,
    erase_references: Collection[str] = (),
) -> Publication:
    """Publish a dataset folder as a version of a dataset on the Hub.

    Args:
        dataset: Dataset folder as it was built.
        repo_id: ``owner/name``; created if it does not exist.
        endpoint: Address of the Hub; the usual one by default.
        tag: Expected version, ``1.2.0`` or ``v1.2.0``; a dataset of another version is refused.
        private: Create a repository that only its owner sees; refused for an existing public one.
        dry_run: Only check and plan. Without a token the Hub is not asked, and the plan is that of a first publication.
        allow_incomplete: Accept a dataset that lacks items because their processing was cut short.
        erase: Remove all earlier versions from the Hub, see `erase_history`.
        erase_references: Branches, pull requests and tags of other people that are erased too, see `plan_erasure`.

    Raises:
        VttdataError: If the dataset has a defect, the name, token or repository is wrong, or the version is not high
            enough for the changes; nothing is uploaded.
        LeakError: If the splits leak and the card gives no reason.
        HaltError: If the Hub cannot be reached, or somebody else published meanwhile; repeating the call continues.
    """
    options = {"private": private, "dry_run": dry_run, "allow_incomplete": allow_incomplete}
    with plan_publication(dataset, repo_id, endpoint=endpoint, tag=tag, **options) as (plan, api):
        erasure = plan_erasure(plan, api, erase_references) if erase else None
        commit = None if dry_run else execute_plan(plan, api)
        if erasure is not None and commit is not None:
            erase_history(plan, erasure, api, commit)
    return Publication(plan, f"{api.endpoint}/datasets/{repo_id}", commit)


@contextlib.contextmanager
def plan_publication(
    dataset: Path,
    repo_id: str,
    *,
    endpoint: str | None = None,
    tag: str | None = None,
    private: bool = False,
    dry_run: bool = False,
    allow_incomplete: bool = False,
) -> Iterator[tuple[PublishPlan, HfApi]]:
    """Yield the plan of `publish` and the client to execute it; explain errors of the client in the block.

    Raises:
        VttdataError, LeakError, HaltError: As `publish`.
    """
    if not is_dataset_name(repo_id):
        raise VttdataError(
            f"'{repo_id}' is not a name on the Hub; use owner/name, each of at most 96 letters, digits, '.', '_' and "
            "'-', with neither '.' nor '-' at its ends, and without '--' and '..'."
        )
    from vttdata.hub_client import hub_requests

    with _build_at_rest(dataset):
        manifest = check_dataset(dataset, allow_incomplete=allow_incomplete)
        version = manifest["version"]
        if tag is not None and tag.removeprefix("v") != version:
            raise VttdataError(
                f"{dataset}: has version {version}, not {tag}; {build_again('version', tag.removeprefix('v'))}."
            )
        api = connect(endpoint, needs_token=not dry_run)
        if not api.token:
            yield make_plan(dataset, repo_id, None, None, private=private), api
            return
        with hub_requests(repo_id), tempfile.TemporaryDirectory(prefix="vttdata-") as folder:
            with _explain_errors(repo_id, api):
                remote = read_remote(api, repo_id)
                if remote is not None and private and not remote.private:
                    raise VttdataError(f"'{repo_id}' exists and is public; make it private in its settings on the Hub.")
                previous = (
                    _download_previous(api, repo_id, remote, dataset, Path(folder)) if remote is not None else None
                )
            plan = make_plan(dataset, repo_id, remote, previous, private=private)
            with _explain_errors(repo_id, api):
                yield plan, api


@contextlib.contextmanager
def _build_at_rest(dataset: Path) -> Iterator[None]:
    """Keep builds out of the folder around a dataset, whose files they replace, after waiting for one at work."""

    def say() -> None:
        warnings.warn(f"{build}: a build is at work here; waiting for it.", VttdataWarning, stacklevel=5)

    build = dataset.resolve().parent
    with contextlib.ExitStack() as stack:
        if dataset.resolve().name == "dataset" and (build / ".lock").is_file():
            # Where nobody can write, no build is at work.
            with contextlib.suppress(PermissionError):
                stack.enter_context(wait_for_lock(build / ".lock", say, _MAX_WAIT_SECONDS, temporary=False, named=True))
        yield


@contextlib.contextmanager
def _explain_errors(repo_id: str, api: HfApi) -> Iterator[None]:
    try:
        yield
    except VttdataError:
        raise
    except Exception as error:
        explanation = explain_error(error, repo_id, str(api.token))
        if explanation is None:
            raise
        raise explanation from None


def _download_previous(api: HfApi, repo_id: str, remote: Remote, dataset: Path, folder: Path) -> Previous | None:
    """Download card, manifest and tables of the published version into a folder; None if there is none.

    Tables that the new version has too are linked instead.

    Raises:
        VttdataError: If the repository holds something else.
    """
    if not replaceable_files(remote):
        return None
    if MANIFEST not in remote.files or "README.md" not in remote.files:
        raise foreign_repository(repo_id, "files that are not a dataset of vttdata")

    def download(path: str) -> None:
        retry_request(
            api.hf_hub_download, repo_id, path, repo_type="dataset", revision=remote.head, local_dir=folder, token=None
        )

    download(MANIFEST)
    try:
        manifest = read_dataset_manifest(folder)
    except VttdataError:
        raise foreign_repository(repo_id, "files that are not a dataset of vttdata") from None
    if not is_version(manifest.get("version")):
        raise foreign_repository(repo_id, "a dataset without a version")
    new_manifest = read_dataset_manifest(dataset)
    if manifest.get("name") != new_manifest["name"]:
        raise foreign_repository(repo_id, f"the dataset '{manifest.get('name')}'")
    download("README.md")
    tables = [path for path in remote.files if path.endswith(_TABLE_SUFFIX) and path in manifest["files"]]
    unchanged = {path for path in tables if new_manifest["files"].get(path) == manifest["files"][path]}
    for path in tables:
        if path not in unchanged:
            download(path)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            # A symbolic link would lead out of the dataset.
            link_file((dataset / path).resolve(), folder / path)
    same_tables = unchanged == {*tables} == {path for path in new_manifest["files"] if path.endswith(_TABLE_SUFFIX)}
    return Previous(str(manifest["version"]), folder, same_tables)


def execute_plan(plan: PublishPlan, api: HfApi) -> str:
    """Make the changes of a plan, and return the commit that its tag names.

    Raises:
        HaltError: If somebody else committed since the plan was made; nothing of theirs is overwritten.
    """
    head = plan.head
    if head is None:
        retry_request(api.create_repo, plan.repo_id, repo_type="dataset", private=plan.private or None, exist_ok=True)
        remote = read_remote(api, plan.repo_id)
        if remote is None or replaceable_files(remote):
            raise _changed_meanwhile(plan)
        head = remote.head
    commit = _commit(plan, api, head) if plan.is_changed else head
    if plan.tagged_commit != commit:
        _tag(plan, api, commit)
    return commit


def plan_erasure(plan: PublishPlan, api: HfApi, named: Collection[str] = ()) -> Erasure:
    """Return what `erase_history` would erase of a published dataset once the plan is executed; nothing is changed.

    Tags of earlier versions, ``v1.2.0``, are this package's own. Any other tag or branch, and each pull request, is in
    the way unless it is among those `named`, by name or as ``refs/pr/1``.

    Raises:
        VttdataError: If a reference is in the way; names each.
    """
    repo, kind = plan.repo_id, "dataset"
    if plan.head is None:
        return Erasure({}, (), (), ())
    refs = retry_request(lambda: api.list_repo_refs(repo, repo_type=kind, include_pull_requests=True))
    tags = [tag.name for tag in refs.tags if tag.name != plan.tag]
    branches = [branch.name for branch in refs.branches if branch.name != "main"]
    requests = [request.ref for request in refs.pull_requests or ()]
    others = [*(tag for tag in tags if not is_version(tag.removeprefix("v"))), *branches, *requests]
    if in_the_way := [name for name in others if name not in named]:
        options = " ".join(f"--erase-reference {name}" for name in in_the_way)
        raise VttdataError(
            f"{repo}: {', '.join(in_the_way)} may refer to what would be erased; nothing was changed. What nobody "
            f"needs goes with {options}."
        )
    used = {facts["sha256"] for facts in read_dataset_manifest(plan.dataset)["files"].values()}
    stored = retry_request(lambda: list(api.list_lfs_files(repo, repo_type=kind)))
    files = {file.file_oid: (file.filename, file.size) for file in stored if file.file_oid not in used}
    return Erasure(files, tags, branches, [*requests, *(convert.ref for convert in refs.converts)])


def erase_history(plan: PublishPlan, erasure: Erasure, api: HfApi, commit: str) -> None:
    """Leave only the newest version of a dataset on the Hub, whose `commit` is that of the executed plan.

    All commits of the branch ``main`` become one, and what `erasure` lists is deleted. Repeating the call after an
    interruption finishes it.

    Raises:
        HaltError: If somebody else committed since; no file of theirs and no reference but the version's tag is lost.
    """
    repo, kind = plan.repo_id, "dataset"
    remote = read_remote(api, repo)
    if remote is None or remote.head != commit:
        raise _changed_meanwhile(plan)
    # Squashing makes another commit of the version; without a tag, an interrupted call can be repeated.
    if plan.tag in remote.tags:
        retry_request(api.delete_tag, repo, tag=plan.tag, repo_type=kind)
    message = f"{plan.name} {plan.version}"
    retry_request(lambda: api.super_squash_history(repo, repo_type=kind, commit_message=message))
    remote = read_remote(api, repo)
    # The Hub squashes whatever is newest, which somebody may have pushed a moment ago.
    if remote is None or not plan.is_published(remote):
        raise _changed_meanwhile(plan)
    _tag(plan, api, remote.head)
    used = {file.sha256 for file in remote.files.values()}
    stored = retry_request(lambda: list(api.list_lfs_files(repo, repo_type=kind)))
    unused = [file for file in stored if file.file_oid in erasure.files and file.file_oid not in used]
    retry_request(lambda: api.permanently_delete_lfs_files(repo, unused, repo_type=kind))
    for tag in erasure.tags:
        retry_request(api.delete_tag, repo, tag=tag, repo_type=kind)
    for branch in erasure.branches:
        retry_request(api.delete_branch, repo, branch=branch, repo_type=kind)


def _commit(plan: PublishPlan, api: HfApi, head: str) -> str:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    additions = [CommitOperationAdd(path, plan.content(path)) for path in plan.uploads]
    removals = [CommitOperationDelete(path, is_folder=False) for path in plan.removals]
    retry_upload(api.preupload_lfs_files, plan.repo_id, additions, repo_type="dataset")
    try:
        commit = retry_request(
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
        remote = read_remote(api, plan.repo_id)
        if remote is None or not plan.is_published(remote):
            raise _changed_meanwhile(plan) from None
        # The commit was made, and only the answer was lost.
        return remote.head
    return str(commit.oid)


def _changed_meanwhile(plan: PublishPlan) -> HaltError:
    return HaltError(
        f"Somebody else changed '{plan.repo_id}' meanwhile; nothing was overwritten. Run the same command again to see "
        "what would change now."
    )


def _tag(plan: PublishPlan, api: HfApi, commit: str) -> None:
    from huggingface_hub.errors import HfHubHTTPError

    try:
        retry_request(api.create_tag, plan.repo_id, tag=plan.tag, revision=commit, repo_type="dataset")
    except HfHubHTTPError as error:
        remote = read_remote(api, plan.repo_id) if status_of(error) == 409 else None
        if remote is None:
            raise
        if remote.tags.get(plan.tag) != commit:
            raise _changed_meanwhile(plan) from None
