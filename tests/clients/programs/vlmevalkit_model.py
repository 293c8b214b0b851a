"""Run an exported ``run.py`` with VLMEvalKit and a model ``Dummy``, whose answers are those of `dummy_answers`."""

from __future__ import annotations

import runpy
import sys

from dummy_answers import answer
from vlmeval.config import supported_VLM
from vlmeval.vlm.base import BaseModel


class Dummy(BaseModel):
    """Model that is shown a video and a prompt."""

    VIDEO_LLM = True
    is_api = False

    def generate_inner(self, message, dataset=None):
        videos = [part["value"] for part in message if part["type"] == "video"]
        assert len(videos) == 1
        (prompt,) = (part["value"] for part in message if part["type"] == "text")
        return answer(prompt, *videos)


supported_VLM["Dummy"] = lambda **options: Dummy()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
