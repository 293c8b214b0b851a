"""Language models that score how usual a text is: an n-gram model, and causal models of HuggingFace.

They judge wording only and never see a video. Callers decide which texts they are trained on and what follows from a
perplexity.
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
    """Load or train the language model that `spec` names.

    That is ``ngram``, ``ngram-2``, ``ngram-3``, ... (without a number, 4) for a model to be trained on given texts; a
    file ending in ``.npz`` for a saved `NgramModel`; otherwise the name or the folder of a causal model, which computes
    on a device.

    Raises:
        VttdataError: when training texts, a file, a model or a library is missing.
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
    """Return whether the language model that `spec` names is trained on given texts, as ``ngram`` is."""
    return _NGRAM.fullmatch(spec) is not None


def scorer_maker(spec: str, *, device: str = "cpu") -> Callable[[Iterable[str]], Scorer]:
    """Return a function from training texts to the language model that `spec` names; arguments as for `load_scorer`.

    A model that is not trained is loaded at once, so that a missing one is reported before any work is done.

    Raises:
        VttdataError: as `load_scorer`.
    """
    if is_trained(spec):
        return partial(load_scorer, spec)
    model = load_scorer(spec, device=device)
    return lambda _: model


def load_judges(specs: Iterable[str], *, device: str = "cpu") -> dict[str, Scorer]:
    """Load language models by their names, none of them trained; arguments as for `load_scorer`.

    Raises:
        VttdataError: as `load_scorer`, or when two have the same name.
    """
    judges: dict[str, Scorer] = {}
    for spec in specs:
        judge = load_scorer(spec, device=device)
        if judge.name in judges:
            raise VttdataError(f"The language model '{judge.name}' is given twice.")
        judges[judge.name] = judge
    return judges
