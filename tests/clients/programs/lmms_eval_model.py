"""Run lmms-eval with the given options and a model ``vttdata_dummy``, whose answers are those of `dummy_answers`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from dummy_answers import answer
from lmms_eval import models
from lmms_eval.api.model import lmms


class Dummy(lmms):
    """Model that is shown the video and the prompt of each document."""

    def __init__(self, **options):
        super().__init__()

    def generate_until(self, requests):
        answers = []
        for request in requests:
            context, _, doc_to_visual, doc_id, task, split = request.args
            videos = doc_to_visual(self.task_dict[task][split][doc_id])
            assert all(Path(video).is_file() for video in videos)
            answers.append(answer(context, *videos))
        return answers

    def loglikelihood(self, requests):
        raise NotImplementedError

    def generate_until_multi_round(self, requests):
        raise NotImplementedError


def run(model):
    """Run lmms-eval with a class of models, whatever the options name."""
    models.get_model = lambda *names, **options: model
    sys.argv[0] = "lmms_eval"
    runpy.run_module("lmms_eval", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    run(Dummy)
