"""Find the shots of videos (``vttdata video shots``)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from vttdata.cli.exit_codes import DONE, INCOMPLETE
from vttdata.cli.options import FILE, POSITIVE, Command, argument, json_option, option
from vttdata.errors import MediaError, VttdataError
from vttdata.files.output_file import check_output_picture


@click.command(
    "shots",
    cls=Command,
    not_on_windows=True,
    examples=["vttdata video shots talk.mp4", "vttdata video shots --json talk.mp4 film.mkv"],
)
@argument("videos", "VIDEO...", "Video files.", nargs=-1, required=True, type=FILE)
@json_option
@option(
    "--sheet FILE.png",
    "Draw the first, middle and last frame of each shot with their times into a picture (one video).",
    type=FILE,
)
@option(
    "--limit SECONDS",
    "Give up on a video after this time.",
    type=POSITIVE,
    show_default="20 s for each second of the video, and 120 s",
    group="Detection",
)
def command(videos: tuple[Path, ...], as_json: bool, sheet: Path | None, limit: int | None) -> int:
    """Find the shots of videos by colour histogram.

    Prints a line for each shot with start and end in seconds, first and last frame, and how it begins; with --json an
    object a line for each video.
    """
    from vttdata import subprocesses
    from vttdata.media.probe import PROBING_SECONDS

    if sheet and len(videos) > 1:
        raise VttdataError(f"--sheet draws one video, and {len(videos)} were given.")
    if sheet:
        check_output_picture(sheet)
    code = DONE
    for video in videos:
        try:
            detection = subprocesses.call(_detect, video, sheet, limit, seconds=limit or PROBING_SECONDS)
        except (MediaError, TimeoutError, ChildProcessError) as error:
            code = INCOMPLETE
            if as_json:
                print(json.dumps({"file": str(video), "error": str(error)}))
            else:
                print(f"vttdata: {video}: {error}", file=sys.stderr)
            continue
        if as_json:
            keys = ("start", "end", "first_frame", "last_frame", "transition")
            found = {key: getattr(detection, key) for key in ("frames", "fps", "seconds")}
            shots = [{key: getattr(shot, key) for key in keys} for shot in detection.shots]
            print(json.dumps({"file": str(video), **found, "shots": shots}))
            continue
        number = len(detection.shots)
        print(
            f"{video}: {number} shot{'' if number == 1 else 's'}, {detection.frames} frames, {detection.seconds:.3f} s"
        )
        for shot in detection.shots:
            frames = f"{shot.first_frame:>7} {shot.last_frame:>7}"
            print(f"{shot.start:>10.3f} {shot.end:>10.3f} {frames}  {shot.transition}")
    return code


def _detect(video: Path, sheet: Path | None, limit: float | None) -> Any:
    """Find the shots of one video, in a process that ends when its time is over."""
    from vttdata.media import detect_shots, draw_sheet, probe
    from vttdata.media.probe import decoding_limit
    from vttdata.subprocesses import limit_this_process

    probed = probe(video)
    if limit is None:
        limit_this_process(decoding_limit(probed, video.stat().st_size))
    detection = detect_shots(video, threads=0)
    if sheet:
        draw_sheet(video, detection, sheet, threads=0)
    return detection
