"""Degrade captions, by a recipe for the builder ``degraded`` (``vttdata degrade``)."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    Command,
    columns_option,
    input_argument,
    option,
    out_option,
    replace_option,
    seed_option,
    setting,
)
from vttdata.errors import DescribeOSErrors


@click.command(
    "degrade", cls=Command, not_on_windows=True, examples=["vttdata degrade captions.csv --out degraded --seed 7"]
)
@input_argument("may name source_id, sen_id, language and author too")
@out_option("Folder for the tables; other files in it stay.")
@replace_option("Write into DIR though it holds a build or a dataset, whose files of the same names are replaced.")
@columns_option("the table")
@seed_option("Seed of all draws.")
@setting(
    "--variant NAME",
    "Rules: those for video, or those of a published script, for comparison.",
    settings="vttdata.generate:DegradeSettings",
)
@option("--whole", "Replace captions of one or two words as a whole, not flag them.", is_flag=True, group="Rules")
def command(
    reference: str, out: Path, replace: bool, columns: dict[str, str], seed: int, variant: str, whole: bool
) -> int:
    """Spoil a part of each caption, to check that people rate with care.

    Such captions are controls of Direct Assessment (Graham, Awad and Smeaton, PLOS ONE 2018): a run of words of each,
    neither its first nor its last, gives way to a run from the human caption of another source. Writes
    DIR/degraded.parquet, one row a caption with where its words come from, and DIR/rejected.parquet, the captions that
    were left out and why.
    """
    from vttdata.compose.build import composed_build
    from vttdata.compose.degraded_tables import DEGRADED, REJECTED
    from vttdata.dataset.manifest import MANIFEST
    from vttdata.dataset.provenance import PROVENANCE
    from vttdata.dataset.replace_folder import DATASET
    from vttdata.files.own_folder import check_own_files
    from vttdata.load.output_folder import check_output

    check_output(out, {"tables"}, replace=replace)
    if not replace:
        check_own_files(out, DATASET, (DEGRADED, REJECTED, PROVENANCE, MANIFEST))
    recipe = {
        "name": "local/degraded",
        "builder": "degraded",
        "seed": seed,
        "input": reference,
        "columns": columns,
        "degrade": {"variant": variant, "whole": whole},
    }
    with (
        composed_build(recipe, "degrade", out, quiet=True) as (run, counts),
        DescribeOSErrors(f"{out}: cannot be written"),
    ):
        out.mkdir(parents=True, exist_ok=True)
        for path in sorted(run.dataset.iterdir()):
            shutil.move(path, out / path.name)
    flags = "".join(f", {number:,} {flag}" for flag, number in sorted(counts.flags.items()) if flag != "degraded")
    print(f"{counts.flags['degraded']:,} degraded{flags}: {out / DEGRADED}")
    removed: Counter[str] = counts.removed
    if removed:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(removed.items()))
        print(f"{reasons}: {out / REJECTED}")
    return DONE
