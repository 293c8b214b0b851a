"""Reject blurred videos, by the blur effect of Crete, Dolmiere, Ladret and Nicolas 2007 (SPIE 6492), section 3."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vttdata.media.base_filter import MeanFilter, SampledPicture
from vttdata.media.luma import sum_exactly

# The paper's low-pass filter has 9 taps, 4 on either side of its centre.
_SIDE_TAPS = 4


class Blur(MeanFilter):
    """Mean blur effect over the time that is not black."""

    order = 50
    default = None
    limit = "highest blur, 0..1; measured but not judged when null."
    column = "how blurred it is, 0 best, 1 worst"
    skips_black = True

    def score_picture(self, picture: SampledPicture) -> float:
        """Return the blur effect of a picture: 0 sharp, 1 blurred.

        The picture is blurred once more along a line; what was sharp loses much of its variation, what was blurred
        little. The worse of the two directions counts. A picture without any variation scores 0: it has nothing to be
        blurred. Sharp footage scores 0.2 to 0.5, and scores only compare at one resolution. At least 10 x 10 pixels are
        needed for a score above 0.
        """
        return max(map(_line_blur, picture.lines))


def _line_blur(lines: npt.NDArray[np.int16]) -> float:
    if len(lines) < 2 * _SIDE_TAPS + 2:
        return 0.0
    step = lines[_SIDE_TAPS + 1 : -_SIDE_TAPS] - lines[_SIDE_TAPS : -_SIDE_TAPS - 1]
    np.abs(step, out=step)
    step *= 2 * _SIDE_TAPS + 1
    blurred_step = lines[2 * _SIDE_TAPS + 1 :] - lines[: -2 * _SIDE_TAPS - 1]
    np.abs(blurred_step, out=blurred_step)
    variation = sum_exactly(step)
    kept = np.minimum(step, blurred_step, out=step)
    return sum_exactly(kept) / variation if variation else 0.0
