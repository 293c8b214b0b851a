"""Image description as a ranking task: Hodosh, Young, Hockenmaier, JAIR 2013."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks import ranking_judgments
from benchmarks.papers import ranking_models
from benchmarks.papers.claim import Claim
from benchmarks.papers.laboratory import Laboratory
from benchmarks.ranking_judgments import GOLD, Judgments
from vttdata.generate.prefilter import alphanumeric_words, make_stemmer, reaches
from vttdata.people.scoring.relevance import RELEVANT, lay_against_expert
from vttdata.statistics.agreement import cohen_kappa
from vttdata.statistics.hypothesis_tests import scipy_stats

TITLE = "Image description as a ranking task: Hodosh, Young, Hockenmaier, JAIR 2013"
NO_JUDGES = "the experts' file does not say which system proposed a pair, and what other systems propose is not judged"
EXHIBITS = {
    "Figure 1": ("other data sets", "pictures"),
    "Figure 2": ("the data set", "pictures"),
    "Figure 3": ("words most similar to two words", ""),
    "Figure 4": ("the rating scale", "pictures; the scale is that of `vttdata people`'s relevance task"),
    "Table 1": ("distribution of experts' scores by system", NO_JUDGES),
    "Table 2": ("mean experts' scores, BLEU and ROUGE by system", NO_JUDGES),
    "Table 3": ("recall and median rank", ""),
    "Table 4": ("rate of success", ""),
    "Table 5": ("R-precision", ""),
    "Table 6": ("effect of idf and similarities of words", ""),
    "Table 7": ("correlation of rankings of systems", ""),
    "Table 8": ("kappa of BLEU and ROUGE, captions among the references", ""),
    "Table 9": ("kappa of BLEU and ROUGE, captions not among the references", ""),
    "Table 10": ("the crowd against the experts", ""),
    "Table 11": ("recall and median rank of all models", ""),
    "Table 12": ("success and R-precision of all models", ""),
}
JUDGED = "`python benchmarks/ranking_judgments.py SHARED`"
RANKED = "`python -m benchmarks.papers SHARED WORK --renew ranking [--features FILE] [--wordnet FOLDER]`"
DAMAGED = "a damaged copy of the crowd's judgments"
LEFT_OUT = {
    "3.3": (
        "image kernels of colours, texture and SIFT, as histograms and pyramids",
        "Flickr8k's images are not published with its texts; features come from a file",
    ),
    "3.4.2": (
        "TagRank: the mean of two chi-squared kernels, of absolute and of relative ranks",
        "the paper does not say what normalizes its kernels",
    ),
    "3.5.3": ("similarities of words from the British National Corpus", "the corpus is not free"),
}
# R-precision of annotation and of search, as the text names them, and what else it names.
PRINTED = {
    "Tri5Sem": ("13.4", "13.7"),
    "Tri5": ("11.6", "11.0"),
    "Tri5+IDF": ("11.3", "12.5"),
    "Tri5Lin": ("11.7", "10.7"),
}
FIRST_ANNOTATED = {"Tri5Sem": "8.3", "BoW5": "6.2"}
SUCCESS_AT_10 = {"Tri5Sem": ("49.1", "48.5")}
# What is added -> the model without it and with it.
ADDED = {
    "idf": [("Tri5", "Tri5+IDF"), ("Tri5+A", "Tri5+A+IDF"), ("Tri5+D", "Tri5+D+IDF"), ("Tri5+A+D", "Tri5Sem")],
    "alignment": [("Tri5", "Tri5+A"), ("Tri5+IDF", "Tri5+A+IDF"), ("Tri5+D", "Tri5+A+D"), ("Tri5+D+IDF", "Tri5Sem")],
    "distributional similarity": [
        ("Tri5", "Tri5+D"),
        ("Tri5+IDF", "Tri5+D+IDF"),
        ("Tri5+A", "Tri5+A+D"),
        ("Tri5+A+IDF", "Tri5Sem"),
    ],
}
TASKS = ("annotation", "search")


def claims(lab: Laboratory) -> Iterator[Claim]:
    """Yield the figures of the paper."""
    judgments = ranking_judgments.read_judgments(lab.shared)
    yield from data_set(lab)
    for section, (says, reason) in LEFT_OUT.items():
        yield Claim(section, says, here=f"left out: {reason}")
    yield from models(lab)
    tables = {"5 references": "Table 8", "gold caption": "Table 8", "4 other references": "Table 9"}
    figures = (ranking_judgments.bleu_figures, ranking_judgments.stemmed_figures, ranking_judgments.crowd_figures)
    for place, yield_figures in zip(("4.2.1", "4.2.2", "4.3.2"), figures, strict=True):
        for name, measured, printed in yield_figures(judgments):
            table = tables.get(name.partition(", ")[2]) or ("Table 10" if place == "4.3.2" else "")
            section = ", ".join(filter(None, ("4.3.2" if "removed" in name or "lost" in name else place, table)))
            material = DAMAGED if place == "4.3.2" and not name.startswith("Kripp") else ""
            yield Claim(section, name, (f"{printed:,}",), (measured,), material=material, command=JUDGED)
    yield from one_reference(judgments)
    yield from crowd(judgments)


def data_set(lab: Laboratory) -> Iterator[Claim]:
    """Yield the counts of the data set."""
    folder = lab.shared / "data/flickr8k"
    lines = (folder / "Flickr8k.token.txt").read_text(encoding="utf-8").splitlines()
    texts = [line.partition("\t")[2] for line in lines]
    images = {line.partition("#")[0] for line in lines}
    lists = [len((folder / f"Flickr_8k.{name}Images.txt").read_text().split()) for name in ("train", "dev", "test")]
    yield Claim("2.3.2", "images, and captions each", ("8,092", "5"), (len(images), len(texts) / len(images)))
    words = sum(map(len, map(str.split, texts))) / len(texts)
    yield Claim("2.3.2", "mean length of captions", ("11.8",), (words,), here="words and marks between blanks")
    yield Claim("4.1.1", "images for training, development, testing", ("6,000", "1,000", "1,000"), lists)


def models(lab: Laboratory) -> Iterator[Claim]:
    """Yield the scores of models, what their parts add, and how measures order them."""
    images = "features of a file" if lab.features else "stand-ins for images, made of one caption of each"
    program = f"{images}; WordNet 3.0; stems and stop words of vttdata"
    kept = lab.keep("ranking models", program, lambda: rank_models(lab), renew="ranking" in lab.renew)
    if kept is None:
        yield Claim("4.3, Table 3, Table 4, Table 5, Table 6, Table 7, Table 11, Table 12", "models", here="not run")
        yield Claim("3.5.5, Figure 3", "words most similar to rider and swim", here="not run")
        return
    found, note = kept["figures"], f"{kept['date']}"
    scores: dict[str, dict[str, Any]] = found["models"]
    material = kept["with"].partition(";")[0]
    for word, by in found["similar"].items():
        words = "; ".join(f"{name}: {', '.join(of)}" for name, of in by.items())
        yield Claim(
            "3.5.5, Figure 3", f"words most similar to {word}", here=words, material="captions alone", command=RANKED
        )

    def scored(section: str, says: str, key: str, printed: dict[str, tuple[str, ...]]) -> Iterator[Claim]:
        for name, of in scores.items():
            figures = "; ".join(f"{task} {', '.join(f'{v:.1f}' for v in of[task][key])}" for task in TASKS)
            yield Claim(
                section,
                f"{name}: {says}",
                printed.get(name, ()),
                [of[task][key][-1 if key != "recall" else 0] for task in TASKS[: len(printed.get(name, ()))]],
                here=f"{figures}; {note}",
                material=material,
                command=RANKED,
            )

    first = {name: (value,) for name, value in FIRST_ANNOTATED.items()}
    yield from scored("4.3.1, Table 3, Table 11", "R@1, R@5, R@10 and median rank", "recall", first)
    yield from scored("4.3.3, Table 4, Table 12", "S@1, S@5, S@10", "success", SUCCESS_AT_10)
    yield from scored("4.3.3, Table 5, Table 12", "R-precision", "r_precision", PRINTED)
    for added, pairs in ADDED.items():
        known = [(a, b) for a, b in pairs if a in scores and b in scores]
        gains = {
            f"{task}, {without}": scores[model][task]["r_precision"][0] - scores[without][task]["r_precision"][0]
            for without, model in known
            for task in TASKS
        }
        yield Claim(
            "4.3.4, Table 6",
            f"R-precision rises when {added} is added",
            holds={name: gain > 0 for name, gain in gains.items()},
            here="; ".join(f"{name}: {gain:+.1f}" for name, gain in gains.items()),
            material=material,
            command=RANKED,
        )
    for name in ("NN", "BoW1", "BoW5", "Tri5", "Tri5Lin"):
        if name in scores:
            p = {task: scores[name][task]["p"] for task in TASKS}
            yield Claim(
                "4.3.3, Table 5",
                f"Tri5Sem has a higher R-precision than {name}, p <= .01",
                holds={
                    task: value <= 0.01 and scores["Tri5Sem"][task]["r_precision"] > scores[name][task]["r_precision"]
                    for task, value in p.items()
                },
                here=", ".join(f"{task} p {value:.4f}" for task, value in p.items()),
                material=material,
                command=RANKED,
            )
    rho = {
        task: [
            float(scipy_stats().spearmanr(*zip(*columns, strict=True)).statistic)
            for place in range(3)
            for columns in [[(of[task]["recall"][place], of[task]["r_precision"][0]) for of in scores.values()]]
        ]
        for task in TASKS
    }
    yield Claim(
        "4.3.5, Table 7",
        "recall at 5 and at 10 orders systems more like R-precision than recall at 1 does",
        holds={task: min(values[1:]) >= values[0] for task, values in rho.items()},
        here="; ".join(f"{task}: rho {', '.join(f'{v:.2f}' for v in values)}" for task, values in rho.items()),
        material=material,
        command=RANKED,
    )


def rank_models(lab: Laboratory) -> dict[str, Any]:
    """Return the scores of all models on both tasks, and the words that similarities bring together."""
    data = ranking_models.Flickr8k.read(lab.shared / "data/flickr8k", lab.features)
    similarities = {"alignment": ranking_models.aligned(data), "captions": ranking_models.distributional(data)}
    if lab.wordnet is not None:
        similarities["Lin"] = ranking_models.lin(data, lab.wordnet)
    similar = {
        word: {name: ranking_models.most_similar(data, of, word) for name, of in similarities.items()}
        for word in ("rider", "swim")
    }
    judgments = ranking_judgments.read_judgments(lab.shared)
    number = {image: place for place, image in enumerate(judgments.images)}
    relevant = {task: [{place} for place in range(len(number))] for task in TASKS}
    for image, caption in ranking_judgments.relevant_pairs(judgments):
        relevant["annotation"][number[image]].add(number[caption.partition("#")[0]])
        relevant["search"][number[caption.partition("#")[0]]].add(number[image])
    scores: dict[str, dict[str, Any]] = {}
    best: dict[str, ranking_models.Floats] = {}
    for name, ranked in ranking_models.models(data, lab.wordnet, lab.processes):
        scores[name] = {}
        for task in TASKS:
            of = ranking_models.score(getattr(ranked, task), relevant[task])
            best.setdefault(task, of.by_query)
            scores[name][task] = {
                "recall": [*of.recall, of.median],
                "success": of.success,
                "r_precision": [of.r_precision],
                "p": ranking_models.randomisation_p(best[task], of.by_query),
            }
    return {"models": scores, "similar": similar}


def one_reference(judgments: Judgments) -> Iterator[Claim]:
    """Yield the best kappa of BLEU and ROUGE with one reference that is not the candidate, over thresholds."""
    measures = {
        "BLEU": (alphanumeric_words, ranking_judgments.unigram_precision, "0.36"),
        "ROUGE": (make_stemmer(), ranking_judgments.unigram_recall, "0.42"),
    }
    for name, (prepare, count, printed) in measures.items():
        words = {key: prepare(text) for key, text in judgments.captions.items()}
        candidates = [words[caption] for _, caption in judgments.expert]
        best = {}
        for other in (number for number in range(5) if number != GOLD):
            counted = count(candidates, [[words[f"{image}#{other}"]] for image, _ in judgments.expert])
            best[other] = max(
                cohen_kappa(
                    reaches(counted, Fraction(tenths, 10)).tolist(),
                    [total >= least for total in judgments.expert.values()],
                )
                for tenths, least in itertools.product(range(1, 11), range(7, 13))
            )
        yield Claim(
            "4.2.2, Table 9",
            f"kappa of {name}, one other reference",
            (printed,),
            (float(np.mean(list(best.values()))),),
            here=f"mean over the other captions of each one's best thresholds, {min(best.values()):.2f} to "
            f"{max(best.values()):.2f}",
            command="`benchmarks/papers/hodosh.py`",
        )


def crowd(judgments: Judgments) -> Iterator[Claim]:
    """Yield how the crowd's relevant pairs agree with experts, and how many captions are relevant to images."""
    voted = [(*judgments.crowd[p], total / 3) for p, total in judgments.expert.items() if p in judgments.crowd]
    compared = {round(row.expert, 2): row for row in lay_against_expert(voted, [8 / 3, 11 / 3, 4.0], [RELEVANT])}
    for least, name, printed in ((4.0, "recall", "98.6"), (3.67, "recall", "95.0"), (2.67, "precision", "94.7")):
        yield Claim(
            "4.3.2, Table 10",
            f"{name} of the crowd's relevant pairs against an expert score of {least}, in %",
            (printed,),
            (100 * getattr(compared[least], name),),
            material=DAMAGED,
            command="`vttdata.people.scoring.relevance.lay_against_expert`",
        )
    originals = {(image, f"{image}#{GOLD}") for image in judgments.images}
    pairs = ranking_judgments.relevant_pairs(judgments) | originals
    captions = Counter(Counter(image for image, _ in pairs).values())
    yield Claim(
        "4.3.2",
        "images with 1, 2, 3 and more relevant captions",
        ("331", "202", "100", "317"),
        [*(captions[number] for number in (1, 2, 3)), sum(n for number, n in captions.items() if number > 3)],
        here="the printed ones sum to 950 of 1,000 images",
        material=DAMAGED,
        command=JUDGED,
    )
