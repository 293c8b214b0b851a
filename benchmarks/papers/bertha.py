"""BERTHA: Lebron, Graham, O'Connor, McGuinness, 2022, from its poster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learned_metric import try_on_years
from benchmarks.papers.claim import Claim, within
from benchmarks.papers.laboratory import Laboratory
from vttdata.annotations.trecvid.judgments import human_letter
from vttdata.evaluate.metric import load_metric

TITLE = "BERTHA: Lebron, Graham, O'Connor, McGuinness, 2022"
EXHIBITS = {
    "Figure 1": ("examples on which CIDEr fails", "pictures"),
    "Figure 2": ("distributions of scores", "pictures without numbers"),
    "Table 1": ("r of systems", ""),
    "Table 2": ("r of captions", ""),
}
ONLY_HERE = "`python -m benchmarks.papers SHARED WORK --trecvid FOLDER --only bertha`"
SETS = ("2019-single", "2020-single", "2019-multiple", "2020-multiple")
TABLE_1 = {
    "bleu4": ("0.581", "0.944", "0.753", "0.967"),
    "cider-d": ("0.810", "0.977", "0.892", "0.967"),
    "meteor": ("0.887", "0.958", "0.880", "0.988"),
    "rouge-l": ("0.588", "0.919", "0.811", "0.914"),
    "spice": ("0.498", "-0.110", "-0.240", "0.146"),
    "BERTHA-SA": ("0.929", "0.963", "0.859", "0.888"),
}
TABLE_2 = {
    "bleu4": ("0.030", "0.010", "0.049", "0.112"),
    "sentence-bleu": ("0.053", "0.027", "-0.051", "0.077"),
    "cider-d": ("0.035", "0.107", "0.155", "0.208"),
    "meteor": ("0.064", "0.115", "0.222", "0.235"),
    "rouge-l": ("0.046", "0.093", "0.158", "0.209"),
    "spice": ("0.032", "0.003", "0.018", "0.001"),
    "BERTHA-SA": ("0.075", "0.069", "0.147", "0.164"),
}
BERTHA_MA = {"Table 1": ("0.837", "0.863", "0.882", "0.863"), "Table 2": ("0.072", "0.032", "0.225", "0.247")}
NO_WEIGHTS = "BERTHA's weights are not published"
FUSION = {"bleu4": "-0.1373", "cider-d": "0.0315", "rouge-l": "-0.0779"}
NAMES = {"bleu4": "BLEU-4", "cider-d": "CIDEr", "rouge-l": "ROUGE-L"}
TOKENS = {"single": ("15 tokens", "9 tokens"), "multiple": ("14 tokens", "8 tokens")}
LEARNED = "`python -m benchmarks.learned_metric DATASET WORK --encoder ENCODER --train YEAR... --test YEAR...`"
TRAINED, TESTED = ("2016", "2017", "2018"), ("2019", "2020")


def claims(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of the poster."""
    yield from counts(lab)
    for table, level, rows in (("Table 1", "system", TABLE_1), ("Table 2", "caption", TABLE_2)):
        for metric, printed in rows.items():
            says = f"r of {metric} with people over {level}s, {', '.join(SETS)}"
            if metric == "BERTHA-SA":
                yield Claim(table, says, printed, here=NO_WEIGHTS)
                continue
            found = [lab.agreement[name].get(metric) for name in SETS if name in lab.agreement]
            if len(found) < len(SETS) or None in found:
                yield Claim(table, says, printed, here=load_metric(metric).unavailable() or "years are not at hand")
                continue
            notes = [found[0]["measured"]] if "measured" in found[0] else []
            if level == "caption":
                moved = [of["next_line"] for of in found]
                agree = sum(map(within, printed, moved))
                notes.append(
                    f"{', '.join(f'{r:.3f}' for r in moved)} if each score of people is given to the caption of the "
                    f"next video, a slip that would explain low figures: {agree} of {len(moved)} would agree"
                )
            command = lab.shown("metric", "test", lab.trecvid, "--metric", metric.rstrip("1234"))
            yield Claim(
                table,
                says,
                printed,
                [of[level] for of in found],
                here="; ".join(notes),
                command=ONLY_HERE if metric == "sentence-bleu" else command,
            )
    yield from fusion(lab)
    yield from learned(lab)


