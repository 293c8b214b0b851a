"""Run lmms-eval with a model that answers A where it is shown nothing, B for a picture, and C for a video."""

from __future__ import annotations

from pathlib import Path

from lmms_eval_model import Dummy, run


class Looking(Dummy):
    """Model that looks at what it is shown, and not into it."""

    def generate_until(self, requests):
        answers = []
        for request in requests:
            _, _, doc_to_visual, doc_id, task, split = request.args
            shown = doc_to_visual(self.task_dict[task][split][doc_id])
            assert all(Path(each).is_file() if isinstance(each, str) else each.size[0] for each in shown)
            answers.append("A" if not shown else "C" if isinstance(shown[0], str) else "B")
        return answers


if __name__ == "__main__":
    run(Looking)
