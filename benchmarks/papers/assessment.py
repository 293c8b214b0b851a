"""Direct Assessment of video captions: Graham, Awad, Smeaton, PLOS ONE 2018."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.papers import tied_pair
from benchmarks.papers.claim import Claim, Note
from benchmarks.papers.laboratory import Laboratory
from benchmarks.papers.word_metrics import williams_p
from vttdata.annotations.trecvid.judgments import human_letter
from vttdata.generate.degrade.degrade import video_count
from vttdata.people import replication, significance, system_scores
from vttdata.people.tasks.caption import CaptionTask, CaptionTaskSettings
from vttdata.people.tasks.rate_slider import SliderSettings

TITLE = "Direct Assessment of video captions: Graham, Awad, Smeaton, PLOS ONE 2018"
NO_STS = "UMBC's service is gone; `vttdata show --similarity` compares authors by words or by an encoder"
NO_RUNS = "bars without numbers in the copy; of the 16 runs, the five nominated ones are published, and could be shown"
EXHIBITS = {
    "Figure 1": ("BLEU of 16 runs", NO_RUNS),
    "Figure 2": ("METEOR of 16 runs", NO_RUNS),
    "Figure 3": ("keyframes of a re-enacted video", "a picture"),
    "Figure 4": ("STS of the two human captions, median .545", NO_STS),
    "Figure 5": ("STS between systems", NO_STS),
    "Table 1": ("mean STS of each system with the others", NO_STS),
    "Figure 6": ("the task's page", "a picture; ours is in [people.md](people.md)"),
    "Table 2": ("words replaced by length", ""),
    "Table 3": ("examples of degraded captions", "examples; `vttdata degrade` makes them"),
    "Table 4": ("scores of systems", ""),
    "Figure 7": ("significant differences", ""),
    "Table 5": ("correlation of two runs", ""),
    "Table 6": ("correlation of metrics with people", ""),
    "Figure 8": ("BLEU against people", ""),
    "Figure 9": ("METEOR against people", ""),
    "Figure 10": ("STS against people", NO_STS),
}
METRICS_HERE = "`python -m benchmarks.papers SHARED WORK --trecvid FOLDER --only assessment`"
RANKING = "`python benchmarks/trecvid.py DATA/trecvid-vtt`"
CAMPAIGNS = {"2016-single": "", "2016-multiple": "the multiple annotators; the paper's are single ones, it seems"}
"""Judgments of 2016, and why they are not those of the paper."""
# Shorter names of the systems, as the paper has them.
SHORT = {
    "DCU-adapt": "DCU",
    "INF-coco": "INF",
    "MEDIAMILL": "MediaMill",
    "NII-resnet": "NII",
    "SHEF-UETlahore": "Sheffield",
}
BEST, TIED = "SHEF-UETlahore", frozenset({"INF-coco", "DCU-adapt"})
REPRODUCED = 0.9
"""Least correlation that is taken for almost perfectly reproducible."""


def claims(lab: Laboratory) -> Iterator[Claim | Note]:
    """Yield the figures of the paper, and what was tried to explain the pair that is tied."""
    references = {
        kind: sum(1 for _ in path.open(encoding="utf-8"))
        for kind in ("single", "multiple")
        for path in (lab.annotations / f"{kind}-annotator/2016/references").iterdir()
    }
    yield Claim(
        "Data and system task",
        "videos that are left of 2,000, each with two captions",
        ("1,915",),
        (references["single"],),
        here=f"captions of single annotators; {references['multiple']:,} of multiple ones",
        command="`wc -l DATA/trecvid-vtt/single-annotator/2016/references/*`",
    )
    with_facets, without = (CaptionTask(CaptionTaskSettings(facets=on)).instructions() for on in (True, False))
    facets = [line.partition(":")[0] for line in with_facets[1:] if line not in without and line[0] == "W"]
    yield Claim(
        "Data and system task",
        "captions say who, what, where and when in one sentence",
        holds={"task": facets == ["Who", "What", "Where", "When"]},
        here=f"workers are asked for {', '.join(facets).lower()}",
        setting=True,
        command="`vttdata people make caption --set facets=true`",
    )
    lengths, words = (5, 8, 15, 20, 40), ("2", "3", "4", "5", "10")
    yield Claim(
        "Table 2",
        f"words replaced in captions of {', '.join(map(str, lengths))} words, by the table of WMT17",
        words,
        [video_count(length) for length in lengths],
        material="the table of WMT17, by the same author, since the paper's is not in the copy",
        command="`vttdata.generate.degrade.degrade.video_count`",
    )
    task = SliderSettings()
    yield Claim(
        "Quality controlling the crowd, Results",
        "captions a HIT; least pairs of a caption and its degraded form; level of significance of the paired test",
        ("100", "10", "0.05"),
        (task.system + task.human + task.degraded + task.repeat, task.min_pairs, task.alpha),
        here="z-scores by worker, means by caption and then by system, and rank-sum tests are the default, too",
        setting=True,
        command="`vttdata people make rate-slider`",
    )
    scores = lab.campaigns["2016-single"]
    hits = sum(score.assessments for score in scores) // tied_pair.JUDGMENTS_A_HIT
    plan = ("people", "plan", "--systems", "5", "--gap", "10", "--hits", str(hits), "--seeds", "1")
    plan += ("--price", "0.99", "--fee", "0.2")
    yield Claim(
        "Results",
        "cost of five systems, of 0.99 USD a HIT and a fee of 20 %",
        ("110 USD",),
        (float(lab.run(*plan).split()[-1]),),
        material=f"{hits} HITs, which the published judgments of single annotators make if {tied_pair.JUDGMENTS_A_HIT} "
        "of a HIT's 100 count, as their numbers suggest",
        command=lab.shown(*plan),
    )
    yield Claim(
        "Results",
        "workers, those who pass quality control, the same as a share, and the share of these who repeat their scores",
        ("90", "72", "80 %", "100 %"),
        here="scores of degraded captions and of repeats are not published",
    )
    yield from rankings(lab)
    people = {score.system for scores in lab.campaigns.values() for score in scores if human_letter(score.system)}
    years = sorted({name.partition("-")[0] for name in lab.campaigns})
    for name, number in (("raw scores", 0), ("z-scores", 1)):
        of_year = {}
        for year in years:
            runs = [system_scores(lab.campaigns[f"{year}-{kind}"]) for kind in ("single", "multiple")]
            of_year[year] = replication(*runs, leave_out=people)[number]
        yield Claim(
            "Table 5",
            f"two runs of 2016 give almost the same {name} of systems",
            holds={year: found.pearson >= REPRODUCED for year, found in of_year.items()},
            here=f"r of {REPRODUCED} or more, our limit; "
            + ", ".join(f"{year}: {found.pearson:.3f} of {found.n} systems" for year, found in of_year.items()),
            material="single against multiple annotators, of each year",
            command=RANKING,
        )
    for campaign, material in CAMPAIGNS.items():
        yield from metrics(lab, campaign, material)
    yield Claim(
        "Metric correlation", "BLEU's r with people is significantly higher than that of STS, p < .05", here=NO_STS
    )
    yield Note(
        "Why the tied pair differs",
        "Experiments of ours on the judgments of single annotators of 2016. The paper has INF and DCU as the only pair "
        "without a significant difference, 37.7 as the lowest score and 88.2 as that of people.",
        [
            ("treatment", "pairs without a difference", "lowest system", "people"),
            *(
                (outcome.treatment, pairs(outcome), f"{outcome.lowest:.1f}", f"{outcome.human:.1f}")
                for outcome in tied_pair.try_causes(scores)
            ),
        ],
    )


def rankings(lab: Laboratory) -> Iterator[Claim]:
    """Yield the scores of systems, and which differ."""
    scored = {score.system: score.raw for score in system_scores(lab.campaigns["2016-single"])}
    systems = [raw for system, raw in scored.items() if not human_letter(system)]
    human = max(raw for system, raw in scored.items() if human_letter(system))
    yield Claim(
        "Table 4",
        "raw scores of people, of the best and of the lowest system",
        ("88.2 %", "66.2 %", "37.7 %"),
        (human, max(systems), min(systems)),
        here="single annotators of 2016; " + ", ".join(f"{short(name)} {raw:.1f}" for name, raw in scored.items()),
        command=RANKING,
    )
    for campaign, material in CAMPAIGNS.items():
        tested = significance(lab.campaigns[campaign])
        outcome = tied_pair.rank(campaign, lab.campaigns[campaign])
        first, second, best = map(tested.systems.index, ("INF-coco", "DCU-adapt", BEST))
        others = [place for place, name in enumerate(tested.systems) if place != best and not human_letter(name)]
        yield Claim(
            "Figure 7",
            "INF and DCU are the only pair of systems without a significant difference",
            holds={campaign: outcome.ties == [TIED]},
            here=f"{pairs(outcome)}; INF better than DCU p {tested.p[first][second]:.3f}; {campaign}",
            material=material,
            command=RANKING,
        )
        yield Claim(
            "Figure 7, Figure 9",
            "Sheffield is significantly better than all other systems",
            holds={campaign: all(tested.wins(best, other) for other in others)},
            here=f"p at most {max(tested.p[best][other] for other in others):.0e}; {campaign}",
            material=material,
            command=RANKING,
        )


def metrics(lab: Laboratory, campaign: str, material: str) -> Iterator[Claim]:
    """Yield the agreement of metrics with people on the five systems, by means of sentence scores, as the paper has."""
    found = lab.agreement[campaign]
    if "meteor" not in found:
        yield Claim("Table 6, Figure 8, Figure 9", "metrics against people", here="METEOR's program was not run")
        return
    bleu, meteor = found["sentence-bleu"], found["meteor"]
    by_bleu, by_meteor = (ordered(of, 2) for of in (bleu, meteor))
    p = williams_p(bleu, meteor)

    def claim(section: str, says: str, here: str, *, holds: bool | None = None, **fields: Any) -> Claim:
        sets = None if holds is None else {campaign: holds}
        fields = {"holds": sets, "material": material, "command": METRICS_HERE} | fields
        return Claim(section, says, here=f"{here}; {campaign}", **fields)

    yield claim(
        "Table 6, Figure 9",
        "r of METEOR with z-scores of systems",
        f"means of sentence scores; of corpus scores {meteor['system']:.3f}; {meteor['measured']}",
        printed=("-0.602",),
        measured=(meteor["sentences"],),
    )
    yield claim(
        "Metric correlation",
        "BLEU's r with people is significantly higher than METEOR's, p < .01 by Williams' test",
        f"r {bleu['sentences']:.3f} and {meteor['sentences']:.3f}, p {p:.3f}; BLEU of sentences is smoothed as in "
        f"mteval; of corpus scores p {williams_p(found['bleu4'], meteor, column=0):.3f}",
        holds=p < 0.01,
    )
    yield claim(
        "Figure 8",
        "BLEU corresponds reasonably well to people, but that it puts MediaMill marginally above Sheffield",
        f"r {bleu['sentences']:.3f}, unsmoothed {found['bleu4']['sentences']:.3f}, of corpus scores "
        f"{found['bleu4']['system']:.3f}; by BLEU {spelt(by_bleu)}; by people {spelt(ordered(bleu, 1))}; taken to "
        "hold if r is above 0 and BLEU has these two first",
        holds=bleu["sentences"] > 0 and list(by_bleu)[:2] == ["MediaMill", "Sheffield"],
    )
    yield claim(
        "Figure 9",
        "METEOR puts Sheffield last",
        f"by METEOR {spelt(by_meteor)}",
        holds=list(by_meteor)[-1] == "Sheffield",
    )
    yield claim(
        "Summary and observations",
        "METEOR scores are higher than BLEU scores",
        "the orders of figures 8 and 9 have both",
        holds=all(by_meteor[system] > score for system, score in by_bleu.items()),
        material=", ".join(filter(None, ("the five nominated ones of 16 runs", material))),
    )


def ordered(metric: dict[str, Any], column: int) -> dict[str, float]:
    """Return system -> score, the highest first, of a column of `OnSet`'s scores by system."""
    scores = {short(system): values[column] for system, values in metric["by_system"].items()}
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def spelt(scores: dict[str, float]) -> str:
    """Return an order of systems in words."""
    return ", ".join(f"{system} {score:.3f}" for system, score in scores.items())


def short(system: str) -> str:
    """Return the name of a system as the paper has it."""
    return SHORT.get(system, system)


def pairs(outcome: tied_pair.Outcome) -> str:
    """Return the pairs without a difference in words."""
    return ", ".join(" and ".join(sorted(map(short, pair))) for pair in outcome.ties) or "no pair"
