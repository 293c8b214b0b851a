"""Write docs/papers.md: what the five papers behind vttdata say, what vttdata gives, and the command that says so.

Run `python -m benchmarks.papers SHARED WORK`. SHARED is the folder of real data; builds and scores stay in WORK, so
that a second run takes minutes. Every number of the column "here" is read from the output of the command beside it,
in which DATA and WORK stand for folders; where nothing can be measured, the column says what is missing. `--only NAME`
prints the section of one paper and writes nothing. METEOR's program, which takes an hour, runs with `--meteor`.
`--trecvid FOLDER` is a checkout of LLebronC/TRECvid-VTT_HA with all years. `--encoder FOLDER` is an encoder that is
fine-tuned as BERTHA was, on 2016 to 2018, in an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks import ranking_judgments
from benchmarks.learned_metric import try_on_years
from vttdata.annotations.trecvid.judgments import human_letter
from vttdata.generate.degrade.degrade import video_count
from vttdata.people import replication, significance, system_scores
from vttdata.people.scoring.relevance import RELEVANT, lay_against_expert
from vttdata.recipe import packaged
from vttdata.records import CaptionScore

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/papers.md"
METRICS = ("bleu4", "rouge-l", "cider-d")
LEFT_OUT = "its program was left out, see --meteor"
# r of captions, judged by multiple annotators of 2019 and of 2020.
TABLE_2 = {"bleu4": ".049, .112", "rouge-l": ".158, .209", "cider-d": ".155, .208", "meteor": ".222, .235"}
NO_ENCODER = "not measured: the weights of BERT are not at hand, and no other encoder is"
LEARNED = "`python -m benchmarks.learned_metric DATASET WORK --encoder ENCODER --train 2016 2017 2018 --test 2019 2020`"
FOIL_SETTINGS = ("foils.selection=paper", "foils.min_count=19")


class Claim(NamedTuple):
    """Figure or rule of a paper: where it stands, what it says, what comes out here, and by which command."""

    section: str
    says: str
    here: str
    command: str


class Laboratory:
    """Runs commands of vttdata on real data, and remembers what they printed."""

    def __init__(self, shared: Path, work: Path, *, meteor: bool, trecvid: Path | None, encoder: Path | None) -> None:
        self.shared, self.work, self.meteor = shared.resolve(), work.resolve(), meteor
        self.annotations = trecvid.resolve() if trecvid else self.shared / "data/trecvid-vtt"
        self.encoder = encoder
        self.outputs: dict[tuple[str, ...], str] = {}

    def run(self, *arguments: str) -> str:
        """Return what a command prints.

        Raises:
            RuntimeError: if it fails.
        """
        if arguments not in self.outputs:
            environment = os.environ | {"VTTDATA_HOME": str(self.work)}
            command = [sys.executable, "-m", "vttdata", *arguments]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
            if done.returncode not in (0, 3):
                raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-400:]}")
            self.outputs[arguments] = done.stdout
        return self.outputs[arguments]

    def read(self, *arguments: str) -> Any:
        """Return the JSON that a command prints."""
        return json.loads(self.run(*arguments, "--json"))

    def build(self, recipe: str, data: str, *settings: str, name: str) -> str:
        """Build a recipe from its official files, and return the folder."""
        out = self.work / name
        chosen = [part for setting in settings for part in ("--set", setting)]
        self.run(
            "build",
            recipe,
            "--set",
            f"annotations={data if os.path.isabs(data) else self.shared / 'data' / data}",
            *chosen,
            "--out",
            str(out),
            "--quiet",
        )
        return str(out)

    def name_metrics(self, *metrics: str) -> list[str]:
        """Return options that name metrics, and METEOR if it is to be computed."""
        return [part for metric in (*metrics, *(("meteor",) if self.meteor else ())) for part in ("--metric", metric)]

    def shown(self, *arguments: str) -> str:
        """Return a command as the page has it."""
        text = " ".join(arguments).replace(str(self.work), "WORK").replace(str(self.shared / "data"), "DATA")
        return f"`vttdata {text}`"

    @cached_property
    def msrvtt(self) -> str:
        """Build of MSR-VTT."""
        return self.build("msrvtt", "msrvtt", name="msrvtt")

    @cached_property
    def trecvid(self) -> str:
        """Build of TRECVID's judgments, of the years that are at hand."""
        return self.build("trecvid-vtt", str(self.annotations), name="trecvid-vtt")

    @cached_property
    def foils(self) -> str:
        """Build of ActivityNet-FOIL as the paper selects foils."""
        return self.build("activitynet-foil", "activitynet", *FOIL_SETTINGS, name="activitynet-foil-paper")

    @cached_property
    def campaigns(self) -> dict[str, list[CaptionScore]]:
        """Published scores of TRECVID by campaign, ``2016-single`` and others."""
        campaigns: dict[str, list[CaptionScore]] = {}
        for score in packaged.load_builder("trecvid_vtt").read(self.annotations).scores:
            campaigns.setdefault(score.campaign, []).append(score)
        return campaigns

    @cached_property
    def agreement(self) -> tuple[Any, str]:
        """Metrics against people on TRECVID, and the command."""
        named = self.name_metrics(*METRICS)
        command = ("metric", "test", self.trecvid, *named, "--drift", "0-100", "--draws", "100")
        return self.read(*command), self.shown(*command)


