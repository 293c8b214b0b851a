"""Foils that a causal language model mines and another one judges, through the command line and the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest

from tests.cli.test_foil import FRAMES, write_captions
from tests.helpers.needs import library
from vttdata.cli.main import main
from vttdata.text.lm import CausalModel, Substitution
from vttdata.text.lm.pretrained import load_encoder

TEXTS = [frame.format(animal) for frame in FRAMES for animal in ("dog", "cat", "horse", "cow", "sheep", "goat")]


def save_tiny(folder: Path, family: str) -> Path:
    """A model of two layers with drawn weights, and a byte-level tokenizer trained on captions."""
    torch = library("torch")
    transformers = library("transformers")
    from tokenizers import ByteLevelBPETokenizer

    pieces = ByteLevelBPETokenizer()
    pieces.train_from_iterator(TEXTS, vocab_size=290, special_tokens=["<|endoftext|>"], show_progress=False)
    mark = "<|endoftext|>"
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=pieces._tokenizer, bos_token=mark, eos_token=mark)
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer), "hidden_size": 16, "num_hidden_layers": 2}
    torch.manual_seed(len(family))
    if family == "gpt2":
        config = transformers.GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=2, n_head=2)
        model = transformers.GPT2LMHeadModel(config)
    else:
        config = transformers.GPTNeoXConfig(**sizes, num_attention_heads=2, intermediate_size=32)
        model = transformers.GPTNeoXForCausalLM(config)
    for weights in model.parameters():
        weights.data.mul_(8)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The one that mines, a GPT-2, and a judge of another family."""
    folder = tmp_path_factory.mktemp("models")
    return save_tiny(folder / "tiny-gpt2", "gpt2"), save_tiny(folder / "tiny-neox", "neox")


def test_a_causal_model_mines_and_one_of_another_family_judges(
    tmp_path: Path, models: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    miner, judge = map(str, models)
    file, out = str(write_captions(tmp_path / "captions.csv", 60)), tmp_path / "out"
    given = ["--scorer", miner, "--judge", judge, "--min-count", "3", "--candidates", "6", "--device", "cpu"]
    assert main(["foil", file, "--out", str(out), *given]) == 0
    rows = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"), split="test")
    assert len(rows) > 10
    model = CausalModel.load(miner)
    for side, column in (("caption", "perplexity"), ("foil", "foil_perplexity")):
        np.testing.assert_allclose(rows[column], model.perplexity(rows[side]), rtol=1e-5)
    attacks = {own["attacker"]: own for own in json.loads((out / "shortcuts.json").read_text())["foils"]}
    other = CausalModel.load(judge)
    right = np.less(other.perplexity(rows["caption"]), other.perplexity(rows["foil"])).mean()
    assert attacks["tiny-neox"]["accuracy"] == pytest.approx(right, abs=0.02)
    card = (out / "README.md").read_text()
    assert "tiny-neox" in card
    assert "perplexities of tiny-gpt2" in card
    assert not [path for path in out.rglob("*") if path.is_file() and str(models[0]).encode() in path.read_bytes()]
    capsys.readouterr()
    again = ["verify", str(out), "--input", file, "--set", f"scorer={miner}", "--set", f"judges.0={judge}"]
    assert main(again) == 0
    assert "are the same to the byte" in capsys.readouterr().out
    assert main(["audit", str(out), "--judge", judge, "--json"]) == 0
    found = {own["attacker"]: own for own in json.loads(capsys.readouterr().out)["attacks"]}
    assert found["tiny-neox"] == attacks["tiny-neox"]
    assert "unavailable" in found["sentence-embeddings"]
    assert main(["audit", str(out), "--encoder", miner, "--json"]) == 0
    encoded = {own["attacker"]: own for own in json.loads(capsys.readouterr().out)["attacks"]}
    assert encoded["sentence-embeddings"]["pairs"] == len(rows)


def test_sentences_are_encoded_by_the_mean_of_their_tokens(models: tuple[Path, Path]) -> None:
    import torch
    import transformers

    texts = [*TEXTS, "a dog", "the horse runs in the yard near the house"]
    vectors = load_encoder(str(models[0]))(texts)
    model = transformers.AutoModel.from_pretrained(models[0]).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(models[0])
    with torch.inference_mode():
        alone = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0).numpy() for text in texts]
    np.testing.assert_allclose(vectors, alone, rtol=1e-3, atol=1e-4)


def test_how_many_texts_are_scored_at_once_changes_no_perplexity(models: tuple[Path, Path]) -> None:
    swaps = [
        Substitution(f"a {animal} runs", 2, 2 + len(animal), ["horse", "sheep", "cow"]) for animal in ("dog", "goat")
    ]
    for folder in map(str, models):
        one, many = (CausalModel.load(folder, batch_tokens=size) for size in (1, 4096))
        np.testing.assert_allclose(one.perplexity(TEXTS), many.perplexity(TEXTS), rtol=1e-5)
        for alone, together in zip(
            one.substitution_perplexities(swaps), many.substitution_perplexities(swaps), strict=True
        ):
            np.testing.assert_allclose(alone, together, rtol=1e-5)


def test_a_device_that_is_not_there_is_refused_in_one_sentence(
    tmp_path: Path, models: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = str(write_captions(tmp_path / "captions.csv", 20)), str(tmp_path / "out")
    assert main(["foil", file, "--out", out, "--scorer", str(models[0]), "--device", "cuda:99"]) == 2
    *_, error = capsys.readouterr().err.splitlines()  # before it transformers shows how far it has read the weights
    assert error.startswith("vttdata: ")
    assert "cannot be loaded on cuda:99" in error
