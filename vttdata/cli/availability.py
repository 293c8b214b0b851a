"""Find out which videos of a dataset still exist (``vttdata verify --videos`` and ``--online``)."""

from __future__ import annotations

import contextlib
import datetime
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vttdata.cli.exit_codes import DIFFERENT, DONE
from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.compose.availability import DatasetVideos


def check_availability(
    dataset: str, out: Path, *, videos: Path | None, limit: int | None, sleep: float, as_json: bool
) -> int:
    """Look for the videos of a dataset, print what was found, and write the table of sources and the protocol.

    The same call goes on where it was interrupted, and asks again where an answer was not about the video.

    Args:
        dataset: as for `vttdata.load.lookup.find_dataset`.
        out: folder of the table and the protocol.
        videos: folder with files named by source or clip, or a list of ids; None to ask the sites.
        limit: number of sources to ask about; None for all.
        sleep: seconds before each question.
        as_json: print the counts as JSON.

    Returns:
        The exit code: `DIFFERENT` if a video is gone.

    Raises:
        VttdataError: if there is no such dataset or folder, or `out` holds answers of sites and `videos` is given.
    """
    from vttdata.compose.availability import (
        PROTOCOL,
        answered_online,
        availability_section,
        available_protocol,
        check_local_availability,
        read_table_of,
        read_videos,
        write_answers,
    )
    from vttdata.files.results import format_text
    from vttdata.load.lookup import find_dataset

    known_videos = read_videos(find_dataset(dataset))
    if videos is None:
        _ask_sites(known_videos, out, limit=limit, sleep=sleep)
    elif answered_online(read_table_of(out)):
        raise VttdataError(f"{out}: holds answers of sites, which take long to get; choose another folder with --out.")
    else:
        write_answers(out, {}, list(check_local_availability(known_videos, videos, _today())))
    known = read_table_of(out)
    date = max((answer.date for answer in known.values()), default=_today())
    protocol = available_protocol(known_videos, known, date)
    if protocol.splits:
        protocol.write(out / PROTOCOL)
    counts = Counter(answer.available for answer in known.values())
    if as_json:
        clips = {split: len(ids) for split, ids in protocol.splits.items()}
        sources = {status: counts[status] for status in ("yes", "no", "unknown")}
        report = {"sources": sources, "clips": clips, "protocol": protocol.label, "digest": protocol.digest}
        print(json.dumps(report, indent=2))
    else:
        written = f"Protocol: {protocol.label} ({out / PROTOCOL})" if protocol.splits else "No video is known to exist."
        print(f"{format_text([availability_section(known_videos, known)])}\n\n{written}")
    return DIFFERENT if counts["no"] else DONE


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _ask_sites(known_videos: DatasetVideos, out: Path, *, limit: int | None, sleep: float) -> None:
    """Ask about the sources that no answer is known of, with a bar on a terminal, and write each answer."""
    from vttdata.collect.reachability import addresses
    from vttdata.collect.settings import CollectSettings, LimitSettings
    from vttdata.compose.availability import TABLE, answered_online, check_online, read_table_of, write_answers
    from vttdata.subprocesses import check_system

    check_system("'vttdata verify --online'")
    earlier = {
        source: answer for source, answer in answered_online(read_table_of(out)).items() if source in known_videos.urls
    }
    unanswered = [(source, url) for source, url in known_videos.urls.items() if source not in earlier][:limit]
    # A question takes seconds; one that takes longer is asked again by the next run.
    settings = CollectSettings(
        manifest=TABLE, sleep_seconds=sleep, retries=1, backoff_seconds=1, limits=LimitSettings(seconds_per_item=60)
    )
    answers = check_online(unanswered, settings, _today, addresses(known_videos.urls.values()))
    bar = click.progressbar(answers, length=len(unanswered), label="Asking", file=sys.stderr, show_pos=True)
    with bar if sys.stderr.isatty() else contextlib.nullcontext(answers) as shown:
        write_answers(out, earlier, shown)