def msrvtt(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of Xu et al."""
    show = ("show", lab.msrvtt)
    figures, shown = lab.read(*show), lab.shown(*show)
    total, splits = figures["total"], figures["splits"]
    recipe = yaml.safe_load((ROOT / "recipes/msrvtt-collect.yaml").read_text(encoding="utf-8"))
    search, collected = recipe["collect"]["search"], "`recipes/msrvtt-collect.yaml`"
    yield Claim(
        "3.1",
        "257 queries in 20 categories, 150 results each",
        f"{sum(map(len, search['queries'].values()))} queries of our own in {len(search['queries'])} categories, "
        f"{search['per_query']} results each",
        collected,
    )
    clips = recipe["clips"]
    yield Claim(
        "3.2",
        "at most three clips a video, of 10 to 30 s; 10K drawn of 30K",
        f"at most {clips['per_source']}, of {clips['min_seconds']} to {clips['max_seconds']} s; {clips['total']:,} are "
        "drawn evenly over categories",
        collected,
    )
    yield Claim(
        "3.2",
        "each clip lasts 10 to 30 s",
        f"{total['shortest_clip']:.2f} to {total['longest_clip']:.2f} s in the official files",
        shown,
    )
    yield Claim("3.2", "20 sentences a clip", f"{total['sentences_per_clip']:g}", shown)
    together = ", ".join(recipe["split"]["together"])
    yield Claim("3.3", "clips of one video or one query stay in one split", f"kept together: {together}", collected)
    counts = [splits[name]["clips"] for name in ("train", "test", "validation")]
    yield Claim(
        "3.3",
        "6,513, 2,990 and 497 clips for training, testing, validation",
        f"{counts[0]:,}, {counts[1]:,} and {counts[2]:,}",
        shown,
    )
    audit = ("audit", lab.msrvtt)
    leaks = lab.read(*audit)["leaks"]["source"]["sources"]
    yield Claim("3.3", "no video in two splits", f"{leaks} videos in two splits", lab.shown(*audit))
    for name, says in (
        ("clips", "10,000"),
        ("sources", "7,180 videos"),
        ("sentences", "200K"),
        ("words", "1.8M"),
        ("vocabulary", "29,316"),
    ):
        yield Claim("3.4, table 1", f"{name.replace('sources', 'videos')}: {says}", f"{total[name]:,}", shown)
    yield Claim("3.4, table 1", "41.2 hours", f"{total['hours']:.2f}; the paper does not say how it counted", shown)
    yield Claim(
        "5, table 2",
        "KNN captions: BLEU@4 6.3 to 8.7, METEOR given",
        "not measured: the features of the paper are not published",
        "",
    )


def assessment(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of Graham et al."""
    words = ", ".join(f"{length}: {video_count(length)}" for length in (5, 8, 15, 20, 40))
    yield Claim(
        "Table 2",
        "words replaced in captions of up to 5, 8, 15, 20 words: 2, 3, 4, 5; of more, a quarter",
        f"words of the caption and words replaced: {words}",
        "`vttdata.generate.degrade.degrade.video_count`",
    )
    plan = ("people", "plan", "--systems", "5", "--gap", "10", "--hits", "93", "--seeds", "1")
    plan += ("--price", "0.99", "--fee", "0.2")
    says = "0.99 dollars a HIT and a fee of 20 %, 110 dollars for five systems"
    yield Claim("Cost", says, f"93 HITs cost {lab.run(*plan).split()[-1]}", lab.shown(*plan))
    command = "`python benchmarks/trecvid.py DATA/trecvid-vtt`"
    scored = system_scores(lab.campaigns["2016-single"])
    human = [score.raw for score in scored if human_letter(score.system)]
    systems = [score.raw for score in scored if not human_letter(score.system)]
    here = f"people {max(human):.1f}, systems {min(systems):.1f} to {max(systems):.1f} (single annotators of 2016)"
    yield Claim("Table 4", "people 88.2 %, systems 37.7 to 66.2 %", here, command)
    tested = significance(lab.campaigns["2016-single"])
    number = len(tested.systems)
    ties = sum(
        not (tested.wins(row, column) or tested.wins(column, row)) for row in range(number) for column in range(row)
    )
    yield Claim(
        "Figure 7",
        "one pair of systems without a significant difference",
        f"pairs without one among {number} systems, people included: {ties}",
        command,
    )
    people = {score.system for scores in lab.campaigns.values() for score in scores if human_letter(score.system)}
    for year in ("2016", "2017"):
        runs = [system_scores(lab.campaigns[f"{year}-{kind}"]) for kind in ("single", "multiple")]
        raw, z = replication(*runs, leave_out=people)
        here = (
            f"single against multiple annotators of {year}: r {raw.pearson:.3f} raw, {z.pearson:.3f} z, {raw.n} systems"
        )
        yield Claim("Table 5", "two runs give almost the same scores of systems", here, command)
    report, shown = lab.agreement
    found = _set(report, "2016-single")
    for metric, says in (("meteor", "METEOR -0.602"), ("bleu4", "BLEU agrees better than METEOR")):
        here = f"{_agreement(report, '2016-single', metric, 'system')} ({found['systems']} systems, z-scores)"
        yield Claim("Table 6", f"r of systems: {says}", here, shown)


def emscore(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of Shi et al."""
    show = ("show", lab.foils)
    total = lab.read(*show)["total"]
    shown = f"{lab.shown(*show)}, built with {' and '.join(f'`{setting}`' for setting in FOIL_SETTINGS)}"
    yield Claim("4.2", "1,900 pairs of paragraphs", f"{total['paragraphs']:,}", shown)
    yield Claim("4.2", "2,191 pairs of a concept and its foil", f"{total['swaps']:,} occur in the foils", shown)
    yield Claim(
        "4.2", "concepts of one supercategory are swapped", f"{total['supercategories']} supercategories", shown
    )
    printed = {"bleu1": 60.11, "bleu4": 66.11, "rouge-l": 56.74, "meteor": 72.89, "cider-d": 77.89}
    named = lab.name_metrics(*(metric for metric in printed if metric != "meteor"))
    test = ("metric", "test", lab.foils, *named, "--draws", "100")
    report = lab.read(*test)
    pairs = next((each for each in report["stress"] if each["name"].endswith("paragraphs")), report["stress"][0])
    for metric, percent in printed.items():
        if metric in pairs["metrics"]:
            found = pairs["metrics"][metric]["foil"]["all"]
            right, ties = found["above"]["score"], found["ties"]
            here = (
                f"{100 * right:.2f}, and {100 * (right + ties / 2):.2f} with ties counted half ({100 * ties:.1f} % tie)"
            )
        else:
            here = f"not measured: {report.get('unavailable', {}).get(metric, LEFT_OUT)}"
        yield Claim("Table 6", f"accuracy of {metric}: {percent:.2f}", here, lab.shown(*test))
    for name, percent in (("EMScore", 89.47), ("EMScore_ref", 92.42), ("BERTScore", 86.68)):
        missing = "weights of its encoder are" if name == "BERTScore" else "videos and the weights of its encoder are"
        here = f"not measured: the {missing} not at hand"
        yield Claim("Table 6", f"accuracy of {name}: {percent:.2f}", here, "")
    report, shown = lab.agreement
    for metric in ("bleu4", "cider-d"):
        drift = _set(report, "2017-multiple")["drift"].get(metric, {})
        here = ", ".join(f"{estimate['score']:.3f}" for estimate in drift.values()) or "not measured"
        says = f"quality drift: tau of {metric} on sets 1 to 5" + (
            " is higher on set 1 than on set 5" if metric == "bleu4" else ""
        )
        yield Claim("5.1.2, figure 6", says, f"{here} (TRECVID 2017, multiple annotators, scores of 0 to 100)", shown)
    here = "not measured: the ratings of VATEX-EVAL are not published with the code"
    yield Claim("4.1", "agreement of annotators .568 (Kendall), .628 (Spearman)", here, "")


def bertha(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of Lebron et al."""
    command = "`python benchmarks/trecvid.py DATA/trecvid-vtt`"
    for kind, says in (
        ("single", "56,088 judgments by single annotators"),
        ("multiple", "7,705 by multiple annotators"),
    ):
        years = sorted(name.partition("-")[0] for name in lab.campaigns if name.endswith(kind))
        number = sum(len(lab.campaigns[f"{year}-{kind}"]) for year in years)
        yield Claim(
            "Data set", f"{says}, 2016 to 2020", f"{number:,} of {' and '.join(years)}, the years at hand", command
        )
    report, shown = lab.agreement
    tried = [name for name in ("2019-multiple", "2020-multiple") if name in lab.campaigns]
    for metric, printed in TABLE_2.items():
        here = "; ".join(
            f"{name} {_agreement(report, name, metric, 'caption')}"
            for name in tried or ("2016-multiple", "2017-multiple")
        )
        says = f"r of captions, multiple annotators of 2019 and 2020: {metric} {printed}"
        yield Claim("Table 2", says, f"{here}, at the right line of the files", shown)
    fuse = ("metric", "fuse", lab.trecvid, *lab.name_metrics(*METRICS))
    fusion = lab.read(*fuse)
    published = "bleu4 -0.1373, cider-d 0.0315, meteor 0.281, rouge-l -0.0779"
    fits = {name: values for name, values in fusion["coefficients"].items() if "+" in name}
    for name, values in [*fits.items()][:2]:
        here = ", ".join(f"{metric} {value['score']:.4f}" for metric, value in values.items())
        says = f"coefficients of the fusion: {published}"
        yield Claim("Linear model", says, f"{here} (fitted on {name}, without BERTHA)", lab.shown(*fuse))
    judged, captions, systems = "BERTHA-MA on multiple annotators of 2019 and 2020", NO_ENCODER, NO_ENCODER
    if lab.encoder is not None and len(tried) == 2:
        arguments = (lab.trecvid, lab.work / "learned", str(lab.encoder), ("2016", "2017", "2018"), ("2019", "2020"))
        found = list(try_on_years(*arguments, kind="multiple", epochs=2))
        r = [{name: r for name, (r, _, _) in of_year.r.items()} for of_year in found]
        captions = _compared(lab.encoder, r)
        systems = _compared(lab.encoder, [of_year.r_of_systems for of_year in found])
    yield Claim("Table 2", f"r of captions, {judged}: .225 and .247", captions, LEARNED)
    yield Claim("Table 1", f"r of systems, {judged}: .882 and .863", systems, LEARNED)


def _compared(encoder: Path, by_year: Sequence[Mapping[str, float]]) -> str:
    """Return the figures of the fine-tuned encoder and of its plain similarity by year."""
    learned, plain = (
        " and ".join(f"{figures[name]:.3f}" for figures in by_year) for name in ("learned", "sentence-similarity")
    )
    return f"{learned} by {encoder.name} in place of BERT, {plain} by its plain similarity"


def hodosh(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of Hodosh, Young and Hockenmaier."""
    command = "`python benchmarks/ranking_judgments.py SHARED`"
    tag_rank = "TagRank: the mean of two chi-squared kernels, of absolute and of relative ranks"
    left_out = "left out: the paper does not say what normalizes its kernels; the trigram kernel of 3.4.3 is there"
    yield Claim("3.4.2", tag_rank, left_out, "")
    judgments = ranking_judgments.read_judgments(lab.shared)
    figures = (ranking_judgments.bleu_figures, ranking_judgments.stemmed_figures, ranking_judgments.crowd_figures)
    for section, yield_figures in zip(("4.2.1, table 8 and 9", "4.2.2", "4.3.2, table 10"), figures, strict=True):
        for name, measured, printed in yield_figures(judgments):
            here = f"{measured:,}" if isinstance(measured, int) else f"{measured:.3f}"
            here += " (of a damaged copy of the judgments)" if section.startswith("4.3.2") else ""
            yield Claim(section, f"{name}: {printed:,}", here, command)
    voted = [(*judgments.crowd[p], total / 3) for p, total in judgments.expert.items() if p in judgments.crowd]
    compared = {round(row.expert, 2): row for row in lay_against_expert(voted, [8 / 3, 11 / 3, 4.0], [RELEVANT])}
    compare = "`vttdata.people.scoring.relevance.lay_against_expert`"
    for least, name, printed in ((4.0, "recall", 98.6), (3.67, "recall", 95.0), (2.67, "precision", 94.7)):
        says = f"{name} of the crowd's relevant pairs against an expert score of {least}: {printed} %"
        here = f"{100 * getattr(compared[least], name):.1f} % (of a damaged copy of the judgments)"
        yield Claim("4.3.2, table 10", says, here, compare)


PAPERS: dict[str, tuple[str, Callable[[Laboratory], Iterator[Claim]]]] = {
    "msrvtt": ("MSR-VTT: Xu, Mei, Yao, Rui, CVPR 2016", msrvtt),
    "assessment": ("Direct Assessment of video captions: Graham, Awad, Smeaton, PLOS ONE 2018", assessment),
    "emscore": ("EMScore, VATEX-EVAL and ActivityNet-FOIL: Shi et al., CVPR 2022", emscore),
    "bertha": ("BERTHA: Lebron, Graham, O'Connor, McGuinness, 2022", bertha),
    "hodosh": ("Image description as a ranking task: Hodosh, Young, Hockenmaier, JAIR 2013", hodosh),
}
"""Name -> title, and the claims of the paper."""

INTRODUCTION = """# What the papers say, and what comes out here

Written by `python -m benchmarks.papers SHARED WORK`, which runs the commands below; nothing is edited by hand. DATA is
the folder of the official files, WORK that of builds. Where a figure was measured on other material than the paper's,
its cell says on which, and where nothing could be measured, what is missing.
"""


def _set(report: Any, name: str) -> Any:
    return next(found for found in report["sets"] if found["name"].endswith(name))


def _agreement(report: Any, name: str, metric: str, level: str) -> str:
    """Return Pearson's r of a metric with z-scores on a set, or why there is none."""
    found = _set(report, name)["metrics"].get(metric)
    if found is None:
        return f"not measured ({report.get('unavailable', {}).get(metric, LEFT_OUT)})"
    return f"{found['human']['z'][level]['pearson']['score']:.3f}"


def section(name: str, lab: Laboratory) -> str:
    """Return the section of a paper."""
    title, claims = PAPERS[name]
    rows = [("section", "the paper says", "here", "command"), ("---",) * 4, *claims(lab)]
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows]
    return f"## {title}\n\n{''.join(lines)}"


def main() -> None:
    """Write the page, or print a section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path, help="folder of real data")
    parser.add_argument("work", type=Path, help="folder for builds and scores")
    parser.add_argument("--only", choices=PAPERS, help="print the section of this paper")
    parser.add_argument("--meteor", action="store_true", help="compute METEOR, too")
    parser.add_argument("--trecvid", type=Path, help="folder of TRECVID's judgments of all years")
    parser.add_argument("--encoder", type=Path, help="folder of an encoder that is fine-tuned as BERTHA was")
    options = parser.parse_args()
    chosen = {name: getattr(options, name) for name in ("meteor", "trecvid", "encoder")}
    lab = Laboratory(options.shared, options.work, **chosen)
    if options.only:
        print(section(options.only, lab), end="")
        return
    parts = [INTRODUCTION, *(section(name, lab) for name in PAPERS)]
    PAGE.write_text("\n".join(parts), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
