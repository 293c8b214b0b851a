"""Causal models of HuggingFace, tried on a tiny one that is saved, loaded and scored, and packs of rows for them."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.needs import library
from vttdata.errors import VttdataError
from vttdata.text.lm import CausalModel, Scorer, Substitution, load_scorer
from vttdata.text.lm.causal import batch_packs, pack_rows

CAPTIONS = [
    "a man rides a horse in the park",
    "two dogs run after a red ball",
    "a woman plays the guitar and sings a song about a horse in the park",
    "cooking",
    "the girl doesn't see the old man's dog, and laughs",
    "",
]
ROWS = st.lists(st.lists(st.integers(0, 2), max_size=7), max_size=12)


@pytest.fixture(scope="module")
def torch() -> Any:
    library("transformers")
    torch = library("torch")
    torch.set_num_threads(1)  # several only wait for each other where a model is tiny
    return torch


@pytest.fixture(scope="module")
def folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of 2 layers with drawn weights and a byte-level tokenizer trained on the captions."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    path = tmp_path_factory.mktemp("models") / "tiny"
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
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


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


def test_token_is_scored_given_those_before_it(torch: Any, folder: Path, model: CausalModel) -> None:
    for text, found in zip(CAPTIONS, model.log_probabilities(CAPTIONS), strict=True):
        expected = expected_log_probabilities(torch, folder, text)
        assert found == pytest.approx(expected, abs=1e-4)
        assert model.perplexity([text])[0] == pytest.approx(math.exp(-np.mean(expected)), rel=1e-4)


@pytest.mark.parametrize("batch_tokens", [1, 40, 100_000])
def test_batch_size_changes_no_perplexity(folder: Path, model: CausalModel, batch_tokens: int) -> None:
    texts = [*CAPTIONS, *reversed(CAPTIONS)]
    other = CausalModel.load(str(folder), batch_tokens=batch_tokens)
    alone = np.concatenate([model.perplexity([text]) for text in texts])
    assert other.perplexity(texts) == pytest.approx(alone, rel=1e-4)
    assert model.perplexity([]).shape == (0,)


def test_substitution_scores_as_the_whole_changed_text(model: Scorer) -> None:
    substitutions = [
        Substitution(CAPTIONS[0], 2, 5, ["woman", "dog", "woman"]),
        Substitution(CAPTIONS[1], 0, 3, []),
        Substitution("", 0, 0, ["a man"]),
    ]
    found = model.substitution_perplexities(substitutions)
    assert [len(values) for values in found] == [3, 0, 1]
    for substitution, values in zip(substitutions, found, strict=True):
        assert values == pytest.approx(model.perplexity(substitution.changed_texts()), rel=1e-4)
        assert values == pytest.approx(model.substitution_perplexities([substitution])[0], rel=1e-4)
    with pytest.raises(VttdataError, match="does not lie in the text"):
        model.substitution_perplexities([Substitution("a man", 2, 9, ["dog"])])


@pytest.mark.parametrize("family", ["GPT2", "GPTNeoX", "Bloom"])
def test_captions_with_a_shared_prefix_score_the_same_packed_and_alone(
    torch: Any, model: CausalModel, family: str
) -> None:
    """GPT-2 adds position embeddings, GPT-NeoX rotates keys by position, and Bloom takes no positions."""
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
    substitutions = [
        Substitution(CAPTIONS[number], at, at + 3, ["woman", "dog", "d", "red", "", "horses in"])
        for number in (0, 4)
        for at in (7, 15)
    ]
    other.perplexity([""])
    drawn.register_forward_pre_hook(lambda _, __, given: read.append(given["input_ids"].numel()), with_kwargs=True)
    together = other.substitution_perplexities(substitutions)
    packed, read[:] = sum(read), []
    alone = [
        np.concatenate([other.perplexity([text]) for text in substitution.changed_texts()])
        for substitution in substitutions
    ]
    assert (packed < 0.8 * sum(read)) == (family != "Bloom")
    for packed_values, values in zip(together, alone, strict=True):
        np.testing.assert_allclose(packed_values, values, rtol=1e-5)


def test_unusual_characters_are_scored(model: CausalModel) -> None:
    values = model.perplexity(["\ud800", "\x00\n", "<|endoftext|>", "--help %s ../..", "猫\u202e"])
    assert np.isfinite(values).all()


def test_without_special_tokens_the_first_token_is_given(folder: Path, model: CausalModel, tmp_path: Path) -> None:
    bare_folder = tmp_path / "bare"
    bare_folder.mkdir()
    for file in folder.iterdir():
        (bare_folder / file.name).write_bytes(file.read_bytes())
    settings = json.loads((bare_folder / "tokenizer_config.json").read_text())
    settings.pop("bos_token"), settings.pop("eos_token")
    (bare_folder / "tokenizer_config.json").write_text(json.dumps(settings))
    bare = CausalModel.load(str(bare_folder))
    with_marks, without = (found.log_probabilities(CAPTIONS[:1])[0] for found in (model, bare))
    assert len(without) == len(with_marks) - 2
    assert bare.perplexity([""]) == [1]


def test_name_is_the_last_part_of_the_folder(folder: Path) -> None:
    scorer = load_scorer(str(folder) + "/")
    assert isinstance(scorer, CausalModel)
    assert scorer.name == "tiny"


def test_text_longer_than_the_context_is_refused(model: CausalModel) -> None:
    with pytest.raises(VttdataError, match=r"A text has \d+ tokens, and tiny sees at most 64: 'a man a man"):
        model.perplexity(["short", "a man " * 60])


def test_folder_without_a_model_and_unknown_device_are_refused(torch: Any, folder: Path, tmp_path: Path) -> None:
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


def test_shared_prefix_is_packed_once_without_last_tokens() -> None:
    (pack,) = pack_rows([[5, 6, 7, 8], [5, 6, 9, 8], [5, 6]], [[0, 1, 2]])
    assert pack.tokens == [5, 6, 7, 9]
    assert pack.positions == [0, 1, 2, 2]
    assert pack.paths == {0: [0, 1, 2], 1: [0, 1, 3], 2: [0]}
    assert pack.attention_mask(5).astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_row_of_several_groups_is_packed_once_and_long_row_alone() -> None:
    rows = [[1, 2, 3], [1, 2, 4], [9, 8, 7, 6, 5, 4], [9, 8, 1]]
    packs = pack_rows(rows, [[0, 1], [1, 0], [2, 3]], max_tokens=4)
    assert [list(pack.paths) for pack in packs] == [[0, 1], [2], [3]]


@given(ROWS, st.integers(1, 12), st.integers(1, 40))
def test_every_row_sees_only_its_tokens_in_order(rows: list[list[int]], limit: int, size: int) -> None:
    packs = pack_rows(rows, [range(len(rows))], max_tokens=limit)
    assert sorted(number for pack in packs for number in pack.paths) == [
        n for n, row in enumerate(rows) if len(row) > 1
    ]
    for pack in packs:
        assert len(pack.tokens) <= limit or len(pack.paths) == 1
        assert len(pack.tokens) == len(
            {tuple(rows[n][: at + 1]) for n, path in pack.paths.items() for at in range(len(path))}
        )
        seen = pack.attention_mask(len(pack.tokens))
        for number, path in pack.paths.items():
            assert [pack.tokens[index] for index in path] == rows[number][:-1]
            assert [pack.positions[index] for index in path] == list(range(len(path)))
            for at, index in enumerate(path):
                assert np.flatnonzero(seen[index]).tolist() == sorted(path[: at + 1])
    batches = list(batch_packs(packs, size))
    assert sorted(id(pack) for batch in batches for pack in batch) == sorted(map(id, packs))
    assert all(len(batch) == 1 or len(batch) * len(batch[0].tokens) <= size for batch in batches)
    assert all(len(pack.tokens) <= len(batch[0].tokens) for batch in batches for pack in batch)
