"""Models of Hodosh et al. (JAIR 2013) on Flickr8k: text kernels with lexical similarities, and neighbours by F1.

Kernels are dot products of explicit vectors. The trigram kernel with a similarity of words (section 3.5.1) is that of
word sequences whose words match in part, so its vectors are tensor products, which random signs project to a fixed
number of dimensions; the kernel comes out in expectation. Images are what a file of features says, or stand-ins made
of one of their captions, which the texts then do without.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vttdata.evaluate.canonical_correlation import KernelView, correlate_views
from vttdata.evaluate.embeddings.features import FeatureFile
from vttdata.evaluate.embeddings.matching import video_vector
from vttdata.generate.prefilter import STOP_WORDS, alphanumeric_words, make_stemmer
from vttdata.statistics.arrays import Floats, Integers

GOLD = 2
"""Number of the caption that is in the pool; that of the stand-in for an image is `STAND_IN`."""
STAND_IN, STAND_IN_DIMENSIONS = 0, 200
LEAST = 5
"""Occurrences of a word in training captions from which on it has similarities (section 3.5.3)."""
MATCH = 0.5
SIGNS = 1_000
"""Random projections of sequences of each length."""
LANDMARKS, SEED = 600, 0
REGULARISATIONS = (0.1, 0.5, 1.0, 5.0)
DIMENSIONS = (25, 50, 100, 200, 300, 400)
SETTINGS_A_MEASURE, CUTOFFS = 5, (1, 5, 10)
ROUNDS_OF_ALIGNMENT = 5


@dataclass(frozen=True, eq=False)
class Flickr8k:
    """Words of the captions of each image, by split, and its look; word 0 is for words that training captions lack.

    Fields:
        texts: split -> image -> caption -> numbers of words.
        looks: split -> unit vectors of images, n x d.
        spelt: word -> its most frequent spelling; words are stems.
        numbers: stem -> word.
    """

    texts: Mapping[str, Sequence[Sequence[Sequence[int]]]]
    looks: Mapping[str, Floats]
    spelt: Sequence[str]
    numbers: Mapping[str, int]

    @classmethod
    def read(cls, folder: Path, features: Path | None) -> Flickr8k:
        """Read the official files, and a file of features or stand-ins for it."""
        stem = make_stemmer()
        captions: dict[str, list[str]] = {}
        for line in (folder / "Flickr8k.token.txt").read_text(encoding="utf-8").splitlines():
            name, _, text = line.partition("\t")
            captions.setdefault(name.partition("#")[0], []).append(text)
        images = {
            split: (folder / f"Flickr_8k.{split}Images.txt").read_text(encoding="utf-8").split()
            for split in ("train", "dev", "test")
        }
        if features is not None:
            videos = FeatureFile.read(features).videos
            looks = {
                s: np.stack([video_vector(videos[n.removesuffix(".jpg")].vectors) for n in of])
                for s, of in images.items()
            }
            used: Sequence[int] = range(5)
        else:
            looks, used = (
                _stand_ins({s: [captions[name][STAND_IN] for name in of] for s, of in images.items()}),
                (1, 2, 3, 4),
            )
        spellings: dict[str, Counter[str]] = {}
        for name in images["train"]:
            for text in (captions[name][k] for k in used):
                for spelling in alphanumeric_words(text):
                    if spelling not in STOP_WORDS:
                        spellings.setdefault(stem(spelling)[0], Counter())[spelling] += 1
        number = {word: place for place, word in enumerate(spellings, 1)}

        def numbered(name: str, which: Sequence[int]) -> list[list[int]]:
            return [[number.get(word, 0) for word in stem(captions[name][k])] for k in which]

        texts = {"train": [numbered(name, used) for name in images["train"]]}
        texts |= {split: [numbered(name, (GOLD,)) for name in images[split]] for split in ("dev", "test")}
        return cls(texts, looks, ["", *(counts.most_common(1)[0][0] for counts in spellings.values())], number)

    @cached_property
    def captions(self) -> list[list[int]]:
        """Return all training captions."""
        return [[word for word in caption if word] for image in self.texts["train"] for caption in image]

    @cached_property
    def frequent(self) -> list[int]:
        """Return the words with at least `LEAST` occurrences in training captions."""
        counts = Counter(itertools.chain.from_iterable(self.captions))
        return sorted(word for word, number in counts.items() if number >= LEAST)

    @cached_property
    def idf(self) -> Floats:
        """Return log(n / (images with the word + 1)) of each word, not below 0."""
        images = Counter(
            word for image in self.texts["train"] for word in set(itertools.chain.from_iterable(image)) if word
        )
        numbers = np.array([images[word] for word in range(len(self.spelt))])
        return np.maximum(np.log(len(self.texts["train"]) / (numbers + 1)), 0.0)


def _stand_ins(captions: Mapping[str, Sequence[str]]) -> dict[str, Floats]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True)
    counts = vectorizer.fit_transform(captions["train"])
    space = TruncatedSVD(STAND_IN_DIMENSIONS, random_state=SEED).fit(counts)
    return {split: unit_rows(space.transform(vectorizer.transform(texts))) for split, texts in captions.items()}


def unit_rows(rows: Floats) -> Floats:
    """Return rows of length 1; rows of 0 stay 0."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


