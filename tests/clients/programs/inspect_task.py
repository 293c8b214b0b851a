"""Run ``inspect`` with the given options and a model ``dummy/model``, whose answers are those of `dummy_answers`.

The mock model of inspect_ai counts tokens with a file that it downloads. With ``DUMMY_FORGETS``, the model answers
nothing where it is asked again. Prints the scores, and the id, target, epoch and answer of each sample.
"""

from __future__ import annotations

import json
import os
import sys

from dummy_answers import answer
from inspect_ai._cli.main import inspect as inspect_command
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ModelAPI, ModelOutput, modelapi


@modelapi(name="dummy")
def dummy():
    class Dummy(ModelAPI):
        async def generate(self, input, tools, tool_choice, config):  # noqa: A002 - its name there
            content = input[-1].content
            videos = [part.video for part in content if part.type == "video"]
            prompt = next(part.text for part in content if part.type == "text")
            is_forgotten = os.environ.get("DUMMY_FORGETS") and prompt in asked
            asked.add(prompt)
            text = "" if is_forgotten else answer(prompt, *videos)
            return ModelOutput.from_content(model="dummy", content=text)

    return Dummy


asked: set[str] = set()
inspect_command(sys.argv[1:], standalone_mode=False)
log = read_eval_log(list_eval_logs(sys.argv[sys.argv.index("--log-dir") + 1])[0])
assert log.status == "success", log.error
scores = {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}
samples = [(sample.id, sample.target, sample.epoch, sample.output.completion) for sample in log.samples]
print(json.dumps({"scores": scores, "samples": samples}))
