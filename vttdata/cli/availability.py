"""Check which videos of a dataset are still there (``vttdata availability``)."""

from __future__ import annotations

import contextlib
import datetime
import json
import sys
from collections import Counter
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, POSITIVE, Command, dataset_argument, json_option, option, out_option
from vttdata.errors import VttdataError


@click.command(
    "availability",
    cls=Command,
    not_on_windows=True,
    notes=[
        "Wherever the name of a protocol goes, the file protocol.json goes as well: load_dataset(NAME, "
        "'protocol.json'), vttdata evaluate --config protocol.json, vttdata audit --config protocol.json, and "
        "protocols in a recipe."
    ],
    examples=[
        "vttdata availability vttdata/msrvtt --videos videos --out there",
        "vttdata availability vttdata/msrvtt --online --out there",
    ],
)
@dataset_argument
@option("--videos DIR", "Look for files <source_id>.<extension>, or <video_id>.<extension>, in this folder.", type=FILE)
@option("--online", "Ask the sites by yt-dlp, without downloading, one video after another.", is_flag=True)
@out_option("Write availability.csv, a row for each source, and protocol.json, the clips that are there.")
@json_option
@option("--limit N", "Ask about this many sources only, in their order.", type=POSITIVE, group="Online")
@option("--sleep SECONDS", "Pause before each question.", type=click.FloatRange(min=0), default=5.0, group="Online")
def command(
    dataset: str, videos: Path | None, online: bool, out: Path, as_json: bool, limit: int | None, sleep: float
) -> int:
    """Find out which videos of a dataset are still there.

    The same command goes on where it was interrupted, and asks again where an answer was not about the video.
    """
    from vttdata.collect.reachability import addresses
    from vttdata.collect.settings import CollectSettings, LimitSettings
    from vttdata.compose.availability import (
        PROTOCOL,
        TABLE,
        answered_online,
        availability_text,
        available_protocol,
        check_files,
        check_online,
        read_table_of,
        read_videos,
        write_answers,
    )
    from vttdata.load.lookup import find_dataset

    if (videos is not None) == online:
        raise VttdataError("Give either --videos DIR or --online.")
    if limit is not None and not online:
        raise VttdataError("--limit goes with --online; files are all looked for.")

    def today() -> str:
        return datetime.datetime.now(datetime.UTC).date().isoformat()

    known_videos = read_videos(find_dataset(dataset))
    if videos is not None:
        if answered_online(read_table_of(out)):
            raise VttdataError(
                f"{out}: holds answers of sites, which take long to get; choose another folder with --out."
            )
        write_answers(out, {}, check_files(known_videos, videos, today()))
    else:
        earlier = {
            source: answer
            for source, answer in answered_online(read_table_of(out)).items()
            if source in known_videos.urls
        }
        asked = [(source, url) for source, url in known_videos.urls.items() if source not in earlier][:limit]
        # A question takes seconds; one that takes longer is asked again by the next run.
        settings = CollectSettings(
            manifest=TABLE, sleep_seconds=sleep, retries=1, backoff_seconds=1, limits=LimitSettings(seconds_per_item=60)
        )
        answers = check_online(asked, settings, today, addresses(known_videos.urls.values()))
        bar = click.progressbar(answers, length=len(asked), label="Asking", file=sys.stderr, show_pos=True)
        with bar if sys.stderr.isatty() else contextlib.nullcontext(answers) as shown:
            write_answers(out, earlier, shown)
    known = read_table_of(out)
    date = max((answer.date for answer in known.values()), default=today())
    protocol = available_protocol(known_videos, known, date)
    if protocol.splits:
        protocol.write(out / PROTOCOL)
    if as_json:
        clips = {split: len(ids) for split, ids in protocol.splits.items()}
        counts = Counter(answer.available for answer in known.values())
        sources = {status: counts[status] for status in ("yes", "no", "unknown")}
        report = {"sources": sources, "clips": clips, "protocol": protocol.label, "digest": protocol.digest}
        print(json.dumps(report, indent=2))
    else:
        written = (
            f"Protocol: {protocol.label} ({out / PROTOCOL})" if protocol.splits else "No clip is known to be there."
        )
        print(f"{availability_text(known_videos, known)}\n\n{written}")
    return DONE
