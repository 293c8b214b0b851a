"""Dataset class for VLMEvalKit over the documents of an export; its ``run.py`` calls `run_export`."""

from __future__ import annotations

import argparse
import json
import os
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import vlmeval
from vlmeval.dataset.video_base import VideoBaseDataset
from vlmeval.dataset.video_dataset_config import supported_video_datasets
from vlmeval.smp import LMUDataRoot, load

from vttdata.errors import VttdataError
from vttdata.evaluate.harness.scoring import log_answer, score_logged
from vttdata.export.documents import load_documents, load_exported_task
from vttdata.export.lmms_eval_utils import find_shown, is_pictures
from vttdata.json_types import JsonObject


class ExportedDataset(VideoBaseDataset):  # type: ignore[misc] # VLMEvalKit has no types
    """Dataset of an export in a folder; `frames` of a video are shown, or its file if there are none."""

    TYPE = "Video-VQA"

    def __init__(self, folder: Path, frames: int = 0) -> None:
        self.folder = folder
        self.task = load_exported_task(folder)
        self.documents = load_documents(folder)
        super().__init__(dataset=self.task.name, nframe=frames)

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Return nothing: exports are registered by their names."""
        return []

    def prepare_dataset(self, dataset: str) -> dict[str, str]:
        """Link the videos as ``<video_id>.mp4`` in one folder, as VLMEvalKit looks for them.

        Raises:
            FileNotFoundError: if a video is missing.
        """
        root = Path(LMUDataRoot()) / "videos" / dataset
        root.mkdir(parents=True, exist_ok=True)
        for document in self.documents:
            shown = find_shown(document, self.folder)
            if not shown or is_pictures(shown):
                continue
            source, link = Path(shown[0]).resolve(), root / f"{document['video_id']}.mp4"
            if link.is_symlink() and link.resolve() == source:
                continue
            link.unlink(missing_ok=True)
            try:
                link.symlink_to(source)
            except OSError:
                shutil.copyfile(source, link)
        return {"root": str(root), "data_file": str(self.folder / f"{dataset}.tsv")}

    def build_prompt(self, line: Any, video_llm: bool = False) -> list[dict[str, str]]:
        """Return the video of a row, as a file or in frames, and the prompt.

        Args:
            line: number of the row, or the row.
            video_llm: the model takes files of videos.

        Raises:
            VttdataError: if the model takes pictures only and no number of frames is given.
        """
        document = self.documents[line if isinstance(line, int) else int(line["index"])]
        video = str(document["video_id"])
        paths = find_shown(document, self.folder)
        if not paths or is_pictures(paths):
            shown = [{"type": "image", "value": path} for path in paths]
        elif video_llm and not self.nframe:
            shown = [{"type": "video", "value": str(Path(self.data_root) / f"{video}.mp4")}]
        elif self.nframe:
            shown = [{"type": "image", "value": path} for path in self.save_video_frames(video)]
        else:
            raise VttdataError("This model takes pictures, not videos; give their number with --frames.")
        return [*shown, {"type": "text", "value": document["prompt"]}]

    def evaluate(self, eval_file: str, **judge_kwargs: Any) -> dict[str, float]:  # noqa: ARG002
        """Score a file of predictions, beside which the answers are written for `vttdata evaluate`."""
        rows = load(eval_file)
        # VLMEvalKit reads a prediction such as "None" back as a missing one.
        records = rows if isinstance(rows, list) else rows.to_dict("records")
        answers = {int(row["index"]): _text(row["prediction"]) for row in records}
        documents = [self.documents[index] for index in answers]
        logged = [
            log_answer(self.task, document, answers[index]) for index, document in zip(answers, documents, strict=True)
        ]
        path = Path(eval_file)
        with path.with_name(f"{path.stem}_answers.jsonl").open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in logged)
        scores = score_logged(self.task, documents, logged)
        path.with_name(f"{path.stem}_scores.json").write_text(
            json.dumps(scores, indent=1) + "\n", encoding="utf-8", newline="\n"
        )
        return scores


def _text(prediction: object) -> str:
    return prediction if isinstance(prediction, str) else ""


def run_export(folder: Path) -> None:
    """Register an export with VLMEvalKit and run its ``run.py`` with the options of the command line.

    Raises:
        VttdataError: if VLMEvalKit is installed without its ``run.py``, as it is from anything but a checkout.
    """
    program = Path(vlmeval.__file__).resolve().parents[1] / "run.py"
    if not program.is_file():
        raise VttdataError(f"{program}: VLMEvalKit's run.py is missing; install it with 'pip install -e VLMEvalKit'.")
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--frames", type=int, default=0)
    ours, theirs = parser.parse_known_args()
    name = load_exported_task(folder).name
    register_export(folder, ours.frames)
    # Files of JSON keep every prediction as it is, where tables read some of them as missing values.
    os.environ.setdefault("PRED_FORMAT", "json")
    sys.argv = [str(program), *([] if "--data" in theirs else ["--data", name]), *theirs]
    sys.path.insert(0, str(program.parent))
    runpy.run_path(str(program), run_name="__main__")


def register_export(folder: Path, frames: int = 0) -> None:
    """Make VLMEvalKit know the dataset of an export by its name."""

    def build(**options: JsonObject) -> ExportedDataset:  # noqa: ARG001
        return ExportedDataset(folder, frames)

    supported_video_datasets[load_exported_task(folder).name] = build
