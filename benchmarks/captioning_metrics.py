"""Compare BLEU, ROUGE-L and CIDEr-D with pycocoevalcap on ActivityNet's paragraphs and MSR-VTT's test clips.

Run `python benchmarks/captioning_metrics.py SHARED [POSITION]...` where pycocoevalcap and Java are; SHARED is the
folder of real data. The paragraph of one annotator is compared with the other's, and of MSR-VTT each human caption is
held out in turn: a position from 0 to 19 says which caption of each clip is the candidate (without one: all). The peer
gets its own Java tokens. CPU seconds include child processes; "cached" is a run after the references were indexed.
With --meteor METEOR is compared too, by the same Java program on both sides.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

from vttdata.evaluate.metric import load_metric
from vttdata.evaluate.reference_index import forget_indexes
from vttdata.statistics.scores import ColumnScores
from vttdata.text import ptb_tokenizer


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def ours(
    candidates: list[str], references: list[list[str]], cache: Path, *, meteor: bool
) -> tuple[dict[str, ColumnScores], float]:
    """Return scores by column and CPU seconds; nothing in memory is used."""
    forget_indexes()
    ptb_tokenizer._chunks.clear()
    start, columns = cpu_seconds(), {}
    for family in ("bleu", "rouge-l", "cider-d", *(["meteor"] if meteor else [])):
        columns |= load_metric(family, cache=cache).score(candidates, references)
    return columns, cpu_seconds() - start


def peer(candidates: list[str], references: list[list[str]], *, meteor: bool) -> tuple[dict[str, np.ndarray], float]:
    """Return pycocoevalcap's items' scores by column, each with the corpus score appended, and CPU seconds."""
    start = cpu_seconds()
    tokenize = PTBTokenizer().tokenize
    results = tokenize({item: [{"caption": text}] for item, text in enumerate(candidates)})
    truth = tokenize({item: [{"caption": text} for text in texts] for item, texts in enumerate(references)})
    corpus, items = Bleu(4).compute_score(truth, results, verbose=0)
    columns = {f"bleu{order + 1}": np.append(items[order], corpus[order]) for order in range(4)}
    scorers = {"rouge-l": Rouge(), "cider-d": Cider()} | ({"meteor": Meteor()} if meteor else {})
    for name, scorer in scorers.items():
        score, values = scorer.compute_score(truth, results)
        columns[name] = np.append(values, score)
    # METEOR's program runs until then, and only programs that have ended are counted.
    del scorer, scorers
    return columns, cpu_seconds() - start


def comparisons(shared: Path, positions: Iterable[int]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield names, candidates and references: all paragraphs of ActivityNet, then MSR-VTT's positions."""
    first, second = (
        json.loads((shared / f"data/activitynet/anet_entities_test_{number}.json").read_text()) for number in (1, 2)
    )
    videos = sorted(first.keys() & second.keys())
    paragraphs = [[" ".join(table[video]["sentences"]) for video in videos] for table in (first, second)]
    yield f"ActivityNet, {len(videos):,} paragraphs", paragraphs[0], [[text] for text in paragraphs[1]]
    with zipfile.ZipFile(shared / "data/msrvtt/test_videodatainfo.json.zip") as archive:
        sentences = json.loads(archive.read("test_videodatainfo.json"))["sentences"]
    captions: dict[str, list[str]] = {}
    for sentence in sentences:
        captions.setdefault(sentence["video_id"], []).append(sentence["caption"])
    for position in positions:
        held_out = [texts[position] for texts in captions.values()]
        rest = [texts[:position] + texts[position + 1 :] for texts in captions.values()]
        yield f"MSR-VTT, caption {position}", held_out, rest


def main() -> None:
    """Print a line for each comparison: CPU seconds, the largest difference, and the scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("positions", type=int, nargs="*", default=list(range(20)))
    parser.add_argument("--meteor", action="store_true")
    arguments = parser.parse_args()
    for name, candidates, references in comparisons(arguments.shared, arguments.positions):
        with tempfile.TemporaryDirectory() as folder:
            columns, fresh = ours(candidates, references, Path(folder), meteor=arguments.meteor)
            columns, cached = ours(candidates, references, Path(folder), meteor=arguments.meteor)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        expected, theirs = peer(candidates, references, meteor=arguments.meteor)
        difference = max(
            float(np.abs(np.append(scores.items, scores.score) - expected[column]).max())
            for column, scores in columns.items()
        )
        print(
            f"{name}: ours {fresh:.2f} s, cached {cached:.2f} s, at most {memory} MiB so far; "
            f"pycocoevalcap {theirs:.2f} s; largest difference {difference:.1e}; "
            + ", ".join(f"{column} {scores.score:.4f}" for column, scores in columns.items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
