"""Score a reference-based metric on ActivityNet-FOIL by how often it prefers the true text to its foil.

An example of running a metric on a foil set; needs ``pip install sacrebleu``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vttdata.generate.blind.accuracy import PairAccuracy, pairwise_accuracy, paragraph_scores, select_references


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
    """Return a sentence-level metric of sacrebleu on lower-cased text."""
    try:
        from sacrebleu.metrics import BLEU, CHRF
    except ModuleNotFoundError as error:
        raise SystemExit(f"Metrics need sacrebleu: pip install sacrebleu ({error}).") from error

    scorer: Any = CHRF(lowercase=True)
    if name != "chrf":
        scorer = BLEU(lowercase=True, effective_order=True, max_ngram_order=int(name[-1]))
    return lambda text, references: float(scorer.sentence_score(text, references).score)


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return all rows of a configuration."""
    return [row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def captions(pairs: list[dict[str, Any]], score: Callable[[str, list[str]], float]) -> PairAccuracy:
    """Score both captions of each pair against the references of their time span."""
    true, foil = ([score(row[side], row["references"]) for row in pairs] for side in ("caption", "foil"))
    return pairwise_accuracy(true, foil, [row["supercategory"] for row in pairs])


def paragraphs(pairs: list[dict[str, Any]], score: Callable[[str, list[str]], float]) -> PairAccuracy:
    """Score paragraphs by the mean of their captions' scores against the references of their time spans."""
    sides = []
    for side in ("captions", "foils"):
        scores = []
        for row in pairs:
            spans = list(zip(row["reference_starts"], row["reference_ends"], strict=True))
            times = zip(row["starts"], row["ends"], strict=True)
            refs = [select_references(span, spans, row["references"]) for span in times]
            scores.append([score(text, references) for text, references in zip(row[side], refs, strict=True)])
        sides.append(paragraph_scores(scores))
    return pairwise_accuracy(*sides)


def show(name: str, accuracy: PairAccuracy) -> None:
    """Print a line for all pairs and for each supercategory."""
    for label, row in {name: accuracy, **{f"  {group}": row for group, row in accuracy.groups.items()}}.items():
        low, high = row.interval
        print(f"{label:<24} {row.pairs:>6,} {row.strict:>7.4f} {row.ties:>6,}  {low:.4f}-{high:.4f}")


if __name__ == "__main__":
    main()
