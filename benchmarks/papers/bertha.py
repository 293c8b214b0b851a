"""BERTHA: Lebron, Graham, O'Connor, McGuinness, 2022, from its poster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.learned_metric import try_on_years
from benchmarks.papers.claim import Claim
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
SETS = ("2019-single", "2020-single", "2019-multiple", "2020-multiple")
TABLE_1 = {
    "bleu4": ("0.581", "0.944", "0.753", "0.967"),
    "cider-d": ("0.810", "0.977", "0.892", "0.967"),
    "meteor": ("0.887", "0.958", "0.880", "0.988"),
    "rouge-l": ("0.588", "0.919", "0.811", "0.914"),
    "spice": ("0.498", "-0.110", "-0.240", "0.146"),
}
TABLE_2 = {
    "bleu4": ("0.030", "0.010", "0.049", "0.112"),
    "sentence-bleu": ("0.053", "0.027", "-0.051", "0.077"),
    "cider-d": ("0.035", "0.107", "0.155", "0.208"),
    "meteor": ("0.064", "0.115", "0.222", "0.235"),
    "rouge-l": ("0.046", "0.093", "0.158", "0.209"),
    "spice": ("0.032", "0.003", "0.018", "0.001"),
}
FUSION = {"bleu4": "-0.1373", "cider-d": "0.0315", "meteor": "0.2810", "rouge-l": "-0.0779"}
LEARNED = "`python -m benchmarks.learned_metric DATASET WORK --encoder ENCODER --train YEAR... --test YEAR...`"
TRAININGS = {("2016", "2017", "2018"): ("2019", "2020"), ("2018", "2019", "2020"): ("2016", "2017")}


def claims(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of the poster."""
    yield from counts(lab)
    command = lab.shown("metric", "test", lab.trecvid, "--metric", "bleu", "--metric", "rouge-l", "--metric", "cider-d")
    for table, level, rows in (("Table 1", "system", TABLE_1), ("Table 2", "caption", TABLE_2)):
        for metric, printed in rows.items():
            found = [lab.agreement[name].get(metric) for name in SETS if name in lab.agreement]
            says = f"r of {metric} with people over {level}s, {', '.join(SETS)}"
            if len(found) < len(SETS) or None in found:
                yield Claim(table, says, printed, here=load_metric(metric).unavailable() or "years are not at hand")
                continue
            measured = [of[level] for of in found]
            notes = [found[0]["measured"]] if "measured" in found[0] else []
            if level == "caption" and not notes:
                moved = ", ".join(f"{of['next_line']:.3f}" for of in found)
                notes.append(f"{moved} where a score is given to the caption of the next line")
            yield Claim(table, says, printed, measured, here="; ".join(notes), command=command)
    yield from fusion(lab)
    yield from learned(lab)


def counts(lab: Laboratory) -> Iterator[Claim]:
    """Yield the numbers of judgments, and what the printed ones count."""
    read = "`python benchmarks/trecvid.py DATA/trecvid-vtt`"
    for kind, printed in (("single", "56,088"), ("multiple", "7,705")):
        scores = {name: of for name, of in lab.campaigns.items() if name.endswith(kind)}
        number, lines = sum(map(len, scores.values())), len(scores)
        people = sum(
            kind == "multiple" and human_letter(score.system) is not None for of in scores.values() for score in of
        )
        years = ", ".join(name.partition("-")[0] for name in scores)
        yield Claim(f"Dataset, {kind} annotators", "judgments", (printed,), (number,), here=years, command=read)
        without = f", without the {people} rows of people's captions" if people else ""
        yield Claim(
            f"Dataset, {kind} annotators",
            f"the number is that of the files' lines, with their {lines} headings{without}",
            holds={"lines": number + lines - people == int(printed.replace(",", ""))},
            here=f"{number:,} + {lines} - {people} = {number + lines - people:,}",
            command=read,
        )


def fusion(lab: Laboratory) -> Iterator[Claim]:
    """Yield the coefficients of the linear model on each choice of years."""
    metrics = [part for name in ("bleu4", "rouge-l", "cider-d") for part in ("--metric", name)]
    fuse = ("metric", "fuse", lab.trecvid, *metrics)
    for name, values in lab.read(*fuse)["coefficients"].items():
        if "+" in name:
            fitted = {metric: value["score"] for metric, value in values.items()}
            sets = " ".join(word for word in name.split() if word[0].isdigit())
            yield Claim(
                "Results",
                f"signs of the coefficients of BLEU-4, CIDEr and ROUGE-L ({', '.join(FUSION[m] for m in fitted)})",
                holds={metric: (value < 0) == FUSION[metric].startswith("-") for metric, value in fitted.items()},
                here=", ".join(f"{metric} {value:.4f}" for metric, value in fitted.items()) + f"; fitted on {sets}",
                material="a fusion without BERTHA and METEOR",
                command=lab.shown(*fuse),
            )


def learned(lab: Laboratory) -> Iterator[Claim]:
    """Yield the agreement of a head on [CLS] that was fine-tuned on people's scores, and of plain similarity."""
    by_year: dict[str, Any] = {}
    notes = []
    for train, test in TRAININGS.items():
        name = f"learned {test[0]} {test[1]}"
        kept = lab.keep(
            name,
            f"{lab.encoder.name if lab.encoder else ''} as a cross-encoder, trained on {', '.join(train)}",
            partial(try_training, lab, train, test),
            renew="learned" in lab.renew,
        )
        if kept is not None:
            by_year |= kept["figures"]
            notes.append(f"{', '.join(test)}: {kept['date']}, {kept['with']}")
    material = "all-MiniLM-L6-v2 in place of BERT"
    for table, level, printed in (
        ("Table 1", "system", ("0.882", "0.863")),
        ("Table 2", "caption", ("0.225", "0.247")),
    ):
        says = f"r of BERTHA-MA over {level}s, multiple annotators of 2019 and 2020"
        found = [by_year[year]["learned"][level] for year in ("2019", "2020") if year in by_year]
        yield Claim(
            table, says, printed, found, here="; ".join(notes), material=material if found else "", command=LEARNED
        )
    if by_year:
        r = {year: (of["learned"]["caption"], of["similarity"]["caption"]) for year, of in sorted(by_year.items())}
        yield Claim(
            "Results",
            "a head on [CLS] that learns from people's scores agrees better than what it starts from",
            holds={year: head > plain for year, (head, plain) in r.items()},
            here="over captions, head and plain similarity, "
            + ", ".join(f"{year}: {head:.3f} and {plain:.3f}" for year, (head, plain) in r.items())
            + "; so the default of `vttdata metric train` is a regression on frozen embeddings",
            material=material,
            command=LEARNED,
        )


def try_training(lab: Laboratory, train: tuple[str, ...], test: tuple[str, ...]) -> dict[str, Any]:
    """Return year -> r over captions and over systems of the head and of the plain similarity.

    Raises:
        RuntimeError: without an encoder.
    """
    if lab.encoder is None:
        raise RuntimeError("--renew learned needs an encoder: --encoder FOLDER")
    work: Path = lab.work / f"learned-{train[0]}"
    found = try_on_years(lab.trecvid, work, str(lab.encoder), train, test, "multiple", 2 if train[0] == "2016" else 1)
    return {
        year: {
            name: {"caption": of.r[column][0], "system": of.r_of_systems[column]}
            for name, column in (("learned", "learned"), ("similarity", "sentence-similarity"))
        }
        for year, of in zip(test, found, strict=True)
    }
