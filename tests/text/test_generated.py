"""Output of models is told apart from what they were asked for, and sound captions are left alone."""

from __future__ import annotations

import random

import pytest

from vttdata.evaluate.tasks.captioning import strip_captions
from vttdata.text.generated import find_prompt, strip_generated
from vttdata.text.tokenizers import split_unicode_words


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("<think>A man? Or a dog?</think>\na man runs", "a man runs"),
        ("so it must be a man\n</think>a man runs", "a man runs"),
        ("<think>is it a man", ""),
        ("a man runs</s>", "a man runs"),
        ("[CLS] a man runs [SEP] [PAD] [PAD]", "a man runs"),
        ("<s>a man runs<|im_end|><|endoftext|>", "a man runs"),
        ("a man thinks [of nothing] <5 s", "a man thinks [of nothing] <5 s"),
        ("a sign says [sic] and a < b > c", "a sign says [sic] and a < b > c"),
    ],
)
def test_reasoning_and_special_tokens_are_no_words(text: str, clean: str) -> None:
    assert strip_generated(text) == clean


def test_prompt_that_all_repeat_is_left_out() -> None:
    texts = [f"USER: Describe the video. ASSISTANT: a man does {number} things." for number in range(12)]
    assert find_prompt(texts) == "USER: Describe the video. ASSISTANT: "
    assert strip_captions([*texts, None])[::12] == ["a man does 0 things.", None]
    assert find_prompt(texts[:9]) == ""


def test_captions_of_one_form_are_no_prompt() -> None:
    draw = random.Random(5)
    words = ("runs", "sits", "eats", "sings", "cooks", "plays", "talks", "dances", "swims", "paints", "reads", "falls")
    for start in ("a man is", "in this video, a man", "video: a man"):
        assert find_prompt([f"{start} who {draw.choice(words)} and {word}" for word in words]) == ""


@pytest.mark.parametrize("mark", ["\u200e", "\u200f", "\u2060", "\ufeff", "\u061c", "\u202b", "\u2066", "\u00ad"])
def test_invisible_characters_are_no_part_of_words(mark: str) -> None:
    man, want = "\u0645\u0631\u062f", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    text = f"{mark}ein Mann{mark} l{mark}\u00e4uft{mark}, {mark}{man}{mark}."
    assert split_unicode_words(text) == ["ein", "mann", "l\u00e4uft", man]
    # Persian is spelled with joiners, and a space without width divides words.
    assert split_unicode_words(f"{want} a\u200bb") == [want, "a", "b"]
