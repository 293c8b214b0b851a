"""How alike the captions of a clip are: by words between authors, and by subject, verb and object."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from tests.helpers.leaking_dataset import write_leaking_dataset
from vttdata.cli.main import main
from vttdata.dataset.caption_agreement import measure_similarity, measure_svo_consistency
from vttdata.text.svo import extract_svo

VOCABULARY = spacy.blank("en").vocab
# Word, lemma, part of speech, relation, and index of its head.
PARSES = {
    "men ride horses": "men/man/NOUN/nsubj/1 ride/ride/VERB/ROOT/1 horses/horse/NOUN/dobj/1",
    "man and Dog runs": "man/man/NOUN/nsubj/3 and/and/CCONJ/cc/0 Dog/Dog/NOUN/conj/0 runs/run/VERB/ROOT/3",
    "man singing song": "man/man/NOUN/ROOT/0 singing/sing/VERB/acl/0 song/song/NOUN/dobj/1",
    "song is sung": "song/song/NOUN/nsubjpass/2 is/be/AUX/auxpass/2 sung/sing/VERB/ROOT/2",
    "wow man runs": "wow/wow/INTJ/ROOT/0 man/man/NOUN/nsubj/2 runs/run/VERB/ROOT/2",
    "!": "!/!/PUNCT/ROOT/0",
}


class Parser:
    """Pipeline that knows the sentences of `PARSES`."""

    def pipe(self, texts: Iterable[tuple[str, Any]], *, as_tuples: bool) -> Iterator[tuple[Doc, Any]]:
        assert as_tuples
        for text, context in texts:
            yield parse(text), context


def parse(text: str) -> Doc:
    words, lemmas, tags, relations, heads = zip(*(token.split("/") for token in PARSES[text].split()), strict=True)
    return Doc(
        VOCABULARY,
        words=list(words),
        lemmas=list(lemmas),
        pos=list(tags),
        deps=list(relations),
        heads=list(map(int, heads)),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("men ride horses", {"subject": {"man"}, "verb": {"ride"}, "object": {"horse"}}),
        ("man and Dog runs", {"subject": {"man", "dog"}, "verb": {"run"}}),
        ("man singing song", {"subject": {"man"}, "verb": {"sing"}, "object": {"song"}}),
        ("song is sung", {"subject": {"song"}, "verb": {"sing"}}),
        ("wow man runs", {"subject": {"man"}, "verb": {"run"}}),
        ("!", {}),
    ],
)
def test_parts_of_the_main_clause_are_lemmas(text: str, expected: dict[str, set[str]]) -> None:
    assert extract_svo(parse(text)) == expected


def test_consistency_counts_parts_that_other_captions_have() -> None:
    texts = ("men ride horses", "man and Dog runs", "man singing song", "!")
    clips = {"v": [*(("human", text) for text in texts), ("system", "song is sung")], "w": [("human", "song is sung")]}
    figures = measure_svo_consistency(clips, Parser())
    # Of 9 parts, man is in three captions, and all others are in one.
    assert (figures["all"].another, figures["all"].any) == pytest.approx((6 / (9 * 2), 3 / 9))
    assert (figures["all"].clips, figures["all"].captions) == (1, 4)
    assert (figures["subject"].another, figures["subject"].any) == pytest.approx((6 / (4 * 2), 3 / 4))
    assert (figures["verb"].any, figures["object"].any) == (0, 0)
    assert math.isnan(measure_svo_consistency({"w": clips["w"]}, Parser())["verb"].any)


def test_similarity_is_the_cosine_of_weighted_words() -> None:
    clips = {
        "v": [("human", "red car"), ("human", "Red car!"), ("a", "red dog"), ("b", "cat")],
        "w": [("human", "red house"), ("a", "house"), ("b", "tree")],
    }
    table = measure_similarity(clips)
    # Red is in both clips and weighs nothing; car, dog and house are in one.
    assert table["human"]["human"] == (pytest.approx(1), pytest.approx(1), 1)
    assert table["a"]["human"] == (pytest.approx(0.5), pytest.approx(0.5), 2)
    assert table["human"]["a"] == table["a"]["human"]
    assert table["a"]["b"].mean == 0
    assert "a" not in table["a"]


def test_stats_add_similarity_and_refuse_what_cannot_be_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = str(write_leaking_dataset(tmp_path / "small"))
    assert main(["show", dataset, "--similarity", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["agreement"]["test"]["similarity"]
    assert set(figures) == {"captioner", "human"}
    assert figures["human"]["human"]["clips"] == 6
    assert main(["show", dataset, "--similarity"]) == 0
    assert "test: similarity of captions by two authors" in capsys.readouterr().out
    assert main(["show", dataset, "--svo", "no_such_pipeline"]) == 2
    assert "The spaCy pipeline 'no_such_pipeline' cannot be loaded" in capsys.readouterr().err


def test_captions_are_compared_by_the_vectors_of_an_encoder() -> None:
    vectors = {"north": [2.0, 0.0], "east": [0.0, 3.0], "north-east": [1.0, 1.0], "nowhere": [0.0, 0.0]}
    clips = {"a": [("human", "north"), ("system", "north-east")], "b": [("human", "east"), ("system", "nowhere")]}
    table = measure_similarity(clips, lambda texts: np.array([vectors[text] for text in texts]))
    assert table["human"]["system"].mean == pytest.approx((0.5**0.5 + 0) / 2)
    assert table["system"]["human"].clips == 2
