"""Blind attackers: classifiers that tell a true text from its foil without the video.

An attacker returns a margin for each pair: above 0 where it takes the true text for the true one, 0 where it cannot
tell. `vttdata.generate.foils.blind.shortcuts` runs them on a set.
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
# For each pair the features of the true text and those of the foil.
PairFeatures = Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]]

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
# Count that a feature has on either side before any pair is seen.
_PRIOR_COUNT = 0.5
_MAX_NGRAM = 3
_HASHED_FEATURES = 2**20


def lower_words(text: str) -> list[str]:
    """Return the lower-cased words of a text, without punctuation."""
    return _WORD.findall(text.lower())


def list_surplus_words(words: Sequence[str], others: Sequence[str]) -> list[tuple[str, int]]:
    """List the words that a text has more often than another one, each with its index in the text."""
    surplus = Counter(words) - Counter(others)
    listed = []
    for index, word in enumerate(words):
        if surplus[word] > 0:
            surplus[word] -= 1
            listed.append((word, index))
    return listed


def margins_by_sign(differences: Floats, folds: Integers) -> Floats:
    """Guess by a number that tends to be higher, or lower, for true texts of the other folds.

    Args:
        differences: the number of each true text less that of its foil.
        folds: of each pair.
    """
    signs, margins = np.sign(differences), np.zeros(len(differences))
    for fold in np.unique(folds):
        margins[folds == fold] = differences[folds == fold] * np.sign(signs[folds != fold].sum())
    return margins


def margins_by_naive_bayes(features: PairFeatures, folds: Integers) -> Floats:
    """Guess by how often each feature is seen in true texts and in foils of the other folds."""
    margins = np.zeros(len(features))
    for fold in np.unique(folds):
        true, foil = Counter[Hashable](), Counter[Hashable]()
        for index in np.flatnonzero(folds != fold).tolist():
            true.update(features[index][0])
            foil.update(features[index][1])

        def log_odds(side: Sequence[Hashable], true: Counter[Hashable] = true, foil: Counter[Hashable] = foil) -> float:
            return math.fsum(math.log((true[own] + _PRIOR_COUNT) / (foil[own] + _PRIOR_COUNT)) for own in side)

        for index in np.flatnonzero(folds == fold).tolist():
            margins[index] = log_odds(features[index][0]) - log_odds(features[index][1])
    return margins


def margins_by_perplexity(true: Sequence[str], foil: Sequence[str], model: Scorer) -> Floats:
    """Guess by a language model that the text of lower perplexity is the true one."""
    margins: Floats = np.log(model.perplexity(list(foil))) - np.log(model.perplexity(list(true)))
    return margins


def margins_by_classifier(true: Sequence[str], foil: Sequence[str], folds: Integers) -> Floats:
    """Guess by a logistic regression on the 1- to 3-grams by which the two texts of a pair differ.

    Raises:
        VttdataError: when scikit-learn is not installed.
    """
    try:
        from sklearn.feature_extraction.text import HashingVectorizer
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise VttdataError("The linear attacker needs scikit-learn: pip install 'vttdata[foil]'.") from error
    vectorizer: Any = HashingVectorizer(
        analyzer="word",
        tokenizer=lower_words,
        token_pattern=None,
        ngram_range=(1, _MAX_NGRAM),
        n_features=_HASHED_FEATURES,
        norm=None,
    )
    difference = vectorizer.transform(true) - vectorizer.transform(foil)
    difference.eliminate_zeros()
    difference = difference[:, np.unique(difference.indices)]
    margins = np.zeros(len(true))
    for fold in np.unique(folds):
        # Every other pair is shown the other way round, so that only the difference of the texts can be learned.
        training = difference[folds != fold]
        signs = np.where(np.arange(training.shape[0]) % 2, -1.0, 1.0)
        if len(set(signs)) < 2:
            continue
        classifier = LogisticRegression(fit_intercept=False, solver="liblinear", random_state=0)
        classifier.fit(training.multiply(signs[:, None]).tocsr(), signs)
        margins[folds == fold] = classifier.decision_function(difference[folds == fold])
    return margins
