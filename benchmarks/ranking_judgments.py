"""Reproduce figures of Hodosh et al. (JAIR 2013) from Flickr8k's human judgments, beside those that the paper prints.

Run `python benchmarks/ranking_judgments.py SHARED`; SHARED is the folder of real data. The words of captions are
letters and digits in lower case, hyphens split; ROUGE and BLEUpre take Porter's stems of words that are not in
`vttdata.generate.prefilter.STOP_WORDS`, and need snowballstemmer. Pairs are filtered, votes counted and agreement
measured by the code of the recipe `ranking-set` and of campaigns. The crowd file is a damaged copy, and the paper's
list of stop words is not known, so that only BLEU's figures can be exact.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vttdata.evaluate.metric import load_metric
from vttdata.generate.prefilter import Counts, Words, alphanumeric_words, make_stemmer, pool_precision, reaches
from vttdata.people.scoring.relevance import is_relevant
from vttdata.statistics.agreement import cohen_kappa, krippendorff_alpha

GOLD = 2
"""Number of each image's caption that is in the pool of candidates."""

Pair = tuple[str, str]


class Judgments(NamedTuple):
    """Flickr8k's 1,000 test images, their captions, and what people said of pairs of the two.

    Fields:
        captions: texts by ``image#number``.
        images: of the test set; the candidates are their captions `GOLD`.
        expert: (image, caption) -> sum of three scores of 1 to 4.
        crowd: (image, caption) -> judges who said that the caption describes the image, and all judges.
        scores: (image, caption) -> the three scores of experts.
    """

    captions: dict[str, str]
    images: list[str]
    expert: dict[Pair, int]
    crowd: dict[Pair, tuple[int, int]]
    scores: dict[Pair, list[int]]


class Figure(NamedTuple):
    """A figure of the paper: its section, what the files give, what is printed, and what else is to be said."""

    section: str
    name: str
    measured: float
    printed: float
    note: str = ""


OURS = "stems and stop words of vttdata; the paper's list is not known"


def read_judgments(shared: Path) -> Judgments:
    """Read Flickr8k from the folder of real data."""

    def rows(name: str) -> list[list[str]]:
        lines = (shared / "data/flickr8k" / name).read_text(encoding="utf-8").splitlines()
        return [line.split("\t") for line in lines]

    images = [name for (name,) in rows("Flickr_8k.testImages.txt")]
    of_test = set(images)
    return Judgments(
        {name: text for name, text in rows("Flickr8k.token.txt") if name.partition("#")[0] in of_test},
        images,
        {(row[0], row[1]): sum(map(int, row[2:])) for row in rows("ExpertAnnotations.txt")},
        {(row[0], row[1]): (int(row[3]), int(row[3]) + int(row[4])) for row in rows("CrowdFlowerAnnotations.txt")},
        {(row[0], row[1]): list(map(int, row[2:])) for row in rows("ExpertAnnotations.txt")},
    )


def unigram_precision(candidates: Sequence[Words], references: Sequence[Sequence[Words]]) -> tuple[Counts, Counts]:
    """Return the paper's BLEU as fractions: clipped matches, and numbers of words of the candidates, ``(n,)`` each."""
    joined = [[" ".join(words) for words in texts] for texts in references]
    scores = load_metric("bleu", "none").score([" ".join(words) for words in candidates], joined)["bleu1"]
    return scores.statistics[:, 0].astype(np.int64), scores.statistics[:, 4].astype(np.int64)


def unigram_recall(candidates: Sequence[Words], references: Sequence[Sequence[Words]]) -> tuple[Counts, Counts]:
    """Return the paper's ROUGE as fractions: matches with all references, and their numbers of words, ``(n,)`` each."""
    counts = [Counter(words) for words in candidates]
    matches = [
        sum((count & Counter(words)).total() for words in texts)
        for count, texts in zip(counts, references, strict=True)
    ]
    return np.array(matches), np.array([sum(map(len, texts)) for texts in references])


