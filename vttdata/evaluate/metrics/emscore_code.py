"""EMScore and EMScore_ref by a CLIP model, as its published code computes them."""

from __future__ import annotations

from vttdata.evaluate.metrics.emscore import EmScore


class EmScoreCode(EmScore):
    """EMScore with the frequencies and the choice of references of Shi et al.'s code.

    The code rounds scores to four digits before it correlates them with people; here they are not rounded.
    """

    columns = tuple(name.replace("emscore", "emscore-code") for name in EmScore.columns)
    convention = "code"
