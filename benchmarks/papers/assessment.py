"""Direct Assessment of video captions: Graham, Awad, Smeaton, PLOS ONE 2018."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.papers import tied_pair
from benchmarks.papers.claim import Claim
from benchmarks.papers.laboratory import Laboratory
from benchmarks.papers.word_metrics import williams_p
from vttdata.annotations.trecvid.judgments import human_letter
from vttdata.generate.degrade.degrade import video_count
from vttdata.people import replication, significance, system_scores
from vttdata.people.tasks.caption import CaptionTask, CaptionTaskSettings

TITLE = "Direct Assessment of video captions: Graham, Awad, Smeaton, PLOS ONE 2018"
NO_STS = "UMBC's service is gone; `vttdata show --similarity` compares authors by words or by an encoder"
NO_RUNS = "of all 16 runs that were sent in, only the five nominated ones are published"
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
RANKING = "`python benchmarks/trecvid.py DATA/trecvid-vtt`"
# Of 0.99 dollars a HIT and a fee of a fifth.
PAID, EACH_HIT = 110, 0.99 * 1.2
# Shorter names of the systems, as the paper has them.
SHORT = {"DCU-adapt": "DCU", "INF-coco": "INF", "NII-resnet": "NII", "SHEF-UETlahore": "Sheffield"}
REPRODUCED = 0.9
"""Least correlation that is taken for almost perfectly reproducible."""


def claims(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of the paper."""
    lengths, words = (5, 8, 15, 20, 40), ("2", "3", "4", "5", "10")
    yield Claim(
        "Table 2",
        f"words replaced in captions of {', '.join(map(str, lengths))} words",
        words,
        [video_count(length) for length in lengths],
        command="`vttdata.generate.degrade.degrade.video_count`",
    )
    plan = ("people", "plan", "--systems", "5", "--gap", "10", "--hits", "93", "--seeds", "1")
    plan += ("--price", "0.99", "--fee", "0.2")
    cost = float(lab.run(*plan).split()[-1])
    yield Claim(
        "Results", "cost of five systems, in dollars", ("110",), (cost,), here="93 HITs", command=lab.shown(*plan)
    )
    with_facets, without = (CaptionTask(CaptionTaskSettings(facets=on)).instructions() for on in (True, False))
    facets = [line.partition(":")[0] for line in with_facets[1:] if line not in without and line[0] == "W"]
    yield Claim(
        "Data and system task",
        "captions say who, what, where and when in one sentence",
        holds={"task": facets == ["Who", "What", "Where", "When"]},
        here=f"workers are asked for {', '.join(facets).lower()}",
        command="`vttdata people make caption --set facets=true`",
    )
    yield Claim(
        "Results",
        "workers, those who pass quality control, and % of these who repeat their scores",
        ("90", "72", "100"),
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
            f"two runs give almost the same {name} of systems",
            holds={year: found.pearson >= REPRODUCED for year, found in of_year.items()},
            here=f"single against multiple annotators, r of {REPRODUCED} or more; "
            + ", ".join(f"{year}: {found.pearson:.3f} of {found.n}" for year, found in of_year.items()),
            command=RANKING,
        )
    yield from metrics(lab)


def rankings(lab: Laboratory) -> Iterator[Claim]:
    """Yield the scores of systems, and the pair that is tied."""
    scores = lab.campaigns["2016-single"]
    scored = {score.system: score.raw for score in system_scores(scores)}
    systems = [raw for system, raw in scored.items() if not human_letter(system)]
    human = max(raw for system, raw in scored.items() if human_letter(system))
    yield Claim(
        "Table 4",
        "raw scores of people, of the best and of the lowest system, in %",
        ("88.2", "66.2", "37.7"),
        (human, max(systems), min(systems)),
        here="single annotators of 2016; " + ", ".join(f"{short(name)} {raw:.1f}" for name, raw in scored.items()),
        command=RANKING,
    )
    hits = sum(score.assessments for score in scores) / tied_pair.JUDGMENTS_A_HIT
    yield Claim(
        "Results",
        "HITs that the cost pays for, before those of unreliable workers are left out",
        (f"{PAID / EACH_HIT:.0f}",),
        (hits,),
        here=f"HITs behind the published judgments, of {tied_pair.JUDGMENTS_A_HIT} each: they are more than one run's",
        command=RANKING,
    )
    paper = frozenset({"INF-coco", "DCU-adapt"})
    for campaign in ("2016-single", "2016-multiple"):
        tested = significance(lab.campaigns[campaign])
        outcome = tied_pair.rank(campaign, lab.campaigns[campaign])
        first, second = (tested.systems.index(system) for system in ("INF-coco", "DCU-adapt"))
        yield Claim(
            "Figure 7",
            "INF and DCU are the only pair of systems without a significant difference",
            holds={campaign: outcome.ties == [paper]},
            here=f"{pairs(outcome)}; INF better than DCU p {tested.p[first][second]:.3f}, {campaign}",
            command=RANKING,
        )
    claim = "INF and DCU are the only such pair; a cause that was tried"
    for outcome in tied_pair.try_causes(scores):
        figures = f"lowest system {outcome.lowest:.1f}, people {outcome.human:.1f}"
        yield Claim(
            "Figure 7",
            f"{claim}: {outcome.treatment}",
            holds={"INF and DCU alone": outcome.ties == [paper]},
            here=f"{pairs(outcome)}; {figures}",
            command="`benchmarks/papers/tied_pair.py`",
        )
    exchanged = tied_pair.rank("", list(tied_pair.rename(scores, {"INF-coco": "NII-resnet", "NII-resnet": "INF-coco"})))
    yield Claim(
        "Figure 7",
        f"{claim}: the names of INF and NII exchanged",
        holds={"INF and DCU alone": exchanged.ties == [paper]},
        here=f"{pairs(exchanged)}; lowest system {exchanged.lowest:.1f}, people {exchanged.human:.1f}: neither is the "
        "paper's (Table 4), so that names alone do not explain it",
        command="`benchmarks/papers/tied_pair.py`",
    )