def compare_pool(judgments: Judgments, prepare: Callable[[str], Words]) -> tuple[Counts, Counts]:
    """Return BLEU of every image (row) with every candidate (column) against its five captions, as fractions."""
    captions, images = judgments.captions, judgments.images
    references = [[prepare(captions[f"{image}#{k}"]) for k in range(5)] for image in images]
    return pool_precision(references, [prepare(captions[f"{image}#{GOLD}"]) for image in images])


def kappa_with_experts(
    judgments: Judgments, prepare: Callable[[str], Words], *, recall: bool
) -> Callable[[Sequence[int], Fraction, int], float]:
    """Return a function from numbers of references, threshold and least sum of expert scores to Cohen's kappa."""
    words = {name: prepare(text) for name, text in judgments.captions.items()}
    candidates = [words[caption] for _, caption in judgments.expert]
    score = unigram_recall if recall else unigram_precision

    def kappa(numbers: Sequence[int], threshold: Fraction, least: int) -> float:
        references = [[words[f"{image}#{number}"] for number in numbers] for image, _ in judgments.expert]
        people = [total >= least for total in judgments.expert.values()]
        return cohen_kappa(reaches(score(candidates, references), threshold).tolist(), people)

    return kappa


def filter_figures(
    judgments: Judgments, name: str, kept: NDArray[np.bool_], printed: Sequence[float], note: str = ""
) -> Iterator[Figure]:
    """Yield percentages: of all pairs that a filter removes, and of pairs with expert scores from 8/3, and 3, it loses.

    Args:
        judgments: of people.
        name: of the filter.
        kept: pairs that pass it, images x candidates.
        printed: percentages in the paper; the last one may be missing.
        note: of the figures.
    """
    number = {image: index for index, image in enumerate(judgments.images)}
    yield Figure("4.3.2", f"{name}: pairs removed, in %", 100 * (1 - kept.mean()), printed[0], note)
    for least, value in enumerate(printed[1:], start=8):
        good = [(number[i], number[c[:-2]]) for (i, c), total in judgments.expert.items() if total >= least]
        lost = 100 * sum(not kept[pair] for pair in good) / len(good)
        yield Figure("4.3.2", f"{name}: lost at expert >= {Fraction(least, 3)}, in %", lost, value, note)


REFERENCES = {
    "5 references": ("4.2.2, Table 8", range(5)),
    "gold caption": ("4.2.2, Table 8", [GOLD]),
    "4 other references": ("4.2.2, Table 9", [0, 1, 3, 4]),
}
# References, least score in tenths, least sum of the scores of experts and as the paper has it, kappa.
BLEU_KAPPAS = (
    ("5 references", 10, 12, "4.0", 0.72),
    ("5 references", 8, 11, "3.6", 0.72),
    ("gold caption", 8, 12, "4.0", 0.71),
    ("4 other references", 7, 10, "3.3", 0.52),
)
ROUGE_KAPPAS = (
    ("5 references", 4, 12, "4.0", 0.54),
    ("5 references", 4, 11, "3.6", 0.54),
    ("5 references", 3, 9, "3.0", 0.54),
    ("gold caption", 9, 12, "4.0", 0.69),
    ("4 other references", 2, 8, "2.6", 0.51),
)


def bleu_figures(judgments: Judgments) -> Iterator[Figure]:
    """Yield the kappas of BLEU with experts, and what raw BLEU filters."""
    kappa = kappa_with_experts(judgments, alphanumeric_words, recall=False)
    for references, tenths, least, expert, printed in BLEU_KAPPAS:
        section, numbers = REFERENCES[references]
        name = f"kappa of BLEU, {references}, BLEU >= {tenths / 10}, expert >= {expert}"
        yield Figure(section, name, kappa(numbers, Fraction(tenths, 10), least), printed)
    fractions = compare_pool(judgments, alphanumeric_words)
    yield from filter_figures(judgments, "BLEU >= .330", reaches(fractions, Fraction(33, 100)), (55, 6.9))
    more = filter_figures(judgments, "BLEU > 1/3", fractions[0] * 3 > fractions[1], (65, 11.9))
    literal = filter_figures(judgments, "BLEU >= .333", reaches(fractions, Fraction(333, 1000)), (65, 11.9))
    for ours, figure in zip(more, literal, strict=True):
        yield figure._replace(note=f"{ours.measured:.2f} with BLEU > 1/3, our reading")


