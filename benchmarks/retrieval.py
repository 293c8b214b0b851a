"""Time and memory of ranking similarity matrices, and agreement with `ranx` on runs without ties.

Run `python benchmarks/retrieval.py [--sizes 1000 20000] [--peer]`. Each size is measured in a process of its own: a
random matrix of float32 is written to an .npy file, then mapped and ranked in both directions. CPU seconds are of
ranking and measuring alone, without intervals; memory is the peak of the process, of which mapped pages that were read
are a part, and the peak before ranking.
`--peer` compares every measure with `ranx` (pip install ranx) on 200 queries with graded relevance.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from vttdata.evaluate.ranks import BestRanks, RelevantRanks, ndcg, r_precision, rank_columns, rank_rows
from vttdata.evaluate.tasks.retrieval import measure_ranks


def write_matrix(path: Path, size: int) -> None:
    """Write a random matrix whose diagonal is a little higher, in blocks."""
    generator = np.random.default_rng(size)
    matrix = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(size, size))
    for start in range(0, size, 1_000):
        rows = np.arange(start, min(start + 1_000, size))
        block = generator.standard_normal((len(rows), size), dtype=np.float32)
        block[np.arange(len(rows)), rows] += 3
        matrix[rows] = block
    matrix.flush()


def peak_mebibytes() -> float:
    """Return the peak of this process's memory; `getrusage` would include that of the process that started it."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def measure_matrix(path: Path) -> None:
    """Rank a matrix in both directions, and print CPU seconds and the peak of memory."""
    matrix = np.load(path, mmap_mode="r")
    before = peak_mebibytes()
    start = time.process_time()
    every = np.arange(len(matrix))
    columns = measure_ranks("t2v", rank_rows(matrix, every, every), every)
    columns |= measure_ranks("v2t", rank_columns(matrix, every, every), every)
    seconds = time.process_time() - start
    size, recall = f"{len(matrix):,} x {len(matrix):,}", columns["t2v/r@1"].scores.items.mean()
    print(f"| {size} | {seconds:.2f} | {peak_mebibytes():,.0f} | {before:,.0f} | {recall:.3f} |")


def compare_with_ranx() -> None:
    """Print the largest difference of each measure on random runs with graded relevance and no ties."""
    from ranx import Qrels, Run, evaluate

    generator = np.random.default_rng(1)
    queries, items = 200, 50
    scores = generator.permuted(np.tile(np.arange(items, dtype=np.float64), (queries, 1)), axis=1)
    gains = generator.integers(0, 4, (queries, items)) * (generator.random((queries, items)) < 0.15)
    gains[np.arange(queries), generator.integers(0, items, queries)] = 2
    query, item = np.nonzero(gains)
    ranks = rank_rows(scores, query, item)
    ranks = RelevantRanks(
        ranks.candidates, query, ranks.above, ranks.tied, gains[query, item].astype(float), ranks.found
    )
    best = BestRanks(ranks)
    ours = {
        "hit_rate@1": best.hit(1),
        "hit_rate@5": best.hit(5),
        "hit_rate@10": best.hit(10),
        "mrr": best.reciprocal(),
        "ndcg": ndcg(ranks),
        "ndcg@10": ndcg(ranks, 10),
        "r-precision": r_precision(ranks),
    }
    names = [f"d{number:02d}" for number in range(items)]
    qrels = Qrels(
        {f"q{q:03d}": {names[i]: int(gains[q, i]) for i in range(items) if gains[q, i]} for q in range(queries)}
    )
    run = Run({f"q{q:03d}": dict(zip(names, scores[q].tolist(), strict=True)) for q in range(queries)})
    theirs = evaluate(qrels, run, list(ours), return_mean=False)
    print("\n| measure | largest difference from ranx |\n|---|--:|")
    for name, values in ours.items():
        print(f"| {name} | {np.abs(values - theirs[name]).max():.1e} |")


def main() -> None:
    """Measure each size, and the agreement with the peer if asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 20_000], help="queries and videos")
    parser.add_argument("--peer", action="store_true", help="compare measures with ranx")
    parser.add_argument("--matrix", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.matrix:
        measure_matrix(options.matrix)
        return
    print("| matrix | CPU seconds | peak MiB | MiB before | t2v R@1 |\n|---|--:|--:|--:|--:|", flush=True)
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "similarity.npy"
            write_matrix(path, size)
            subprocess.run([sys.executable, __file__, "--matrix", str(path)], check=True)
    if options.peer:
        compare_with_ranx()


if __name__ == "__main__":
    main()
