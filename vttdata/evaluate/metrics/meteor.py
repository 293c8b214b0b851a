"""METEOR 1.5 by its Java program in pycocoevalcap; English only, results kept by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from vttdata.errors import VttdataError
from vttdata.evaluate.java_scores import INSTALL, JavaError, cached_rows, find_jar, run_java
from vttdata.evaluate.metric import CaptioningMetric, check_texts
from vttdata.statistics.arrays import Floats
from vttdata.statistics.scores import ColumnScores
from vttdata.text.tokenizers import load_tokenizer

JAR = "meteor/meteor-1.5.jar"
# The program finds this table beside itself, but not in a folder whose name has a space or a letter beyond ASCII.
PARAPHRASES = "data/paraphrase-en.gz"

# Parameters for English, Denkowski and Lavie (2014): of the mean, of the penalty, weight of content words, and weights
# of exact, stem, synonym and paraphrase matches.
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
STAGES = np.array([1.0, 0.6, 0.8, 0.6])


class Meteor(CaptioningMetric):
    """METEOR of Denkowski and Lavie (2014). NLTK's METEOR is another metric and is never used instead."""

    columns = ("meteor",)
    needs = INSTALL
    english_only = True

    def options(self) -> Mapping[str, str]:
        """Return the version of the program."""
        return {"meteor": "1.5", "lang": "en"}

    def unavailable(self) -> str | None:
        """Return what is missing, or that the captions are not English."""
        if self.tokenizer not in ("ptb-3.4.1", "none"):
            return f"METEOR takes English captions with the tokenizer ptb-3.4.1 or none, not {self.tokenizer}."
        jar = find_jar(JAR)
        return jar if isinstance(jar, str) else None

    def score(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, ColumnScores]:
        """Score captions; for the corpus score the counts of matches and chunks are summed."""
        check_texts(candidates, references)
        problem = self.unavailable()
        if problem:
            raise VttdataError(f"METEOR cannot be computed. {problem}")
        tokenize = load_tokenizer(self.tokenizer)
        lines = [
            " ||| ".join(["SCORE", *(_plain(tokenize(text)) for text in texts), _plain(tokenize(candidate))])
            for candidate, texts in zip(candidates, references, strict=True)
        ]
        statistics = cached_rows(self.cache, "meteor-1.5", lines, (len(lines), 23), lambda: _count_matches(lines))
        # A caption that is its reference in one chunk has no penalty, in a corpus as well.
        perfect = (statistics[:, 20] == 1) & (statistics[:, 21:] == statistics[:, :2]).all(axis=1)
        statistics[perfect, 20] = 0
        return {"meteor": ColumnScores(meteor_scores(statistics), statistics, lambda sums, _: meteor_scores(sums))}


def meteor_scores(statistics: Floats) -> Floats:
    """Return scores from the program's statistics.

    Args:
        statistics: words of caption and reference, function words of both; for each stage content words of both that
            match and function words of both that match; chunks; words of both that match, ``(..., 23)``.
    """
    stages = statistics[..., 4:20].reshape(*statistics.shape[:-1], 4, 2, 2)
    matches = np.einsum("s,w,...swt->...t", STAGES, np.array([DELTA, 1 - DELTA]), stages)
    words, function_words = statistics[..., :2], statistics[..., 2:4]
    totals = DELTA * (words - function_words) + (1 - DELTA) * function_words
    shares = np.divide(matches, totals, out=np.zeros_like(matches), where=totals > 0)
    precision, recall = shares[..., 0], shares[..., 1]
    weighted = ALPHA * precision + (1 - ALPHA) * recall
    mean = np.divide(precision * recall, weighted, out=np.zeros_like(weighted), where=weighted > 0)
    matched = statistics[..., 21:].mean(axis=-1)
    fragmentation = np.divide(statistics[..., 20], matched, out=np.zeros_like(matched), where=matched > 0)
    scores: Floats = mean * (1 - GAMMA * fragmentation**BETA)
    return scores


def _plain(tokens: list[str]) -> str:
    """Return a line that cannot be read as several fields."""
    return " ".join(" ".join(tokens).replace("|||", "").split())


def _count_matches(lines: Sequence[str]) -> list[list[float]]:
    jar = Path(find_jar(JAR))
    arguments = ["-Xmx2G", "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm", "-a", PARAPHRASES]
    printed = run_java(arguments, jar.parent, "".join(f"{line}\n" for line in lines))
    if len(printed) != len(lines):
        raise JavaError(f"METEOR returned {len(printed)} lines for {len(lines)} captions.")
    return [[float(value) for value in line.split()] for line in printed]
