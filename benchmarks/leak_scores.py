"""Coverage of leak-aware scores: how often the interval of the gain by leaks holds the gain that was planted.

Run `python benchmarks/leak_scores.py DATASET [--draws 100]` on a build of MSR-VTT, or on any dataset with captions
whose test split has many sources. In each draw, three in ten sources of the test split are listed as training, and a
system is made up that writes a reference word for word for 55 % of the clips of these sources and for 35 % of the
others, alike for all clips of a source in half of the sources. The gain planted is .2.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy as np

from vttdata.evaluate.evaluation import EvaluationSettings, evaluate
from vttdata.evaluate.items import ClipItems, read_clips
from vttdata.load.lookup import find_dataset

CLEAN, LEAKED = 0.35, 0.55
METRIC = '''"""Captions that are word for word a reference."""
import numpy as np
from vttdata.evaluate.metric import CaptioningMetric
from vttdata.statistics.scores import ColumnScores


class Verbatim(CaptioningMetric):
    columns = ("verbatim",)
    uses_tokens = False

    def score(self, candidates, references):
        hits = [caption in texts for caption, texts in zip(candidates, references)]
        return {"verbatim": ColumnScores.from_means(np.array(hits, dtype=float))}
'''


def plant(items: ClipItems, generator: np.random.Generator, folder: Path) -> None:
    """Write a list of training sources and the captions of a made-up system."""
    leaked = generator.random(len(items.source_ids)) < 0.3
    by_source = generator.random(len(items.source_ids))
    alike = generator.random(len(items.source_ids)) < 0.5
    chance = np.where(leaked, LEAKED, CLEAN)[items.sources]
    draws = np.where(alike[items.sources], by_source[items.sources], generator.random(len(items.ids)))
    captions = [
        {"image_id": item, "caption": texts[0] if draw < limit else "-"}
        for item, texts, draw, limit in zip(items.ids, items.references, draws, chance, strict=True)
    ]
    (folder / "captions.json").write_text(json.dumps(captions), encoding="utf-8")
    names = [name for name, chosen in zip(items.source_ids, leaked, strict=True) if chosen]
    (folder / "training.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


def main() -> None:
    """Plant a gain in every draw, and count the intervals that hold it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="build or dataset folder, or a name")
    parser.add_argument("--draws", type=int, default=100, help="number of made-up systems")
    options = parser.parse_args()
    items = read_clips(find_dataset(options.dataset))
    covered, gains, widths = 0, [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "metrics").mkdir()
        (folder / "metrics" / "verbatim.py").write_text(METRIC)
        os.environ["VTTDATA_PLUGINS"] = name
        for draw in range(options.draws):
            plant(items, np.random.default_rng(draw), folder)
            report = evaluate(
                options.dataset,
                folder / "captions.json",
                metrics=["verbatim"],
                train_split=str(folder / "training.txt"),
                settings=EvaluationSettings(draws=1_000, seed=draw),
            )
            gain = report.scores["verbatim"].gain
            assert gain is not None
            gains.append(gain.score)
            widths.append(gain.high - gain.low)
            covered += gain.low <= LEAKED - CLEAN <= gain.high
    print(f"{len(items.ids):,} clips of {len(items.source_ids):,} sources, planted gain {LEAKED - CLEAN:.2f}")
    print("| draws | intervals that hold it | mean gain reported | mean width |\n|--:|--:|--:|--:|")
    print(f"| {options.draws} | {covered} | {np.mean(gains):.4f} | {np.mean(widths):.4f} |")


if __name__ == "__main__":
    main()
