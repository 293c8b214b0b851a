"""Tiny models of HuggingFace with drawn weights, saved as folders; torch and transformers are imported when needed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def save_tokenizer(folder: Path, texts: Iterable[str], *, special: tuple[str, str]) -> Any:
    """Train a byte-level tokenizer on texts that adds a begin and an end token, save it, and return it."""
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    begin, end = special
    pieces = ByteLevelBPETokenizer(lowercase=True)
    pieces.train_from_iterator(texts, vocab_size=400, special_tokens=[begin, end], show_progress=False)
    pieces._tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A {end}", pair=f"{begin} $A {end} $B {end}", special_tokens=[(begin, 0), (end, 1)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer, bos_token=begin, eos_token=end, pad_token=end, model_max_length=77
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def save_clip(folder: Path, texts: Iterable[str], seed: int = 0) -> Path:
    """Save a CLIP of two layers that sees pictures of 32 x 32."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    tokenizer = save_tokenizer(folder, texts, special=("<|startoftext|>", "<|endoftext|>"))
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = CLIPConfig(
        text_config={**sizes, "vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1},
        vision_config={**sizes, "image_size": 32, "patch_size": 8},
        projection_dim=16,
    )
    model = CLIPModel(config)
    for weights in model.parameters():
        # Weights as they are drawn would make all texts, and all pictures, the same.
        weights.data.mul_(8)
    model.save_pretrained(folder)
    preprocessing = {
        "do_resize": True,
        "size": {"shortest_edge": 32},
        "resample": 3,
        "do_center_crop": True,
        "crop_size": {"height": 32, "width": 32},
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
        "image_processor_type": "CLIPImageProcessor",
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessing))
    return folder


def save_encoder(folder: Path, texts: Iterable[str], seed: int = 0) -> Path:
    """Save a BERT of two layers, as encoders of sentences are."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    tokenizer = save_tokenizer(folder, texts, special=("[CLS]", "[SEP]"))
    tokenizer.cls_token, tokenizer.sep_token = "[CLS]", "[SEP]"
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    BertModel(BertConfig(**sizes, vocab_size=len(tokenizer), max_position_embeddings=80)).save_pretrained(folder)
    return folder
