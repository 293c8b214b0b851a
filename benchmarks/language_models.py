"""Measure the language models: training, scoring swaps, streaming, and a causal model's batches.

``training DATA`` trains on the captions of ActivityNet and MSR-VTT in the folder DATA (the published files, in the
subfolders ``activitynet`` and ``msrvtt``). ``scoring DATA`` scores swaps of random words with the n-gram model, with
KenLM on the same model (if the package kenlm is installed), and with the formulas in plain Python on a small corpus.
``stream DATA`` trains on a stream of captions, each spliced from two of MSR-VTT, or on repeated ones. ``causal MODEL
DATA`` scores swaps and whole changed texts with a Hugging Face model.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from vttdata.text.lm import CausalModel, NgramModel, Scorer, Substitution
from vttdata.text.lm.counts import BEGIN, WORD_BITS, WORD_MASK, model_tokens

REPLACEMENTS = 13
"""Candidates per swap; EMScore's ActivityNet-FOIL has about 13 foils per concept."""


def main() -> None:
    """Run the benchmark of a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("training").add_argument("data", type=Path)
    parts.add_parser("scoring").add_argument("data", type=Path)
    stream = parts.add_parser("stream")
    stream.add_argument("data", type=Path)
    stream.add_argument("--captions", type=int, default=1_000_000)
    stream.add_argument("--repeated", action="store_true", help="repeat the same 200,000 captions")
    causal = parts.add_parser("causal")
    causal.add_argument("model")
    causal.add_argument("data", type=Path)
    causal.add_argument("--device", default="cpu")
    causal.add_argument("--swaps", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.part == "training":
        training(arguments.data)
    elif arguments.part == "scoring":
        scoring(arguments.data)
    elif arguments.part == "stream":
        streaming(arguments.data, arguments.captions, arguments.repeated)
    else:
        swaps = random_swaps(arguments.data, arguments.swaps)
        model = CausalModel.load(arguments.model, device=arguments.device)
        report("what changed texts begin with read once", model, swaps)
        start = time.process_time()
        model.perplexity([text for swap in swaps for text in swap.changed_texts()])
        speed("whole changed texts", start, swaps)


def training(data: Path) -> None:
    """Print time, size and memory of training, and the perplexity of ActivityNet's test captions."""
    test = activitynet(data / "activitynet/anet_entities_test_1.json")
    corpora = {"ActivityNet train": activitynet(data / "activitynet/train.json"), "MSR-VTT": msrvtt(data / "msrvtt")}
    print("| captions | | order, min_count | s | n-grams | model MiB | peak MiB | ActivityNet test perplexity |")
    print("|---|---|---|---|---|---|---|---|")
    for name, texts in corpora.items():
        for order, min_count in ((2, 1), (3, 1), (4, 1), (4, 2)):
            start = time.process_time()
            model = NgramModel.train(texts, order=order, min_count=min_count)
            took = time.process_time() - start
            logs = [model.log_probability(model_tokens(text)) for text in test]
            perplexity = math.exp(-float(np.concatenate(logs).mean()))
            ngrams = sum(len(keys) for keys in model.ngrams.keys)
            numbers = f"{took:.1f} | {ngrams:,} | {size(model):.0f} | {peak():.0f} | {perplexity:.1f}"
            print(f"| {name} | {len(texts):,} | {order}, {min_count} | {numbers} |")


def scoring(data: Path) -> None:
    """Print the speed of scoring in candidates per second."""
    texts = activitynet(data / "activitynet/train.json")
    model, swaps = NgramModel.train(texts), random_swaps(data, 3000)
    report("substitution_perplexities, all at once", model, swaps)
    start = time.process_time()
    for swap in swaps:
        model.substitution_perplexities([swap])
    speed("substitution_perplexities, one caption per call", start, swaps)
    changed = [text for swap in swaps for text in swap.changed_texts()]
    start = time.process_time()
    ours = model.perplexity(changed)
    speed("perplexity of the whole changed texts", start, swaps)
    score_with_kenlm(model, changed, ours, swaps)
    score_with_formulas(texts[:200], swaps[:1])


def score_with_kenlm(model: NgramModel, changed: list[str], ours: np.ndarray, swaps: list[Substitution]) -> None:
    """Score whole changed texts, tokenized by our rule, with the same n-grams in KenLM's hash table."""
    try:
        import kenlm
    except ImportError:
        print("kenlm is not installed: pip install kenlm")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.arpa"
        write_arpa(model, path)
        peer = kenlm.Model(str(path))
    start = time.process_time()
    rows = [model_tokens(text) for text in changed]
    theirs = [10 ** (-peer.score(" ".join(row)) / (len(row) + 1)) for row in rows]
    speed("KenLM, whole texts from Python", start, swaps)
    rows = [" ".join(row) for row in rows]
    start = time.process_time()
    for row in rows:
        peer.score(row)
    speed("KenLM, texts already cut into words", start, swaps)
    worst = np.abs(theirs / ours - 1).max()
    print(f"largest relative difference of a perplexity to KenLM, which is in single precision: {worst:.1e}")


