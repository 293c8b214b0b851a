"""Add a picture of clips to a dataset whose videos are part of it, for its card on the Hub."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from vttdata.errors import MediaError, VttdataError
from vttdata.ids import digest
from vttdata.records import Clip
from vttdata.subprocesses import call

PREVIEW = "preview.jpg"
_MAX_CLIPS = 12
_SECONDS = 120.0


def add_preview(dataset: Path, media: Path, clips: Iterable[Clip]) -> None:
    """Draw one frame each of clips of as many sources as possible into ``preview.jpg``; nothing if none can be read.

    The choice follows from the ids alone. Videos are decoded in a process of its own.

    Args:
        dataset: Folder of the dataset.
        media: Folder of the clips' files.
        clips: Clips; those without a file are left out.
    """
    from vttdata.media.contact_sheet import draw_clips

    files: dict[str, list[Path]] = {}
    for clip in sorted(clips, key=lambda clip: digest(clip.video_id)):
        if clip.media is not None:
            files.setdefault(clip.source_id, []).append(media / PurePosixPath(clip.media.video).name)
    rounds = (
        source[number]
        for number in range(max(map(len, files.values()), default=0))
        for source in files.values()
        if number < len(source)
    )
    chosen = [path for path, _ in zip(rounds, range(_MAX_CLIPS), strict=False)]
    if chosen:
        try:
            call(draw_clips, chosen, dataset / PREVIEW, seconds=_SECONDS)
        except (MediaError, VttdataError, TimeoutError, ChildProcessError):
            # A dataset without a picture is complete.
            (dataset / PREVIEW).unlink(missing_ok=True)
