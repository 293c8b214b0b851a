"""Fits the weights by which foils are doubted (`vttdata.generate.foils.plausibility`) to verdicts of readers.

Run `python benchmarks/foil_doubt.py FOLDER [--verdicts FILE]`; FOLDER has ActivityNet Captions and Entities, and the
verdicts are the packaged ones unless others are given. Prints the weights of a logistic regression on all verdicts,
and what one that was fitted to other videos says of each foil: the area under its curve, and how many of the least
doubtful foils are sound.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from vttdata.generate.foils.plausibility import Evidence, NounUsage
from vttdata.generate.foils.verdicts import Verdicts, read_verdicts
from vttdata.generate.foils.videos import VideoTexts, assign_training_folds, select_usage_texts
from vttdata.recipe import packaged
from vttdata.text.nouns.lexicon import Lexicon, load_lexicon
from vttdata.text.nouns.mentions import find_mentions

LEAST = 12
"""Supercategories with fewer verdicts are taken together."""

LEAST_SOUND = 0.5


def main() -> None:
    """Print the weights and how far they can be trusted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the official files")
    packaged_ones = packaged.verdicts("activitynet-foil")
    table = "a table with the columns foil_id and verdict"
    parser.add_argument("--verdicts", type=Path, default=packaged_ones, help=table)
    given = parser.parse_args()
    verdicts, lexicon = read_verdicts(given.verdicts), load_lexicon()
    official = packaged.load_builder("activitynet_captions").read(given.folder, language="en")
    builder = packaged.load_builder("foils")
    told, _ = builder.activitynet_texts(official, list(official.captions), both=True)
    rows = list(judged(told, verdicts, lexicon))
    names, videos, found, sound = (list(own) for own in zip(*rows, strict=True))
    often = Counter(names)
    kinds = sorted(name for name in often if often[name] >= LEAST)
    # Dummies of twice the size are shrunk less: what a foil is of says more than a weight of noise would.
    inputs = np.array(
        [[*own, *(2.0 * (name == kind) for kind in kinds)] for name, own in zip(names, found, strict=True)]
    )
    model = LogisticRegression(C=0.5, max_iter=5000)
    guessed = cross_val_predict(model, inputs, sound, groups=videos, cv=GroupKFold(10), method="predict_proba")[:, 1]
    ranked = np.array(sound)[np.argsort(-guessed)]
    area = roc_auc_score(sound, guessed)
    print(f"{len(sound)} verdicts on {len(set(videos))} videos, {np.mean(sound):.3f} sound; area {area:.3f}")
    shares = {share: round(float(ranked[: int(len(ranked) * share)].mean()), 3) for share in (0.1, 0.25, 0.5)}
    print("sound of the least doubtful", shares)
    model.fit(inputs, sound)
    weights = model.coef_[0]
    print(
        "all",
        round(float(model.intercept_[0]), 2),
        dict(zip(Evidence._fields, weights[:6].round(2).tolist(), strict=True)),
    )
    for kind, weight in zip(kinds, 2 * weights[6:], strict=True):
        own = [value for name, value in zip(names, sound, strict=True) if name == kind]
        print(f"    {kind!r}: {weight:.2f},  # {len(own)} verdicts, {np.mean(own):.2f} sound")


def judged(told: list[VideoTexts], verdicts: Verdicts, lexicon: Lexicon) -> Iterator[tuple[str, str, Evidence, bool]]:
    """Of each foil with a verdict: its supercategory, its video, the evidence, whether it is sound."""
    usage = NounUsage(select_usage_texts(told, 0, assign_training_folds(told)), lexicon)
    texts = {
        name: (own, text)
        for own in told
        for name, text in zip(own.caption_ids, (*own.texts, *own.other_texts), strict=True)
    }
    nouns = {name.replace(" ", "-"): name for name in lexicon.nouns}
    for foil_id, share in verdicts.items():
        caption_id, start, foil = foil_id.rsplit("_", 2)
        own, text = texts[caption_id]
        after = (mention for mention in find_mentions(text, lexicon) if mention.start >= int(start))
        mention = next(after, None)
        if mention is None or foil not in nouns:
            continue
        topic_fit = usage.topic_fit(word for one in (*own.texts, *own.other_texts) for word in one.lower().split())
        evidence = usage.evidence(text, mention, nouns[foil], topic_fit)
        if evidence is not None:
            yield lexicon.nouns[nouns[foil]].supercategory, own.video_id, evidence, share > LEAST_SOUND


if __name__ == "__main__":
    main()
