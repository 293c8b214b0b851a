"""Build a dataset from a recipe (``vttdata build``)."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from vttdata.cli.exit_codes import DONE, INCOMPLETE
from vttdata.cli.lean_pyarrow import keep_pandas_out
from vttdata.cli.options import (
    DATASET,
    POSITIVE,
    RECIPE,
    Command,
    Names,
    argument,
    columns_option,
    option,
    out_option,
    quiet_option,
    replace_option,
    set_option,
)
from vttdata.cli.terminal import print_styled

_MAIN_REASONS = 4
# Share of what went into a stage that is much to lose for one reason.
_COMMON_LOSS = 0.25


@click.command(
    "build",
    cls=Command,
    not_on_windows=True,
    examples=[
        "vttdata build demo",
        "vttdata build own-folder --set collect.folder=VIDEOS --set name=me/street --out street",
        "vttdata build street --set clips.min_seconds=5 --set clips.max_seconds=15",
        "vttdata build street --set captions.file=captions.csv --pin-from street",
    ],
    notes=[
        "Of an earlier build, RECIPE may be the build folder, or its name in $VTTDATA_HOME or 'vttdata list': its "
        "stored settings are used, and --set changes some of them. A packaged recipe's name comes first; write ./demo "
        "for a folder of that name.",
    ],
)
@argument(
    "recipe", "RECIPE", "A YAML file, the name of a recipe that 'vttdata list' shows, or an earlier build.", type=RECIPE
)
@out_option(
    "Build folder.",
    required=False,
    show_default="that of the earlier build, or $VTTDATA_HOME/<name of the recipe>",
)
@replace_option("Give DIR to this build though it holds that of another recipe or name.")
@set_option("Override a key of the recipe, of which 'vttdata list RECIPE' shows many; may be repeated.")
@columns_option("the tables of captions and videos")
@option(
    "--pin-from BUILD",
    "Keep the splits of an earlier build or dataset when new videos come; it may be the same build.",
    type=DATASET,
)
@option("--allow-caption-loss", "Go on though captions that were collected are dropped.", is_flag=True)
@option("--workers N", "Worker processes.", type=POSITIVE, show_default="one per core, or all that fit on the cluster")
@option("--retry-failed", "Try again what failed and may succeed now.", is_flag=True)
@option("--force", "Look at everything and compare checksums, though nothing seems changed.", is_flag=True)
@option(
    "--engine NAME",
    "Where stages run; a file of vttdata/pipeline/executors or of your plugins.",
    type=Names("executor", "vttdata.pipeline.executors:executors"),
    default="local",
    group="Execution",
)
@option(
    "--ray-address ADDRESS",
    "With --engine ray: HOST:PORT of the cluster, or auto on one of its nodes.",
    show_default="$RAY_ADDRESS, or else a Ray of its own on this machine",
    group="Execution",
)
@quiet_option
def command(
    recipe: str,
    out: Path | None,
    replace: bool,
    settings: tuple[str, ...],
    columns: dict[str, str],
    pin_from: str | None,
    allow_caption_loss: bool,
    workers: int | None,
    retry_failed: bool,
    force: bool,
    engine: str,
    ray_address: str | None,
    quiet: bool,
) -> int:
    """Build a dataset from your videos or official files, by a recipe.

    The build folder holds the dataset and what every stage kept and rejected. Stopped at any moment, the same command
    goes on where it was; after a change in the recipe, only what the change touches is done again. The build is known
    by its name to 'vttdata list' and load_dataset, wherever its folder is.
    """
    from vttdata.load.lookup import find_recipe

    started, source = time.monotonic(), find_recipe(recipe)
    if pin_from is None and not retry_failed and not force:
        from vttdata.compose.stamp import Request, find_unchanged
        from vttdata.load.local_builds import BuildRegistry

        unchanged = find_unchanged(Request(source, out, settings, columns))
        if unchanged is not None:
            folder, _ = unchanged
            BuildRegistry().add_if_unknown(folder)
            print_note("Nothing has changed since it was built; --force compares the content of all files.")
            return print_summary(folder, started)
    keep_pandas_out()
    from vttdata.compose.build import AllowedLosses, Execution, Messages, build

    run = build(
        source,
        out=out,
        settings=settings,
        columns=columns,
        pin_from=pin_from,
        allow=AllowedLosses(earlier_build=replace, captions=allow_caption_loss),
        execution=Execution(workers, engine, ray_address, retry_failed, force),
        messages=Messages(quiet, stage_printer(), print_note),
    )
    return print_summary(run.folder, started)


def stage_printer() -> Callable[[dict[str, Any]], None]:
    """Return a function that prints a line about each finished stage, the first with a header."""
    from vttdata.pipeline.attrition import HEADER, stage_text

    header = iter([HEADER])

    def print_stage(stage: dict[str, Any]) -> None:
        for line in header:
            print_styled(line, bold=True)
        print_styled(stage_text(stage), fg="red" if stage["failed"] else "yellow" if stage["rejected"] else None)

    return print_stage


def print_note(sentence: str) -> None:
    """Print a sentence that a user should read to standard error."""
    print_styled(f"vttdata: {sentence}", sys.stderr)


def print_summary(folder: Path, started: float) -> int:
    """Print what a finished build holds, its time, and what to do next; return the exit code."""
    from vttdata.load.local_builds import BuildRegistry, dataset_in, read_account

    account = read_account(folder) or {}
    name, stages, audit = account["recipe"], account["stages"], account.get("audit")
    dataset = dataset_in(folder)
    failures = too_many_failures(folder, account)
    first = next(iter(BuildRegistry().builds(name)), None)
    reference = name if first is not None and first.folder.resolve() == folder.resolve() else str(folder)
    done = f"{name} {account['version']} is in {folder / 'dataset'}, after {duration_text(time.monotonic() - started)}"
    print_styled(f"\n{done}", bold=True, fg="red" if failures else "green")
    if common := common_loss(account):
        print_styled(common, fg="yellow")
    if audit is not None:
        print_contents(folder / "dataset", audit)
    if dataset is not None:
        print_styled(f"""Load it in Python: vttdata.load_dataset("{reference}")""")
    losses = main_losses(stages)
    quoted = shlex.quote(reference)
    if losses:
        print_styled(f"Left out: {losses}; 'vttdata rejects {quoted}' says which and why")
    if not failures:
        page = folder / "report.html"
        print_styled(f"Next: {f'look at {page}; ' if page.is_file() else ''}{next_step(account, quoted)}")
    for warning in (audit or {}).get("warnings", ()):
        print_styled(f"vttdata: WARNING: {warning}", sys.stderr, fg="yellow")
    if retryable := sum(stage["retryable"] for stage in stages):
        print_styled(f"{retryable} of the failures may succeed now: --retry-failed tries them again", sys.stderr)
    if failures:
        print_styled(f"vttdata: {failures}", sys.stderr, fg="red")
    return INCOMPLETE if failures else DONE


def print_contents(dataset: Path, audit: Mapping[str, Any]) -> None:
    """Print clips, captions and verdicts on leaks by the ``audit`` of ``build.json``, and how open questions are."""
    clips = ", ".join(f"{counts['clips']:,} {split}" for split, counts in audit["splits"].items())
    captions = sum(counts["captions"] for counts in audit["splits"].values())
    protocols = audit.get("protocols", {}).items()
    leaking = "".join(f" Protocol {name}: {own['verdict']}" for name, own in protocols if not own["ok"])
    print_styled(f"Clips: {clips}; captions: {captions:,}. {audit['verdict']}{leaking}")
    if (dataset / "questions").is_dir():
        from vttdata.report.question_sections import blind_alerts

        for tone, sentence in blind_alerts(dataset):
            print_styled(sentence, fg="yellow" if tone == "bad" else None)


def next_step(account: Mapping[str, Any], reference: str) -> str:
    """Return what to do with a finished build, by its quoted name: give it captions, a licence, or to others."""
    splits = account.get("audit", {}).get("splits", {}).values()
    if "captions" in account["settings"] and not sum(counts["captions"] for counts in splits):
        return f"have the clips captioned, then 'vttdata build {reference} --set captions.file=FILE'"
    if account["settings"]["licence"] == "unknown":
        whose = "that you give to it" if "collect" in account["settings"] else "under which its authors gave it"
        return f"to publish it, state the licence {whose}: 'vttdata build {reference} --set licence=NAME'"
    return f"'vttdata show {reference}' counts it; 'vttdata publish {reference} USER/NAME --dry-run' prepares a version"


def duration_text(seconds: float) -> str:
    """Return a duration in words, such as ``4.2 s`` or ``1 h 2 min``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return (
        f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"
    )


