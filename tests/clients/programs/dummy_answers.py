"""Answers of a model that hashes the prompt and the content of the video: some right, some that no rule reads."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

YES_NO = ("yes", "No, it is not.", "no", "I cannot tell")
LETTERS = ("A", "B.", "The answer is C", "b", "None", "2", "I cannot tell")
CAPTIONS = ("a man is singing", "a dog runs in a park", "Two people, talking.\nOutside", "None", "a red ball rolls")


def answer(prompt: str, *videos: str) -> str:
    """Return the answer to a prompt about videos, given as paths or as data URLs."""
    content = b"".join(map(read, videos))
    answers = CAPTIONS if "caption for" in prompt else YES_NO if "yes or no" in prompt else LETTERS
    return answers[int(hashlib.sha256(prompt.encode() + content).hexdigest(), 16) % len(answers)]


def read(video: str) -> bytes:
    """Return the content of a video."""
    if video.startswith("data:"):
        return base64.b64decode(video.partition(",")[2])
    return Path(video).read_bytes()
