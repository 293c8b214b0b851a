"""Image description as a ranking task: Hodosh, Young, Hockenmaier, JAIR 2013."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks import ranking_judgments
from benchmarks.papers import ranking_models
from benchmarks.papers.claim import Claim, Note
from benchmarks.papers.laboratory import PIPELINE, Laboratory
from benchmarks.ranking_judgments import GOLD, Judgments
from vttdata.generate.prefilter import alphanumeric_words, make_stemmer, reaches
from vttdata.people.scoring.relevance import RELEVANT, is_relevant, lay_against_expert
from vttdata.statistics.agreement import cohen_kappa
from vttdata.statistics.hypothesis_tests import scipy_stats
from vttdata.text.nouns.mentions import load_pipeline

TITLE = "Image description as a ranking task: Hodosh, Young, Hockenmaier, JAIR 2013"
TASKS = ("annotation", "search")
NO_JUDGES = "the experts' file does not say which system proposed a pair, and what other systems propose is not judged"
NO_FIGURES = "no figure of it is in the copy; 12 models, not its 30, are below the table of claims"
EXHIBITS = {
    "Figure 1": ("other data sets", "pictures"),
    "Figure 2": ("the data set", "pictures"),
    "Figure 3": ("words most similar to two words", ""),
    "Figure 4": ("the rating scale", "pictures; the scale is that of `vttdata people`'s relevance task"),
    "Table 1": ("distribution of experts' scores by system", NO_JUDGES),
    "Table 2": (
        "mean experts' scores, BLEU and ROUGE by system",
        f"{NO_JUDGES}; BLEU and ROUGE need what the paper's systems proposed, which is not published",
    ),
    "Table 3": ("recall and median rank", ""),
    "Table 4": ("rate of success", ""),
    "Table 5": ("R-precision", ""),
    "Table 6": ("effect of idf and similarities of words", ""),
    "Table 7": ("correlation of rankings of systems", ""),
    "Table 8": ("kappa of BLEU and ROUGE, captions among the references", ""),
    "Table 9": ("kappa of BLEU and ROUGE, captions not among the references", ""),
    "Table 10": ("the crowd against the experts", ""),
    "Table 11": ("recall and median rank of all models", NO_FIGURES),
    "Table 12": ("success and R-precision of all models", NO_FIGURES),
}
JUDGED = "`python benchmarks/ranking_judgments.py SHARED`"
ONLY_HERE = "`python -m benchmarks.papers SHARED WORK --only hodosh`"
RANKED = "`python -m benchmarks.papers SHARED WORK --renew ranking [--features FILE] [--wordnet FOLDER]`"
STATIC = {"sit", "stand", "wear", "look"}
DAMAGED = "a damaged copy of the crowd's judgments"
MODELS = "our models, which are below this table"
NO_SYSTEMS = "what the paper's 30 systems proposed is not published"
LEFT_OUT = [
    Claim(
        "3.3",
        "image kernels of colours, texture and SIFT, as histograms and pyramids",
        here="left out: Flickr8k's images are not published with its texts; features come from a file",
    ),
    Claim(
        "3.4.2, 4.3.1, Table 3",
        "TagRank, the mean of two chi-squared kernels, of absolute and of relative ranks: its R@1 of annotation",
        ("6.0",),
        here="left out: the paper does not say what normalizes its kernels",
    ),
    Claim("3.5.3", "similarities of words from the British National Corpus", here="left out: the corpus is not free"),
    Claim("4.2.2", "r of systems' mean sentence BLEU with their corpus BLEU, above", ("0.997",), here=NO_SYSTEMS),
    Claim(
        "4.3.2",
        "pairs that systems have among the first ten, and the share of these that BLEUpre >= .25 removes",
        ("113,006", "72.8 %"),
        here=NO_SYSTEMS,
    ),
]
# Measure and its place in the kept scores -> model -> figures of annotation and of search, as the text has them.
PRINTED: dict[tuple[str, str, str, int], dict[str, tuple[str, ...]]] = {
    ("4.3.1, Table 3", "R@1 of annotation", "recall", 0): {"Tri5Sem": ("8.3",), "BoW5": ("6.2",)},
    ("4.3.3, Table 4", "S@10 of annotation and of search", "success", 2): {"Tri5Sem": ("49.1", "48.5")},
    ("4.3.4, Table 6", "R-precision of annotation and of search", "r_precision", 0): {
        "Tri5Sem": ("13.4", "13.7"),
        "Tri5": ("11.6", "11.0"),
        "Tri5+IDF": ("11.3", "12.5"),
    },
    ("4.3.4", "R-precision of annotation and of search", "r_precision", 0): {"Tri5Lin": ("11.7", "10.7")},
}
# What the text says of table 6 -> task, model without and with what is added, and whether it is said to be better.
ADDED = {
    "idf is almost always beneficial, significantly in two cases": [
        (task, model, f"{model}+IDF", True) for task in TASKS for model in ("Tri5", "Tri5+A", "Tri5+D")
    ],
    "similarities from captions help Tri5 on both tasks, and Tri5+IDF and Tri5+A on search; on annotation they do not "
    "help Tri5+A, or slightly lower it": [
        ("annotation", "Tri5", "Tri5+D", True),
        ("search", "Tri5", "Tri5+D", True),
        ("search", "Tri5+IDF", "Tri5+D+IDF", True),
        ("search", "Tri5+A", "Tri5+A+D", True),
        ("annotation", "Tri5+A", "Tri5+A+D", False),
    ],
    "alignment helps Tri5 and Tri5+IDF on both tasks, and Tri5 with similarities from both corpora on annotation": [
        *(
            (task, model, f"{model.replace('Tri5', 'Tri5+A')}", True)
            for task in TASKS
            for model in ("Tri5", "Tri5+IDF")
        ),
        ("annotation", "Tri5+D", "Tri5+A+D", True),
    ],
    "idf on top of alignment helps only on search": [
        ("search", "Tri5+A", "Tri5+A+IDF", True),
        ("annotation", "Tri5+A", "Tri5+A+IDF", False),
    ],
}
INCONSISTENT = (
    "the paper's text has a significant gain of Tri5 on annotation (p < .03), and its figures fall, from 11.6 to 11.3"
)
# Word, similarity -> words that the text names as similar, or figure 3 in the copy.
SIMILAR = {
    ("swim", "captions"): ["pool"],
    ("swim", "alignment"): ["paddle"],
    ("swim", "Lin"): ["sport", "activity", "football", "soccer"],
    ("rider", "captions"): ["motorcycle"],
}
NO_SAMPLES = "p of 10,000 samples, the paper's of 100,000"


def claims(lab: Laboratory) -> Iterator[Claim | Note]:
    """Yield the figures of the paper, and all scores of our models."""
    judgments = ranking_judgments.read_judgments(lab.shared)
    yield from data_set(lab)
    yield from LEFT_OUT
    yield from models(lab)
    figures = (ranking_judgments.bleu_figures, ranking_judgments.stemmed_figures, ranking_judgments.crowd_figures)
    for yield_figures in figures:
        for section, name, measured, printed, note in yield_figures(judgments):
            says, percent, _ = name.partition(", in %")
            of_crowd = yield_figures is ranking_judgments.crowd_figures and not name.startswith("Kripp")
            yield Claim(
                section,
                says,
                (f"{printed:,}{' %' if percent else ''}",),
                (measured,),
                here=note,
                material=DAMAGED if of_crowd else "",
                command=JUDGED,
            )
    yield from one_reference(judgments)
    yield from crowd(judgments)


def data_set(lab: Laboratory) -> Iterator[Claim]:
    """Yield the counts of the data set."""
    folder = lab.shared / "data/flickr8k"
    lines = (folder / "Flickr8k.token.txt").read_text(encoding="utf-8").splitlines()
    texts = [line.partition("\t")[2] for line in lines]
    images = [line.partition("#")[0] for line in lines]
    lists = {s: (folder / f"Flickr_8k.{s}Images.txt").read_text().split() for s in ("train", "dev", "test")}
    number = len(set(images))
    yield Claim("2.3.2", "images, and captions each", ("8,092", "5"), (number, len(texts) / number), command=ONLY_HERE)
    words = sum(map(len, map(str.split, texts))) / len(texts)
    yield Claim(
        "2.3.2",
        "mean length of captions",
        ("11.8",),
        (words,),
        here="words and marks between blanks",
        command=ONLY_HERE,
    )
    kept = lab.keep("verbs of Flickr8k", PIPELINE, lambda: count_verbs(texts), renew="spacy" in lab.renew)
    yield Claim(
        "2.3.2",
        f"captions without a verb, and with none but {', '.join(sorted(STATIC))}",
        ("11 %", "10 %"),
        kept["figures"] if kept else (),
        here=f"auxiliary verbs do not count; {kept['date']}, {kept['with']}"
        if kept
        else "no pipeline of spaCy was run",
        command=f"`{ONLY_HERE.strip('`')} --renew spacy`",
    )
    stem, train = make_stemmer(), set(lists["train"])
    counts = Counter(w for image, text in zip(images, texts, strict=True) if image in train for w in stem(text))
    yield Claim(
        "3.5.3",
        "words with five occurrences and more in captions for training",
        ("1,928",),
        (sum(number >= ranking_models.LEAST for number in counts.values()),),
        material="stems in place of lemmas, without stop words of ours",
        command=ONLY_HERE,
    )
    yield Claim(
        "4.1.1",
        "images for training, development, testing",
        ("6,000", "1,000", "1,000"),
        [*map(len, lists.values())],
        command=ONLY_HERE,
    )


def count_verbs(texts: Sequence[str]) -> tuple[float, float]:
    """Return the shares of texts without a verb, and with verbs of `STATIC` alone, in %."""
    docs = load_pipeline(PIPELINE).pipe(texts)
    verbs = [{token.lemma_.lower() for token in doc if token.pos_ == "VERB"} for doc in docs]
    static = sum(bool(found) and found <= STATIC for found in verbs)
    return 100 * verbs.count(set()) / len(verbs), 100 * static / len(verbs)


def models(lab: Laboratory) -> Iterator[Claim | Note]:
    """Yield what models say of the paper's, how measures order them, and all of their scores."""
    images = "features of a file" if lab.features else "stand-ins for images, made of one caption of each"
    program = f"{images}; WordNet 3.0; stems and stop words of vttdata"
    kept = lab.keep("ranking models", program, lambda: rank_models(lab), renew="ranking" in lab.renew)
    if kept is None:
        yield Claim("3.5.5, 4.3, Figure 3, Table 3, Table 4, Table 5, Table 6, Table 7", "models", here="not run")
        return
    scores: dict[str, dict[str, Any]] = kept["figures"]["models"]
    similar = kept["figures"]["similar"]
    yield Claim(
        "3.5.5, Figure 3",
        "words that are most similar to swim and to rider: "
        + "; ".join(f"to {word} by {name} {', '.join(of)}" for (word, name), of in SIMILAR.items()),
        holds={
            f"{word}, {each}": any(found.startswith(each) for found in similar[word][name])
            for (word, name), of in SIMILAR.items()
            for each in of
        },
        here="; ".join(
            f"{word} by {name}: {', '.join(found)}" for word, of in similar.items() for name, found in of.items()
        ),
        material="stems of four of the five captions, nouns and verbs aligned together; without the BNC",
        command=RANKED,
    )
    for (section, says, key, place), printed in PRINTED.items():
        for name, figures in printed.items():
            measured = [scores[name][task][key][place] for task, _ in zip(TASKS, figures, strict=False)]
            yield Claim(section, f"{name}: {says}", figures, measured, material=MODELS, command=RANKED)

    def gain(task: str, without: str, model: str) -> float:
        with_it, without_it = (scores[name][task]["r_precision"][0] for name in (model, without))
        return float(with_it - without_it)

    for says, cases in ADDED.items():
        gains = {f"{task}, {without} to {model}": gain(task, without, model) for task, without, model, _ in cases}
        yield Claim(
            "4.3.4, Table 6",
            says,
            holds={name: (rise > 0) == case[3] for (name, rise), case in zip(gains.items(), cases, strict=True)},
            here="R-precision, significance untested: "
            + "; ".join(f"{name} {rise:+.1f}" for name, rise in gains.items())
            + (f"; {INCONSISTENT}" if says.startswith("idf is") else ""),
            material=MODELS,
            command=RANKED,
        )
    others = {
        f"{name}, {task}": (-gain(task, "Tri5Sem", name), scores[name][task]["p"])
        for name in ("NN", "BoW1", "BoW5", "Tri5")
        for task in TASKS
    }
    yield Claim(
        "4.3.3, Table 5",
        "Tri5Sem has a higher R-precision than NN, BoW1, BoW5, TagRank and Tri5, p <= .0001",
        holds={name: rise > 0 and p <= 0.0001 for name, (rise, p) in others.items()},
        here="; ".join(f"{name} {rise:+.1f}, p {p:.4f}" for name, (rise, p) in others.items())
        + f"; {NO_SAMPLES}; without TagRank",
        material=MODELS,
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
        here=f"rho over {len(scores)} models: "
        + "; ".join(f"{task} {', '.join(f'{v:.2f}' for v in values)}" for task, values in rho.items()),
        material=f"{MODELS}, of the paper's 30",
        command=RANKED,
    )
    yield Note(
        "Our models of the ranking task",
        f"Scores of {kept['date']}, annotation / search; {kept['with']} in place of lemmas. Of the paper's 30 models, "
        "those with TagRank, the British National Corpus and other neighbours are missing, so that D is similarity "
        "from captions alone, and Tri5Sem has that and alignment (A). Texts are four of the five captions.",
        [
            ("model", "R@1", "R@5", "R@10", "median rank", "S@1", "S@5", "S@10", "R-precision"),
            *(
                (
                    name,
                    *(f"{a:.1f} / {s:.1f}" for a, s in zip(*(score_columns(of[task]) for task in TASKS), strict=True)),
                )
                for name, of in scores.items()
            ),
        ],
    )


