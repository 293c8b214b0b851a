"""Contract of blind attackers, and the pairs of texts that they see.

A blind attacker is a module of `vttdata.generate.blind.attackers`, or of ``blind/`` in a user's folder of
plugins, that defines `ATTACKER`. It turns each pair into numbers by which the true text differs from its foil; how to
guess from them is learned on the pairs of other videos.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.generate.blind.attackers import ATTACKERS
from vttdata.generate.blind.learning import Floats, Integers, Learner, logistic_regression, naive_bayes
from vttdata.generate.blind.words import list_surplus_words, lower_words

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Matrix


# Vectors of texts, one row each, by a sentence encoder.
Encoder = Callable[[Sequence[str]], npt.NDArray[np.generic]]

_FOLDS = 5


class AttackerUnavailableError(VttdataError):
    """Set that an attacker cannot try; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """True and false text about one video; nothing that is learned from a pair is tried on its video.

    `fold` tells which texts may train language models that try this pair, where there are several sets of texts.
    """

    true: str
    foil: str
    video_id: str
    fold: int = 0


@dataclass(frozen=True)
class AttackedPairs:
    """Pairs of texts, cut into words once for all attackers, and the encoder of sentences, if the user has one.

    `texts` has fold of a pair -> true texts of other videos, those of one video together; None where there are none.
    """

    pairs: Sequence[TextPair]
    texts: Mapping[int, Sequence[Sequence[str]]] | None = None
    encoder: Encoder | None = None

    @cached_property
    def videos(self) -> Integers:
        """Number of the video of each pair, from 0."""
        numbers: Integers = np.unique([pair.video_id for pair in self.pairs], return_inverse=True)[1]
        return numbers

    @cached_property
    def folds(self) -> Integers:
        """Fold of each pair, 0 to 4 at most: that of its video, by a hash."""
        names = {pair.video_id for pair in self.pairs}
        ranked = sorted(names, key=lambda name: hashlib.sha256(name.encode("utf-8", "replace")).digest())
        fold_of = {name: rank % _FOLDS for rank, name in enumerate(ranked)}
        return np.array([fold_of[pair.video_id] for pair in self.pairs], dtype=np.int64)

    @cached_property
    def words(self) -> list[tuple[list[str], list[str]]]:
        """Words of the true text and of the foil of each pair, in lower case."""
        return [(self.cut(pair.true), self.cut(pair.foil)) for pair in self.pairs]

    def cut(self, text: str) -> list[str]:
        """Return the words of a text, in lower case; equal texts, of pairs or not, are cut once."""
        words = self._words_of.get(text)
        if words is None:
            words = self._words_of[text] = lower_words(text)
        return words

    @cached_property
    def _words_of(self) -> dict[str, list[str]]:
        return {}

    @cached_property
    def surplus(self) -> list[tuple[list[tuple[str, int]], list[tuple[str, int]]]]:
        """Words that the true text of each pair has more often than its foil, with their indices, and the reverse."""
        return [(list_surplus_words(true, foil), list_surplus_words(foil, true)) for true, foil in self.words]

    @cached_property
    def shared(self) -> list[list[str]]:
        """Different words that both texts of each pair have, sorted."""
        return [sorted(set(true) & set(foil)) for true, foil in self.words]

    def training_texts(self) -> Iterator[tuple[npt.NDArray[np.bool_], Sequence[Sequence[str]]]]:
        """Yield groups of pairs, and the texts by video from which a model may learn that tries them.

        These are the given texts, or else the true texts of pairs of other folds.
        """
        if self.texts is not None:
            text_folds = np.array([pair.fold for pair in self.pairs])
            for fold in np.unique(text_folds).tolist():
                yield text_folds == fold, self.texts[fold]
            return
        for fold in np.unique(self.folds).tolist():
            by_video: dict[str, list[str]] = {}
            for pair, number in zip(self.pairs, self.folds.tolist(), strict=True):
                if number != fold:
                    by_video.setdefault(pair.video_id, []).append(pair.true)
            yield self.folds == fold, list(by_video.values())

    @cached_property
    def video_frequencies(self) -> list[Counter[str]]:
        """For each group of `training_texts`, the number of videos whose texts have each word."""
        return [
            Counter(word for texts in videos for word in {word for text in texts for word in self.cut(text)})
            for _, videos in self.training_texts()
        ]


@dataclass(frozen=True, slots=True)
class BlindAttacker:
    """Blind attacker. The first line of its module's docstring says how it decides.

    Fields:
        differences: numbers of each true text less those of its foil: pairs x features, dense or sparse; raises
            `AttackerUnavailableError` with the reason where it cannot try a set.
        learner: what is learned from other videos: ``logistic`` regression, ``naive Bayes`` on counts, or ``none``
            where the single feature is already a margin, above 0 where the true text is taken for true.
        reads_texts: whether it learns from training texts, too.
    """

    differences: Callable[[AttackedPairs], Matrix]
    learner: Literal["logistic", "naive Bayes", "none"] = "logistic"
    reads_texts: bool = False

    @property
    def learn(self) -> Learner:
        """Function that learns weights from differences."""
        if self.learner == "none":
            return lambda _: np.ones(1)
        return naive_bayes if self.learner == "naive Bayes" else logistic_regression


def load_attackers() -> dict[str, BlindAttacker]:
    """Import the attackers, by name.

    Raises:
        VttdataError: when a module cannot be imported or does not define `ATTACKER`.
    """
    return {name: ATTACKERS.load_definition(name, "ATTACKER", BlindAttacker) for name in ATTACKERS.files()}


def scaled_columns(columns: Sequence[Sequence[float]]) -> Floats:
    """Return columns of numbers as a matrix, each divided by its root mean square, so that none outweighs another."""
    matrix = np.array(columns, dtype=float).T
    scale = np.sqrt((matrix**2).mean(axis=0))
    divided: Floats = matrix / np.where(scale > 0, scale, 1)
    return divided
