"""The command ``publish``: parses, calls, prints."""

from __future__ import annotations

import argparse
import sys
from typing import Any

_DONE = 0


def add_publish(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "publish",
        help="put a dataset on the HuggingFace Hub as a version",
        description="Put a dataset on the Hub: check it (files as they were built, tables and card in agreement, no "
        "leaks, a licence), say what would change, then change it in one commit with the tag v<version>. Rows that "
        "differ from the published version ask for a higher version, and the card lists them. Interrupted at any "
        "moment, nothing half-made is visible, and the same command goes on.",
        epilog="The token is that of 'hf auth login', or HF_TOKEN. Exit codes: 0 done; 1 not done, the same command "
        "goes on; 2 refused, nothing is uploaded; 3 the splits leak. "
        "Example: vttdata publish vttdata/demo me/demo --private --dry-run",
    )
    parser.add_argument("dataset", metavar="DATASET", help="a dataset folder, a build folder, or a dataset's name")
    parser.add_argument("repo_id", metavar="REPO_ID", help="where to put it: owner/name; made where there is none")
    parser.add_argument("--endpoint", metavar="URL", help="another Hub than the usual one (default: HF_ENDPOINT)")
    expected = "the version that is expected; refused where the dataset is of another"
    parser.add_argument("--tag", metavar="VERSION", help=expected)
    hidden = "make a new repository that only its owner sees; refused for one that is public"
    parser.add_argument("--private", action="store_true", help=hidden)
    parser.add_argument("--dry-run", action="store_true", help="check, say what would change, and stop")
    parser.set_defaults(run=_publish)


def _publish(options: argparse.Namespace) -> int:
    from huggingface_hub.utils.tqdm import disable_progress_bars

    from vttdata.load.dataset import ALL_VIDEOS, find_dataset
    from vttdata.publish.hub import execute_plan, plan_publication

    if not sys.stderr.isatty():
        disable_progress_bars()
    where = {"endpoint": options.endpoint, "tag": options.tag, "private": options.private}
    with plan_publication(find_dataset(options.dataset, videos=ALL_VIDEOS), options.repo_id, **where) as (plan, api):
        print(plan.as_text(), flush=True)
        if options.dry_run:
            print("Nothing was changed.")
            return _DONE
        if plan.is_changed or not plan.tagged:
            print(f"publishing {len(plan.uploads)} files", file=sys.stderr, flush=True)
            execute_plan(plan, api)
            print(f"{api.endpoint}/datasets/{plan.repo_id} has version {plan.version} under the tag {plan.tag}")
    return _DONE