# --- similarities of frequent words: matrices of cosines, w x w ---


def distributional(data: Flickr8k) -> Floats:
    """Return cosines of positive pointwise mutual information within captions (section 3.5.3, of captions alone)."""
    place = {word: index for index, word in enumerate(data.frequent)}
    together = np.zeros((len(place), len(place)))
    for caption in data.captions:
        known = sorted({place[word] for word in caption if word in place})
        together[np.ix_(known, known)] += 1
    share = together / len(data.captions)
    own = np.diagonal(share)
    with np.errstate(divide="ignore"):
        information = np.log(share / np.outer(own, own))
    rows = unit_rows(np.maximum(information, 0))
    return rows @ rows.T


def aligned(data: Flickr8k) -> Floats:
    """Return cosines of translation probabilities between captions of one image, by IBM's model 1 (section 3.5.4).

    Nouns and verbs are aligned together, since words have no tags here.
    """
    place = {word: index for index, word in enumerate(data.frequent)}
    sources, targets, groups, group = [], [], [], 0
    for image in data.texts["train"]:
        captions = [[place[word] for word in caption if word in place] for caption in image]
        for first, second in itertools.permutations(captions, 2):
            if first:
                for word in second:
                    sources += first
                    targets += [word] * len(first)
                    groups += [group] * len(first)
                    group += 1
    links = np.array(sources) * len(place) + np.array(targets)
    of_group = np.array(groups)
    table = np.ones(len(place) ** 2)
    for _ in range(ROUNDS_OF_ALIGNMENT):
        weights = table[links]
        weights /= np.bincount(of_group, weights)[of_group]
        counts = np.bincount(links, weights, len(table)).reshape(len(place), -1)
        table = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)).ravel()
    rows = unit_rows(table.reshape(len(place), -1))
    return rows @ rows.T


def read_wordnet(folder: Path) -> tuple[dict[str, str], Callable[[str], set[str]]]:
    """Return the first sense of each noun, and a function from a sense to it and all its hypernyms."""
    senses, parents = {}, {}
    for name in ("index.noun", "data.noun"):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            fields = line.partition("|")[0].split()
            if line.startswith(" "):
                continue
            if name == "index.noun":
                senses[fields[0]] = fields[-int(fields[2])]
            else:
                parents[fields[0]] = [after for field, after in itertools.pairwise(fields) if field in ("@", "@i")]

    def ancestors(sense: str) -> set[str]:
        found: set[str] = set()
        left = [sense]
        while left:
            if (each := left.pop()) not in found:
                found.add(each)
                left += parents[each]
        return found

    return senses, ancestors


def lin(data: Flickr8k, wordnet: Path) -> Floats:
    """Return cosines of Lin's similarities of words to the hypernyms of their first noun senses (section 3.5.2).

    `wordnet` is a folder with the files ``index.noun`` and ``data.noun`` of WordNet 3.0.
    """
    senses, ancestors = read_wordnet(wordnet)
    above: list[set[str]] = []
    for word in data.frequent:
        spelt = data.spelt[word]
        sense = next(
            (senses[f] for f in (spelt, spelt.removesuffix("s"), spelt.removesuffix("es")) if f in senses), None
        )
        above.append(ancestors(sense) if sense else set())
    counts = Counter(itertools.chain.from_iterable(data.captions))
    weights: Counter[str] = Counter()
    for word, found in zip(data.frequent, above, strict=True):
        weights.update(dict.fromkeys(found, counts[word]))
    total = max(weights.values(), default=1)
    synsets = {name: column for column, name in enumerate(weights)}
    information = {name: -math.log(weight / total) for name, weight in weights.items()}
    rows = np.zeros((len(above), max(len(synsets), 1)))
    for row, found in enumerate(above):
        own = max((information[name] for name in found), default=0.0)
        for name in found:
            rows[row, synsets[name]] = 2 * information[name] / (own + information[name]) if own else 0.0
    cosines = unit_rows(rows) @ unit_rows(rows).T
    # Words without a sense are like themselves alone.
    cosines[np.diag_indices_from(cosines)] = 1.0
    return cosines


def most_similar(data: Flickr8k, cosines: Floats, spelling: str, number: int = 5) -> list[str]:
    """Return the words that are most similar to a word."""
    row = data.frequent.index(data.numbers[make_stemmer()(spelling)[0]])
    order = np.argsort(-cosines[row], kind="stable")
    return [data.spelt[data.frequent[place]] for place in order if place != row and cosines[row, place] > 0][:number]


