"""Metrics learned from people's scores: seeded, resumed, saved, and compared with the plain similarity."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.needs import library
from tests.helpers.tiny_models import save_encoder, save_tokenizer
from vttdata.cli.main import main
from vttdata.errors import VttdataError
from vttdata.evaluate.learned import training
from vttdata.evaluate.learned.pair_model import PairModel
from vttdata.evaluate.learned.training import JudgedCaptions, TrainingSettings, train_metric
from vttdata.evaluate.metric import MetricInputs, load_metric

WORDS = ["man", "dog", "red", "car", "runs", "sits", "ball", "park", "tree", "snow"]


def judged(name: str, seed: int, number: int = 60) -> JudgedCaptions:
    """Captions of which people count how many words the references have, too."""
    rng = np.random.default_rng(seed)
    candidates, references, human = [], [], []
    for _ in range(number):
        reference, kept = list(rng.choice(WORDS, 5, replace=False)), int(rng.integers(0, 6))
        candidates.append(" ".join([*reference[:kept], *["thing"] * (5 - kept)]))
        references.append([" ".join(reference), " ".join(reversed(reference))])
        human.append(kept / 2 - 1)
    return JudgedCaptions(name, candidates, references, np.array(human), list(range(number)))


@pytest.fixture(scope="module", autouse=True)
def torch() -> Any:
    library("transformers")
    torch = library("torch")
    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_encoder(tmp_path_factory.mktemp("models") / "tiny", [*WORDS, *judged("", 0).candidates]))


def test_frozen_encoder_with_a_regression_predicts_other_videos(encoder: str, tmp_path: Path) -> None:
    train, test = judged("x 2016", 1, 150), judged("x 2017", 2)
    (result,) = train_metric([train], [test], tmp_path / "m", TrainingSettings(encoder))
    assert result.r > max(0.8, result.similarity)
    assert result.p < 0.01
    metric = load_metric("learned", inputs=MetricInputs({"learned": str(tmp_path / "m")}))
    scores = metric.score(test.candidates, test.references)["learned"].items
    assert np.corrcoef(scores, test.human)[0, 1] == pytest.approx(result.r, abs=1e-6)
    assert metric.signature().startswith("learned|tok:none|model:m@")
    card = (tmp_path / "m" / "README.md").read_text()
    assert "tiny, frozen" in card
    assert "significantly better on 1 and worse on 0" in card
    assert f"| x 2017 | 60 | {result.r:.3f} |" in card
    assert not [path for path in (tmp_path / "m").iterdir() if path.suffix in (".bin", ".pt", ".pkl")]
    assert encoder not in (tmp_path / "m" / "metric.json").read_text()


@pytest.mark.parametrize("start", ["encoder", "scratch", "cross-encoder"])
def test_interrupted_training_ends_as_one_that_was_not(
    start: str, encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cross = start == "cross-encoder"
    settings = TrainingSettings(
        None if start == "scratch" else encoder,
        fine_tune=start == "encoder",
        cross_encoder=cross,
        epochs=3 if cross else 2,
        pair_epochs=0 if cross else 1,
        batch=16,
        rate=1e-3,
        seed=3,
    )
    train, test = judged("x 2016", 1), judged("x 2017", 2)
    pairs = {str(number): texts for number, texts in enumerate(train.references)}
    whole = train_metric([train], [test], tmp_path / "whole", settings, pairs=pairs)
    write = training._Checkpoint.write

    def stop_after_two(self: Any, epochs: int, tensors: dict[str, Any]) -> None:
        write(self, epochs, tensors)
        if epochs == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(training._Checkpoint, "write", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        train_metric([train], [test], tmp_path / "cut", settings, pairs=pairs)
    monkeypatch.undo()
    with pytest.raises(VttdataError, match="the beginning of another training"):
        train_metric([train], [test], tmp_path / "cut", TrainingSettings(encoder, seed=4), pairs=pairs)
    assert train_metric([train], [test], tmp_path / "cut", settings, pairs=pairs) == whole
    for name in ("model.safetensors", "head.safetensors", "metric.json", "README.md"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert not (tmp_path / "cut" / ".training").exists()
    other = train_metric(
        [train], [test], tmp_path / "other", TrainingSettings(**{**vars(settings), "seed": 4}), pairs=pairs
    )
    assert other != whole


def test_training_from_scratch_learns(tmp_path: Path) -> None:
    settings = TrainingSettings(epochs=8, pair_epochs=3, batch=16, rate=2e-3)
    train, test = judged("x 2016", 1, 150), judged("x 2017", 2)
    pairs = {str(number): texts for number, texts in enumerate(train.references)}
    (result,) = train_metric([train], [test], tmp_path / "m", settings, pairs=pairs)
    assert result.r > 0.8


def test_cross_encoder_learns_what_transformers_reads_from_its_folder(encoder: str, tmp_path: Path) -> None:
    from safetensors.numpy import load_file
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    settings = TrainingSettings(encoder, cross_encoder=True, epochs=25, batch=16, rate=1e-3)
    train, test = judged("x 2016", 1, 150), judged("x 2017", 2)
    # People's scores may be of any scale.
    train = replace(train, human=50 + 20 * train.human)
    (result,) = train_metric([train], [test], tmp_path / "m", settings)
    assert result.r > max(0.8, result.similarity)
    (frozen,) = train_metric([train], [test], tmp_path / "frozen", TrainingSettings(encoder))
    assert result.similarity == pytest.approx(frozen.similarity, abs=1e-6)
    metric = load_metric("learned", inputs=MetricInputs({"learned": str(tmp_path / "m")}))
    scores = metric.score(test.candidates, test.references)["learned"].items
    assert np.mean(scores) == pytest.approx(np.mean(50 + 20 * test.human), abs=10)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "m").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "m")
    factor, intercept = load_file(tmp_path / "m" / "head.safetensors")["weights"]
    for candidate, references, score in list(zip(test.candidates, test.references, scores, strict=True))[:5]:
        outputs = [model(**tokenizer(candidate, text, return_tensors="pt")).logits.item() for text in references]
        assert score == pytest.approx(factor * np.mean(outputs) + intercept, abs=1e-3)
    assert "tiny, a cross-encoder" in (tmp_path / "m" / "README.md").read_text()


def test_bad_use_is_one_sentence(encoder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from safetensors.numpy import save_file

    for year in (2016, 2017):
        own = judged("", year, 12)
        rows = zip(own.candidates, own.references, own.human, strict=True)
        lines = [
            json.dumps({"video_id": f"v{n}", "system": "a", "candidate": c, "references": r, "score": h})
            for n, (c, r, h) in enumerate(rows)
        ]
        (tmp_path / f"judged {year}.jsonl").write_text("\n".join(lines))
    files = [str(tmp_path / f"judged {year}.jsonl") for year in (2016, 2017)]
    out = str(tmp_path / "out")
    command = ["metric", "train", *files, "--encoder", encoder]
    causal = str(tmp_path / "causal")
    shutil.copytree(encoder, causal)
    save_tokenizer(Path(causal), WORDS, special=("<s>", "</s>"))
    assert main([*command, "--hold-out", "2017", "--out", out]) == 0
    text = capsys.readouterr().out
    assert "judged 2017: r " in text
    assert "On 1 held-out sets its r is on average" in text
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "x.txt").write_text("mine")
    for arguments, message in [
        ([*command, "--out", out], "already holds a learned metric"),
        ([*command, "--out", str(tmp_path / "notes")], "already holds something else"),
        ([*command, "--hold-out", "2020", "--out", out], "no set is of 2020; there are 2016, 2017"),
        ([*command, "--hold-out", "2016", "--hold-out", "2017", "--out", "new"], "no judged captions to learn from"),
        ([*command, "--pair-epochs", "1", "--out", "new"], "add --fine-tune"),
        (["metric", "train", *files, "--pair-epochs", "1", "--out", "new"], "name captions with --pairs"),
        (["metric", "train", *files, "--device", "nonsense", "--out", "new"], "nonsense"),
        ([*command, "--cross-encoder", "--pair-epochs", "1", "--out", "new"], "leave out --pair-epochs"),
        (["metric", "train", *files, "--cross-encoder", "--out", "new"], "name an --encoder"),
        (
            ["metric", "train", *files, "--cross-encoder", "--encoder", causal, "--out", "new"],
            "its tokenizer has no [CLS]",
        ),
    ]:
        assert main(arguments) == 2, arguments
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    with pytest.raises(VttdataError, match="holds no learned metric"):
        PairModel.load(tmp_path)
    save_file({"weights": np.ones(2)}, Path(out) / "head.safetensors")
    with pytest.raises(VttdataError, match="do not fit the encoder"):
        PairModel.load(Path(out))
    (Path(out) / "head.safetensors").write_bytes(b"no weights")
    with pytest.raises(VttdataError, match="cannot be read as weights"):
        PairModel.load(Path(out))
    assert "--model learned=FOLDER" in str(load_metric("learned").unavailable())
