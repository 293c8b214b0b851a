"""Run an exported ``run.py`` with VLMEvalKit and a model ``Dummy``, whose answers are those of `dummy_answers`.

With what each prompt shows, it notes what VLMEvalKit says of the dataset. ``DUMMY_TAKES`` is ``pictures`` for a model
that takes no video.
"""

from __future__ import annotations

import os
import runpy
import sys

from dummy_answers import answer
from vlmeval.config import supported_VLM
from vlmeval.dataset import DATASET_MODALITY, DATASET_TYPE
from vlmeval.vlm.base import BaseModel


class Dummy(BaseModel):
    """Model that is shown a video, or its frames, and a prompt."""

    VIDEO_LLM = os.environ.get("DUMMY_TAKES") != "pictures"
    is_api = False
    nframe = 1 if "DUMMY_TAKES" in os.environ else None

    def generate_inner(self, message, dataset=None):
        shown = [part for part in message if part["type"] != "text"]
        (prompt,) = (part["value"] for part in message if part["type"] == "text")
        facts = {"type": DATASET_TYPE(dataset), "modality": DATASET_MODALITY(dataset), "nframe": self.nframe}
        kinds = " ".join(part["type"] for part in shown)
        return answer(prompt, *(part["value"] for part in shown), kinds=kinds, **facts)


supported_VLM["Dummy"] = lambda **options: Dummy()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
