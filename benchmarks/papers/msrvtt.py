"""MSR-VTT: Xu, Mei, Yao, Rui, CVPR 2016."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks.papers.claim import Claim
from benchmarks.papers.laboratory import PIPELINE, ROOT, Laboratory
from vttdata.dataset.caption_agreement import measure_svo_consistency, read_captions_by_clip
from vttdata.recipe import packaged
from vttdata.text.nouns.mentions import load_pipeline

TITLE = "MSR-VTT: Xu, Mei, Yao, Rui, CVPR 2016"
NO_LSTM = "captioning networks of 2016 and their features are not made here"
NOT_PUBLISHED = "the official files have the chosen clips alone, without queries, shots and workers"
EXHIBITS = {
    "Figure 1": ("examples of clips and sentences", "a picture"),
    "Table 1": ("data sets compared", ""),
    "Figure 2": ("clips by category", "bars without numbers; `vttdata show` counts clips by category"),
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
COUNTED = {
    "3.4, Table 1": {"clips": "10,000"},
    "3.2, Table 1": {
        "sources": "7,180",
        "sentences": "200 K",
        "words": "1.8 M",
        "vocabulary": "29,316",
        "hours": "41.2",
    },
}


def claims(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of the paper."""
    figures, shown = lab.read("show", lab.msrvtt), lab.shown("show", lab.msrvtt)
    total, splits = figures["total"], figures["splits"]
    yield from settings()
    yield Claim("3.1", "categories", ("20",), (len(total["categories"]),), command=shown)
    yield Claim(
        "Abstract, 3.1, 3.2",
        "videos a query, videos, shots, shots of the median clip, clips of both versions",
        ("118", "30,404", "3,590,688", "2", "30 K"),
        here=NOT_PUBLISHED,
    )
    shortest, longest = total["shortest_clip"], total["longest_clip"]
    yield Claim(
        "3.2",
        "each clip lasts 10 to 30 s",
        holds={"official files": round(shortest, 2) >= 10 and round(longest, 2) <= 30},
        here=f"{shortest:.2f} to {longest:.2f} s",
        command=shown,
    )
    yield Claim(
        "Abstract, 3.2",
        "workers: 1,327 in the abstract, 1,317 in the text",
        here=f"the paper has both; {NOT_PUBLISHED}",
    )
    yield Claim("3.2", "sentences a clip", ("20",), (total["sentences_per_clip"],), command=shown)
    repeats = count_repeats(lab)
    yield Claim(
        "3.2",
        "duplicated sentences are removed",
        holds={"official files": not repeats},
        here=f"{sum(repeats):,} sentences repeat another one of their clip, in {len(repeats):,} clips",
        command="`benchmarks/papers/msrvtt.py`",
    )
    clips = [splits[name]["clips"] for name in ("train", "test", "validation")]
    yield Claim("3.3", "clips for training, testing, validation", ("6,513", "2,990", "497"), clips, command=shown)
    shares = [100 * number / sum(clips) for number in clips]
    yield Claim("3.3", "the same as shares", ("65 %", "30 %", "5 %"), shares, command=shown)
    leaks = lab.read("audit", lab.msrvtt)["leaks"]["source"]["sources"]
    yield Claim(
        "3.3",
        "no video is in two splits",
        holds={"official files": not leaks},
        here=f"{leaks} are; the queries are not published",
        command=lab.shown("audit", lab.msrvtt),
    )
    for section, printed in COUNTED.items():
        for name, figure in printed.items():
            here = "the paper does not say how it counted" if name == "hours" else ""
            says = name.replace("sources", "videos")
            yield Claim(section, says, (figure,), (total[name],), here=here, command=shown)
    yield Claim(
        "5.2, Table 2",
        "BLEU@4 of captions of nearest neighbours, five kinds of features",
        ("6.3", "8.1", "8.7", "7.3", "7.5"),
        here="the features are not published; `--baseline knn-caption` is the method, with those of a user",
    )
    kept = lab.keep("roles of MSR-VTT", PIPELINE, lambda: measure_roles(lab), renew="spacy" in lab.renew)
    found = kept["figures"] if kept else []
    here = "no pipeline of spaCy was run"
    if kept:
        here = (
            f"that any other sentence of the clip has; one at random {found[1]:.1f} %; {kept['date']}, {kept['with']}"
        )
    yield Claim(
        "5.5",
        "share of sentences' subjects, verbs and objects that overlap",
        ("62.7 %",),
        found[:1],
        here=here,
        material="a definition of ours; the paper states neither its own nor its parser",
        command=lab.shown("show", lab.msrvtt, "--svo", PIPELINE),
    )


def settings() -> Iterator[Claim]:
    """Yield what the recipe that collects such a set takes over from the paper."""
    recipe = yaml.safe_load((ROOT / "recipes/msrvtt-collect.yaml").read_text(encoding="utf-8"))
    search, clips, together = recipe["collect"]["search"], recipe["clips"], recipe["split"]["together"]
    command = "`recipes/msrvtt-collect.yaml`"
    yield Claim(
        "3.1",
        "queries, categories, results each",
        ("257", "20", "150"),
        (sum(map(len, search["queries"].values())), len(search["queries"]), search["per_query"]),
        here="queries of our own",
        setting=True,
        command=command,
    )
    yield Claim(
        "3.2",
        "most clips a video; shortest and longest, in s; clips that are drawn",
        ("3", "10", "30", "10 K"),
        (clips["per_source"], clips["min_seconds"], clips["max_seconds"], clips["total"]),
        setting=True,
        command=command,
    )
    yield Claim(
        "3.3",
        "clips of one video or of one query stay in one split",
        holds={"recipe": {"source", "query"} <= set(together)},
        here=f"kept together: {', '.join(together)}",
        setting=True,
        command=command,
    )


def measure_roles(lab: Laboratory) -> tuple[float, float]:
    """Return the shares of subjects, verbs and objects that any other sentence of the clip has, and one at random."""
    clips = {
        clip: texts for of in read_captions_by_clip(Path(lab.msrvtt, "dataset")).values() for clip, texts in of.items()
    }
    found = measure_svo_consistency(clips, load_pipeline(PIPELINE))["all"]
    return 100 * found.any, 100 * found.another


def count_repeats(lab: Laboratory) -> list[int]:
    """Return the number of sentences that repeat another one, of each clip that has such."""
    sentences: dict[str, list[str]] = {}
    for caption in packaged.load_builder("msrvtt").read(lab.shared / "data/msrvtt").captions:
        sentences.setdefault(caption.video_id, []).append(caption.caption)
    return [number for own in sentences.values() if (number := len(own) - len(set(own)))]
