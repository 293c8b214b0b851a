"""Scores equal those of pycocoevalcap and sacreBLEU, which get the same tokens and texts."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from tests.helpers.needs import library
from vttdata.errors import VttdataError
from vttdata.evaluate.metric import CaptioningMetric, load_metric
from vttdata.evaluate.reference_index import forget_indexes, index_references
from vttdata.statistics.scores import ColumnScores
from vttdata.text.tokenizers import load_tokenizer

FAMILIES = ("bleu", "rouge-l", "cider-d")
WORDS = ["a", "a", "a", "man", "man", "is", "the", "cat", "dog", "runs,", "3", "1/2", ".", "!", "don't", "on", "mat"]


def score(candidates: Sequence[str], references: Sequence[Sequence[str]], **options: object) -> dict[str, ColumnScores]:
    """Return the columns of the families that need no Java."""
    return {
        column: scores
        for family in FAMILIES
        for column, scores in load_metric(family, **options).score(candidates, references).items()  # type: ignore[arg-type]
    }


def peer_scores(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, tuple[float, Sequence[float]]]:
    """Return corpus scores and items' scores of pycocoevalcap."""
    tokenize = load_tokenizer("ptb-3.4.1")
    results = {item: [" ".join(tokenize(text))] for item, text in enumerate(candidates)}
    truth = {item: [" ".join(tokenize(text)) for text in texts] for item, texts in enumerate(references)}
    corpus, items = Bleu(4).compute_score(truth, results, verbose=0)
    return {f"bleu{order + 1}": (corpus[order], items[order]) for order in range(4)} | {
        "rouge-l": Rouge().compute_score(truth, results),
        "cider-d": Cider().compute_score(truth, results),
    }


def assert_equal_to_peer(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    ours = score(candidates, references)
    for column, (corpus, items) in peer_scores(candidates, references).items():
        np.testing.assert_allclose(ours[column].items, items, rtol=0, atol=1e-9, err_msg=column)
        assert ours[column].score == pytest.approx(corpus, abs=1e-9), column


def drawn_captions(items: int, seed: int) -> tuple[list[str], list[list[str]]]:
    """Return captions of few words, some of them empty, and one to four references each."""
    draw = random.Random(seed)

    def text() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(0, 9)))

    return [text() for _ in range(items)], [
        ["a man", *(text() for _ in range(draw.randint(0, 3)))] for _ in range(items)
    ]


@pytest.mark.parametrize(("items", "seed"), [(1, 0), (2, 1), (5, 2), (40, 3), (40, 4)])
def test_drawn_captions_score_as_in_pycocoevalcap(items: int, seed: int) -> None:
    assert_equal_to_peer(*drawn_captions(items, seed))


def test_held_out_captions_of_msrvtt_score_as_in_pycocoevalcap(shared: Path) -> None:
    with zipfile.ZipFile(shared / "data/msrvtt/test_videodatainfo.json.zip") as archive:
        sentences = json.loads(archive.read("test_videodatainfo.json"))["sentences"]
    captions: dict[str, list[str]] = {}
    for sentence in sentences:
        captions.setdefault(sentence["video_id"], []).append(sentence["caption"])
    clips = sorted(captions)[::15]
    assert_equal_to_peer(
        [captions[clip][7] for clip in clips], [captions[clip][:7] + captions[clip][8:] for clip in clips]
    )


def test_paragraphs_of_activitynet_score_as_in_pycocoevalcap(shared: Path) -> None:
    first, second = (
        json.loads((shared / f"data/activitynet/anet_entities_test_{number}.json").read_text()) for number in (1, 2)
    )
    videos = sorted(first.keys() & second.keys())[::20]
    paragraphs = [[" ".join(table[video]["sentences"]) for video in videos] for table in (first, second)]
    assert_equal_to_peer(paragraphs[0], [[text] for text in paragraphs[1]])


@pytest.mark.parametrize("text", ["a man walks his dog in the park", "one two three four five"])
def test_caption_that_is_its_reference_scores_best(text: str) -> None:
    scores = score([text, "something else entirely is said here"], [[text], ["a cat sits on a mat"]])
    assert scores["bleu4"].items[0] == pytest.approx(1)
    assert scores["rouge-l"].items[0] == pytest.approx(1)
    assert scores["cider-d"].items[0] == pytest.approx(10)
    assert load_metric("chrf").score([text], [[text]])["chrf"].items[0] == pytest.approx(1)


@pytest.mark.parametrize("text", ["", "...", "\u200b", "😀😀", "a" * 1_000_000, "zebra " * 20_000])
def test_odd_captions_score_nothing(text: str) -> None:
    scores = score([text, "a cat"], [["a cat sits on a mat", "the cat"], ["a dog", "the dog"]])
    assert all(values.items[0] < 1e-3 for values in scores.values())
    assert all(np.isfinite(values.items).all() and np.isfinite(values.score) for values in scores.values())


@pytest.mark.parametrize("length", [63, 64, 65, 66])
def test_words_are_found_to_the_last(length: int) -> None:
    text = " ".join(f"w{number}" for number in range(length))
    last = " ".join([*(f"x{number}" for number in range(length - 1)), f"w{length - 1}"])
    scores = score([text, text], [[text], [last]])["rouge-l"].items
    assert scores == pytest.approx([1, 1 / length])


