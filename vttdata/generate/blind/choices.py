"""Choices between texts, as blind attackers see them: what is tried has no answers, and what is learned from has.

A pair of a true and a false text is a choice between two options in an order that says nothing; a multiple-choice
question is a choice between its options. A `ChoiceSet` has no answers. `Examples` are choices of other videos with
their answers, and what an attacker has learned from them is a function of a `ChoiceSet`, so that no answer of what is
tried can reach what is learned.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from vttdata.errors import VttdataError
from vttdata.generate.blind.words import list_own_words, lower_words
from vttdata.text.lm import NgramModel, Scorer
from vttdata.text.lm.counts import WordRows, count_ngrams, model_tokens

if TYPE_CHECKING:
    from vttdata.generate.blind.learning import Floats, Integers, Matrix

# Vectors of texts, one row each, by a sentence encoder.
Encoder = Callable[[Sequence[str]], npt.NDArray[np.generic]]

_FOLDS = 5
T = TypeVar("T")


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


@dataclass(frozen=True, slots=True)
class Choice:
    """Texts about one video of which one is right; which one is not said.

    Fields:
        options: the texts, two or more.
        video_id: nothing that is learned from a choice is tried on its video.
        question: what is asked; empty where the options are captions.
        group: what it shares with choices that it belongs together with.
        fold: which of several sets of texts of other videos may train models that try this choice.
        has_places: whether the order of the options is that in which people see them.
    """

    options: tuple[str, ...]
    video_id: str
    question: str = ""
    group: str | None = None
    fold: int = 0
    has_places: bool = True


class VideoCorpus:
    """Right texts of videos, those of one video together, from which language can be learned."""

    def __init__(self, videos: Sequence[Sequence[str]]) -> None:
        self.videos = videos
        self._models: dict[int, NgramModel] = {}
        self._read: dict[tuple[Callable[[VideoCorpus, ChoiceSet], Floats], bytes], Floats] = {}

    @functools.cached_property
    def words(self) -> WordRows:
        """Words of each text in lower case."""
        return WordRows.of(lower_words(text) for texts in self.videos for text in texts)

    @functools.cached_property
    def places(self) -> tuple[Integers, Integers]:
        """Number of the text and of the video of each word of `words`."""
        sizes = np.array([*map(len, self.videos)], dtype=np.int64)
        owners = np.repeat(np.arange(len(self.videos)), sizes)
        texts = np.repeat(np.arange(len(owners)), self.words.sizes)
        return texts, owners[texts]

    @functools.cached_property
    def frequencies(self) -> Mapping[str, int]:
        """Number of videos whose texts have each word."""
        number = max(len(self.words.words), 1)
        found = np.unique(self.places[1] * number + self.words.ids) % number
        return dict(zip(self.words.words, np.bincount(found, minlength=number).tolist(), strict=False))

    def remember(self, read: Callable[[VideoCorpus, ChoiceSet], Floats], choices: ChoiceSet) -> Floats:
        """Return what `read` says of choices of one set, which is computed once: options x features."""
        key = (read, choices.key)
        if key not in self._read:
            self._read[key] = read(self, choices)
        return self._read[key]

    def models(self, orders: Sequence[int]) -> list[NgramModel]:
        """Return the n-gram models of these orders that are trained on the texts, which are counted once.

        Raises:
            VttdataError: when no text has a word.
        """
        missing = [order for order in orders if order not in self._models]
        if missing:
            counts = count_ngrams((text for texts in self.videos for text in texts), max(missing))
            self._models |= {order: NgramModel.smooth(counts.up_to(order)) for order in missing}
        return [self._models[order] for order in orders]


class ChoiceSet:
    """ChoiceSet without their answers; rows of features are theirs option by option, in order.

    ChoiceSet that are taken from others share what is computed of these.
    """

    def __init__(
        self, items: Sequence[Choice], *, texts: Mapping[int, VideoCorpus] | None = None, encoder: Encoder | None = None
    ) -> None:
        self.items = items
        self.texts = texts
        """VideoCorpus of other videos by `Choice.fold`; None where there are none."""
        self.encoder = encoder
        self._whole: ChoiceSet = self
        self.indices: Integers = np.arange(len(items))
        """Index of each choice in the set that they were taken from."""
        self._computed: dict[Callable[[ChoiceSet], object], Any] = {}

    def take(self, indices: Integers) -> ChoiceSet:
        """Return the choices of these indices."""
        chosen = ChoiceSet([self.items[index] for index in indices.tolist()], texts=self.texts, encoder=self.encoder)
        chosen._whole, chosen.indices = self._whole, self.indices[indices]
        return chosen

    @property
    def key(self) -> bytes:
        """What tells these choices from others that were taken from the same ones."""
        return self.indices.tobytes()

    @functools.cached_property
    def sizes(self) -> Integers:
        """Number of the options of each choice."""
        return np.array([len(item.options) for item in self.items], dtype=np.int64)

    @functools.cached_property
    def starts(self) -> Integers:
        """Row of the first option of each choice."""
        starts: Integers = np.cumsum(self.sizes) - self.sizes
        return starts

    @functools.cached_property
    def owners(self) -> Integers:
        """Number of the choice of each option."""
        return np.repeat(np.arange(len(self.items)), self.sizes)

    def features(self, describe: Callable[[ChoiceSet], Matrix]) -> Matrix:
        """Return features that `describe` computes of all choices that these were taken from: options x features."""
        whole = self._whole
        described = whole.compute_once(describe)
        return described if whole is self else described[self.rows]

    def compute_once(self, compute: Callable[[ChoiceSet], T]) -> T:
        """Return what `compute` says of all choices that these were taken from, which is computed once."""
        computed = self._whole._computed
        if compute not in computed:
            computed[compute] = compute(self._whole)
        found: T = computed[compute]
        return found

    @functools.cached_property
    def places(self) -> Integers:
        """Place of each option in its choice, from 0."""
        places: Integers = np.arange(len(self.owners)) - self.starts[self.owners]
        return places

    @functools.cached_property
    def rows(self) -> Integers:
        """Row of each option among those of all choices that these were taken from."""
        rows: Integers = self._whole.starts[self.indices][self.owners] + self.places
        return rows

    @functools.cached_property
    def words(self) -> Sequence[tuple[list[str], ...]]:
        """Words of the options of each choice, in lower case; equal texts are cut once."""
        if self._whole is not self:
            return [self._whole.words[index] for index in self.indices.tolist()]
        cut = functools.cache(lower_words)
        return [tuple(map(cut, item.options)) for item in self.items]

    @functools.cached_property
    def question_words(self) -> Sequence[list[str]]:
        """Words of each question, in lower case."""
        return [lower_words(item.question) for item in self.items]

    @functools.cached_property
    def own_words(self) -> Sequence[tuple[list[tuple[str, int]], ...]]:
        """Words of each option that not all options of its choice have as often, each with its index."""
        if self._whole is not self:
            return [self._whole.own_words[index] for index in self.indices.tolist()]
        return [tuple(list_own_words(options)) for options in self.words]

    @functools.cached_property
    def shared_words(self) -> Sequence[list[str]]:
        """Different words that all options of each choice have, sorted."""
        if self._whole is not self:
            return [self._whole.shared_words[index] for index in self.indices.tolist()]
        return [sorted(set(options[0]).intersection(*options[1:])) for options in self.words]


@dataclass(frozen=True)
class Examples:
    """ChoiceSet of some folds of videos with their answers, from which attackers learn.

    Fields:
        choices: the choices.
        answers: index of the right option of each, ``(choices,)``.
        folds: number of the fold of each, ``(choices,)``; all choices about one video are in one fold.
    """

    choices: ChoiceSet
    answers: Integers
    folds: Integers
    _kept: dict[frozenset[int], Examples] = field(default_factory=dict, repr=False)

    def keep(self, folds: Sequence[int]) -> Examples:
        """Return the examples of these folds, which are taken once."""
        key = frozenset(folds).intersection(self.fold_numbers)
        if key not in self._kept:
            kept = np.flatnonzero(np.isin(self.folds, folds))
            self._kept[key] = Examples(self.choices.take(kept), self.answers[kept], self.folds[kept], self._kept)
        return self._kept[key]

    @functools.cached_property
    def fold_numbers(self) -> list[int]:
        """Numbers of the folds that occur."""
        return [int(fold) for fold in np.unique(self.folds)]

    @functools.cached_property
    def right(self) -> Integers:
        """Row of the right option of each choice."""
        rows: Integers = self.choices.starts + self.answers
        return rows

    @functools.cached_property
    def texts(self) -> VideoCorpus:
        """Right options of the choices, by video."""
        by_video: dict[str, list[str]] = {}
        for item, answer in zip(self.choices.items, self.answers.tolist(), strict=True):
            by_video.setdefault(item.video_id, []).append(item.options[answer])
        return VideoCorpus(list(by_video.values()))

    def without_each_fold(self) -> Iterator[tuple[Examples, Examples]]:
        """Yield for each fold the examples of all others, and its own."""
        for fold in self.fold_numbers:
            yield self.keep([other for other in self.fold_numbers if other != fold]), self.keep([fold])


def fold_by_video(video_ids: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the fold of each video, 0 to 4 at most, by the order of the hashes of their names."""
    ranked = sorted(set(video_ids), key=lambda name: hashlib.sha256(name.encode("utf-8", "replace")).digest())
    fold_of = {name: rank % _FOLDS for rank, name in enumerate(ranked)}
    return np.array([fold_of[name] for name in video_ids], dtype=np.int64)


