"""Attack a set of foils without its videos, by classifiers that share no code with the attackers of `vttdata audit`.

Run `python benchmarks/foil_outsiders.py DATASET --texts captions.csv`, with the columns `video_id` and `caption`; texts
of videos of the set are not read. Needs scikit-learn. Every classifier learns from pairs of other videos; `texts only`
learns from the texts alone, by telling their words from others that the set swaps for them. What stacks learn from
other videos is cross-validated among these. Accuracies are given with intervals from drawing videos.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

# Learns from differences of true texts and foils, and returns margins of other pairs.
Fit = Callable[[Any, Any], np.ndarray]
WINDOW = 10
MAX_EXAMPLES = 60_000
MALE = {"he", "his", "him", "man", "men", "boy", "boys", "guy", "guys", "male", "father"}
FEMALE = {"she", "her", "woman", "women", "girl", "girls", "lady", "ladies", "female", "mother"}
MANY = {"they", "their", "them", "people", "men", "women", "kids", "children", "crowd", "group", "players"}


def main() -> None:
    """Print a table of accuracies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="folder with foils/ and optionally paragraphs/")
    parser.add_argument("--texts", type=Path, action="append", required=True, help="table of captions; repeatable")
    options = parser.parse_args()
    texts = pd.concat([pd.read_csv(path) for path in options.texts])
    for name in ("foils", "paragraphs"):
        pairs = read_pairs(options.dataset / name)
        if pairs is None:
            continue
        # A clip or a paragraph of a video is called by the video's id and numbers.
        videos = set(pairs["video_id"])
        is_other = [videos.isdisjoint(itertools.accumulate(re.split("(?=_)", name))) for name in texts["video_id"]]
        other = texts.loc[is_other, "caption"]
        for attacker, margins in attack(pairs, other.tolist()).items():
            accuracy, low, high = score(margins, pairs["video_id"].to_numpy())
            print(f"{name}  {len(pairs)}  {attacker:24} {accuracy:.3f} ({low:.3f}-{high:.3f})", flush=True)


def read_pairs(folder: Path) -> pd.DataFrame | None:
    """Return the columns video_id, true and foil of a configuration, or None if it does not exist."""
    paths = sorted(folder.glob("*.parquet"))
    if not paths:
        return None
    table = pd.concat([pd.read_parquet(path) for path in paths])
    if "captions" in table:
        true, foil = table["captions"].map(" ".join), table["foils"].map(" ".join)
    else:
        true, foil = table["caption"], table["foil"]
    return pd.DataFrame({"video_id": table["video_id"], "true": true, "foil": foil})


