"""What TRECVID's judgments show: counts, the scan that aligns ids, rankings with significance, agreement.

For each year, judgments by single and by multiple annotators are ranked on their own, and correlated over systems,
human captions left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from vttdata.annotations.trecvid.id_offsets import OffsetScan
from vttdata.annotations.trecvid.judged_sets import human_letter
from vttdata.assess import bootstrap, replication, significance, system_scores
from vttdata.assess.tables import as_markdown, significance_table, system_table
from vttdata.evaluate.meta.compare import correlation_table
from vttdata.recipe import packaged
from vttdata.records import CaptionScore

Campaigns = dict[str, list[CaptionScore]]


def counts(campaigns: Campaigns) -> str:
    """How much was judged."""
    rows = [
        [
            name,
            len(own),
            len({score.system for score in own}),
            len({score.video_id for score in own}),
            min(score.assessments for score in own),
            max(score.assessments for score in own),
            sum(score.assessments for score in own),
        ]
        for name, own in campaigns.items()
    ]
    return as_markdown([["judgments", "rows", "systems", "videos", "least", "most", "assessments"], *rows])


def alignment(scans: Sequence[OffsetScan]) -> str:
    """Correlation of word overlap and score, where ids mean lines so many further on."""
    offsets = sorted({scan.offset for scan in scans})
    known = {(scan.campaign, scan.offset): round(scan.correlation, 3) for scan in scans}
    names = dict.fromkeys(scan.campaign for scan in scans)
    return as_markdown(
        [["offset", *map(str, offsets)], *([name, *(known[name, o] for o in offsets)] for name in names)]
    )


def ranking(name: str, own: Sequence[CaptionScore]) -> str:
    """Systems, best first, and which of them are significantly better than which."""
    tested = significance(own)
    table = system_table(system_scores(own), bootstrap(own), tested)
    return "\n".join([f"## {name}\n", as_markdown(table), as_markdown(significance_table(tested))])


def agreement(campaigns: Campaigns) -> str:
    """Single against multiple annotators."""
    people = {score.system for own in campaigns.values() for score in own if human_letter(score.system)}
    found = {}
    for year in sorted({name.partition("-")[0] for name in campaigns}):
        pair = [campaigns[f"{year}-{kind}"] for kind in ("single", "multiple") if f"{year}-{kind}" in campaigns]
        if len(pair) == 2:
            raw, z = replication(*map(system_scores, pair), leave_out=people)
            found |= {f"{year}, raw": raw, f"{year}, z": z}
    return as_markdown(correlation_table(found))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds single-annotator/YEAR and multiple-annotator/YEAR")
    read = packaged.load_builder("trecvid_vtt").read(parser.parse_args().folder)
    campaigns: Campaigns = {}
    for score in read.scores:
        campaigns.setdefault(score.campaign, []).append(score)
    print(counts(campaigns))
    print(alignment(read.alignment))
    for name, own in campaigns.items():
        print(ranking(name, own))
    print("## Single against multiple annotators, by systems\n")
    print(agreement(campaigns), end="")


if __name__ == "__main__":
    main()
