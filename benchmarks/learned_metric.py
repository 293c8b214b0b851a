"""A head on [CLS] fine-tuned on people's scores, on years that it has not seen, as BERTHA was tried.

``python benchmarks/learned_metric.py DATASET WORK --encoder ENCODER --train YEAR... --test YEAR...`` trains on the
captions that several people judged (or ``--kind single``) of some years of a build of ``trecvid-vtt``, and prints
Pearson's r with people, of captions and of systems, on the other years, beside that of the plain similarity of the same
encoder and of metrics of words. The metric is written into WORK, and a run that was cut off goes on there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from vttdata.evaluate.evaluation import load_metrics
from vttdata.evaluate.learned.pair_model import HEAD
from vttdata.evaluate.learned.training import JudgedCaptions, TrainingSettings, train_metric
from vttdata.evaluate.meta.agreement import DRAWS
from vttdata.evaluate.meta.comparison import compare_set, score_metrics
from vttdata.evaluate.meta.fusion import year_of
from vttdata.evaluate.meta.inputs import read_inputs
from vttdata.evaluate.metric import MetricInputs

COLUMNS = ("learned", "sentence-similarity", "bleu4", "rouge-l", "cider-d", "chrf")


def main() -> None:
    """Train, compare and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("work", type=Path)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--train", nargs="+", required=True, metavar="YEAR")
    parser.add_argument("--test", nargs="+", required=True, metavar="YEAR")
    parser.add_argument("--kind", choices=["multiple", "single"], default="multiple")
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    tables = {
        year_of(table.name): table.without((), people=True)
        for table in read_inputs([options.dataset]).judgments
        if table.name.endswith(options.kind)
    }
    if not (options.work / HEAD).exists():
        settings = TrainingSettings(encoder=options.encoder, cross_encoder=True, epochs=options.epochs)
        train_metric([JudgedCaptions.of(tables[year]) for year in options.train], [], options.work, settings)
    models = {"learned": str(options.work), "sentence-similarity": options.encoder}
    names = ["learned", "sentence-similarity", "bleu", "rouge-l", "cider-d", "chrf"]
    families = load_metrics(names, "ptb-3.4.1", options.work / "cache", MetricInputs(models=models), {})
    print("| judged | captions |", *(f"{name} |" for name in COLUMNS), "p (Williams) |")
    print("|---|--:|" + "--:|" * (len(COLUMNS) + 1), flush=True)
    for year in options.test:
        table = tables[year]
        columns = {name: scores for name, scores in score_metrics(table, families, {}).items() if name in COLUMNS}
        report = compare_set(table, columns, seed=0, draws=DRAWS, cache=options.work / "cache")
        cells = []
        for name in COLUMNS:
            levels = report.metrics[name].human[report.headline.human]
            caption, system = (levels[level]["pearson"] for level in ("caption", "system"))
            interval = f" ({caption.low:.3f}-{caption.high:.3f})" if caption.low is not None else ""
            cells.append(f"{caption.score:.3f}{interval}, {system.score:.3f}")
        p = report.williams["caption"]["learned"]["sentence-similarity"]
        print(
            f"| {table.name} | {int(np.sum(table.judged)):,} |",
            *(f"{cell} |" for cell in cells),
            f"{p:.3g} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
