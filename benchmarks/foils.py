"""Measure time per caption and peak memory of mining foils, step by step, as the number of captions grows.

The captions fill templates with nouns of the packaged lexicon, 20 per video as in MSR-VTT; each video is about three
things. Run `python benchmarks/foils.py whole 50000 200000`; each size runs in a separate process.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vttdata.generate import mine_foils
from vttdata.generate.foils.documents import Document, VideoDocuments
from vttdata.generate.foils.edits import EditFinder
from vttdata.generate.foils.mine import LanguageTools, mine_videos
from vttdata.generate.foils.search import FoilModels, search_foils
from vttdata.generate.foils.settings import FoilSettings
from vttdata.generate.foils.swaps import pair_concepts, summarize_mentions
from vttdata.generate.foils.video_texts import VideoTexts
from vttdata.text.lm import load_scorer
from vttdata.text.nouns.inflect import indefinite_article
from vttdata.text.nouns.lexicon import load_lexicon
from vttdata.text.nouns.mentions import find_mentions

LEXICON = load_lexicon()
NOUNS = [noun for noun in LEXICON.nouns.values() if noun.countable == "count" and " " not in noun.name]
PER_VIDEO, THINGS, MODEL_CAPTIONS, BLOCK = 20, 3, 60_000, 2_500
# Candidates per video as in MSR-VTT; in these artificial captions more nouns are plausible.
CANDIDATES = 36
TEMPLATES = [
    "a man is {verb} near {first}",
    "{first} is shown next to {second}",
    "two people look at {first} and {second} in the {place}",
    "somebody is {verb} with {first} in the {place}",
    "in the {place} {first} stands behind {second}",
    "the {place} has {first} and people are {verb}",
]
VERBS = ["walking", "talking", "singing", "playing", "laughing", "cooking", "dancing", "cleaning", "waiting", "running"]
PLACES = ["yard", "kitchen", "street", "garage", "park", "studio", "forest", "hall"]


def videos(captions: int) -> Iterator[VideoTexts]:
    """Yield videos with the given number of captions in total; the same number gives the same videos."""
    draw = random.Random(7)
    weights = [1 / (rank + 5) for rank in range(len(NOUNS))]
    for number in range(captions // PER_VIDEO):
        names = [noun.name for noun in draw.choices(NOUNS, weights, k=THINGS)]
        things = [f"{indefinite_article(name)} {name}" for name in names]
        texts = dict.fromkeys(caption(things, draw) for _ in range(PER_VIDEO))
        ids = tuple(f"video{number}_{index}" for index in range(len(texts)))
        yield VideoTexts(f"video{number}", ids, tuple(texts))


def caption(things: list[str], draw: random.Random) -> str:
    """Return a caption about two of the things."""
    first, second = draw.sample(things, 2)
    blanks = {"verb": draw.choice(VERBS), "place": draw.choice(PLACES), "first": first, "second": second}
    return draw.choice(TEMPLATES).format(**blanks)


def mentions(captions: int) -> int:
    """Find mentions and return their number."""
    return sum(len(find_mentions(text, LEXICON)) for video in videos(captions) for text in video.texts)


def candidates(captions: int) -> int:
    """Find mentions, make swaps and score them in blocks of videos; return the number of swaps."""
    counts: dict[str, int] = {}
    for video in videos(min(captions, MODEL_CAPTIONS)):
        for text in video.texts:
            for mention in find_mentions(text, LEXICON):
                counts[mention.noun] = counts.get(mention.noun, 0) + 1
    rivals = pair_concepts(counts, LEXICON, min_count=10)
    miner = load_scorer("ngram", [text for video in videos(min(captions, MODEL_CAPTIONS)) for text in video.texts])
    made = 0
    stream = videos(captions)
    while block := [documents for _, documents in zip(range(250), map(analyse, stream), strict=False)]:
        finder = EditFinder(LEXICON, rivals, FoilSettings("paper"), seed=0)
        result = search_foils(block, finder, FoilModels(miner))
        made += result.candidates
    return made


def analyse(video: VideoTexts) -> VideoDocuments:
    """Return a video with its mentions."""
    rows = [(text, tuple(find_mentions(text, LEXICON))) for text in video.texts]
    documents = (
        Document((name,), (text,), (nouns,)) for name, (text, nouns) in zip(video.ids, rows, strict=True) if nouns
    )
    return VideoDocuments(video.video_id, tuple(documents), summarize_mentions(rows, LEXICON))


def whole(captions: int) -> int:
    """Mine and balance foils of all videos at once and return the number of pairs."""
    settings = FoilSettings(candidates=CANDIDATES)
    return len(mine_videos(list(videos(captions)), LanguageTools.load(), settings=settings, seed=0).pairs)


def blocks(captions: int) -> int:
    """Mine and balance foils in blocks of videos, which keeps the whole balanced; return the number of pairs."""
    stream, pairs, done = videos(captions), 0, 0
    while block := {video.video_id: video.texts for _, video in zip(range(BLOCK), stream, strict=False)}:
        start = time.process_time()
        pairs += len(mine_foils(block).pairs)
        done += len(block) * PER_VIDEO
        report("block", done, pairs, time.process_time() - start, len(block) * PER_VIDEO)
    return pairs


def report(step: str, captions: int, results: int, spent: float, measured: int) -> None:
    """Print a row: step, captions, results, seconds, microseconds per caption, peak memory in MiB."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = (f"{captions:,}", f"{results:,}", f"{spent:.1f}", f"{1e6 * spent / measured:.0f}", f"{memory:.0f}")
    print(f"| {step} | {' | '.join(figures)} |", flush=True)


STEPS: dict[str, Callable[[int], int]] = {
    "mentions": mentions,
    "candidates": candidates,
    "whole": whole,
    "blocks": blocks,
}


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=sorted(STEPS), help="what to measure")
    parser.add_argument(
        "captions", type=int, nargs="+", help="number of captions; several sizes run one after the other"
    )
    options = parser.parse_args()
    if len(options.captions) > 1:
        for size in options.captions:
            subprocess.run([sys.executable, __file__, options.step, str(size)], check=True)
        return
    start, (size,) = time.process_time(), options.captions
    results = STEPS[options.step](size)
    report(options.step, size, results, time.process_time() - start, size)


if __name__ == "__main__":
    main()
