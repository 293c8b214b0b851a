"""The command ``vttdata hits power``: parses, lets made-up crowds answer HITs, prints what that shows."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError


def add_power(commands: Any) -> None:
    """Add the command to the subparsers of ``hits``."""
    parser = commands.add_parser(
        "power",
        help="plan: how many HITs it takes to find a difference between systems",
        description="Let made-up crowds of diligent, noisy, biased and bad workers answer the HITs of a campaign, "
        "judge the workers, rank the systems, and count how often a better system wins significantly over a worse one. "
        "Half of the systems are better than the other half by the gap. It is a plan and no promise.",
        epilog="Prints for each number of answered HITs and each gap: power, the share of better systems found better; "
        "false, of the other pairs, those with a win all the same; caught, of bad workers; lost, of good ones. "
        "Example: vttdata hits power --systems 5 --videos 200 --gap 3,5 --hits 15,30,60",
    )
    given = "of a campaign that 'hits make' wrote; without it, one of --systems and --videos is made up"
    parser.add_argument("--manifest", metavar="FILE", type=Path, help=given)
    parser.add_argument("--systems", metavar="N", type=_count, default=8, help="how many systems (default: 8)")
    parser.add_argument("--videos", metavar="N", type=_count, default=100, help="how many videos (default: 100)")
    gaps = "by how many points of 0..100 better systems are better (default: 3,5,10)"
    parser.add_argument("--gap", metavar="POINTS,...", type=_gaps, default=[3.0, 5.0, 10.0], help=gaps)
    answered = (
        "numbers of HITs to be answered, each by one worker (default: half the campaign's, all, two and four times)"
    )
    parser.add_argument("--hits", metavar="N,...", type=_counts, help=answered)
    parser.add_argument("--bad", metavar="SHARE", type=_share, default=0.2, help="of bad workers (default: 0.2)")
    parser.add_argument("--seeds", metavar="N", type=_count, default=20, help="how often all is drawn (default: 20)")
    parser.set_defaults(run=_power)


_MOST_CAPTIONS = 10**6


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text[:10]) <= 10**6 or len(text) > 9:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no whole number from 1 to 1,000,000")
    return int(text)


def _counts(text: str) -> list[int]:
    return [_count(part.strip()) for part in text.split(",")]


def _gaps(text: str) -> list[float]:
    try:
        gaps = [float(part) for part in text.split(",")]
    except ValueError:
        gaps = []
    if not gaps or not all(0 <= gap <= 50 for gap in gaps):
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is not like 3,5,10: points of 0 to 50")
    return gaps


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no share of 0 to 1, 1 left out")
    return share


def _power(options: argparse.Namespace) -> int:
    from vttdata.assess.power import placeholder_hits, power, power_table
    from vttdata.assess.results import read_manifest
    from vttdata.assess.tables import as_markdown

    if options.manifest is None:
        if options.systems * options.videos > _MOST_CAPTIONS:
            raise VttdataError(f"--systems and --videos: at most {_MOST_CAPTIONS:,} captions can be planned for.")
        manifest = placeholder_hits(options.systems, options.videos)
    else:
        manifest = read_manifest(options.manifest)
    number = len(manifest)
    wanted = options.hits or [max(number // 2, 1), number, 2 * number, 4 * number]
    print(f"{number:,} HITs; {options.bad:.0%} of workers are bad; {options.seeds} seeds\n")
    print(as_markdown(power_table([])), end="")
    for gap, hits in itertools.product(options.gap, wanted):
        found = power(manifest, hits, gap, bad=options.bad, seeds=options.seeds)
        print(
            as_markdown(power_table([found])).splitlines()[-1], flush=True
        )  # each as it is known: it may take minutes
    return 0