def metrics(lab: Laboratory) -> Iterator[Claim]:
    """Yield the correlation of metrics with people's scores of the five systems."""
    command = lab.shown("metric", "test", lab.trecvid, "--metric", "bleu", "--metric", "meteor", "--metric", "spice")
    found = {name: lab.agreement[name] for name in ("2016-single", "2016-multiple")}
    both = {name: of for name, of in found.items() if "meteor" in of}
    notes = "; ".join(dict.fromkeys(of["meteor"]["measured"] for of in both.values()))
    for name, of in found.items():
        r = {metric: f"{of[metric]['system']:.3f}" for metric in ("bleu4", "meteor", "spice") if metric in of}
        measured = ", ".join(f"{metric} {value}" for metric, value in r.items())
        yield Claim(
            "Table 6",
            f"r of METEOR with z-scores of systems ({name})",
            ("-0.602",),
            (of["meteor"]["system"],) if "meteor" in of else (),
            here=f"{measured}; the paper's is of single annotators",
            command=command,
        )
    if not both:
        yield Claim("Figure 8, Figure 9", "metrics against people", here="METEOR's program was not run")
        return
    r = {name: (of["bleu4"]["system"], of["meteor"]["system"]) for name, of in both.items()}
    p = {name: williams_p(of["bleu4"], of["meteor"]) for name, of in both.items()}
    yield Claim(
        "Table 6",
        "BLEU agrees better with people than METEOR",
        holds={name: bleu > meteor for name, (bleu, meteor) in r.items()},
        here=", ".join(f"{name}: {bleu:.3f} and {meteor:.3f}" for name, (bleu, meteor) in r.items()) + f"; {notes}",
        command=command,
    )
    yield Claim(
        "Table 6",
        "the difference is significant by Williams' test, p < .01",
        holds={name: value < 0.01 for name, value in p.items()},
        here=", ".join(f"{name}: p {value:.3f}" for name, value in p.items()),
        command=command,
    )
    yield Claim("Table 6", "BLEU agrees better than STS, p < .05", here=NO_STS)

    def ordered(name: str, metric: str) -> list[str]:
        means = both[name][metric]["by_system"]
        return [short(system) for system in sorted(means, key=lambda system: -means[system][0])]

    by_bleu, by_meteor = ({name: ordered(name, metric) for name in both} for metric in ("bleu4", "meteor"))
    yield Claim(
        "Figure 8",
        "BLEU puts MediaMill before Sheffield, and people Sheffield first",
        holds={name: order.index("MEDIAMILL") < order.index("Sheffield") for name, order in by_bleu.items()},
        here="; ".join(f"{name}: {', '.join(order)}" for name, order in by_bleu.items()),
        command=command,
    )
    yield Claim(
        "Figure 9",
        "METEOR puts Sheffield last",
        holds={name: order[-1] == "Sheffield" for name, order in by_meteor.items()},
        here="; ".join(f"{name}: {', '.join(order)}" for name, order in by_meteor.items()),
        command=command,
    )


def short(system: str) -> str:
    """Return the name of a system as the paper has it."""
    return SHORT.get(system, system)


def pairs(outcome: tied_pair.Outcome) -> str:
    """Return the pairs without a difference in words."""
    return ", ".join(" and ".join(sorted(map(short, pair))) for pair in outcome.ties) or "no pair"
