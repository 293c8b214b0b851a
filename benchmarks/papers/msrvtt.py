"""MSR-VTT: Xu, Mei, Yao, Rui, CVPR 2016."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from benchmarks.papers.claim import Claim
from benchmarks.papers.laboratory import ROOT, Laboratory

TITLE = "MSR-VTT: Xu, Mei, Yao, Rui, CVPR 2016"
NO_LSTM = "captioning networks of 2016 and their features are not made here"
EXHIBITS = {
    "Figure 1": ("examples of clips and sentences", "a picture"),
    "Table 1": ("data sets compared", ""),
    "Figure 2": ("clips by category", ""),
    "Figure 3": ("a framework of captioning networks", "a drawing"),
    "Table 2": ("captions of nearest neighbours", ""),
    "Table 3": ("networks by features", NO_LSTM),
    "Table 4": ("networks by features and pooling", NO_LSTM),
    "Table 5": ("networks by pooling", NO_LSTM),
    "Table 6": ("networks by size", NO_LSTM),
    "Figure 4": ("METEOR by category", NO_LSTM),
    "Figure 5": ("examples of generated sentences", NO_LSTM),
    "Table 7": ("ratings by people", "the ratings are not published"),
}


def claims(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of the paper."""
    figures, shown = lab.read("show", lab.msrvtt), lab.shown("show", lab.msrvtt)
    total, splits = figures["total"], figures["splits"]
    recipe = yaml.safe_load((ROOT / "recipes/msrvtt-collect.yaml").read_text(encoding="utf-8"))
    search, clips = recipe["collect"]["search"], recipe["clips"]
    collected = "`recipes/msrvtt-collect.yaml`"
    queries, results = sum(map(len, search["queries"].values())), search["per_query"]
    yield Claim(
        "3.1",
        "queries, categories, results each",
        ("257", "20", "150"),
        (queries, len(search["queries"]), results),
        here="queries of our own",
        command=collected,
    )
    yield Claim(
        "3.2",
        "most clips a video; shortest and longest, in s; clips that are drawn",
        ("3", "10", "30", "10,000"),
        (clips["per_source"], clips["min_seconds"], clips["max_seconds"], clips["total"]),
        command=collected,
    )
    shortest, longest = total["shortest_clip"], total["longest_clip"]
    yield Claim(
        "3.2",
        "each clip lasts 10 to 30 s",
        holds={"official files": round(shortest, 2) >= 10 and round(longest, 2) <= 30},
        here=f"{shortest:.2f} to {longest:.2f} s",
        command=shown,
    )
    yield Claim("3.2", "sentences a clip", ("20",), (total["sentences_per_clip"],), command=shown)
    together = recipe["split"]["together"]
    yield Claim(
        "3.3",
        "clips of one video or of one query stay in one split",
        holds={"recipe": {"source", "query"} <= set(together)},
        here=f"kept together: {', '.join(together)}",
        command=collected,
    )
    yield Claim(
        "3.3",
        "clips for training, testing, validation",
        ("6,513", "2,990", "497"),
        [splits[name]["clips"] for name in ("train", "test", "validation")],
        command=shown,
    )
    leaks = lab.read("audit", lab.msrvtt)["leaks"]["source"]["sources"]
    yield Claim(
        "3.3",
        "no video is in two splits",
        holds={"official files": not leaks},
        here=f"{leaks} are",
        command=lab.shown("audit", lab.msrvtt),
    )
    printed = {
        "clips": "10,000",
        "sources": "7,180",
        "sentences": "200,000",
        "words": "1,800,000",
        "vocabulary": "29,316",
        "hours": "41.2",
    }
    for name, figure in printed.items():
        here = "the paper does not say how it counted" if name == "hours" else ""
        says = name.replace("sources", "videos")
        yield Claim("3.4, Table 1", says, (figure,), (total[name],), here=here, command=shown)
    yield Claim(
        "3.4, Figure 2",
        "categories of clips",
        ("20",),
        (len(total["categories"]),),
        here="the figure's bars carry no numbers",
        command=shown,
    )
    yield Claim(
        "5.2, Table 2",
        "BLEU@4 of captions of nearest neighbours, five kinds of features",
        ("6.3", "8.1", "8.7", "7.3", "7.5"),
        here="the features are not published; `--baseline knn-caption` is the method, with those of a user",
    )
    yield Claim(
        "5.5",
        "share of sentences' subjects, verbs and objects that overlap, in %",
        ("62.7",),
        here="`vttdata show --svo PIPELINE` counts them; no trained pipeline of spaCy is at hand",
    )
