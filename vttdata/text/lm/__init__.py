"""Language models that say how usual a text is: an n-gram model of our own, and any causal model of HuggingFace.

They judge wording only and never see a video. Which texts they are trained on, and what follows from a perplexity, is
for the caller to decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.text.lm.causal import CausalModel
from vttdata.text.lm.ngram import NgramModel
from vttdata.text.lm.scorer import Scorer, Swap

__all__ = ["CausalModel", "NgramModel", "Scorer", "Swap", "load_judges", "load_scorer"]

_NGRAM = re.compile(r"ngram(?:-([1-9]))?")


def load_scorer(spec: str, training: Iterable[str] | None = None, *, device: str = "cpu") -> Scorer:
    """The language model that `spec` names.

    ``ngram`` (or ``ngram-2``, ``ngram-3``, ...; the plain word means 4) is trained on the texts of `training`; a file
    that ends in ``.npz`` is an `NgramModel` that was saved; anything else is the name or the folder of a causal
    model. `training` is read only for the first, `device` matters only for the last.

    Raises:
        VttdataError: no training texts, no such file or model, or a library that is not installed.
    """
    ngram = _NGRAM.fullmatch(spec)
    if ngram:
        if training is None:
            raise VttdataError(f"The language model '{spec}' is trained on the captions given, and none are given.")
        return NgramModel.train(training, order=int(ngram[1] or 4))
    if spec.endswith(".npz"):
        return NgramModel.load(Path(spec))
    return CausalModel.load(spec, device=device)


def load_judges(specs: Iterable[str]) -> dict[str, Scorer]:
    """Language models by their names, to try what another one has chosen; each as for `load_scorer`, none trained.

    Raises:
        VttdataError: as `load_scorer`; also when two have one name.
    """
    judges: dict[str, Scorer] = {}
    for spec in specs:
        judge = load_scorer(spec)
        if judge.name in judges:
            raise VttdataError(f"The language model '{judge.name}' is given twice.")
        judges[judge.name] = judge
    return judges
