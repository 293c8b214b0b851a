"""Margins of foils by perplexity and by the probability of the whole text."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.helpers.words import video
from vttdata.generate.foils.scored_edits import Edit, log_perplexity_margin, log_probability_margins, score_edits
from vttdata.generate.foils.swaps import Swap
from vttdata.text.lm import NgramModel


def test_a_certain_second_word_makes_no_foil_likelier() -> None:
    """By hand: the mean over more words is lower, though the whole text is less likely."""
    text = "a man has a knife"
    model = NgramModel.train([text, "a man has a spoon"] * 4 + ["a man has a lawn mower"], order=3)
    document = video("v", text).documents[0]
    start = text.index("knife")
    edits = [
        Edit(video("v", text), document, ((0, Swap(start, len(text), foil, "knife", foil, "thing", "knife", foil, 0)),))
        for foil in ("spoon", "lawn mower")
    ]
    scored = [replace(edit, perplexities=own) for edit, own in zip(edits, score_edits(edits, model), strict=True)]
    by_perplexities = [log_perplexity_margin(edit.perplexities) for edit in scored]
    by_probabilities = log_probability_margins(scored, model)
    for foil, by_perplexity, by_probability in zip(
        ("spoon", "lawn mower"), by_perplexities, by_probabilities, strict=True
    ):
        true_logs, foil_logs = (model.log_probability(words.split()) for words in (text, text.replace("knife", foil)))
        assert by_perplexity == pytest.approx(true_logs.mean() - foil_logs.mean())
        assert by_probability == pytest.approx(true_logs.sum() - foil_logs.sum())
    assert math.isclose(by_probabilities[0], 0, abs_tol=1e-9)
    assert by_probabilities[1] > 1
