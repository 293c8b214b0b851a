"""Merge the shards of a build, and plan what is left for them; what ``vttdata merge`` and ``vttdata slurm`` do."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vttdata.compose.build import finish_build, load_for_build, register, run_until_merge
from vttdata.errors import HaltError, VttdataError
from vttdata.load.local_builds import find_build, read_account
from vttdata.pipeline.build_folder import (
    SHARDS,
    Build,
    check_same_build,
    load_stored_recipe,
    make_build_folder,
    open_build,
)
from vttdata.pipeline.executors import create_executor
from vttdata.pipeline.journal import Journal, locked
from vttdata.pipeline.shard_folder import ShardBuild, check_shards_agree, claim_folder, shard_accounts
from vttdata.pipeline.shards import BuildShard, MergeEngine, MissingItemsError, PlanEngine
from vttdata.recipe.load import Loaded


def merge_shards(
    build: str | os.PathLike[str],
    *,
    settings: Sequence[str] = (),
    workers: int | None = None,
    engine: str = "local",
    quiet: bool = False,
    on_stage_done: Callable[[dict[str, Any]], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> Build:
    """Take the stages of a build that need all results, and finish it if shards have done the others.

    Args:
        build: Build folder, or its name.
        settings: Secrets that the build needs, as texts ``KEY=VALUE``.
        workers: As for `vttdata.compose.build.build`.
        engine: As for `vttdata.compose.build.build`.
        quiet: Show no progress.
        on_stage_done: Is called with each finished stage's entry of ``build.json``.
        note: Is called with sentences that a user should read.

    Returns:
        The finished build, the same as one without shards.

    Raises:
        VttdataError: If there is no such build, or shards had other settings.
        HaltError: If shards have not done their share of a stage; what is merged stays.
    """
    folder = find_build(os.fspath(build))
    if folder is None:
        raise VttdataError(f"There is no build '{os.fspath(build)[:80]}': name the folder that its shards share.")
    count = check_shards_agree(folder)
    loaded = load_stored_recipe(folder, settings)
    executor = create_executor(engine, workers)
    engine_type = partial(MergeEngine, shards=count)
    try:
        with open_build(folder, loaded, executor, on_stage_done, quiet=quiet, engine_type=engine_type) as run:
            finish_build(run, note)
            # Later shards may have other settings.
            for path, *_ in shard_accounts(folder):
                path.unlink(missing_ok=True)
            return run
    except MissingItemsError as error:
        raise HaltError(
            f"{error}: run 'vttdata build {folder} --shard I/N' for {'these' if count else 'each shard I of N'}, then "
            f"merge again, or 'vttdata build {folder}' to process them here; what is merged is kept."
        ) from error


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """Work that is left in a build.

    Fields:
        loaded: the recipe.
        folder: the build folder.
        missing: number of a shard -> number of its items that are known to be missing.
        rounds: number of times that shards, and then a merge, have to be at work until the build is finished. Without
            items that are missing, another merge comes first.
        is_finished: nothing is left.
    """

    loaded: Loaded
    folder: Path
    missing: Counter[int]
    rounds: int
    is_finished: bool


def plan_shards(
    recipe: str | os.PathLike[str],
    jobs: int,
    *,
    out: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    retry_failed: bool = False,
    replace: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> ShardPlan:
    """Count what each shard of a build has to process, and give the folder to the recipe and these settings.

    Args:
        recipe: As for `vttdata.compose.build.build`.
        jobs: Number of shards.
        out: As for `vttdata.compose.build.build`.
        settings: As for `vttdata.compose.build.build`.
        columns: As for `vttdata.compose.build.build`.
        retry_failed: Count items that failed for a reason that may have gone.
        replace: Take over a folder that holds the build of another recipe or name.
        note: Is called with sentences that a user should read.

    Raises:
        VttdataError: As `vttdata.compose.build.build`.
    """
    loaded, folder = load_for_build(recipe, out, settings, columns, note)
    make_build_folder(folder)
    (folder / SHARDS).mkdir(exist_ok=True)
    with locked(folder, shared=True):
        if not replace:
            check_same_build(folder, loaded)
        # The state before the folder is claimed, which is that of a build of these settings or of none.
        status = (read_account(folder) or {}).get("status")
        claim_folder(folder, loaded, replace=True)
        is_finished = status == (read_account(folder) or {}).get("status") == "complete"
        executor = create_executor("local", 1)
        journal = Journal(Path(os.devnull))
        engine = PlanEngine(
            folder / "stages", executor, journal, BuildShard(1, jobs), retry_failed=retry_failed, quiet=True
        )
        run = PlanBuild(folder, loaded, engine, journal, lambda _: None, shard=BuildShard(1, jobs))
        register(run, note)
        step = run_until_merge(run)
    is_finished = is_finished and step == "package" and not engine.missing
    rounds = max(loaded.recipe.shard_rounds - engine.rounds, 1 if engine.missing else 0)
    return ShardPlan(loaded, folder, engine.missing, rounds, is_finished)


class PlanBuild(ShardBuild):
    """Build folder as a builder sees it while its work is only counted."""

    def describe(self, status: str) -> dict[str, Any]:
        """Write nothing."""
        return self.account(status)
