"""Pictures of sources in every container and codec, whose frames show their numbers, and what is wrong with them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import av
import numpy as np

from tests.helpers.barcode import read_number
from tests.helpers.drawn_questions import read_pictures
from tests.helpers.span_matrix import CODECS, FRAMES, Cell, cells, clock, write_source
from vttdata.conditions import StimuliSettings, Stimulus
from vttdata.errors import MediaError
from vttdata.media.stimuli import ClipStimuli

__all__ = ["CODECS", "check_stimulus", "try_cell_pictures", "try_codec"]

_SETTINGS = StimuliSettings(frames=12)
_PICTURES = ("first", "middle", "random", "frames", "shuffled-frames")
# Levels by which two libraries that turn the same picture into RGB may differ, where chroma is grey.
_ROUNDING = 3


def try_codec(codec: str) -> list[tuple[str, str, int]]:
    """Return container, outcome and number of pictures for every source of a codec with a short GOP."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        for cell in cells():
            if cell.codec == codec and cell.gop == 12:
                try:
                    found += [(cell.container, *trial) for trial in try_cell_pictures(cell, Path(name))]
                except subprocess.CalledProcessError:
                    print(f"{cell.name} cannot be written", file=sys.stderr)
    return found


def try_cell_pictures(cell: Cell, folder: Path) -> list[tuple[str, int]]:
    """Return outcomes and numbers of pictures of a source."""
    source = write_source(cell, folder)
    try:
        with ClipStimuli(source, _SETTINGS, folder / "shown", folder) as stimuli:
            made = [stimuli.write("v", condition, "v") for condition in _PICTURES]
    except MediaError as error:
        return [(f"refused: {error.reason}", 1)]
    with av.open(str(source)) as container:
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    return [check_stimulus(cell, stimulus, folder / "shown", decoded) for stimulus in made]


def check_stimulus(cell: Cell, stimulus: Stimulus, folder: Path, decoded: list[np.ndarray]) -> tuple[str, int]:  # type: ignore[type-arg]
    """Return what is wrong with pictures, or ``exact``, and their number."""
    times, first = clock(cell.codec), cell.first
    pictures = read_pictures([folder / name for name in stimulus.files])
    # An edit list hides frames that other decoders give out too.
    hidden = len(decoded) - stimulus.frames
    for picture, index, time in zip(pictures, stimulus.indices, stimulus.times, strict=True):
        number = read_number(picture[:, :, 0])
        if number != read_number(decoded[index + hidden][:, :, 0]):
            return f"wrong: frame {number} as {index}", len(pictures)
        # An edit list begins at time zero, whether or not its first pictures can be decoded.
        begin = 0.0 if first else stimulus.times[0] - (times[stimulus.indices[0]] - times[0])
        if abs(time - begin - (times[number] - times[first])) > 0.0025:
            # Files that store no times of presentation do not say when the frame is shown that comes out last.
            is_last = number == FRAMES - 1 and cell.container in ("AVI", "MPG", "VOB")
            return ("exact but for the time of the last frame" if is_last else f"wrong: time of {number}"), len(
                pictures
            )
        if np.abs(picture.astype(int) - decoded[index + hidden].astype(int)).max() > _ROUNDING:
            return "wrong: pixels", len(pictures)
    return "exact", len(pictures)