def score_columns(of: dict[str, list[float]]) -> list[float]:
    """Return all scores of a model on a task."""
    return [*of["recall"], *of["success"], *of["r_precision"]]


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
            f"{max(best.values()):.2f}" + (f"; {ranking_judgments.OURS}" if name == "ROUGE" else ""),
            command=ONLY_HERE,
        )


def crowd(judgments: Judgments) -> Iterator[Claim]:
    """Yield how the crowd's relevant pairs agree with experts, and how many captions are relevant to images."""
    matches, words = ranking_judgments.compare_pool(judgments, make_stemmer())
    number = {image: place for place, image in enumerate(judgments.images)}
    passes = reaches((matches, words), Fraction(1, 4))
    removed = [p for p in judgments.crowd if not passes[number[p[0]], number[p[1].partition("#")[0]]]]
    unanimous = np.mean([judgments.crowd[pair][0] == 0 for pair in removed])
    majority = np.mean([not is_relevant(*judgments.crowd[pair]) for pair in removed])
    for says, printed, measured in (
        (
            "pairs of the crowd that BLEUpre >= .25 keeps, and others",
            ("30,781", "10,374"),
            [len(judgments.crowd) - len(removed), len(removed)],
        ),
        (
            "others that all judges, and that most, find not to fit",
            ("98.3 %", "99.8 %"),
            [100 * unanimous, 100 * majority],
        ),
    ):
        yield Claim("4.3.2", says, printed, measured, here=ranking_judgments.OURS, material=DAMAGED, command=ONLY_HERE)
    voted = [(*judgments.crowd[p], total / 3) for p, total in judgments.expert.items() if p in judgments.crowd]
    compared = {round(row.expert, 2): row for row in lay_against_expert(voted, [8 / 3, 11 / 3, 4.0], [RELEVANT])}
    for least, name, printed in ((4.0, "recall", "98.6"), (3.67, "recall", "95.0"), (2.67, "precision", "94.7")):
        yield Claim(
            "4.3.2, Table 10",
            f"{name} of the crowd's relevant pairs against an expert score of {least}",
            (f"{printed} %",),
            (100 * getattr(compared[least], name),),
            material=DAMAGED,
            command=ONLY_HERE,
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
        command=ONLY_HERE,
    )
