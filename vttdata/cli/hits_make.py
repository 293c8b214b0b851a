"""The command ``vttdata hits make``: reads captions, makes HITs, writes them and says how it went."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.assess import HitPlan, HitSettings
    from vttdata.records import Caption

_KINDS = ("system", "human", "degraded", "repeat")
_VIDEOS = "../videos/{video_id}.mp4"


def add_make(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    parser = commands.add_parser(
        "make",
        help="turn captions of systems into HITs with hidden controls",
        description="Put captions of systems into HITs, tasks for one assessor each, together with human captions, "
        "these same captions degraded, and exact repeats, none of which can be told from the rest (Direct Assessment, "
        "Graham, Awad and Smeaton, PLOS ONE 2018). A worker who does not score degraded captions lower than their "
        "originals is found out by 'vttdata hits score'.",
        epilog="Writes manifest.csv (what each item is; keep it from workers), notes.csv, and for assessors crowd.csv "
        "(a row a HIT, for a platform's template), hits.jsonl and pages/HIT.html. "
        "Example: vttdata hits make ours.csv theirs.json --captions msrvtt.csv "
        "--videos 'https://example.org/{video_id}.mp4' --out campaign --seed 7",
    )
    systems = (
        "captions of a system, one file each: a CSV, TSV or JSONL table with video_id and caption, or COCO results"
    )
    column = "with a column 'system' one file may hold several"
    parser.add_argument("systems", metavar="SYSTEM", nargs="+", type=Path, help=f"{systems} (.json); {column}")
    human = (
        "human captions: a dataset (folder, build or name), or a table with video_id, caption and if known source_id"
    )
    more = "those of other videos lend words to degraded captions"
    parser.add_argument("--captions", metavar="INPUT", required=True, help=f"{human}; {more}")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder to write; made if need be")
    videos = "where the pages find videos: a URL or path with {video_id} in it, or a folder that holds them"
    parser.add_argument("--videos", metavar="WHERE", default=_VIDEOS, help=f"{videos} (default: %(default)s)")
    times = "in how many HITs each caption of a system stands at least (default: 1)"
    parser.add_argument("--assessments", metavar="K", type=_whole, default=1, help=times)
    size = "items in a HIT, divided 7:1:1:1 where --composition does not say how (default: 100)"
    parser.add_argument("--items", metavar="N", type=_whole, help=size)
    parts = "what a HIT is made of: system (the rest, if not named), human, degraded and repeat (none, if not named)"
    parser.add_argument(
        "--composition",
        metavar="KIND=N,...",
        type=_composition,
        help=f"{parts} (default: system=70,human=10,degraded=10,repeat=10)",
    )
    pairs = "refuse HITs with fewer pairs of a human caption and its degraded form (default: 10)"
    parser.add_argument("--min-pairs", metavar="N", type=_whole, default=10, help=pairs)
    distance = "places between a control and its original, at least (default: two fifths of the HIT)"
    parser.add_argument("--min-distance", metavar="N", type=_whole, help=distance)
    parser.add_argument("--seed", metavar="N", type=_whole, default=0, help="of all draws (default: 0)")
    parser.set_defaults(run=_make)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no whole number from 0 on")
    return int(text)


def _composition(text: str) -> dict[str, int]:
    parts = [part.partition("=") for part in text.split(",")]
    names = [name.strip() for name, _, _ in parts]
    if sorted(names) != sorted(set(names) & set(_KINDS)):
        raise argparse.ArgumentTypeError(f"'{text[:80]}' is not like system=70,human=10,degraded=10,repeat=10")
    return dict.fromkeys(_KINDS[1:], 0) | {
        name: _whole(number.strip()) for name, (_, _, number) in zip(names, parts, strict=True)
    }


def _settings(options: argparse.Namespace) -> HitSettings:
    from vttdata.assess import HitSettings

    total = 100 if options.items is None else options.items
    wanted: dict[str, int] = options.composition or dict.fromkeys(_KINDS[1:], total // 10)
    wanted.setdefault("system", total - sum(wanted.values()))
    if options.items not in {None, sum(wanted.values())}:
        raise VttdataError(f"--composition has {sum(wanted.values())} items, and --items is {options.items}.")
    if wanted["system"] < 1 or not options.assessments or options.min_distance == 0:
        raise VttdataError("A HIT needs a caption of a system; --assessments and --min-distance are at least 1.")
    try:
        return HitSettings(
            system=wanted["system"],
            human=wanted["human"],
            degraded=wanted["degraded"],
            repeat=wanted["repeat"],
            assessments=options.assessments,
            min_pairs=options.min_pairs,
            min_distance=options.min_distance,
        )
    except ValueError as error:
        raise VttdataError(str(error)) from error


def _make(options: argparse.Namespace) -> int:
    from vttdata.annotate.da_page import page_writer
    from vttdata.assess import make_hits
    from vttdata.assess.hits.system_captions import read_systems
    from vttdata.assess.hits.write import video_addresses, write_hits

    settings = _settings(options)
    systems, doubled = read_systems(options.systems)
    human, source_of = _human(options.captions)
    shown = sorted({video for captions in systems.values() for video in captions})
    videos = video_addresses(options.videos, shown, options.out / "pages")
    lost = [video for video in shown if video not in videos]
    if not videos:
        raise VttdataError(f"{options.videos}: has none of the {len(shown):,} videos that systems have captions of.")
    there = {name: {v: text for v, text in own.items() if v in videos} for name, own in systems.items()}
    plan = make_hits(there, human, source_of, settings, seed=options.seed)
    written = write_hits(plan, options.out, videos, page_writer(videos))
    _tell(plan, sorted(systems), len(videos))
    _tell_cases("rows that say what another row says; left out", doubled)
    _tell_cases("videos that are not in the folder; left out", lost)
    print(f"{options.out} holds {', '.join(written)}")
    return 0


def _human(given: str) -> tuple[list[Caption], dict[str, str]]:
    """The human captions of all splits, and the sources of their videos."""
    from vttdata.cli.degrade import read_material

    material = read_material(given, [])
    source_of = {video: source for own in material for video, source in own.source_of.items()}
    return [caption for own in material for caption in own.captions if caption.author == "human"], source_of


def _tell(plan: HitPlan, systems: list[str], videos: int) -> None:
    from vttdata.assess.hits.plan import NOTES

    parts = ", ".join(f"{getattr(plan.settings, kind)} {kind}" for kind in _KINDS)
    print(
        f"{len(plan.hits):,} HITs of {plan.settings.items} items ({parts}), {len(systems)} systems, {videos:,} videos"
    )
    print(f"controls are at least {plan.settings.distance} places from their originals")
    if len(systems) == 1:
        print(f"only one system, {systems[0]!a}: it can be compared with human captions alone")
    for kind, cases in plan.notes.items():
        _tell_cases(NOTES[kind], cases)


def _tell_cases(meaning: str, cases: list[str] | tuple[str, ...]) -> None:
    if cases:
        print(f"{len(cases):,} {meaning} (such as {cases[0]!a})")