def counts(lab: Laboratory) -> Iterator[Claim]:
    """Yield the numbers of judgments, and lengths of captions."""
    for kind, printed in (("single", "56,088"), ("multiple", "7,705")):
        scores = {name: of for name, of in lab.campaigns.items() if name.endswith(kind)}
        number, lines = sum(map(len, scores.values())), len(scores)
        people = sum(
            kind == "multiple" and human_letter(score.system) is not None for of in scores.values() for score in of
        )
        without = f", without the {people} of people's captions" if people else ""
        section = f"Dataset, {kind} annotators"
        yield Claim(
            section,
            "judgments",
            (printed,),
            (number,),
            here=f"lines of the files, with their {lines} headings{without}: {number + lines - people:,}",
            command="`python benchmarks/trecvid.py DATA/trecvid-vtt`",
        )
        tables = [table for name, table in lab.tables.items() if name.endswith(kind)]
        rows = [(table, row) for table in tables for row in np.flatnonzero(table.judged).tolist()]
        references = [len(text.split()) for table, row in rows for text in table.references[row]]
        candidates = [len(table.candidates[row].split()) for table, row in rows]
        yield Claim(
            section,
            "mean length of people's and of systems' captions",
            TOKENS[kind],
            (float(np.mean(references)), float(np.mean(candidates))),
            here="words of the captions that were judged and of their references; the poster does not say how it split",
            command=ONLY_HERE,
        )


def fusion(lab: Laboratory) -> Iterator[Claim]:
    """Yield the coefficients of the linear model on each choice of years."""
    fuse = ("metric", "fuse", lab.trecvid, *(part for name in FUSION for part in ("--metric", name)))
    fitted = {}
    for name, values in lab.read(*fuse)["coefficients"].items():
        if "+" in name:
            [left_out] = {set_.partition("-")[0] for set_ in lab.sets} - {
                word.partition("-")[0] for word in name.split()
            }
            fitted[left_out] = {metric: values[metric]["score"] for metric in FUSION}
    yield Claim(
        "Results",
        f"signs of the coefficients of {', '.join(NAMES[name] for name in FUSION)} ({', '.join(FUSION.values())})",
        holds={
            f"{NAMES[metric]} without {year}": (value < 0) == FUSION[metric].startswith("-")
            for year, of in fitted.items()
            for metric, value in of.items()
        },
        here="fitted on all years "
        + "; ".join(f"without {year} {', '.join(f'{v:.4f}' for v in of.values())}" for year, of in fitted.items()),
        material="a fusion without BERTHA and METEOR",
        command=lab.shown(*fuse),
    )
    yield Claim("Results", "coefficients of BERTHA and METEOR", ("0.0525", "0.2810"), here=NO_WEIGHTS)


def learned(lab: Laboratory) -> Iterator[Claim]:
    """Yield the agreement of a head on [CLS] that was fine-tuned on people's scores, and of plain similarity."""
    kept = lab.keep(
        f"learned {' '.join(TESTED)}",
        f"{lab.encoder.name if lab.encoder else ''} as a cross-encoder, trained on {', '.join(TRAINED)}",
        partial(try_training, lab),
        renew="learned" in lab.renew,
    )
    for table, printed in BERTHA_MA.items():
        level = "system" if table == "Table 1" else "caption"
        yield Claim(table, f"r of BERTHA-MA over {level}s, {', '.join(SETS[:2])}", printed[:2], here=NO_WEIGHTS)
        says = f"r of BERTHA-MA over {level}s, {', '.join(SETS[2:])}"
        if kept is None:
            yield Claim(table, says, printed[2:], here=NO_WEIGHTS)
            continue
        found, plain = ([kept["figures"][year][name][level] for year in TESTED] for name in ("learned", "similarity"))
        here = f"the encoder's plain similarity: {', '.join(f'{r:.3f}' for r in plain)}; {kept['date']}, {kept['with']}"
        material = "all-MiniLM-L6-v2 in place of BERT"
        yield Claim(table, says, printed[2:], found, here=here, material=material, command=LEARNED)


def try_training(lab: Laboratory) -> dict[str, Any]:
    """Return year -> r over captions and over systems of the head and of the plain similarity.

    Raises:
        RuntimeError: without an encoder.
    """
    if lab.encoder is None:
        raise RuntimeError("--renew learned needs an encoder: --encoder FOLDER")
    work: Path = lab.work / f"learned-{TRAINED[0]}"
    found = try_on_years(lab.trecvid, work, str(lab.encoder), TRAINED, TESTED, "multiple", 2)
    return {
        year: {
            name: {"caption": of.r[column][0], "system": of.r_of_systems[column]}
            for name, column in (("learned", "learned"), ("similarity", "sentence-similarity"))
        }
        for year, of in zip(TESTED, found, strict=True)
    }
