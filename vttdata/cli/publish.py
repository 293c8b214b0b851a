"""Publish a dataset on the Hub (``vttdata publish``)."""

from __future__ import annotations

import sys

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import Command, argument, dataset_argument, option


@click.command(
    "publish",
    cls=Command,
    notes=[
        "The token is that of 'hf auth login', or HF_TOKEN; without one, --dry-run shows a first publish.",
        "Exit codes: 0 done; 1 not done, the same command goes on; 2 refused, nothing is uploaded; 3 the splits leak.",
    ],
    examples=["vttdata publish vttdata/demo me/demo --private --dry-run"],
)
@dataset_argument
@argument("repo_id", "REPO_ID", "Repository on the Hub, owner/name; created where there is none.")
@option("--private", "Make a new repository private; refused for one that is public.", is_flag=True)
@option("--dry-run", "Check, print what would change, and stop.", is_flag=True)
@option("--allow-incomplete", "Publish a dataset that lacks items whose processing was cut short.", is_flag=True)
@option(
    "--erase-history",
    "Remove all earlier versions from the Hub, such as after a withdrawal; this cannot be undone.",
    is_flag=True,
    group="Target",
)
@option(
    "--erase-reference NAME",
    "With --erase-history: a branch, pull request or other tag to erase too; may be repeated.",
    name="references",
    multiple=True,
    group="Target",
)
@option("--endpoint URL", "URL of another Hub.", show_default="HF_ENDPOINT", group="Target")
@option("--tag VERSION", "Publish only if the dataset is of this version, which this does not set.", group="Target")
def command(
    dataset: str,
    repo_id: str,
    private: bool,
    dry_run: bool,
    allow_incomplete: bool,
    erase_history: bool,
    references: tuple[str, ...],
    endpoint: str | None,
    tag: str | None,
) -> int:
    """Share a dataset on the HuggingFace Hub, as a version.

    Checks the dataset (files as they were built, tables and card in agreement, complete, no leaks, a licence), prints
    what would change, then changes it in one commit with the tag v<version>. Rows that differ from the published
    version need a higher version, which 'vttdata build NAME --set version=1.1.0' gives, and the card lists them;
    'vttdata diff' shows them before. Interrupted at any moment, nothing incomplete is visible, and the same command
    goes on.
    """
    from huggingface_hub.utils.tqdm import disable_progress_bars

    from vttdata.files.results import format_text
    from vttdata.load.lookup import ALL_VIDEOS, find_dataset
    from vttdata.publish import hub
    from vttdata.publish.personal_data import find_personal_data
    from vttdata.publish.release_checks import missing_properties

    if not sys.stderr.isatty():
        disable_progress_bars()
    options = {"private": private, "dry_run": dry_run, "allow_incomplete": allow_incomplete}
    folder = find_dataset(dataset, videos=ALL_VIDEOS)
    with hub.plan_publication(folder, repo_id, endpoint=endpoint, tag=tag, **options) as (plan, api):
        print(plan.as_text(), flush=True)
        if not api.token:
            print(
                "vttdata: There is no token, so the Hub was not asked: this is what a first publish would send. To "
                "compare it with what is published, log in with 'hf auth login', or set HF_TOKEN.",
                file=sys.stderr,
            )
        print(f"\n{format_text([find_personal_data(folder)])}\n", flush=True)
        if missing := missing_properties(folder):
            print(f"note     the Croissant description lacks {', '.join(missing)}")
        erasure = hub.plan_erasure(plan, api, references) if erase_history and api.token else None
        if erasure is not None:
            print(erasure.as_text(), flush=True)
        if dry_run:
            print("Nothing was changed.")
            return DONE
        commit = plan.head or ""
        if plan.is_changed or not plan.tagged_commit:
            print(f"publishing {len(plan.uploads)} files", file=sys.stderr, flush=True)
            commit = hub.execute_plan(plan, api)
            print(f"{api.endpoint}/datasets/{plan.repo_id} has version {plan.version} under the tag {plan.tag}")
        if erasure is not None:
            print("erasing all earlier versions", file=sys.stderr, flush=True)
            hub.erase_history(plan, erasure, api, commit)
            print("not reached: copies that others downloaded.")
    return DONE
