"""Measures what foils cost as captions grow: time a caption and peak memory of finding, of scoring, and of the whole.

The captions are made up from templates over the packaged lexicon, 20 a video as in MSR-VTT; each video is about three
things. Run `python benchmarks/foils.py whole 50000 200000`; every size runs in a process of its own.
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
from vttdata.generate.foils.mine import mine_videos
from vttdata.generate.foils.search import FoilSettings, search_foils
from vttdata.generate.foils.swaps import pair_concepts, summarize_mentions
from vttdata.generate.foils.videos import VideoTexts
from vttdata.text.lm import load_scorer
from vttdata.text.nouns.inflect import indefinite_article
from vttdata.text.nouns.lexicon import load_lexicon
from vttdata.text.nouns.mentions import find_mentions

LEXICON = load_lexicon()
NOUNS = [noun for noun in LEXICON.nouns.values() if noun.countable == "count" and " " not in noun.name]
PER_VIDEO, THINGS, TAUGHT, BLOCK = 20, 3, 60_000, 2_500
OPTIONS = 36
"""Of a video, for the whole: as many as MSR-VTT has. In these made-up captions more nouns are plausible."""
TEMPLATES = [
    "a man is {verb} near {one}",
    "{one} is shown next to {other}",
    "two people look at {one} and {other} in the {place}",
    "somebody is {verb} with {one} in the {place}",
    "in the {place} {one} stands behind {other}",
    "the {place} has {one} and people are {verb}",
]
VERBS = ["walking", "talking", "singing", "playing", "laughing", "cooking", "dancing", "cleaning", "waiting", "running"]
PLACES = ["yard", "kitchen", "street", "garage", "park", "studio", "forest", "hall"]


def videos(captions: int) -> Iterator[VideoTexts]:
    """Made-up videos with so many captions together, the same ones for the same number."""
    draw = random.Random(7)
    weights = [1 / (rank + 5) for rank in range(len(NOUNS))]
    for number in range(captions // PER_VIDEO):
        names = [noun.name for noun in draw.choices(NOUNS, weights, k=THINGS)]
        things = [f"{indefinite_article(name)} {name}" for name in names]
        texts = dict.fromkeys(caption(things, draw) for _ in range(PER_VIDEO))
        ids = tuple(f"video{number}_{place}" for place in range(len(texts)))
        yield VideoTexts(f"video{number}", ids, tuple(texts))


def caption(things: list[str], draw: random.Random) -> str:
    """A caption about two of the things."""
    one, other = draw.sample(things, 2)
    blanks = {"verb": draw.choice(VERBS), "place": draw.choice(PLACES), "one": one, "other": other}
    return draw.choice(TEMPLATES).format(**blanks)


def mentions(captions: int) -> int:
    """Find mentions only; returns how many."""
    return sum(len(find_mentions(text, LEXICON)) for told in videos(captions) for text in told.texts)


def candidates(captions: int) -> int:
    """Find mentions, make swaps and score them, a block of videos at a time and the best of each; returns how many."""
    counts: dict[str, int] = {}
    for told in videos(min(captions, TAUGHT)):
        for text in told.texts:
            for own in find_mentions(text, LEXICON):
                counts[own.noun] = counts.get(own.noun, 0) + 1
    rivals = pair_concepts(counts, LEXICON, min_count=10)
    miner = load_scorer("ngram", [text for told in videos(min(captions, TAUGHT)) for text in told.texts])
    made = 0
    stream = videos(captions)
    while block := [video for _, video in zip(range(250), map(known, stream), strict=False)]:
        found = search_foils(block, LEXICON, rivals, miner, settings=FoilSettings("paper"), seed=0)
        made += found.candidates
    return made


def known(told: VideoTexts) -> VideoDocuments:
    """A video with its mentions."""
    rows = [(text, tuple(find_mentions(text, LEXICON))) for text in told.texts]
    documents = (Document((name,), (text,), (own,)) for name, (text, own) in zip(told.ids, rows, strict=True) if own)
    return VideoDocuments(told.video_id, tuple(documents), summarize_mentions(rows, LEXICON))


def whole(captions: int) -> int:
    """Everything from captions to the balanced choice, all videos at once; returns how many pairs."""
    settings = FoilSettings(candidates=OPTIONS)
    return len(mine_videos(list(videos(captions)), LEXICON, settings=settings, seed=0).pairs)


def blocks(captions: int) -> int:
    """Everything, a block of videos at a time; each is balanced, and so all are together; returns how many pairs."""
    stream, pairs, done = videos(captions), 0, 0
    while block := {own.video_id: own.texts for _, own in zip(range(BLOCK), stream, strict=False)}:
        start = time.process_time()
        pairs += len(mine_foils(block).pairs)
        done += len(block) * PER_VIDEO
        report("block", done, pairs, time.process_time() - start, len(block) * PER_VIDEO)
    return pairs


def report(step: str, captions: int, found: int, spent: float, measured: int) -> None:
    """Print a row: how far, what came of it, seconds, microseconds a caption, peak memory in MiB."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = (f"{captions:,}", f"{found:,}", f"{spent:.1f}", f"{1e6 * spent / measured:.0f}", f"{memory:.0f}")
    print(f"| {step} | {' | '.join(figures)} |", flush=True)


STEPS: dict[str, Callable[[int], int]] = {
    "mentions": mentions,
    "candidates": candidates,
    "whole": whole,
    "blocks": blocks,
}


def main() -> None:
    """Print a line for every size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=sorted(STEPS), help="how far to go")
    parser.add_argument("captions", type=int, nargs="+", help="how many captions; several sizes run one by one")
    given = parser.parse_args()
    if len(given.captions) > 1:
        for size in given.captions:
            subprocess.run([sys.executable, __file__, given.step, str(size)], check=True)
        return
    start, (size,) = time.process_time(), given.captions
    found = STEPS[given.step](size)
    report(given.step, size, found, time.process_time() - start, size)


if __name__ == "__main__":
    main()