def stemmed_figures(judgments: Judgments) -> Iterator[Figure]:
    """Yield the kappas of ROUGE with experts, and what BLEU of stems (BLEUpre) filters."""
    prepare = make_stemmer()
    kappa = kappa_with_experts(judgments, prepare, recall=True)
    for references, tenths, least, expert, printed in ROUGE_KAPPAS:
        section, numbers = REFERENCES[references]
        name = f"kappa of ROUGE, {references}, ROUGE >= {tenths / 10}, expert >= {expert}"
        yield Figure(section, name, kappa(numbers, Fraction(tenths, 10), least), printed, OURS)

    def pairs_of_words(text: str) -> Words:
        return [" ".join(pair) for pair in itertools.pairwise(prepare(text))]

    fractions = compare_pool(judgments, prepare)
    for name, (matches, _), printed in (
        ("BLEU-1", fractions, 39.4),
        ("BLEU-2", compare_pool(judgments, pairs_of_words), 3.5),
    ):
        yield Figure("4.2.2", f"pairs with a {name} above 0, in %", 100 * (matches > 0).mean(), printed, OURS)
    for threshold, values in ((25, (86.0, 6.7, 3.5)), (26, (90.4, 12.3, 7.5))):
        kept = reaches(fractions, Fraction(threshold, 100))
        yield from filter_figures(judgments, f"BLEUpre >= .{threshold}", kept, values, OURS)


def crowd_figures(judgments: Judgments) -> Iterator[Figure]:
    """Yield the agreement of experts and of the crowd with them, and how many images are relevant to captions."""
    ratings = {" ".join(pair): dict(enumerate(scores)) for pair, scores in judgments.scores.items()}
    alpha = krippendorff_alpha({item: {str(n): v for n, v in by.items()} for item, by in ratings.items()}, "interval")
    yield Figure("4.2.1", "Krippendorff's alpha of the experts", alpha, 0.81, "of intervals; the paper does not say")
    pairs = [
        (is_relevant(*judgments.crowd[p]), total >= 10) for p, total in judgments.expert.items() if p in judgments.crowd
    ]
    name = "kappa of the crowd, two of three judges, expert >= 3.33"
    yield Figure("4.3.2, Table 10", name, cohen_kappa(*zip(*pairs, strict=True)), 0.79)
    originals = {(image, f"{image}#{GOLD}") for image in judgments.images}
    relevant = relevant_pairs(judgments)
    yield Figure("4.3.2", "relevant pairs beyond the originals", len(relevant - originals), 2031)
    images = Counter(Counter(caption for _, caption in relevant | originals).values())
    for number, printed in ((1, 446), (2, 202), (3, 100)):
        yield Figure("4.3.2", f"captions with {number} relevant images", images[number], printed)
    yield Figure("4.3.2", "captions with more", sum(n for number, n in images.items() if number > 3), 252)


def relevant_pairs(judgments: Judgments) -> set[Pair]:
    """Return the (image, caption) that most judges of the crowd found relevant."""
    return {pair for pair, votes in judgments.crowd.items() if is_relevant(*votes)}


def main() -> None:
    """Print each figure beside the paper's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    judgments = read_judgments(parser.parse_args().shared)
    print("| figure | measured | paper |\n|---|--:|--:|")
    for figures in (bleu_figures, stemmed_figures, crowd_figures):
        for _, name, measured, printed, _ in figures(judgments):
            print(f"| {name} | {measured if isinstance(measured, int) else format(measured, '.3f')} | {printed} |")


if __name__ == "__main__":
    main()
