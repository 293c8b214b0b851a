"""Score captions with pycocoevalcap: COCOEvalCap of a ground truth and a file of results, as its README does.

SPICE is left out, since it fetches a parser.
"""

import contextlib
import json
import sys

from pycocoevalcap import eval as coco
from pycocotools.coco import COCO


class NoSpice:
    """Scorer in the place of SPICE."""

    def method(self):
        return "none"

    def compute_score(self, references, _):
        return 0.0, [{}] * len(references)


with contextlib.redirect_stdout(sys.stderr):
    truth = COCO(sys.argv[1])
    coco.Spice = type(
        "NoSpice", (), {"method": lambda _: "none", "compute_score": lambda _, gts, __: (0.0, [{}] * len(gts))}
    )
    evaluation = coco.COCOEvalCap(truth, truth.loadRes(sys.argv[2]))
    evaluation.evaluate()
print(json.dumps({name: float(score) for name, score in evaluation.eval.items()}))
