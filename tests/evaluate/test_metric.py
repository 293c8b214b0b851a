from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vttdata.errors import VttdataError
from vttdata.evaluate.metric import check_texts, load_metric, load_metric_class
from vttdata.evaluate.metrics import METRICS
from vttdata.statistics.scores import ColumnScores

PLUGIN = '''
"""Share of words."""
from vttdata.evaluate.metric import CaptioningMetric
class Words(CaptioningMetric):
    columns = ("words", "words-2")
    def score(self, candidates, references):
        return {}
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a user's metric `words`."""
    path = tmp_path / "metrics" / "words.py"
    path.parent.mkdir()
    path.write_text(PLUGIN)
    monkeypatch.setenv("VTTDATA_PLUGINS", str(tmp_path))
    return path


def test_corpus_of_means_follows_from_sums() -> None:
    scores = ColumnScores.from_means(np.array([0.0, 1.0, 4.0]))
    draws = np.array([[1, 1, 1], [0, 0, 3], [0, 0, 0]])
    assert scores.score == pytest.approx(5 / 3)
    np.testing.assert_allclose(scores.corpus(draws @ scores.statistics, draws.sum(axis=1)), [5 / 3, 4.0, np.nan])


@pytest.mark.parametrize("family", METRICS.files())
def test_every_metric_is_documented_and_has_a_signature(family: str) -> None:
    metric = load_metric(family, "unicode")
    assert METRICS.descriptions()[family]
    assert metric.name == family
    assert metric.signature().startswith(f"{family}|tok:{metric.tokenizer}|")
    assert metric.signature().endswith(f"|v:{metric.version}")
    assert metric.unavailable() is None or metric.needs
    for column in metric.columns:
        assert load_metric_class(column) is type(metric)


@pytest.mark.parametrize("family", ["bleu", "chrf", "cider-d", "rouge-l"])
def test_metric_says_whether_a_score_depends_on_other_items(family: str) -> None:
    candidates, references = ["a man runs", "a dog", "the man sits"], [["a man runs fast"], ["a dog runs"], ["a man"]]
    metric = load_metric(family)
    for column, scores in metric.score(candidates, references).items():
        alone = metric.score(candidates[:1], references[:1])[column].items[0]
        assert (scores.items[0] != pytest.approx(alone)) == metric.depends_on_items


def test_metric_of_a_user_is_found(plugin: Path) -> None:
    assert METRICS.descriptions()["words"] == "Share of words"
    assert load_metric("words-2", "none").signature() == "words|tok:none|v:1"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class Words(CaptioningMetric)", "class Words", r"words.py:1: .* one subclass of CaptioningMetric, not 0"),
        ('columns = ("words", "words-2")', "pass", r"words.py:4: metric 'words' does not define the tuple columns"),
        ('"words-2"', '"letters"', r"has the column 'letters', which must begin with 'words'"),
        ("def score", "def rate", "does not define the method score"),
        ("    def score", "    version = 'x'\n    def score", "has a version that is not an integer"),
        ("class Words", "class Words(:", r"words.py:4: cannot be loaded as a metric \(SyntaxError"),
    ],
)
def test_mistake_in_a_metric_is_one_sentence(plugin: Path, old: str, new: str, message: str) -> None:
    plugin.write_text(PLUGIN.replace(old, new))
    with pytest.raises(VttdataError, match=message):
        load_metric("words")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CIDEr", r"Unknown metric 'CIDEr'; choose from bert-score, .*, spice \(did you mean 'cider-d'\?\)\.$"),
        ("blue", r"choose from .* \(did you mean 'bleu'\?\)\.$"),
        ("bleu-4", r"Unknown metric 'bleu-4'; 'bleu' has bleu1, bleu2, bleu3, bleu4 \(did you mean 'bleu4'\?\)\.$"),
        (
            "fluency",
            "choose from bert-score, bleu, chrf, cider-d, clip-score, emscore, .*, sentence-similarity, spice\\.$",
        ),
    ],
)
def test_unknown_metric_is_an_error(name: str, message: str) -> None:
    with pytest.raises(VttdataError, match=message):
        load_metric(name)


def test_unknown_tokenizer_is_an_error() -> None:
    with pytest.raises(VttdataError, match=r"Unknown tokenizer 'ptb'; choose from ptb-3\.4\.1, unicode, none"):
        load_metric("rouge-l", "ptb")


@pytest.mark.parametrize(("candidates", "references"), [(["a"], []), (["a"], [[]]), (["a"], ["a"])])
def test_items_without_references_are_an_error(candidates: list[str], references: list[list[str]]) -> None:
    with pytest.raises(VttdataError):
        check_texts(candidates, references)