def arrange_pairs(pairs: Sequence[TextPair], **shared: Any) -> tuple[ChoiceSet, Integers]:
    """Return pairs as choices between two texts in alphabetical order, and the index of the true one of each.

    `shared` are further arguments of `ChoiceSet`.
    """
    items = [
        Choice(tuple(sorted((pair.true, pair.foil))), pair.video_id, fold=pair.fold, has_places=False) for pair in pairs
    ]
    answers = np.array([int(pair.true > pair.foil) for pair in pairs], dtype=np.int64)
    return ChoiceSet(items, **shared), answers


def check_questions(choices: ChoiceSet) -> None:
    """Raise AttackerUnavailableError where nothing is asked."""
    if not any(item.question for item in choices.items):
        raise AttackerUnavailableError("there are no questions")


def number_texts(choices: ChoiceSet) -> tuple[list[str], Integers]:
    """Return the different texts of options, and the number of each option's."""
    numbers: dict[str, int] = {}
    rows = [numbers.setdefault(text, len(numbers)) for item in choices.items for text in item.options]
    return list(numbers), np.array(rows, dtype=np.int64)


def cut_texts(choices: ChoiceSet) -> WordRows:
    """Return the words of each of the different texts of options, as language models read them."""
    return WordRows.of(map(model_tokens, choices.compute_once(number_texts)[0]))


def list_own_rows(choices: ChoiceSet) -> WordRows:
    """Return the words of each option that not all options of its choice have as often."""
    return WordRows.of([word for word, _ in own] for sides in choices.own_words for own in sides)


def measure_likelihood(choices: ChoiceSet, model: Scorer) -> Floats:
    """Return the mean log probability of a token of each option by a language model: ``(options,)``."""
    texts, rows = number_texts(choices)
    likelihood: Floats = -np.log(model.perplexity(texts))[rows]
    return likelihood
