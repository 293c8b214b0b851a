"""Measure speed and coverage of the rules that find nouns in captions.

Run `python benchmarks/concepts.py FOLDER`; the folder contains the official MSR-VTT and ActivityNet files in `msrvtt`
and `activitynet`. Heads are the words that end a noun phrase after a determiner and known adjectives; the agreement is
the share of ActivityNet-Entities' mentions of the lexicon's nouns that the rules find as well.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vttdata.annotations.model import Annotations
from vttdata.errors import VttdataError
from vttdata.recipe import packaged
from vttdata.text.nouns.grammar import Grammar
from vttdata.text.nouns.lexicon import load_lexicon
from vttdata.text.nouns.mentions import find_mentions, mentions_of_annotation

_HEAD = re.compile(r"(?<=[aet])[jJ]*([unlmkihfNLMKIJS]+)(?![unlmkihfNLMKIJSgGqb-])")
LEXICON = load_lexicon()


def main() -> None:
    """Print tables of speed, memory and coverage, the most frequent unknown nouns, and the agreement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with msrvtt/ and activitynet/")
    parser.add_argument("--streamed", type=int, default=1_000_000, help="captions to stream (default 1,000,000)")
    options = parser.parse_args()
    msrvtt = packaged.load_builder("msrvtt").read(options.folder / "msrvtt")
    activitynet = packaged.load_builder("activitynet_captions").read(options.folder / "activitynet")
    corpora = {
        "MSR-VTT": [caption.caption for caption in msrvtt.captions],
        "ActivityNet": [caption.caption for caption in activitynet.captions],
    }
    stream(corpora["MSR-VTT"], options.streamed)
    for name, captions in corpora.items():
        cover(name, captions)
    agree(activitynet)


def stream(captions: Sequence[str], count: int) -> None:
    """Find the mentions of a stream of distinct captions and print the cost of each fifth."""
    print("| captions | captions per second | mentions per caption | peak memory, MiB |\n|---|---|---|---|")
    texts = (f"{captions[i % len(captions)]} {i}" for i in range(count))
    for part in range(5):
        start, matched = time.process_time(), 0
        for text in islice(texts, count // 5):
            matched += len(find_mentions(text, LEXICON))
        speed = count / 5 / (time.process_time() - start)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"| {count // 5 * (part + 1):,} | {speed:,.0f} | {matched / (count / 5):.2f} | {memory:.0f} |", flush=True
        )


def cover(name: str, captions: Iterable[str]) -> None:
    """Print the shares of noun phrase heads that the lexicon knows or excludes, and the most frequent others."""
    grammar, heads = Grammar(LEXICON), Counter[str]()
    for caption in captions:
        words = re.findall(r"[a-z]+|[^a-z\s]", caption.lower())
        letters = "".join(grammar.letter(word) for word in words)
        heads.update(words[match.end() - 1] for match in _HEAD.finditer(letters))
    known = sum(count for head, count in heads.items() if LEXICON.noun(head))
    unknown = Counter({head: count for head, count in heads.items() if not LEXICON.noun(head)})
    excluded = sum(count for head, count in unknown.items() if _singular(head) in LEXICON.excluded)
    total = heads.total()
    print(f"\n{name}: {total:,} heads; known {known / total:.1%}, excluded {excluded / total:.1%}; others:")
    print(", ".join(f"{head} {count}" for head, count in unknown.most_common(400) if not _listed(head))[:1200])


def _singular(word: str) -> str:
    return word if word in LEXICON.excluded else word.removesuffix("s")


def _listed(word: str) -> bool:
    return _singular(word) in LEXICON.excluded


def agree(annotations: Annotations) -> None:
    """Print the share of annotated mentions that the rules find."""
    texts = {caption.video_id: caption.caption for caption in annotations.captions}
    rejected = usable = matched = 0
    for concepts in annotations.concepts:
        text = texts[concepts.video_id]
        try:
            mentions = mentions_of_annotation(text, concepts.tokens, concepts.token_indices, concepts.classes, LEXICON)
        except VttdataError:
            rejected += 1
            continue
        ends = {mention.end for mention in find_mentions(text, LEXICON)}
        usable += len(mentions)
        matched += sum(mention.end in ends for mention in mentions)
    print(
        f"\nActivityNet-Entities: {usable:,} mentions of known nouns, {matched / usable:.1%} found by rule as well;",
        end=" ",
    )
    print(f"{rejected} of {len(annotations.concepts):,} segments rejected because their tokens do not match the text.")


if __name__ == "__main__":
    main()
