"""Fit the weights of `vttdata.generate.foils.noun_usage` to verdicts of readers.

Run `python benchmarks/foil_plausibility.py FOLDER [--verdicts FILE]`; FOLDER contains ActivityNet Captions and
Entities, and the packaged verdicts are the default. Prints the weights of a logistic regression on all verdicts, and
the quality of cross-validated predictions on other videos: the area under the ROC curve, and the share of sound foils
among the most plausible ones.
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

from vttdata.generate.foils.human_verdicts import Verdicts, read_verdicts
from vttdata.generate.foils.noun_usage import Evidence, NounUsage
from vttdata.generate.foils.video_texts import VideoTexts, assign_training_folds, select_usage_texts
from vttdata.recipe import packaged
from vttdata.text.nouns.lexicon import Lexicon, load_lexicon
from vttdata.text.nouns.mentions import find_mentions

# Supercategories with fewer verdicts are merged.
MIN_VERDICTS = 12
# A foil is sound if more than this share of its verdicts says so.
SOUND_SHARE = 0.5


def main() -> None:
    """Print the weights and the quality of cross-validated predictions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the official files")
    packaged_verdicts = packaged.verdicts("activitynet-foil")
    table = "a table with the columns foil_id and verdict"
    parser.add_argument("--verdicts", type=Path, default=packaged_verdicts, help=table)
    options = parser.parse_args()
    verdicts, lexicon = read_verdicts(options.verdicts), load_lexicon()
    official = packaged.load_builder("activitynet_captions").read(options.folder, language="en")
    builder = packaged.load_builder("foils")
    videos_with_texts, _ = builder.activitynet_texts(official, list(official.captions), both=True)
    rows = list(evidence_on_verdicts(videos_with_texts, verdicts, lexicon))
    names, videos, evidence, sound = (list(column) for column in zip(*rows, strict=True))
    counts = Counter(names)
    categories = sorted(name for name in counts if counts[name] >= MIN_VERDICTS)
    # Doubled dummy variables are shrunk less by the regularisation, because the supercategory is informative.
    inputs = np.array(
        [
            [*row, *(2.0 * (name == category) for category in categories)]
            for name, row in zip(names, evidence, strict=True)
        ]
    )
    model = LogisticRegression(C=0.5, max_iter=5000)
    predicted = cross_val_predict(model, inputs, sound, groups=videos, cv=GroupKFold(10), method="predict_proba")[:, 1]
    ranked = np.array(sound)[np.argsort(-predicted)]
    area = roc_auc_score(sound, predicted)
    print(f"{len(sound)} verdicts on {len(set(videos))} videos, {np.mean(sound):.3f} sound; area {area:.3f}")
    shares = {share: round(float(ranked[: int(len(ranked) * share)].mean()), 3) for share in (0.1, 0.25, 0.5)}
    print("share of sound foils among the most plausible", shares)
    model.fit(inputs, sound)
    weights = model.coef_[0]
    print(
        "all",
        round(float(model.intercept_[0]), 2),
        dict(zip(Evidence._fields, weights[: len(Evidence._fields)].round(2).tolist(), strict=True)),
    )
    for category, weight in zip(categories, 2 * weights[len(Evidence._fields) :], strict=True):
        verdicts_on = [value for name, value in zip(names, sound, strict=True) if name == category]
        print(f"    {category!r}: {weight:.2f},  # {len(verdicts_on)} verdicts, {np.mean(verdicts_on):.2f} sound")


def evidence_on_verdicts(
    videos_with_texts: list[VideoTexts], verdicts: Verdicts, lexicon: Lexicon
) -> Iterator[tuple[str, str, Evidence, bool]]:
    """Yield supercategory, video, evidence and soundness of each foil with a verdict."""
    usage = NounUsage(select_usage_texts(videos_with_texts, 0, assign_training_folds(videos_with_texts)), lexicon)
    texts = {
        name: (video, text)
        for video in videos_with_texts
        for name, text in zip(video.caption_ids, (*video.texts, *video.other_texts), strict=True)
    }
    nouns = {name.replace(" ", "-"): name for name in lexicon.nouns}
    for foil_id, share in verdicts.items():
        caption_id, start, foil = foil_id.rsplit("_", 2)
        video, text = texts[caption_id]
        after = (mention for mention in find_mentions(text, lexicon) if mention.start >= int(start))
        mention = next(after, None)
        if mention is None or foil not in nouns:
            continue
        topic_fit = usage.topic_fit(
            word for other in (*video.texts, *video.other_texts) for word in other.lower().split()
        )
        evidence = usage.evidence(text, mention, nouns[foil], topic_fit)
        if evidence is not None:
            yield lexicon.nouns[nouns[foil]].supercategory, video.video_id, evidence, share > SOUND_SHARE


if __name__ == "__main__":
    main()