def test_long_texts_are_compared_in_full() -> None:
    long = " ".join(f"w{number % 700}" for number in range(1500))
    assert score([long, "x"], [[long], ["y"]])["rouge-l"].items[0] == pytest.approx(1)
    assert_equal_to_peer(["a b " * 50, "c"], [["b a " * 60, "c d"], ["e"]])


def test_unpaired_surrogate_is_refused() -> None:
    for family in (*FAMILIES, "chrf"):
        with pytest.raises(VttdataError, match="unpaired surrogate"):
            load_metric(family).score(["a \ud83d"], [["a"]])


def test_no_items_have_no_score() -> None:
    for family in (*FAMILIES, "chrf"):
        assert all(np.isnan(scores.score) for scores in load_metric(family).score([], []).values())


def test_resampled_bleu_is_bleu_of_the_resample() -> None:
    candidates, references = drawn_captions(30, 5)
    chosen = [3, 3, 7, 11, 29]
    draws = np.bincount(chosen, minlength=30)[np.newaxis]
    for family in ("bleu", "chrf"):
        whole = load_metric(family).score(candidates, references)
        part = load_metric(family).score([candidates[i] for i in chosen], [references[i] for i in chosen])
        for column, scores in whole.items():
            resampled = scores.corpus(draws @ scores.statistics, draws.sum(axis=1))
            np.testing.assert_allclose(resampled, [part[column].score], rtol=1e-12)


def test_cached_references_give_the_same_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, references = drawn_captions(30, 6)
    fresh = score(candidates, references, cache=tmp_path)
    forget_indexes()
    monkeypatch.setattr("vttdata.evaluate.reference_index.load_tokenizer", lambda name: pytest.fail("tokenized again"))
    index_references(references, "ptb-3.4.1", tmp_path)
    monkeypatch.undo()
    cached = score(candidates, references, cache=tmp_path)
    assert [file.suffix for file in tmp_path.iterdir()] == [".npz"]
    for column, scores in fresh.items():
        np.testing.assert_array_equal(scores.items, cached[column].items)


def test_damaged_cache_is_written_again(tmp_path: Path) -> None:
    candidates, references = drawn_captions(5, 7)
    fresh = score(candidates, references, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:100])
    forget_indexes()
    assert score(candidates, references, cache=tmp_path)["cider-d"].score == fresh["cider-d"].score
    assert file.stat().st_size > 100


def test_other_languages_are_cut_into_unicode_words() -> None:
    scores = load_metric("bleu1", "unicode").score(["男子在跑步。"], [["男子在跑步"]])
    assert scores["bleu1"].score == pytest.approx(1)
    assert load_metric("bleu1", "unicode").signature().startswith("bleu|tok:unicode|")


def test_chrf_equals_sacrebleu() -> None:
    CHRF = library("sacrebleu.metrics").CHRF

    draw = random.Random(8)
    words = ["a", "b", "ab", "cat", "é", "日本", ",", "!", "A"]
    candidates = [" ".join(draw.choices(words, k=draw.randint(0, 6))) for _ in range(60)]
    references = [[" ".join(draw.choices(words, k=draw.randint(0, 6))) for _ in range(3)] for _ in range(60)]
    ours = load_metric("chrf").score(candidates, references)["chrf"]
    theirs = [CHRF().sentence_score(*pair).score / 100 for pair in zip(candidates, references, strict=True)]
    np.testing.assert_allclose(ours.items, theirs, rtol=0, atol=1e-9)
    corpus = CHRF().corpus_score(candidates, [list(column) for column in zip(*references, strict=True)])
    assert ours.score == pytest.approx(corpus.score / 100, abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_captions_left_out_score_as_the_peer_scores_them_against_the_others(family: str) -> None:
    captions, references = drawn_captions(80, 5)
    chosen = [index for index, texts in enumerate(references) if len(texts) > 1]
    captions, references = [captions[index] for index in chosen], [references[index] for index in chosen]
    found = list(load_metric(family).score_left_out(captions, references, []))
    assert [who for who, _ in found] == ["human", "system"] * 2
    for number, (who, columns) in enumerate(found):
        rank = number // 2
        others = [[*texts[:rank], *texts[rank + 1 :]] for texts in references]
        scored = captions if who == "system" else [texts[rank] for texts in references]
        peer = peer_scores(scored, others)
        for column, scores in columns.items():
            corpus, items = peer[column]
            np.testing.assert_allclose(scores.items, items, rtol=0, atol=1e-9, err_msg=f"{who} {column}")
            assert scores.score == pytest.approx(corpus, abs=1e-9)


def test_chrf_without_each_reference_is_that_of_the_others_alone() -> None:
    draw = random.Random(3)
    texts = [["".join(draw.choices("ab \u6f22\U0001d518", k=draw.randrange(12))) for _ in range(4)] for _ in range(30)]
    candidates, references = [text for text, *_ in texts], [others[: 2 + len(others[0]) % 2] for _, *others in texts]
    metric = load_metric("chrf")
    expected = CaptioningMetric.score_left_out(metric, candidates, references, [])
    for (who, ours), (same, theirs) in zip(metric.score_left_out(candidates, references, []), expected, strict=True):
        assert who == same
        assert np.array_equal(ours["chrf"].statistics, theirs["chrf"].statistics)
