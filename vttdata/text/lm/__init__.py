"""Language models that say how usual a text is: an n-gram model of our own, and any causal model of HuggingFace.

They judge wording only and never see a video. Which texts they are trained on, and what follows from a perplexity, is
for the caller to decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from vttdata.errors import VttdataError
from vttdata.text.lm.causal import CausalModel
from vttdata.text.lm.ngram import NgramModel
from vttdata.text.lm.scorer import Scorer, Substitution

__all__ = [
    "CausalModel",
    "NgramModel",
    "Scorer",
    "Substitution",
    "is_trained",
    "load_judges",
    "load_scorer",
    "scorer_maker",
]

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


def is_trained(spec: str) -> bool:
    """Whether the language model that `spec` names is trained on texts that are given, as ``ngram`` is."""
    return _NGRAM.fullmatch(spec) is not None


def scorer_maker(spec: str, *, device: str = "cpu") -> Callable[[Iterable[str]], Scorer]:
    """What makes of training texts the language model that `spec` names; `spec` and `device` as for `load_scorer`.

    A model that is not trained is loaded here, once, so that one that cannot be had is known before work is done.

    Raises:
        VttdataError: as `load_scorer`.
    """
    if is_trained(spec):
        return partial(load_scorer, spec)
    model = load_scorer(spec, device=device)
    return lambda _: model


def load_judges(specs: Iterable[str], *, device: str = "cpu") -> dict[str, Scorer]:
    """Language models by their names, to try what another one has chosen; each as for `load_scorer`, none trained.

    Raises:
        VttdataError: as `load_scorer`; also when two have one name.
    """
    judges: dict[str, Scorer] = {}
    for spec in specs:
        judge = load_scorer(spec, device=device)
        if judge.name in judges:
            raise VttdataError(f"The language model '{judge.name}' is given twice.")
        judges[judge.name] = judge
    return judges