# --- vectors of images' captions, whose dot products are kernels ---

Vectors = Callable[[Sequence[Sequence[Sequence[int]]]], Floats]
"""From captions of n images to unit vectors, (n, d)."""


def bags(data: Flickr8k, *, first_only: bool = False) -> Vectors:
    """Return word counts: BoW5 of all captions together, BoW1 of the first."""

    def vectors(images: Sequence[Sequence[Sequence[int]]]) -> Floats:
        rows = np.zeros((len(images), len(data.spelt)))
        for row, captions in enumerate(images):
            for caption in captions[: 1 if first_only else None]:
                np.add.at(rows[row], [word for word in caption if word], 1)
        return unit_rows(rows)

    return vectors


def trigrams(data: Flickr8k, cosines: Floats | None = None, *, idf: bool = False, signs: int = SIGNS) -> Vectors:
    """Return the trigram kernel's vectors; words match by `cosines`, and weigh their idf.

    Sequences of l words have the product of `l` random projections of their words, which are independent for each place
    and length; sums over all sequences of a caption are running sums along it.
    """
    draw = np.random.default_rng(SEED)
    words = None
    if cosines is not None:
        values, axes = np.linalg.eigh(cosines)
        kept = values > 1e-6
        words = axes[:, kept] * np.sqrt(values[kept])
    weights = np.sqrt(data.idf) if idf else np.ones(len(data.spelt))
    projected = {}
    for length in (1, 2, 3):
        for place in range(length):
            table = draw.choice([-1.0, 1.0], (len(data.spelt), signs))
            if words is not None:
                table[data.frequent] = words @ draw.choice([-1.0, 1.0], (words.shape[1], signs))
            table[0] = 0
            projected[length, place] = table * weights[:, None]

    def vectors(images: Sequence[Sequence[Sequence[int]]]) -> Floats:
        rows = np.zeros((len(images), 3 * signs))
        for row, captions in enumerate(images):
            for caption in captions:
                for length in (1, 2, 3):
                    sums = projected[length, 0][caption]
                    for place in range(1, length):
                        before = np.cumsum(sums, axis=0) - sums
                        sums = before * projected[length, place][caption]
                    rows[row, (length - 1) * signs : length * signs] += MATCH**length * sums.sum(axis=0)
        return unit_rows(rows)

    return vectors


# --- models and their scores ---


class Ranked(NamedTuple):
    """Similarities for both tasks: images x captions to annotate by row, captions x images to search by row."""

    annotation: Floats
    search: Floats


def correlate(data: Flickr8k, vectors: Vectors) -> Ranked:
    """Rank by 15 canonical correlations for each task, those with the best recall on the development set, fused."""
    train = vectors(data.texts["train"])
    landmarks = sorted(
        np.random.default_rng(SEED).choice(len(train), min(LANDMARKS, len(train)), replace=False).tolist()
    )
    texts = KernelView.of(train @ train[landmarks].T, landmarks)
    looks = KernelView.of(data.looks["train"] @ data.looks["train"][landmarks].T, landmarks)
    kernels = {
        split: (data.looks[split] @ data.looks["train"][landmarks].T, vectors(data.texts[split]) @ train[landmarks].T)
        for split in ("dev", "test")
    }
    tried: list[tuple[Floats, Floats]] = []
    for regularisation in REGULARISATIONS:
        found = correlate_views(looks, texts, regularisation)
        for size in dict.fromkeys(min(size, len(found.correlations)) for size in DIMENSIONS):
            dev, test = (found.cosines(*kernels[split], size) for split in ("dev", "test"))
            tried.append((dev, test))
    return Ranked(
        *(fuse_best([(dev, test) if rows else (dev.T, test.T) for dev, test in tried]) for rows in (True, False))
    )