def score_with_formulas(texts: list[str], swaps: list[Substitution]) -> None:
    """Score with the exact formulas of the tests, on a corpus of 200 captions."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tests.helpers.kneser_ney_literal import LiteralKneserNey

    literal = LiteralKneserNey([model_tokens(text) for text in texts], 4)
    start = time.process_time()
    for text in (text for swap in swaps for text in swap.changed_texts()):
        path = ["<s>", *(word if word in literal.vocabulary else "<unk>" for word in model_tokens(text)), "</s>"]
        for index in range(1, len(path)):
            literal.probability(path[index], tuple(path[:index]))
    speed("formulas in plain Python, 200 captions", start, swaps)


def streaming(data: Path, captions: int, repeated: bool) -> None:
    """Print time and memory while a stream is counted."""
    sentences = msrvtt(data / "msrvtt")
    texts = (
        (sentences[index % len(sentences)] for index in range(captions)) if repeated else splice(sentences, captions)
    )
    print(f"{len(sentences):,} captions are read, {resident():.0f} MiB are in use")
    print("| captions | seconds for the last 100,000 | in use, MiB |\n|---|---|---|")
    start = time.process_time()
    model = NgramModel.train(print_progress(texts))
    ngrams = sum(len(keys) for keys in model.ngrams.keys)
    print(f"{time.process_time() - start:.1f} s with smoothing, {ngrams:,} n-grams, peak {peak():.0f} MiB")


def print_progress(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts and print a line after every 100,000."""
    start = time.process_time()
    for number, text in enumerate(texts, 1):
        yield text
        if number % 100_000 == 0:
            print(f"| {number:,} | {time.process_time() - start:.2f} | {resident():.0f} |", flush=True)
            start = time.process_time()


def splice(texts: list[str], captions: int) -> Iterator[str]:
    """Yield captions made of the first half of a caption and the second half of another."""
    draw = random.Random(1)
    for _ in range(captions):
        first, second = draw.choice(texts).split(), draw.choice(texts).split()
        yield " ".join(first[: len(first) // 2] + second[len(second) // 2 :])


def random_swaps(data: Path, number: int) -> list[Substitution]:
    """Return replacements of a random word of each test caption by random words."""
    draw = random.Random(1)
    texts = [" ".join(text.split()) for text in activitynet(data / "activitynet/anet_entities_test_1.json")[:number]]
    words = sorted({word for text in texts for word in text.split() if word.isalpha()})
    swaps = []
    for text in texts:
        word = draw.choice(text.split())
        start = text.index(word)
        swaps.append(Substitution(text, start, start + len(word), draw.sample(words, REPLACEMENTS)))
    return swaps


def report(label: str, scorer: Scorer, swaps: list[Substitution]) -> None:
    """Print the speed of `substitution_perplexities`."""
    start = time.process_time()
    scorer.substitution_perplexities(swaps)
    speed(f"{label} ({scorer.name})", start, swaps)


def speed(label: str, start: float, swaps: list[Substitution]) -> None:
    """Print candidates per second of CPU time since `start`."""
    number = sum(len(swap.replacements) for swap in swaps)
    print(f"{label}: {number / (time.process_time() - start):,.0f} candidates per second")


def write_arpa(model: NgramModel, path: Path) -> None:
    """Write the model in the ARPA format, with logarithms to base 10."""
    keys, logs, weights = model.ngrams.keys, model.ngrams.log_probabilities, model.ngrams.log_weights
    names: list[str] = []
    with path.open("w", encoding="utf-8") as file:
        file.write(
            "\\data\\\n" + "".join(f"ngram {level}={len(level_keys)}\n" for level, level_keys in enumerate(keys, 1))
        )
        for level, level_keys in enumerate(keys):
            if level:
                names = [f"{names[key >> WORD_BITS]} {model.words[key & WORD_MASK]}" for key in level_keys.tolist()]
            else:
                names = list(model.words)
            file.write(f"\n\\{level + 1}-grams:\n")
            for index, name in enumerate(names):
                log = 0.0 if name == model.words[BEGIN] else logs[level][index] / math.log(10)
                weight = f"\t{weights[level][index] / math.log(10):.9g}" if level < len(weights) else ""
                file.write(f"{log:.9g}\t{name}{weight}\n")
        file.write("\n\\end\\\n")


def activitynet(path: Path) -> list[str]:
    """Return the sentences of a paragraph file of ActivityNet."""
    videos = json.loads(path.read_text(encoding="utf-8"))
    return [sentence for video in videos.values() for sentence in video["sentences"]]


def msrvtt(folder: Path) -> list[str]:
    """Return all captions of MSR-VTT from its two zip files."""
    texts = []
    for path in sorted(folder.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith("videodatainfo.json"))
            texts += [sentence["caption"] for sentence in json.loads(archive.read(name))["sentences"]]
    return texts


def size(model: NgramModel) -> float:
    """Return the size of the model's arrays in MiB."""
    parts = (model.ngrams.keys, model.ngrams.log_probabilities, model.ngrams.log_weights)
    return sum(array.nbytes for part in parts for array in part) / 2**20


def peak() -> float:
    """Return the peak memory of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident() -> float:
    """Return the current memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
