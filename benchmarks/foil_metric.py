"""Scores a reference-based metric on ActivityNet-FOIL: how often it prefers the true paragraph and the true caption.

It is an example of how a metric is run over a foil set; needs ``pip install 'vttdata[metrics]'``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vttdata.generate.foils.blind.accuracy import PairAccuracy, pairwise_accuracy, paragraph_scores, select_references


def main() -> None:
    """Read the dataset and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path, help="the dataset folder of a build of activitynet-foil")
    parser.add_argument("--metric", choices=["bleu1", "bleu4", "chrf"], default="bleu4")
    options = parser.parse_args()
    score = metric(options.metric)
    print(f"{options.metric:<24} {'pairs':>6} {'strict':>7} {'ties':>6}  95 % interval")
    show("captions", captions(rows(options.dataset / "foils"), score))
    show("paragraphs", paragraphs(rows(options.dataset / "paragraphs"), score))


def metric(name: str) -> Callable[[str, list[str]], float]:
    """A sentence-level metric of sacrebleu, lower-cased."""
    try:
        from sacrebleu.metrics import BLEU, CHRF
    except ModuleNotFoundError as error:
        raise SystemExit(f"Metrics need sacrebleu: pip install 'vttdata[metrics]' ({error}).") from error

    found: Any = CHRF(lowercase=True)
    if name != "chrf":
        found = BLEU(lowercase=True, effective_order=True, max_ngram_order=int(name[-1]))
    return lambda text, references: float(found.sentence_score(text, references).score)


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of a configuration."""
    return [row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def captions(pairs: list[dict[str, Any]], score: Callable[[str, list[str]], float]) -> PairAccuracy:
    """Each pair's two captions, against the references of their time."""
    true, foil = ([score(row[side], row["references"]) for row in pairs] for side in ("caption", "foil"))
    return pairwise_accuracy(true, foil, [row["supercategory"] for row in pairs])


def paragraphs(pairs: list[dict[str, Any]], score: Callable[[str, list[str]], float]) -> PairAccuracy:
    """A paragraph's score is the mean of its captions', each against the references of its time."""
    sides = []
    for side in ("captions", "foils"):
        scores = []
        for row in pairs:
            spans = list(zip(row["reference_starts"], row["reference_ends"], strict=True))
            times = zip(row["starts"], row["ends"], strict=True)
            refs = [select_references(span, spans, row["references"]) for span in times]
            scores.append([score(text, own) for text, own in zip(row[side], refs, strict=True)])
        sides.append(paragraph_scores(scores))
    return pairwise_accuracy(*sides)


def show(name: str, found: PairAccuracy) -> None:
    """Print one line in all, and one a supercategory."""
    for label, own in {name: found, **{f"  {group}": own for group, own in found.groups.items()}}.items():
        low, high = own.interval
        print(f"{label:<24} {own.pairs:>6,} {own.strict:>7.4f} {own.ties:>6,}  {low:.4f}-{high:.4f}")


if __name__ == "__main__":
    main()
