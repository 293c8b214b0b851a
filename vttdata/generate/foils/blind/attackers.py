"""How blind attackers tell a true text from its foil: by what was seen of other pairs, or by a language model.

Each gives a margin a pair: above 0 where it takes the true text for the true one, 0 where it cannot tell. Which
attackers try a set, and what comes of it, is in `vttdata.generate.foils.blind.shortcuts`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.text.lm import Scorer

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Features = Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]]
"""Of each pair what the true text shows and what its foil shows."""

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_PRIOR = 0.5
_GRAMS = 3
_COLUMNS = 2**20


def words_of(text: str) -> list[str]:
    """The lower-cased words of a text."""
    return _WORD.findall(text.lower())


def differing(words: Sequence[str], others: Sequence[str]) -> list[tuple[str, int]]:
    """The words that a text has more often than the other one, each with its place in the text."""
    left = Counter(words) - Counter(others)
    found = []
    for place, word in enumerate(words):
        if left[word] > 0:
            left[word] -= 1
            found.append((word, place))
    return found


def directed(differences: Floats, folds: Integers) -> Floats:
    """Margins of a number by which true texts differ from foils; the other folds teach which way.

    Args:
        differences: the number of each true text less that of its foil.
        folds: of each pair.
    """
    signs, margins = np.sign(differences), np.zeros(len(differences))
    for fold in np.unique(folds):
        margins[folds == fold] = differences[folds == fold] * np.sign(signs[folds != fold].sum())
    return margins


def by_evidence(features: Features, folds: Integers) -> Floats:
    """Margins of a naive Bayes guess: how often each feature was seen on the true and on the false side elsewhere."""
    margins = np.zeros(len(features))
    for fold in np.unique(folds):
        true, foil = Counter[Hashable](), Counter[Hashable]()
        for place in np.flatnonzero(folds != fold).tolist():
            true.update(features[place][0])
            foil.update(features[place][1])
        for place in np.flatnonzero(folds == fold).tolist():
            odds = [[math.log((true[own] + _PRIOR) / (foil[own] + _PRIOR)) for own in side] for side in features[place]]
            margins[place] = math.fsum(odds[0]) - math.fsum(odds[1])
    return margins


def by_model(true: Sequence[str], foil: Sequence[str], model: Scorer) -> Floats:
    """Margins of a language model, which takes the text of lower perplexity for the true one."""
    margins: Floats = np.log(model.perplexity(list(foil))) - np.log(model.perplexity(list(true)))
    return margins


def by_classifier(true: Sequence[str], foil: Sequence[str], folds: Integers) -> Floats:
    """Margins of a logistic regression on the 1- to 3-grams by which the two texts of a pair differ.

    Raises:
        VttdataError: when scikit-learn is not installed.
    """
    try:
        from sklearn.feature_extraction.text import HashingVectorizer
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise VttdataError(f"The linear attacker needs scikit-learn: pip install 'vttdata[foil]' ({error}).") from error
    grams: Any = HashingVectorizer(
        analyzer="word", tokenizer=words_of, token_pattern=None, ngram_range=(1, _GRAMS), n_features=_COLUMNS, norm=None
    )
    difference = grams.transform(true) - grams.transform(foil)
    difference.eliminate_zeros()
    difference = difference[:, np.unique(difference.indices)]
    margins = np.zeros(len(true))
    for fold in np.unique(folds):
        # Each pair is shown both ways round, so that nothing but the difference of its texts can be learned.
        own = difference[folds != fold]
        signs = np.where(np.arange(own.shape[0]) % 2, -1.0, 1.0)
        shown = own.multiply(signs[:, None]).tocsr()
        learner = LogisticRegression(fit_intercept=False, solver="liblinear", random_state=0)
        if len(set(signs)) < 2:
            continue
        learner.fit(shown, signs)
        margins[folds == fold] = learner.decision_function(difference[folds == fold])
    return margins
