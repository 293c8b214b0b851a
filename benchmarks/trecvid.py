"""Tabulate TRECVID's judgments: counts, alignment of ids, rankings with significance, agreement of annotators.

For each year, judgments by single and by multiple annotators are ranked separately, and correlated over systems without
the human captions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from vttdata.annotations.trecvid.id_offsets import OffsetScan
from vttdata.annotations.trecvid.judgments import human_letter
from vttdata.files.results import ResultTable, Section, format_markdown, format_markdown_table
from vttdata.people import replication, significance, system_intervals, system_scores
from vttdata.people.scoring.tables import significance_table, system_table
from vttdata.people.scoring.two_evaluations import correlation_table
from vttdata.recipe import packaged
from vttdata.records import CaptionScore

Campaigns = dict[str, list[CaptionScore]]


def counts(campaigns: Campaigns) -> str:
    """Return a table of the number of judgments."""
    rows = [
        [
            name,
            len(scores),
            len({score.system for score in scores}),
            len({score.video_id for score in scores}),
            min(score.assessments for score in scores),
            max(score.assessments for score in scores),
            sum(score.assessments for score in scores),
        ]
        for name, scores in campaigns.items()
    ]
    columns = ("judgments", "rows", "systems", "videos", "least", "most", "assessments")
    return format_markdown_table(ResultTable(columns, rows))


def alignment(scans: Sequence[OffsetScan]) -> str:
    """Return the correlation of word overlap and score for each offset between ids and lines."""
    offsets = sorted({scan.offset for scan in scans})
    known = {(scan.campaign, scan.offset): round(scan.correlation, 3) for scan in scans}
    names = dict.fromkeys(scan.campaign for scan in scans)
    rows = [[name, *(known[name, offset] for offset in offsets)] for name in names]
    return format_markdown_table(ResultTable(("offset", *map(str, offsets)), rows))


def ranking(name: str, scores: Sequence[CaptionScore]) -> str:
    """Return the systems, best first, and the significant differences between them."""
    tested = significance(scores)
    table = system_table(system_scores(scores), system_intervals(scores), tested)
    return format_markdown(
        [
            Section(name, table=ResultTable.of_rows(table)),
            Section(table=ResultTable.of_rows(significance_table(tested))),
        ]
    )


def agreement(campaigns: Campaigns) -> str:
    """Return the correlation of single with multiple annotators."""
    people = {score.system for scores in campaigns.values() for score in scores if human_letter(score.system)}
    correlations = {}
    for year in sorted({name.partition("-")[0] for name in campaigns}):
        names = [name for name in (f"{year}-single", f"{year}-multiple") if name in campaigns]
        if len(names) == 2:
            raw, z = replication(*(system_scores(campaigns[name]) for name in names), leave_out=people)
            correlations |= {f"{year}, raw": raw, f"{year}, z": z}
    return format_markdown_table(correlation_table(correlations))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with single-annotator/YEAR and multiple-annotator/YEAR")
    read = packaged.load_builder("trecvid_vtt").read(parser.parse_args().folder)
    campaigns: Campaigns = {}
    for score in read.scores:
        campaigns.setdefault(score.campaign, []).append(score)
    print(counts(campaigns))
    print(alignment(read.alignment))
    for name, scores in campaigns.items():
        print(ranking(name, scores))
    print("## Single against multiple annotators, by systems\n")
    print(agreement(campaigns), end="")


if __name__ == "__main__":
    main()
