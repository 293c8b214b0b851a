"""Score the answers to HITs and rank systems (``vttdata hits score``)."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option, out_option, seed_option, setting
from vttdata.files.output_file import write_files

WRITTEN = "workers.csv, systems.csv, captions.csv, significance.csv, findings.csv, report.md and significance.svg"
reliability_setting = partial(setting, settings="vttdata.assess:ReliabilitySettings", group="Workers")


@click.command(
    "score",
    cls=Command,
    notes=[
        f"Writes {WRITTEN}.",
        "An item is identified by its HIT and id, in results of a platform or a page without a manifest also by video, "
        "system and kind, and in WMT's table by HITId, rid, sid, type and sys_id (rid may be a document). A worker's "
        "further answers to an item are left out; many that contradict the first are an error.",
    ],
    examples=["vttdata hits score batch.csv --manifest hits.csv --out scores"],
)
@argument("results", "FILE...", "Results of HITs.", nargs=-1, required=True, type=FILE)
@out_option("Folder for the tables; made if need be.")
@option(
    "--manifest FILE", "What the items show: a table with the columns hit, item, video_id, system, kind.", type=FILE
)
@option(
    "--moments FILE",
    "Means and standard deviations of workers, where results are standardised (WMT).",
    type=FILE,
    group="Standardisation",
)
@option(
    "--convention all|ranked",
    "z-scores by all of a worker's items, controls included, or by ranked ones only.",
    type=click.Choice(["all", "ranked"]),
    default="all",
    group="Standardisation",
)
@reliability_setting("--test paired_t|wilcoxon|mann_whitney", "Test that decides whether a worker is reliable.")
@reliability_setting("--alpha P", "Significance level.")
@reliability_setting("--min-pairs N", "Judge no worker with fewer pairs of degraded and original captions.")
@option("--keep-all", "Score with all workers, reliable or not.", is_flag=True, group="Workers")
@seed_option("Seed of the bootstrap intervals.")
def command(
    results: tuple[Path, ...],
    out: Path,
    manifest: Path | None,
    moments: Path | None,
    convention: Any,
    test: Any,
    alpha: float,
    min_pairs: int,
    keep_all: bool,
    seed: int,
) -> int:
    """Turn results of HITs into reliable workers, scores and significance.

    Prints a table of workers, a ranking of systems and a matrix of significant wins (Direct Assessment, Graham et al.,
    PLOS ONE 2018). Results are the CSV of a crowd platform, the CSV or JSON of an assessment page, or WMT's table; what
    cannot be used in them is counted.
    """
    from vttdata.assess import ReliabilitySettings, score_hits

    reliability = ReliabilitySettings(test=test, alpha=alpha, min_pairs=min_pairs)
    summary = score_hits(
        results, manifest, reliability, moments=moments, convention=convention, keep_all=keep_all, seed=seed
    )
    write_files(out, summary.files())
    print(summary.as_text())
    print(f"{out} holds {WRITTEN}", file=sys.stderr)
    return DONE
