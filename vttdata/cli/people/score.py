"""Turn answers of people into tables (``vttdata people score``)."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, argument, option, out_option, seed_option, setting
from vttdata.errors import VttdataError
from vttdata.files.output_file import write_files

WRITTEN = "workers.csv, systems.csv, captions.csv, significance.csv, findings.csv, report.md and significance.svg"
assessment_setting = partial(setting, settings="vttdata.people:ReliabilitySettings", group="Direct Assessment")


@click.command(
    "score",
    cls=Command,
    notes=[
        "Of a campaign: results.csv, the task's table; workers.csv, agreement.csv and report.md; report.html, a page "
        "with the same and the most disputed items with frames; and what the next step reads: captions.csv (caption) "
        "for 'vttdata build', relevance.txt (relevance) for 'vttdata evaluate --relevance', clips.csv (choose) for the "
        "recipe own-list, ratings.csv (rate-scale, rate-slider) for 'vttdata metric test'; results.csv of foil-review "
        "is for 'vttdata foil --verdicts'; rate-scale also has systems.csv and ranking.md, and rate-slider these, "
        "captions.csv, significance.csv, significance.svg and reliability.csv. Workers are hashed with a salt of the "
        "campaign. FILEs are "
        "answers from a crowd platform or from exported pages (rate-slider), which count beside those that the "
        "campaign has; what cannot be used in them is counted in findings.csv.",
        f"Of FILEs alone, results of Direct Assessment: {WRITTEN}. An item is identified by its HIT and id, in results "
        "of a platform or a page without a manifest also by video, system and kind, and in WMT's table by HITId, rid, "
        "sid, type and sys_id (rid may be a document). A worker's further answers to an item are left out; many that "
        "contradict the first are an error.",
    ],
    examples=[
        "vttdata people score captioning --out captioned",
        "vttdata people score assessment batch.csv --out scores",
        "vttdata people score wmt.csv --moments wmt-mean-sd.txt --out scores",
        "vttdata people score scores/captions.csv --against earlier/captions.csv",
    ],
)
@argument(
    "inputs",
    "[CAMPAIGN] [FILE]...",
    "Folder of a campaign, whose server may be running; and files of answers, of this or of any campaign.",
    nargs=-1,
    required=True,
    type=FILE,
)
@out_option("Folder for the tables; made if need be.", required=False)
@option("--keep-all", "Count the answers of workers who fail the controls too.", is_flag=True)
@option(
    "--against CAPTIONS",
    "Compare with captions.csv of another evaluation; without --out, FILE is such a table too, and is not scored.",
    type=FILE,
)
@option(
    "--leave-out SYSTEM",
    "A system that does not count when two evaluations are compared; may be repeated.",
    multiple=True,
    default=("human",),
)
@assessment_setting("--test paired_t|wilcoxon|mann_whitney", "Test that decides whether a worker is reliable.")
@assessment_setting("--alpha P", "Significance level.")
@assessment_setting("--min-pairs N", "Judge no worker with fewer pairs of degraded and original captions.")
@option(
    "--convention all|ranked",
    "z-scores by all of a worker's items, controls included, or by ranked ones only.",
    type=click.Choice(["all", "ranked"]),
    default="all",
    group="Direct Assessment",
)
@option(
    "--manifest FILE",
    "What the items of FILEs show: a table with the columns hit, item, video_id, system, kind.",
    type=FILE,
    group="Direct Assessment",
)
@option(
    "--moments FILE",
    "Means and standard deviations of workers, where the results in FILEs are standardised (WMT).",
    type=FILE,
    group="Direct Assessment",
)
@seed_option("Seed of the bootstrap intervals.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    inputs: tuple[Path, ...],
    out: Path | None,
    keep_all: bool,
    against: Path | None,
    leave_out: tuple[str, ...],
    **options: Any,
) -> int:
    """Turn answers into tables; rank systems; compare two evaluations.

    In Direct Assessment (Graham et al., PLOS ONE 2018), only workers count who score degraded captions significantly
    lower than their originals. The tests and the convention for z-scores that were set when a campaign was made can be
    replaced here.
    """
    if out is None and (against is None or len(inputs) > 1):
        ctx.fail("Missing option '--out'.")
    if out is not None:
        if inputs[0].is_dir():
            given = [name for name in options if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE]
            _score_campaign(*inputs, out=out, keep_all=keep_all, options={name: options[name] for name in given})
        else:
            _score_files(inputs, out, keep_all, **options)
    if against is not None:
        _compare(out / "captions.csv" if out is not None else inputs[0], against, leave_out)
    return DONE


def _score_campaign(folder: Path, *files: Path, out: Path, keep_all: bool, options: Mapping[str, Any]) -> None:
    from vttdata.people.answers.campaign_answers import add_answers
    from vttdata.people.campaign import CAMPAIGN, read_campaign
    from vttdata.people.results import campaign_results
    from vttdata.people.store import Store

    if (out / CAMPAIGN).exists():
        raise VttdataError(
            f"{out}: holds a campaign, whose secret must not be published; choose another folder with --out."
        )
    for name in ("manifest", "moments"):
        if name in options:
            raise VttdataError(f"--{name} is for files without a campaign, and {folder} is a campaign.")
    campaign = read_campaign(folder).with_task_settings(options)
    with contextlib.closing(Store(campaign, reading=True)) as store:
        findings = None
        if files:
            store.detach()
            findings = add_answers(campaign, store, files)
        written, ranking = campaign_results(campaign, store, keep_all=keep_all, findings=findings)
        try:
            from vttdata.report.campaign_report import campaign_page

            written["report.html"] = campaign_page(campaign, store, ranking)
        except ModuleNotFoundError as error:
            print(f"vttdata: report.html is left out: pip install 'vttdata[build]' ({error})", file=sys.stderr)
    write_files(out, written)
    print(written["report.md"])
    if "ranking.md" in written:
        print(written["ranking.md"])
    print(f"{out} holds {', '.join(written)}", file=sys.stderr)


def _score_files(
    results: Sequence[Path],
    out: Path,
    keep_all: bool,
    *,
    manifest: Path | None,
    moments: Path | None,
    convention: Any,
    seed: int,
    **reliability: Any,
) -> None:
    from vttdata.people import ReliabilitySettings, score_hits

    settings = ReliabilitySettings(**reliability)
    summary = score_hits(
        results, manifest, settings, moments=moments, convention=convention, keep_all=keep_all, seed=seed
    )
    write_files(out, summary.files())
    print(summary.as_text())
    print(f"{out} holds {WRITTEN}", file=sys.stderr)


def _compare(scores: Path, other: Path, leave_out: Sequence[str]) -> None:
    from vttdata.files.results import Section, format_text
    from vttdata.people.scoring.two_evaluations import read_caption_scores, replication_table

    counted = [score for score in read_caption_scores(scores) if score.system not in leave_out]
    table = replication_table(counted, read_caption_scores(other))
    print(format_text([Section("Agreement of the two evaluations, by system", table=table)]))