@dataclass
class Counts:
    """How often words, neighbours, and words within ten others occur in texts."""

    words: Counter[str]
    neighbours: Counter[tuple[str, str]]
    near: Counter[tuple[str, str]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Counts:
        """Count texts."""
        counts = cls(Counter(), Counter(), Counter())
        for text in texts:
            words = split_words(text)
            counts.words.update(words)
            counts.neighbours.update(zip(["<", *words], [*words, ">"], strict=True))
            for index, word in enumerate(words):
                others = words[max(0, index - WINDOW) : index] + words[index + 1 : index + 1 + WINDOW]
                counts.near.update((word, other) for other in set(others))
        return counts

    def association(self, word: str, other: str) -> float:
        """Return the smoothed pointwise mutual information of two words that are near each other."""
        expected = (self.words[word] + 1) * (self.words[other] + 1) * 2 * WINDOW / self.words.total()
        return math.log((self.near[word, other] + 0.3) / expected)


@dataclass
class Changed:
    """A text as words before, in and after the span in which it differs from the other one of its pair."""

    before: list[str]
    span: list[str]
    after: list[str]

    def features(self, counts: Counts) -> list[float]:
        """Return what the span is like, and how it goes with the rest of the text."""
        rest = self.before + self.after
        rarity = [math.log(counts.words[word] + 0.5) for word in self.span] or [0.0]
        row = [float(np.mean(rarity)), min(rarity), max(rarity), len(self.span), sum(map(len, self.span))]
        row += [sum(len(re.findall("[aeiouy]+", word)) for word in self.span)]
        row += [sum(word.endswith("s") for word in self.span)]
        for others in (rest, self.before[-6:] + self.after[:6]):
            values = [counts.association(word, other) for word in self.span for other in set(others) if len(other) > 2]
            values = sorted(values, reverse=True) or [0.0]
            row += [float(np.mean(values)), values[0], float(np.mean(values[:3])), values[-1]]
        if self.span:
            previous, following = self.before[-1] if self.before else "<", self.after[0] if self.after else ">"
            for pair, known in (((previous, self.span[0]), previous), ((self.span[-1], following), following)):
                row.append(math.log((counts.neighbours[pair] + 0.1) / (counts.words[known] + 10)))
        else:
            row += [0.0, 0.0]
        row.append(sum(word in rest for word in self.span))
        for kind in (MALE, FEMALE, MANY):
            uses = sum(word in kind for word in rest)
            row += [uses * sum(word in other for word in self.span) for other in (MALE, FEMALE, MANY)]
        return [*row, len(self.before) / max(1, len(rest)) * sum(rarity)]

    def word_pairs(self) -> str:
        """Return the span's words, alone and with each word of the rest, as tokens."""
        return " ".join([*self.span, *(f"{word}__{other}" for word in self.span for other in self.before + self.after)])


def split_words(text: str) -> list[str]:
    """Return the lower-case words of a text."""
    return re.findall(r"[a-z']+", text.lower())


def compare(true: str, foil: str) -> tuple[Changed, Changed]:
    """Return both texts around the words in which they differ."""
    one, two = split_words(true), split_words(foil)
    shorter = min(len(one), len(two))
    start = next((index for index in range(shorter) if one[index] != two[index]), shorter)
    left = shorter - start
    end = next((index for index in range(left) if one[-1 - index] != two[-1 - index]), left)
    first, second = (
        Changed(words[:start], words[start : len(words) - end], words[len(words) - end :]) for words in (one, two)
    )
    return first, second


def attack(pairs: pd.DataFrame, texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Return each attacker's margins of the pairs, above 0 where it prefers the true text."""
    counts = Counts.of(texts)
    sides = [compare(true, foil) for true, foil in zip(pairs["true"], pairs["foil"], strict=True)]
    features = np.array([true.features(counts) for true, _ in sides]) - [foil.features(counts) for _, foil in sides]
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=2)
    characters.fit([*pairs["true"], *pairs["foil"]])
    hashed = HashingVectorizer(n_features=2**18, token_pattern=r"\S+")
    word_pairs = hashed.transform([true.word_pairs() for true, _ in sides])
    word_pairs = word_pairs - hashed.transform([foil.word_pairs() for _, foil in sides])
    from_texts = word_pairs @ learn_from_texts(sides, texts, hashed)
    features = np.column_stack([scale(features), scale(from_texts)])
    videos = pairs["video_id"].to_numpy()
    ngrams = characters.transform(pairs["true"]) - characters.transform(pairs["foil"])
    linear, weak = LinearClassifier(1.0), LinearClassifier(0.1)
    members: dict[str, tuple[Any, Fit]] = {
        "character n-grams": (ngrams, linear),
        "word pairs": (word_pairs, linear),
        "features, linear": (features, weak),
        "features, boosted": (features, fit_boosted),
    }
    margins = {"texts only": from_texts}
    margins |= {name: cross_validate(values, videos, fit) for name, (values, fit) in members.items()}
    for name, fit in (("all, linear", weak), ("all, boosted", fit_boosted)):
        margins[name] = np.zeros(len(videos))
        for training, test in split_folds(videos):
            stacked = [(from_texts[training], from_texts[test])]
            for values, member in members.values():
                of_training = cross_validate(values[training], videos[training], member)
                stacked.append((of_training, member(values[training], values[test])))
            known, unknown = (
                np.column_stack([*sides, features[rows]])
                for sides, rows in zip(zip(*stacked, strict=True), (training, test), strict=True)
            )
            margins[name][test] = fit(scale(known), scale(unknown))
    return margins


def learn_from_texts(
    sides: Sequence[tuple[Changed, Changed]], texts: Sequence[str], hashed: HashingVectorizer
) -> np.ndarray:
    """Return weights of hashed word pairs that tell words of texts from words that the set swaps for them."""
    swapped: dict[str, list[str]] = defaultdict(list)
    for true, foil in sides:
        one, two = " ".join(true.span), " ".join(foil.span)
        swapped[one].append(two)
        swapped[two].append(one)
    random = np.random.default_rng(0)
    written: list[str] = []
    drawn: list[str] = []
    for text in texts:
        words = split_words(text)[:120]
        for index, word in enumerate(words):
            if word in swapped and random.random() < 0.5:
                others = swapped[word][random.integers(len(swapped[word]))].split()
                written.append(Changed(words[:index], [word], words[index + 1 :]).word_pairs())
                drawn.append(Changed(words[:index], others, words[index + 1 :]).word_pairs())
        if len(written) > MAX_EXAMPLES:
            break
    return LinearClassifier(3.0).weights(hashed.transform(written) - hashed.transform(drawn))


@dataclass(frozen=True)
class LinearClassifier:
    """Logistic regression on differences of true text and foil, without a constant."""

    strength: float

    def weights(self, differences: Any) -> np.ndarray:
        """Return the weights by which the differences are most often positive."""
        signs = draw_signs(differences.shape[0])
        model = LogisticRegression(C=self.strength, fit_intercept=False, max_iter=500)
        return model.fit(sparse.diags(signs) @ differences, signs).coef_[0]

    def __call__(self, training: Any, test: Any) -> np.ndarray:
        """Return the margins of test pairs."""
        return test @ self.weights(training)


def fit_boosted(training: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the margins of test pairs by boosted trees that learn from training pairs in both orders."""
    model = HistGradientBoostingClassifier(
        max_iter=150, learning_rate=0.05, max_leaf_nodes=15, min_samples_leaf=30, random_state=0
    )
    model.fit(np.vstack([training, -training]), np.repeat([1, 0], len(training)))
    return model.decision_function(test) - model.decision_function(-test)


def draw_signs(number: int) -> np.ndarray:
    """Return a sign for each pair, the same in every run: a classifier needs examples of both classes."""
    return np.where(np.random.default_rng(1).random(number) < 0.5, 1.0, -1.0)


def scale(values: np.ndarray) -> np.ndarray:
    """Return values in units of their root mean square, which keeps what is above 0 there."""
    return values / (np.sqrt((values**2).mean(axis=0)) + 1e-9)


def split_folds(videos: np.ndarray, folds: int = 5) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return indices of training and test pairs of each fold; a video is in one of them."""
    return list(GroupKFold(folds, shuffle=True, random_state=11).split(videos, groups=videos))


def cross_validate(differences: Any, videos: np.ndarray, fit: Fit) -> np.ndarray:
    """Return margins of each fold's pairs by what is learned from the others."""
    margins = np.zeros(len(videos))
    for training, test in split_folds(videos):
        margins[test] = fit(differences[training], differences[test])
    return margins


def score(margins: np.ndarray, videos: np.ndarray, draws: int = 1000) -> tuple[float, float, float]:
    """Return the accuracy and its 95 % interval; ties count half."""
    _, video = np.unique(videos, return_inverse=True)
    right, pairs = np.bincount(video, (margins > 0) + 0.5 * (margins == 0)), np.bincount(video)
    random = np.random.default_rng(5)
    drawn = [random.integers(len(pairs), size=len(pairs)) for _ in range(draws)]
    low, high = np.quantile([right[draw].sum() / pairs[draw].sum() for draw in drawn], [0.025, 0.975])
    return float(right.sum() / pairs.sum()), float(low), float(high)


if __name__ == "__main__":
    main()
