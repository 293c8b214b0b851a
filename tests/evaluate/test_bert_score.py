"""BERTScore by a tiny encoder equals its published program and a direct computation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.needs import library
from tests.helpers.tiny_models import save_encoder
from vttdata.errors import VttdataError
from vttdata.evaluate.metric import MetricInputs, load_metric
from vttdata.evaluate.metrics.bert_score import read_baseline

CAPTIONS = ["a man runs in the park", "two dogs chase a red ball", "snow", "a woman sings"]
REFERENCES = [
    ["a man is running through a park", "somebody jogs"],
    ["dogs play with a ball", "two brown dogs run after the red ball", "animals outside"],
    ["it snows on a car"],
    ["a woman sings"],
]


@pytest.fixture(scope="module", autouse=True)
def torch() -> Any:
    library("transformers")
    torch = library("torch")
    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory, torch: Any) -> str:
    from transformers import AutoModel, AutoTokenizer

    texts = [*CAPTIONS, *(text for group in REFERENCES for text in group)]
    folder = save_encoder(tmp_path_factory.mktemp("models") / "tiny", texts)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.cls_token, tokenizer.sep_token = "[CLS]", "[SEP]"
    tokenizer.save_pretrained(folder)
    model = AutoModel.from_pretrained(folder)
    for weights in model.parameters():
        # Weights as they are drawn make all tokens alike.
        weights.data.mul_(6)
    model.save_pretrained(folder)
    return str(folder)


def test_scores_are_those_of_the_published_program(encoder: str, tmp_path: Path) -> None:
    bert_score = library("bert_score")
    baseline = tmp_path / "baseline.csv"
    baseline.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.31,0.32,0.33\n2,0.5,0.5,0.5\n")
    for rescale in (None, baseline):
        inputs = MetricInputs({"bert-score": encoder}, layer=1, rescale=rescale)
        ours = load_metric("bert-score", inputs=inputs).score(CAPTIONS, REFERENCES)
        for idf, name in ((False, "bert-score"), (True, "bert-score-idf")):
            precision, recall, f = bert_score.score(
                CAPTIONS,
                REFERENCES,
                model_type=encoder,
                num_layers=1,
                idf=idf,
                device="cpu",
                rescale_with_baseline=rescale is not None,
                baseline_path=None if rescale is None else str(rescale),
                lang="en",
            )
            for column, theirs in ((name, f), (f"{name}-p", precision), (f"{name}-r", recall)):
                assert ours[column].items == pytest.approx(theirs.numpy(), abs=2e-5), column


class Direct:
    """Unit vectors and weights of the tokens of texts, without the first and the last one, which are special."""

    def __init__(self, encoder: str) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.model, self.tokenizer = AutoModel.from_pretrained(encoder).eval(), AutoTokenizer.from_pretrained(encoder)
        references = [set(self.tokenizer(text)["input_ids"]) for group in REFERENCES for text in group]
        self.idf = {
            token: np.log((len(references) + 1) / (sum(token in tokens for tokens in references) + 1))
            for token in range(len(self.tokenizer))
        }

    def vectors(self, text: str) -> np.ndarray:
        import torch

        with torch.inference_mode():
            output = self.model(**self.tokenizer(text, return_tensors="pt"))
        hidden = output.last_hidden_state[0].double().numpy()
        return hidden / np.linalg.norm(hidden, axis=1, keepdims=True)

    def weights(self, text: str) -> np.ndarray:
        return np.array([self.idf[token] for token in self.tokenizer(text)["input_ids"][1:-1]])


def test_greedy_matching_is_that_of_a_direct_computation(encoder: str) -> None:
    direct = Direct(encoder)
    scores = load_metric("bert-score", inputs=MetricInputs({"": encoder})).score(CAPTIONS, REFERENCES)
    for item, (caption, references) in enumerate(zip(CAPTIONS, REFERENCES, strict=True)):
        cosines = [direct.vectors(caption) @ direct.vectors(text).T for text in references]
        precision = max(float(matrix.max(axis=1)[1:-1].mean()) for matrix in cosines)
        recall = max(float(matrix.max(axis=0)[1:-1].mean()) for matrix in cosines)
        assert scores["bert-score-p"].items[item] == pytest.approx(precision, abs=1e-5)
        assert scores["bert-score-r"].items[item] == pytest.approx(recall, abs=1e-5)
        own = direct.weights(caption)
        recalls = [
            np.average(matrix.max(axis=0)[1:-1], weights=direct.weights(text))
            for matrix, text in zip(cosines, references, strict=True)
        ]
        together = np.average(np.concatenate(cosines, axis=1).max(axis=1)[1:-1], weights=own)
        combined = 2 * together * np.mean(recalls) / (together + np.mean(recalls))
        assert scores["bert-score-combined"].items[item] == pytest.approx(combined, abs=1e-5)
    assert scores["bert-score"].items[3] == pytest.approx(1)
    assert scores["bert-score-combined"].items[2] == pytest.approx(scores["bert-score-idf"].items[2])


def test_layer_model_and_baseline_are_in_the_signature(encoder: str, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("LAYER,P,R,F\n1,0.3,0.3,0.3\n2,1.0,1.0,1.0\n")
    inputs = MetricInputs({"": encoder}, layer=1, rescale=tmp_path / "b.csv")
    signature = load_metric("bert-score", inputs=inputs).signature()
    assert "|layer:1|idf:references|rescaled:b.csv|" in signature
    assert read_baseline(tmp_path / "b.csv", 1).tolist() == [0.3, 0.3, 0.3]
    with pytest.raises(VttdataError, match="no baselines below 1 of the layer 2"):
        read_baseline(tmp_path / "b.csv", 2)
    with pytest.raises(VttdataError, match="has 2 layers, and the layer 9"):
        load_metric("bert-score", inputs=MetricInputs({"": encoder}, layer=9)).score(CAPTIONS, REFERENCES)
