"""EMScore, VATEX-EVAL and ActivityNet-FOIL: Shi et al., CVPR 2022."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.papers.claim import Claim
from benchmarks.papers.laboratory import FOIL_SETTINGS, JAVA_METRICS, MIN_COUNT, Laboratory
from vttdata.generate.foils.documents import find_documents
from vttdata.generate.foils.swaps import pair_concepts
from vttdata.recipe import packaged
from vttdata.text.nouns.lexicon import load_lexicon

TITLE = "EMScore, VATEX-EVAL and ActivityNet-FOIL: Shi et al., CVPR 2022"
NO_RATINGS = "VATEX-EVAL was not obtained here; `recipes/vatex-eval.yaml` builds such a set"
NO_CLIP = "the videos and the weights of CLIP are not at hand"
EXHIBITS = {
    "Figure 1": ("examples", "a picture"),
    "Figure 2": ("how EMScore is computed", "a drawing; `tests/evaluate/embeddings` compares it with the paper's code"),
    "Figure 3": ("an example of ratings", "a picture"),
    "Figure 4": ("an example of a foil", "a picture; `vttdata build activitynet-foil` makes them"),
    "Table 1": ("mean ratings of six sources of captions", NO_RATINGS),
    "Table 2": ("precision, recall, F and idf", NO_RATINGS),
    "Table 3": ("granularities and ground truths", NO_RATINGS),
    "Table 4": ("correlation with people", NO_RATINGS),
    "Figure 5": ("correlation by number of references", NO_RATINGS),
    "Figure 6": ("drift of quality", ""),
    "Table 5": ("rankings of systems", ""),
    "Figure 7": ("frames that tokens match", NO_CLIP),
    "Table 6": ("accuracy on ActivityNet-FOIL", ""),
}
PRINTED = {"bleu1": "60.11", "bleu4": "66.11", "rouge-l": "56.74", "meteor": "72.89", "cider-d": "77.89"}
BY_CLIP = ("87.95", "90.32", "89.47", "90.21", "93.00", "92.42")
LIMITS = range(MIN_COUNT - 2, MIN_COUNT + 3)
"""Mentions of a concept, at least: the paper does not give its number."""
RULE_BASED = ("bleu4", "rouge-l", "meteor", "cider-d")
"""Metrics of the paper, CIDEr as its code has it, which is CIDEr-D."""
FOILS = "foils of our lexicon, since ActivityNet-FOIL was not obtained here"


def claims(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of the paper."""
    total = lab.read("show", lab.foils)["total"]
    shown = f"{lab.shown('show', lab.foils)}, built with {' and '.join(f'`{setting}`' for setting in FOIL_SETTINGS)}"
    candidates = candidate_pairs(lab)
    concepts, number = candidates.pop(MIN_COUNT)
    yield Claim(
        "4.2",
        "candidate pairs of a concept and its foil, and foils a concept",
        ("2,191", "13 foils"),
        (number, number / concepts),
        here=f"{concepts} concepts of {MIN_COUNT} mentions and more; pairs with other limits: "
        + ", ".join(f"{least}: {pairs:,}" for least, (_, pairs) in candidates.items()),
        material=FOILS,
        command="`vttdata.generate.foils.swaps.pair_concepts`",
    )
    yield Claim(
        "4.2",
        "pairs of paragraphs",
        ("1,900",),
        (total["paragraphs"],),
        here=f"{total['swaps']:,} of the candidate pairs occur in them",
        material=FOILS,
        command=shown,
    )
    [swaps] = Path(lab.foils, "dataset/swaps").glob("*.parquet")
    nouns = load_lexicon().nouns
    pairs = [(nouns[row["concept"]], nouns[row["foil_concept"]]) for row in pq.read_table(swaps).to_pylist()]
    within = sum(concept.supercategory == foil.supercategory for concept, foil in pairs)
    yield Claim(
        "4.2",
        "a concept is swapped for one of its supercategory",
        holds={"swaps": within == len(pairs)},
        here=f"{within:,} of {len(pairs):,} swaps",
        material=FOILS,
        command="`benchmarks/papers/emscore.py`",
    )
    by_words = ("bleu", "rouge-l", "cider-d")
    accuracies = {name: (*found, by_words, "") for name, found in accuracies_on_foils(lab, by_words).items()}
    program = JAVA_METRICS["meteor"]
    kept = lab.keep(
        "meteor foils", program, lambda: accuracies_on_foils(lab, ("meteor",))["meteor"], renew="meteor" in lab.renew
    )
    if kept is not None:
        accuracies["meteor"] = (*kept["figures"], ("meteor",), f"; {kept['date']}, {kept['with']}")
    for metric, percent in PRINTED.items():
        if metric not in accuracies:
            yield Claim("Table 6", f"accuracy of {metric}", (percent,), here="its Java program was not run on these")
            continue
        right, ties, metrics, note = accuracies[metric]
        yield Claim(
            "Table 6",
            f"accuracy of {metric}, in %",
            (percent,),
            (right,),
            here=f"{right + ties / 2:.2f} with ties counted half; {ties:.1f} % tie{note}",
            material=FOILS,
            command=lab.shown(*test_command(lab, metrics)),
        )
    yield Claim(
        "Table 6",
        "accuracy of EMScore and EMScore_ref, each coarse, fine and both; fine EMScore_ref is the highest",
        BY_CLIP,
        here=NO_CLIP,
    )
    yield Claim("Table 6", "accuracy of BERTScore", ("86.68",), here="the weights of RoBERTa are not at hand")
    yield from drift(lab)
    yield Claim("4.1", "videos, captions, ratings", ("3,000", "18,000", "54,000"), here=NO_RATINGS)
    yield Claim("4.1", "agreement of annotators, Kendall and Spearman", ("0.568", "0.628"), here=NO_RATINGS)
    yield Claim(
        "5.1.2, Table 5",
        "CIDEr and BERTScore put ORG-TRL above people's captions, and EMScore orders systems as people do",
        here=NO_RATINGS,
    )


