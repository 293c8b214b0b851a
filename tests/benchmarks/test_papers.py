"""Verdicts of docs/papers.md follow from their figures, and what it measures by itself is right on small examples."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks.papers import assessment, bertha, emscore, hodosh, msrvtt, ranking_models
from benchmarks.papers.__main__ import section
from benchmarks.papers.claim import Claim, Note, exhibit_rows, within, written
from benchmarks.papers.tied_pair import is_reliable, rename, split_by_assessor
from benchmarks.papers.word_metrics import moved_down, sentence_bleu, williams_p
from tests.helpers.needs import library
from vttdata.evaluate.meta.judgments import JudgmentTable
from vttdata.generate.prefilter import make_stemmer
from vttdata.records import CaptionScore
from vttdata.text.caption_kernels import trigram_vectors


@pytest.mark.parametrize(
    ("printed", "measured", "is_within"),
    [
        ("0.72", 0.7100, True),
        ("0.72", 0.7049, False),
        ("41.2", 41.70, True),
        ("-0.602", -0.615, False),
        ("0.72", float("nan"), False),
        # Counts are exact; a unit makes a figure of another kind.
        ("56,088", 56083, False),
        ("6,000", 5999, False),
        ("20", 20.0, True),
        ("20", float("nan"), False),
        ("65 %", 65.9, True),
        ("65 %", 66.4, False),
        ("15 tokens", 16.8, False),
        ("1.8 M", 1_856_521, True),
        ("1.8 M", 1_900_001, False),
        ("200 K", 200_000, True),
    ],
)
def test_counts_are_exact_and_a_unit_of_the_last_digit_or_two_percent_of_other_figures_is_tolerated(
    printed: str, measured: float, is_within: bool
) -> None:
    assert within(printed, measured) == is_within


def test_measured_figures_are_written_in_the_unit_of_the_printed_one() -> None:
    figures = (
        ("1.8 M", 1_856_521),
        ("65 %", 65.13),
        ("6,000", 5999),
        ("0.72", 0.7208),
        ("20", 20.0),
        ("110 USD", 125.93),
    )
    assert [written(*pair) for pair in figures] == ["1.86 M", "65.1 %", "5,999", "0.721", "20", "125.9 USD"]
    with pytest.raises(ValueError, match="no figure"):
        written("about 13", 13)


def test_verdicts_follow_from_figures_sets_and_material() -> None:
    assert Claim("1", "x").verdict == "not done"
    assert Claim("1", "x", ("0.5",)).verdict == "not done"
    assert Claim("1", "x", ("0.5", "20 %"), (0.5, 20.2)).verdict == "agrees"
    assert Claim("1", "x", ("0.5", "20"), (0.5, 22)).verdict == "differs (1 of 2 agree)"
    assert Claim("1", "x", ("20",), (22,)).verdict == "differs"
    assert Claim("1", "x", holds={"2016": True, "2017": False}).verdict == "differs (1 of 2 agree)"
    assert Claim("1", "x", ("20",), (22,), material="others").verdict == "not comparable (0 of 1 agree)"
    assert Claim("1", "x", ("20",), (20,), material="others").verdict == "not comparable (1 of 1 agree)"
    assert Claim("1", "x", ("20",), (20,), setting=True).verdict == "a setting"
    assert Claim("1", "x", ("20", "3"), (20, 4), setting=True).verdict == "a setting (1 of 2 agree)"
    # The verdicts exclude each other: without a figure to compare with, neither material nor setting counts.
    assert Claim("1", "x", here="words", material="others").verdict == "not done"
    assert Claim("1", "x", here="words", setting=True).verdict == "not done"
    with pytest.raises(ValueError, match="zip"):
        _ = Claim("1", "x", ("20", "30"), (22,)).verdict


def test_experiment_of_ours_is_below_the_claims_and_has_no_verdict() -> None:
    module = ModuleType("paper")
    module.TITLE = "A paper"  # type: ignore[attr-defined]
    note = Note("Why it differs", "Causes that were tried.", [("cause", "score"), ("a slip", "0.5")])
    text = section(module, [Claim("1", "x", ("1",), (1,)), note])
    assert text.index("| agrees |") < text.index("### Why it differs\n\nCauses that were tried.\n\n| cause | score |")
    assert text.endswith("| a slip | 0.5 |\n")


def test_exhibit_has_a_row_or_a_reason() -> None:
    claims = [Claim("4.2, Table 1", "x", ("1",), (1,)), Claim("Table 1", "y"), Claim("Table 10", "z")]
    exhibits = {"Table 1": ("sizes", ""), "Figure 1": ("a dog", "a picture"), "Table 10": ("more", "")}
    assert list(exhibit_rows(exhibits, claims)) == [
        ("Table 1", "sizes", "above: 1 agrees, 1 not done"),
        ("Figure 1", "a dog", "a picture"),
        ("Table 10", "more", "above: 1 not done"),
    ]
    for wrong in ({"Table 2": ("none", "")}, {"Table 1": ("both", "a reason")}):
        with pytest.raises(ValueError, match="Table"):
            list(exhibit_rows(wrong, claims))


# Numbers of tables and of figures, as their captions in the papers count them.
NUMBERED = {msrvtt: (7, 5), assessment: (6, 10), emscore: (6, 7), bertha: (2, 2), hodosh: (12, 4)}


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_table_and_figure_of_a_paper_is_listed(paper: ModuleType) -> None:
    tables, figures = NUMBERED[paper]
    expected = {f"Table {number}" for number in range(1, tables + 1)}
    expected |= {f"Figure {number}" for number in range(1, figures + 1)}
    assert set(paper.EXHIBITS) == expected


def drawn_scores(assessors: int, *, skill: float) -> list[CaptionScore]:
    """Return captions of two systems and of people, each judged by one assessor on a line of its own."""
    draw = np.random.default_rng(3)
    scores = []
    for number in range(assessors):
        mean, deviation = 30.0 + 7.3 * number, 20.0 + 1.7 * number
        for caption in range(40):
            system = ("HUMAN-b", "one", "other")[caption % 3]
            raw = float(np.clip(np.round(draw.normal(50 + skill * (system == "HUMAN-b"), 20)), 0, 100))
            scores.append(CaptionScore(f"{number}-{caption}", system, raw, (raw - mean) / deviation, 1))
    return scores


def test_assessors_are_told_apart_by_their_means_and_deviations() -> None:
    library("scipy")
    scores = drawn_scores(5, skill=40)
    both = CaptionScore("both", "one", 50.0, 0.123, 2)
    assessors, rest = split_by_assessor([*scores, both])
    assert rest == [both]
    assert sorted(len(own) for own in assessors) == [40] * 5
    assert all(len({score.video_id.partition("-")[0] for score in own}) == 1 for own in assessors)
    assert all(is_reliable(own, 0.05) for own in assessors)


def test_assessors_who_do_not_tell_people_from_systems_are_seldom_reliable() -> None:
    library("scipy")
    assessors, _ = split_by_assessor(drawn_scores(40, skill=0))
    assert len(assessors) == 40
    assert sum(is_reliable(own, 0.05) for own in assessors) <= 6


def test_names_of_systems_are_exchanged() -> None:
    scores = drawn_scores(1, skill=0)[1:3]
    assert [score.system for score in rename(scores, {"one": "other", "other": "one"})] == ["other", "one"]


def test_sentence_bleu_halves_for_each_order_without_a_match() -> None:
    # Matches, numbers of n-grams, length, closest reference: by hand (3/4 * 2/3 * 1/2 * 1/2 / 1) ** (1/4), and
    # (1/2 * 1/2) ** (1/2) * exp(1 - 4/2) for two words that share one with a reference of four.
    rows = np.array([[3, 2, 1, 0, 4, 3, 2, 1, 4, 4], [1, 0, 0, 0, 2, 1, 0, 0, 2, 4], [0, 0, 0, 0, 0, 0, 0, 0, 0, 4]])
    assert sentence_bleu(rows.astype(float)) == pytest.approx([0.125**0.25, 0.5 * np.exp(-1), 0.0])


def test_scores_are_moved_to_the_next_video_of_the_same_system() -> None:
    videos, systems, z = ["a", "a", "b", "b", "c"], ["x", "y", "x", "y", "x"], np.array([1.0, 2.0, np.nan, 4.0, 5.0])
    table = JudgmentTable(
        "set",
        videos,
        systems,
        videos,
        [["r"]] * 5,
        z,
        z,
        np.ones(5, np.int64),
        np.zeros(5, bool),
        np.zeros(5, np.int64),
    )
    assert moved_down(table) == pytest.approx([np.nan, np.nan, 1.0, 2.0, np.nan], nan_ok=True)


TEXTS = [
    ["a man rides a bike", "a biker jumps a ramp"],
    ["a dog runs on grass", "a puppy runs across the grass", "a dog is running"],
    ["a dog catches a ball", "a puppy catches a red ball", "a dog plays"],
    ["a girl swims in a pool", "a child swims in water"],
]


def corpus(repeats: int = 5) -> ranking_models.Flickr8k:
    """Return the captions above, so often that all words are frequent, without stop words."""
    library("snowballstemmer")
    stem = make_stemmer()
    number: dict[str, int] = {}
    spelt = [""]
    images = []
    for captions in TEXTS:
        words = [[w for w in text.split() if stem(w)] for text in captions]
        for spelling in (w for caption in words for w in caption):
            if number.setdefault(stem(spelling)[0], len(spelt)) == len(spelt):
                spelt.append(spelling)
        images.append([[number[stem(w)[0]] for w in caption] for caption in words])
    texts = images * repeats
    looks = ranking_models.unit_rows(np.random.default_rng(0).normal(size=(len(texts), 5)))
    return ranking_models.Flickr8k({"train": texts, "test": texts}, {"train": looks, "test": looks}, spelt, number)


def test_projected_kernel_is_the_trigram_kernel() -> None:
    library("scipy")
    data = corpus()
    rows = ranking_models.trigrams(data, signs=20_000)(data.texts["train"][:4])
    words = [[" ".join(data.spelt[word] for word in caption) for caption in image] for image in data.texts["train"][:4]]
    exact, _ = trigram_vectors(words, words)
    assert rows @ rows.T == pytest.approx((exact @ exact.T).toarray(), abs=0.03)
    identity = np.eye(len(data.frequent))
    same = ranking_models.trigrams(data, identity, signs=20_000)(data.texts["train"][:4])
    assert same @ same.T == pytest.approx((exact @ exact.T).toarray(), abs=0.03)


def test_words_of_one_image_are_aligned_and_words_of_one_caption_go_together() -> None:
    data = corpus()
    assert ranking_models.most_similar(data, ranking_models.aligned(data), "dog", 1) == ["puppy"]
    assert "ball" in ranking_models.most_similar(data, ranking_models.distributional(data), "catches", 3)
    alike = ranking_models.aligned(data)
    soft = ranking_models.trigrams(data, alike, signs=5_000)([[data.texts["train"][1][0]], [data.texts["train"][1][1]]])
    hard = ranking_models.trigrams(data, signs=5_000)([[data.texts["train"][1][0]], [data.texts["train"][1][1]]])
    assert soft[0] @ soft[1] > hard[0] @ hard[1] + 0.1


def test_lin_similarity_follows_hypernyms(tmp_path: Path) -> None:
    # dog and puppy are canines, canine and ball are things.
    tmp_path.joinpath("index.noun").write_text(
        "  licence\n"
        + "".join(
            f"{word} n 1 1 @ 1 0 {sense}  \n" for word, sense in zip(["dog", "puppy", "ball"], "345", strict=True)
        )
    )
    parents = {"1": "", "2": "@ 1 n 0000", "3": "@ 2 n 0000", "4": "@ 2 n 0000", "5": "@ 1 n 0000"}
    tmp_path.joinpath("data.noun").write_text(
        "  licence\n" + "".join(f"{sense} 03 n 01 x 0 001 {above} | gloss @ 9\n" for sense, above in parents.items())
    )
    data = corpus()
    cosines = ranking_models.lin(data, tmp_path)
    dog, puppy, ball, man = (
        data.frequent.index(data.numbers[make_stemmer()(w)[0]]) for w in ("dog", "puppy", "ball", "man")
    )
    assert 1 > cosines[dog, puppy] > cosines[dog, ball] == pytest.approx(0)
    assert cosines[man, man] == 1
    assert cosines[man, dog] == 0


def test_borda_sums_ranks_and_breaks_ties_by_their_median() -> None:
    first, second, third = np.array([[3.0, 2.0, 1.0]]), np.array([[3.0, 2.0, 1.0]]), np.array([[1.0, 2.0, 3.0]])
    assert np.argsort(-ranking_models.borda([first, second, third]))[0].tolist() == [0, 1, 2]
    # Items 0 and 1 have the ranks 0, 2, 2 and 1, 1, 2 of 0 to 3: equal sums, and item 1 has the lower median.
    ranks = np.array([[0, 1, 2, 3], [2, 1, 0, 3], [2, 2, 0, 3]])
    similarities = [np.array([[-0.0, -1.0, -2.0, -3.0]]), np.array([[-2.0, -1.0, -0.0, -3.0]])]
    similarities.append(np.array([[-2.0, -2.5, -0.0, -1.0]]))
    fused = ranking_models.borda(similarities)[0]
    assert ranks[:2, 0].sum() + 2 == 4
    assert fused[0] == pytest.approx(4 + 2 + 2 - 2 / 8)
    assert fused[1] == pytest.approx(3 + 3 + 1 - 1 / 8)


def test_scores_of_a_ranking() -> None:
    similarity = np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    found = ranking_models.score(similarity, [{0, 1}, {1, 0}, {2}])
    assert found.recall == pytest.approx((200 / 3, 100, 100))
    assert (found.median, found.success[0], found.r_precision) == (1, 100, pytest.approx(100 * (1 + 0.5 + 1) / 3))


def test_models_without_a_difference_have_uniform_p_values() -> None:
    draw = np.random.default_rng(1)
    p = [ranking_models.randomisation_p(*draw.integers(0, 2, (2, 60)).astype(float), samples=2_000) for _ in range(60)]
    assert 0 <= sum(value <= 0.1 for value in p) <= 14
    assert sum(value > 0.5 for value in p) >= 18
    assert ranking_models.randomisation_p(np.ones(40), np.zeros(40), samples=2_000) == 0


def test_texts_that_say_nothing_of_the_looks_are_ranked_by_chance() -> None:
    data = corpus(repeats=60)
    ranked = ranking_models.neighbours(data)
    ranks = ranking_models.rank_of_own(ranked.search)
    # Looks are drawn; texts repeat 60 times, so the own item is anywhere in the ranking.
    assert 0.35 < np.median(ranks) / len(ranks) < 0.65


def test_metrics_are_compared_by_means_of_sentences_or_by_corpus_scores() -> None:
    library("scipy")
    people = [0.1, 0.5, 0.2, 0.9, 0.4]
    follows, opposes = [0.2, 0.5, 0.1, 0.8, 0.5], [0.9, 0.4, 0.6, 0.2, 0.3]
    first = {"by_system": {str(n): of for n, of in enumerate(zip(opposes, people, follows, strict=True))}}
    second = {"by_system": {str(n): of for n, of in enumerate(zip(follows, people, opposes, strict=True))}}
    assert williams_p(first, second) < 0.05
    assert williams_p(first, second, column=0) > 0.95
    assert williams_p(first, second) == pytest.approx(williams_p(second, first, column=0))
