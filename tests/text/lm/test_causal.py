"""Causal models of HuggingFace, tried on a tiny one that is made here: saved, loaded, scored."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vttdata.errors import VttdataError
from vttdata.text.lm import CausalModel, Scorer, Substitution, load_scorer

CAPTIONS = [
    "a man rides a horse in the park",
    "two dogs run after a red ball",
    "a woman plays the guitar and sings a song about a horse in the park",
    "cooking",
    "the girl doesn't see the old man's dog, and laughs",
    "",
]


@pytest.fixture(scope="module")
def torch() -> Any:
    pytest.importorskip("transformers", reason="the extra 'lm' is not installed (transformers)")
    found = pytest.importorskip("torch", reason="the extra 'lm' is not installed (torch)")
    found.set_num_threads(1)  # several only wait for each other where a model is tiny
    return found


@pytest.fixture(scope="module")
def folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of 2 layers with drawn weights and a byte-level tokenizer trained on the captions."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    place = tmp_path_factory.mktemp("models") / "tiny"
    pieces = ByteLevelBPETokenizer()
    pieces.train_from_iterator(CAPTIONS, vocab_size=300, special_tokens=["<|endoftext|>"], show_progress=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>"
    )
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=32, n_layer=2, n_head=4)
    model = GPT2LMHeadModel(config)
    for weights in model.parameters():
        weights.data.mul_(8)
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


@pytest.fixture(scope="module")
def model(folder: Path) -> CausalModel:
    return CausalModel.load(str(folder))


def expected_log_probabilities(torch: Any, folder: Path, text: str) -> list[float]:
    """One forward pass for each token, each on the bare tokens before it."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    row = [tokenizer.bos_token_id, *tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    found = []
    for at in range(1, len(row)):
        with torch.no_grad():
            logits = network(input_ids=torch.tensor([row[:at]])).logits[0, -1].double()
        found.append(float(torch.log_softmax(logits, 0)[row[at]]))
    return found


def test_each_token_is_scored_given_those_before_it(torch: Any, folder: Path, model: CausalModel) -> None:
    for text, found in zip(CAPTIONS, model.log_probabilities(CAPTIONS), strict=True):
        expected = expected_log_probabilities(torch, folder, text)
        assert found == pytest.approx(expected, abs=1e-4)
        assert model.perplexity([text])[0] == pytest.approx(math.exp(-np.mean(expected)), rel=1e-4)


@pytest.mark.parametrize("batch_tokens", [1, 40, 100_000])
def test_the_batch_does_not_matter(folder: Path, model: CausalModel, batch_tokens: int) -> None:
    texts = [*CAPTIONS, *reversed(CAPTIONS)]
    other = CausalModel.load(str(folder), batch_tokens=batch_tokens)
    alone = np.concatenate([model.perplexity([text]) for text in texts])
    assert other.perplexity(texts) == pytest.approx(alone, rel=1e-4)
    assert model.perplexity([]).shape == (0,)


def test_a_swap_scores_as_the_whole_changed_text(model: Scorer) -> None:
    swaps = [
        Substitution(CAPTIONS[0], 2, 5, ["woman", "dog", "woman"]),
        Substitution(CAPTIONS[1], 0, 3, []),
        Substitution("", 0, 0, ["a man"]),
    ]
    found = model.substitution_perplexities(swaps)
    assert [len(values) for values in found] == [3, 0, 1]
    for swap, values in zip(swaps, found, strict=True):
        assert values == pytest.approx(model.perplexity(swap.changed()), rel=1e-4)
        assert values == pytest.approx(model.substitution_perplexity(*swap), rel=1e-4)
    with pytest.raises(VttdataError, match="does not lie in the text"):
        model.substitution_perplexity("a man", 2, 9, ["dog"])


@pytest.mark.parametrize("family", ["GPT2", "GPTNeoX", "Bloom"])
def test_captions_that_begin_alike_score_together_as_each_alone(torch: Any, model: CausalModel, family: str) -> None:
    """A GPT-2 takes places within a pack, a GPT-NeoX turns keys by them, and a Bloom cannot be told them."""
    import transformers

    sizes = {"vocab_size": 300, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"intermediate_size": 64} if family == "GPTNeoX" else {}
    torch.manual_seed(1)
    drawn = getattr(transformers, f"{family}ForCausalLM" if family != "GPT2" else "GPT2LMHeadModel")(
        getattr(transformers, f"{family}Config")(**sizes)
    ).eval()
    for weights in drawn.parameters():
        weights.data.mul_(4)
    other, read = CausalModel(drawn, model._tokenizer, family, batch_tokens=1), []  # no padding is counted
    swaps = [
        Substitution(CAPTIONS[place], at, at + 3, ["woman", "dog", "d", "red", "", "horses in"])
        for place in (0, 4)
        for at in (7, 15)
    ]
    other.perplexity([""])
    drawn.register_forward_pre_hook(lambda _, __, given: read.append(given["input_ids"].numel()), with_kwargs=True)
    together = other.substitution_perplexities(swaps)
    packed, read[:] = sum(read), []
    alone = [np.concatenate([other.perplexity([text]) for text in swap.changed()]) for swap in swaps]
    assert (packed < 0.8 * sum(read)) == (family != "Bloom")
    for one, other_one in zip(together, alone, strict=True):
        np.testing.assert_allclose(one, other_one, rtol=1e-5)


def test_odd_signs_are_scored(model: CausalModel) -> None:
    values = model.perplexity(["\ud800", "\x00\n", "<|endoftext|>", "--help %s ../..", "猫\u202e"])
    assert np.isfinite(values).all()


def test_without_marks_the_first_token_is_given(folder: Path, model: CausalModel, tmp_path: Path) -> None:
    place = tmp_path / "bare"
    place.mkdir()
    for file in folder.iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    settings = json.loads((place / "tokenizer_config.json").read_text())
    settings.pop("bos_token"), settings.pop("eos_token")
    (place / "tokenizer_config.json").write_text(json.dumps(settings))
    bare = CausalModel.load(str(place))
    with_marks, without = (found.log_probabilities(CAPTIONS[:1])[0] for found in (model, bare))
    assert len(without) == len(with_marks) - 2
    assert bare.perplexity([""]) == [1]


def test_the_name_is_the_folder_without_its_place(folder: Path) -> None:
    scorer = load_scorer(str(folder) + "/")
    assert isinstance(scorer, CausalModel)
    assert scorer.name == "tiny"


def test_a_text_longer_than_the_model_sees_is_refused(model: CausalModel) -> None:
    with pytest.raises(VttdataError, match=r"A text has \d+ tokens, and tiny sees at most 64: 'a man a man"):
        model.perplexity(["short", "a man " * 60])


def test_what_is_no_model_is_refused(torch: Any, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(VttdataError, match="cannot be loaded"):
        CausalModel.load(str(tmp_path))
    with pytest.raises(VttdataError, match="cannot be loaded on nonsense"):
        CausalModel.load(str(folder), device="nonsense")


def test_weights_that_need_pickle_are_refused(torch: Any, folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    for file in folder.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    torch.save(load_file(folder / "model.safetensors"), tmp_path / "pytorch_model.bin")
    with pytest.raises(VttdataError, match="cannot be loaded"):
        CausalModel.load(str(tmp_path))


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(VttdataError, match=r"pip install 'vttdata\[lm\]'"):
        load_scorer("gpt2")