def test_command(lab: Laboratory, metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the command that lays metrics against foils."""
    return ("metric", "test", lab.foils, *(part for name in metrics for part in ("--metric", name)), "--draws", "100")


def accuracies_on_foils(lab: Laboratory, metrics: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return metric -> percentage of pairs of paragraphs that it gets right, and of those that tie."""
    stress = lab.read(*test_command(lab, metrics))["stress"]
    pairs = next((each for each in stress if each["name"].endswith("paragraphs")), stress[0])
    found = {name: tests["foil"]["all"] for name, tests in pairs["metrics"].items()}
    return {name: (100 * of["above"]["score"], 100 * of["ties"]) for name, of in found.items()}


def drift(lab: Laboratory) -> Iterator[Claim]:
    """Yield the agreement on sets of drifting quality, on each set of TRECVID's judgments."""
    sets = lab.agreement
    for metric in RULE_BASED:
        tau = {name: found[metric]["drift"] for name, found in sets.items() if metric in found}
        yield Claim(
            "5.1.2, Figure 6",
            f"{metric} performs much better on captions of low quality (set 1) than of high quality (set 5)",
            holds={name: values[0] > values[-1] for name, values in tau.items()},
            here="taken to hold if tau is higher; sets are drawn with the paper's probabilities, 1 / (|I - k| + 1); "
            + "; ".join(f"{name}: {', '.join(f'{v:.3f}' for v in values)}" for name, values in tau.items()),
            material="TRECVID's judgments, raw scores of 0 to 100, in place of VATEX-EVAL's",
            command=lab.shown("metric", "test", lab.trecvid, "--metric", metric.rstrip("1234"), "--drift", "0-100"),
        )


def candidate_pairs(lab: Laboratory) -> dict[int, tuple[int, int]]:
    """Return least number of mentions -> concepts of the first paragraphs, and ordered pairs of them."""
    official = packaged.load_builder("activitynet_captions").read(lab.shared / "data/activitynet")
    videos, _ = packaged.load_builder("foils").activitynet_texts(official, list(official.captions), both=False)
    lexicon = load_lexicon()
    counts: Counter[str] = Counter()
    for video in videos:
        documents, _ = find_documents(video, lexicon, None) if not video.lm_training_only else (None, ())
        if documents is not None:
            mentions = itertools.chain.from_iterable(document.mentions for document in documents.documents)
            counts.update(mention.noun for mention in itertools.chain.from_iterable(mentions))
    paired = {least: pair_concepts(counts, lexicon, min_count=least) for least in LIMITS}
    return {least: (len(of), sum(map(len, of.values()))) for least, of in paired.items()}
