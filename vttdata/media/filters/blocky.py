"""Reject videos with visible compression blocks, after Wang, Sheikh and Bovik 2002 (ICIP), equations 1-4."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vttdata.media.base_filter import MeanFilter, SampledPicture
from vttdata.media.luma import sum_exactly

# The transform of JPEG and of MPEG-1 to MPEG-4, and the grid on which the larger transforms of their successors lie.
_BLOCK_SIZE = 8
# Luma steps above are edges of objects: 1.3 % of the steps between neighbours in 36 real and drawn videos.
_MAX_BLOCK_STEP = 24
# Luma levels; keeps a flat drawing, whose mean steps are near 0, from scoring by chance.
_VISIBLE_STEP = 1.0


class Blocky(MeanFilter):
    """Mean visibility of block edges over the time that is not black."""

    order = 60
    default = None
    limit = "highest visibility of block edges, 0..1; measured but not judged when null."
    column = "how visible compression blocks are, 0 best, 1 worst"
    skips_black = True

    def score_picture(self, picture: SampledPicture) -> float:
        """Return the visible share of block edges in the steps across the 8 x 8 grid: 0 none, 1 nothing else.

        As in the paper, the mean step between neighbouring pixels across block edges is held against the mean step
        inside the blocks, averaged over both directions. In place of the paper's fitted score, the excess is given as a
        share of the whole, steps far above what quantisers cause count as edges of objects, and an excess below one
        luma level weighs little. The grid is taken to start at the top left corner; a video that was rescaled or
        cropped after coding has lost it, and scores 0.
        """
        return sum(map(_line_visibility, picture.lines)) / 2


def _line_visibility(lines: npt.NDArray[np.int16]) -> float:
    steps = lines[1:] - lines[:-1]
    np.abs(steps, out=steps)
    # NumPy takes the minimum with a single number eight times as slowly as with an array, and clips in between.
    np.clip(steps, 0, _MAX_BLOCK_STEP, out=steps)
    across = steps[_BLOCK_SIZE - 1 :: _BLOCK_SIZE]
    inside = steps.size - across.size
    if not across.size or not inside:
        return 0.0
    total = sum_exactly(across)
    edge, rest = total / across.size, (sum_exactly(steps) - total) / inside
    return float(max(edge - rest, 0.0) / (edge + _VISIBLE_STEP))