def fuse_best(tried: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Fuse the rankings of a test set by the five settings with the best recall at 1, at 5 and at 10 on another set."""
    ranks = [rank_of_own(dev) for dev, _ in tried]
    chosen = [
        setting
        for cutoff in CUTOFFS
        for setting in sorted(range(len(tried)), key=lambda s: -np.mean(ranks[s] <= cutoff))[:SETTINGS_A_MEASURE]
    ]
    return borda([tried[setting][1] for setting in chosen])


def borda(similarities: Sequence[Floats]) -> Floats:
    """Return the sums of n - rank over rankings of each row (section 4.1.3); ties are broken by the median rank."""
    places = np.empty((len(similarities), *similarities[0].shape), dtype=np.int64)
    number = places.shape[2]
    for place, each in zip(places, similarities, strict=True):
        np.put_along_axis(place, np.argsort(-each, axis=1, kind="stable"), np.arange(number)[None], axis=1)
    sums: Floats = (number - places).sum(axis=0).astype(np.float64)
    return sums - np.median(places, axis=0) / (2 * number)


def neighbours(data: Flickr8k) -> Ranked:
    """Rank by the nearest training image, or text, by the F1 of words weighed by idf (NN of section 3.1)."""

    def bag(images: Sequence[Sequence[Sequence[int]]]) -> list[dict[int, float]]:
        counts = [Counter(word for caption in captions for word in caption if word) for captions in images]
        return [{word: number * data.idf[word] for word, number in count.items()} for count in counts]

    train, test = bag(data.texts["train"]), bag(data.texts["test"])
    with_word: dict[int, list[tuple[int, float]]] = {}
    for row, weights in enumerate(train):
        for word, weight in weights.items():
            with_word.setdefault(word, []).append((row, weight))
    totals = np.array([sum(weights.values()) for weights in train])
    f1 = np.zeros((len(test), len(train)))
    for row, weights in enumerate(test):
        for word, weight in weights.items():
            for column, other in with_word.get(word, ()):
                f1[row, column] += min(weight, other)
        f1[row] *= 2 / np.maximum(sum(weights.values()) + totals, 1e-12)
    alike = data.looks["test"] @ data.looks["train"].T
    return Ranked(f1[:, alike.argmax(axis=1)].T, alike[:, f1.argmax(axis=1)].T)


def rank_of_own(similarity: Floats) -> Floats:
    """Return the rank of each row's own item, which has the row's number, from 1; the mean of tied ranks."""
    own = np.diagonal(similarity)[:, None]
    return 1 + (similarity > own).sum(axis=1) + ((similarity == own).sum(axis=1) - 1) / 2


class Scores(NamedTuple):
    """Columns of tables 3 to 5: recall of the own item and success at 1, 5 and 10 in %, median rank, R-precision."""

    recall: tuple[float, ...]
    median: float
    success: tuple[float, ...]
    r_precision: float
    by_query: Floats


def score(similarity: Floats, relevant: Sequence[set[int]]) -> Scores:
    """Score rankings of rows with the items that are relevant to each row, its own among them."""
    ranks = rank_of_own(similarity)
    order: Integers = np.argsort(-similarity, axis=1, kind="stable")
    hits = [[item in found for item in row] for row, found in zip(order.tolist(), relevant, strict=True)]
    precision = np.array([np.mean(row[: len(found)]) for row, found in zip(hits, relevant, strict=True)])
    return Scores(
        tuple(100 * float(np.mean(ranks <= cutoff)) for cutoff in CUTOFFS),
        float(np.median(ranks)),
        tuple(100 * float(np.mean([any(row[:cutoff]) for row in hits])) for cutoff in CUTOFFS),
        100 * float(precision.mean()),
        precision,
    )


def randomisation_p(first: Floats, second: Floats, samples: int = 10_000) -> float:
    """Return the two-sided p-value of Fisher's randomisation test of the paired scores of two models."""
    difference = first - second
    different = difference[difference != 0]
    draw, above = np.random.default_rng(SEED), 0
    for _ in range(0, samples, 1_000):
        sums = draw.choice([-1.0, 1.0], (1_000, len(different))) @ different
        above += int((np.abs(sums) >= abs(different.sum()) - 1e-9).sum())
    return above / samples


def models(data: Flickr8k, wordnet: Path | None, processes: int) -> Iterator[tuple[str, Ranked]]:
    """Yield the name and the rankings of each model; the best one of the paper, Tri5Sem, is the first."""
    alignment, captions = aligned(data), distributional(data)
    both = np.maximum(alignment, captions)
    kernels: dict[str, Callable[[], Vectors]] = {
        "Tri5Sem": partial(trigrams, data, both, idf=True),
        "BoW1": partial(bags, data, first_only=True),
        "BoW5": partial(bags, data),
        "Tri5": partial(trigrams, data),
        "Tri5+IDF": partial(trigrams, data, idf=True),
        "Tri5+A": partial(trigrams, data, alignment),
        "Tri5+A+IDF": partial(trigrams, data, alignment, idf=True),
        "Tri5+D": partial(trigrams, data, captions),
        "Tri5+D+IDF": partial(trigrams, data, captions, idf=True),
        "Tri5+A+D": partial(trigrams, data, both),
    }
    if wordnet is not None:
        kernels["Tri5Lin"] = partial(trigrams, data, lin(data, wordnet))
    with ProcessPoolExecutor(processes) as pool:
        yield from zip(kernels, pool.map(_correlate, itertools.repeat(data), kernels.values()), strict=True)
    yield "NN", neighbours(data)


def _correlate(data: Flickr8k, kernel: Callable[[], Vectors]) -> Ranked:
    return correlate(data, kernel())