def common_loss(account: Mapping[str, Any]) -> str:
    """Return a sentence on the largest loss that a recipe key decides; empty below a quarter of a stage."""
    from vttdata.pipeline.attrition import keys_of

    losses = [
        (number / stage["in"], number, stage, reason, keys)
        for stage in account["stages"]
        for reason, number in stage["rejected"].items()
        if (keys := keys_of(stage["name"], reason)) and number >= _COMMON_LOSS * stage["in"]
    ]
    if not losses:
        return ""
    _, number, stage, reason, keys = max(losses, key=lambda loss: loss[0])
    values = ", ".join(f"{key} is {_setting(account['settings'], key)}" for key in keys.split(", "))
    count = f"{number:,} of {stage['in']:,}"
    return f"{count} were left out as {reason} in stage '{stage['name']}': {values}; --set changes it."


def _setting(settings: Mapping[str, Any], key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def main_losses(stages: Sequence[Mapping[str, Any]]) -> str:
    """Return in words how much ``stages`` of ``build.json`` rejected or failed, and why mostly; empty for nothing."""
    from vttdata.pipeline.attrition import keys_of

    counts = [
        (number, f"{prefix}{reason} ({', '.join(filter(None, (stage['name'], keys_of(stage['name'], reason))))})")
        for stage in stages
        for prefix, numbers in (("", stage["rejected"]), ("failed: ", stage["failed"]))
        for reason, number in numbers.items()
    ]
    main = sorted(counts, key=lambda count: -count[0])[:_MAIN_REASONS]
    more = ", ..." if len(counts) > _MAIN_REASONS else ""
    return ", ".join(f"{number:,} {reason}" for number, reason in main) + more


def too_many_failures(folder: Path, account: Mapping[str, Any]) -> str | None:
    """Return a sentence on the first stage of ``build.json`` in which a larger share failed than the recipe allows."""
    allowed = account["settings"]["max_failed"]
    for stage in account["stages"]:
        failed, taken = sum(stage["failed"].values()), stage["in"]
        if taken and failed / taken > allowed:
            file = folder / "stages" / stage["name"] / "failed.parquet"
            return (
                f"The dataset is there, but in stage '{stage['name']}' {failed} of {taken} items failed and the "
                f"recipe allows {allowed:.0%} (max_failed); {file} holds each with its reason."
            )
    return None
