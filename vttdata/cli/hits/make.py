"""Make HITs from captions of systems (``vttdata hits make``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    DATASET,
    FILE,
    Command,
    ParamType,
    WholeNumber,
    argument,
    columns_option,
    option,
    out_option,
    replace_option,
    seed_option,
    setting,
)
from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.assess import HitPlan, HitSettings

KINDS = ("system", "human", "degraded", "repeat")
WHOLE = WholeNumber()


class Composition(ParamType):
    """Numbers of items of each kind in a HIT, ``system=70,human=10``; kinds that are not named have none."""

    name = "composition"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, int]:
        """Read the numbers; that of systems is left out where it is not named."""
        if isinstance(value, dict):
            return value
        parts = [part.partition("=") for part in value.split(",")]
        names = [name.strip() for name, _, _ in parts]
        if sorted(names) != sorted(set(names) & set(KINDS)):
            self.fail(f"'{value[:80]}' is not like system=70,human=10,degraded=10,repeat=10.", param, ctx)
        numbers = [WHOLE.convert(number.strip(), param, ctx) for _, _, number in parts]
        return dict.fromkeys(KINDS[1:], 0) | dict(zip(names, numbers, strict=True))


@click.command(
    "make",
    cls=Command,
    notes=[
        "Writes manifest.csv (what each item is; keep it from workers), notes.csv, and for assessors crowd.csv (a row "
        "a HIT, for a platform's template), hits.jsonl and pages/HIT.html."
    ],
    examples=[
        "vttdata hits make ours.csv theirs.json --captions msrvtt.csv "
        "--videos 'https://example.org/{video_id}.mp4' --out campaign --seed 7"
    ],
)
@argument(
    "systems",
    "SYSTEM...",
    "Captions of a system, one file each: a CSV, TSV or JSON table with video_id (or image_id, as in COCO results) "
    "and caption; with a column system one file may hold several.",
    nargs=-1,
    required=True,
    type=FILE,
)
@option(
    "--captions INPUT",
    "Human captions: a dataset (folder, build or name), or a table with video_id, caption and if known source_id; "
    "those of other videos lend words to degraded captions.",
    type=DATASET,
    required=True,
)
@columns_option("the tables that have it")
@out_option("Folder to write; made if need be.")
@replace_option("Write into DIR though it holds a build or a dataset.")
@option(
    "--videos WHERE",
    "Where the pages find videos: a URL or path with {video_id} in it, or a folder that holds them.",
    default="../videos/{video_id}.mp4",
    group="Videos",
)
@setting(
    "--assessments K",
    "In how many HITs each caption of a system stands at least.",
    settings="vttdata.assess:HitSettings",
    type=WHOLE,
    group="HITs",
)
@option(
    "--items N",
    "Items in a HIT, divided 7:1:1:1 where --composition does not say how.",
    type=WHOLE,
    show_default="100",
    group="HITs",
)
@option(
    "--composition KIND=N,...",
    "What a HIT is made of: system (the rest, if not named), human, degraded and repeat (none, if not named).",
    type=Composition(),
    show_default="system=70,human=10,degraded=10,repeat=10",
    group="HITs",
)
@setting(
    "--min-pairs N",
    "Refuse HITs with fewer pairs of a human caption and its degraded form.",
    settings="vttdata.assess:HitSettings",
    type=WHOLE,
    group="HITs",
)
@option(
    "--min-distance N",
    "Places between a control and its original, at least.",
    type=WHOLE,
    show_default="two fifths of the HIT",
    group="HITs",
)
@seed_option("Seed of all draws.")
def command(
    systems: tuple[Path, ...],
    captions: str,
    columns: dict[str, str],
    out: Path,
    replace: bool,
    videos: str,
    seed: int,
    **composition: Any,
) -> int:
    """Turn captions of systems into HITs with hidden controls.

    Puts captions of systems into HITs, tasks for one assessor each, together with human captions, these same captions
    degraded, and exact repeats, none of which can be told from the rest (Direct Assessment, Graham, Awad and Smeaton,
    PLOS ONE 2018). A worker who does not score degraded captions lower than their originals is found out by 'vttdata
    hits score'.
    """
    from vttdata.annotate.da_page import page_writer
    from vttdata.assess import make_hits
    from vttdata.assess.hits.system_captions import COLUMNS, read_systems
    from vttdata.assess.hits.write import video_addresses, write_hits
    from vttdata.compose.input_captions import read_input
    from vttdata.load.output_folder import check_output
    from vttdata.text.captions import INPUT_COLUMNS, check_column_names

    check_output(out, {"tables"}, replace=replace)
    settings = _hit_settings(**composition)
    try:
        check_column_names(columns, dict.fromkeys((*INPUT_COLUMNS, *COLUMNS)))
    except ValueError as error:
        raise VttdataError(f"--columns: {error}") from error
    splits = read_input(captions, columns, any_table=True).splits
    source_of = {video: source for split in splits for video, source in split.source_of.items()}
    human = [caption for split in splits for caption in split.captions if caption.author == "human"]
    by_system, repeated = read_systems(systems, columns, {caption.video_id for caption in human})
    wanted = sorted({video for texts in by_system.values() for video in texts})
    address_of = video_addresses(videos, wanted, out / "pages")
    missing = [video for video in wanted if video not in address_of]
    if not address_of:
        raise VttdataError(f"{videos}: has none of the {len(wanted):,} videos that systems have captions of.")
    shown = {name: {v: text for v, text in texts.items() if v in address_of} for name, texts in by_system.items()}
    plan = make_hits(shown, human, source_of, settings, seed=seed)
    written = write_hits(plan, out, address_of, page_writer(address_of))
    _print_plan(plan, sorted(by_system), len(address_of))
    _print_cases("rows that say what another row says; left out", repeated)
    _print_cases("videos that are not in the folder; left out", missing)
    print(f"{out} holds {', '.join(written)}")
    return DONE


def _hit_settings(
    *,
    items: int | None,
    composition: Mapping[str, int] | None,
    assessments: int,
    min_pairs: int,
    min_distance: int | None,
) -> HitSettings:
    from vttdata.assess import HitSettings

    total = 100 if items is None else items
    counts: dict[str, Any] = dict(composition or dict.fromkeys(KINDS[1:], total // 10))
    counts.setdefault("system", total - sum(counts.values()))
    if items not in {None, sum(counts.values())}:
        raise VttdataError(f"--composition has {sum(counts.values())} items, and --items is {items}.")
    if counts["system"] < 1 or not assessments or min_distance == 0:
        raise VttdataError("A HIT needs a caption of a system; --assessments and --min-distance are at least 1.")
    try:
        return HitSettings(**counts, assessments=assessments, min_pairs=min_pairs, min_distance=min_distance)
    except ValueError as error:
        raise VttdataError(str(error)) from error


def _print_plan(plan: HitPlan, systems: Sequence[str], videos: int) -> None:
    from vttdata.assess.hits.hit_records import NOTES

    parts = ", ".join(f"{getattr(plan.settings, kind)} {kind}" for kind in KINDS)
    print(
        f"{len(plan.hits):,} HITs of {plan.settings.items} items ({parts}), {len(systems)} systems, {videos:,} videos"
    )
    print(f"controls are at least {plan.settings.distance} places from their originals")
    if len(systems) == 1:
        print(f"only one system, {systems[0]!a}: it can be compared with human captions alone")
    for note, cases in plan.notes.items():
        _print_cases(NOTES[note], cases)


def _print_cases(meaning: str, cases: Sequence[str]) -> None:
    if cases:
        print(f"{len(cases):,} {meaning} (such as {cases[0]!a})")
