"""What ``run.py`` of an export for VLMEvalKit calls: it registers the class of the export and runs VLMEvalKit."""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import vlmeval.dataset
from vlmeval.smp import LMUDataRoot

from vttdata.errors import VttdataError
from vttdata.export.documents import HarnessTask, load_documents, load_exported_task
from vttdata.export.exported_functions import find_shown, find_video, is_pictures
from vttdata.json_types import JsonObject


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
    parser.add_argument("--fps", type=float, default=-1)
    ours, theirs = parser.parse_known_args()
    register_export(folder, ours.frames, ours.fps)
    # Files of JSON keep every prediction as it is, where tables read some of them as missing values.
    os.environ.setdefault("PRED_FORMAT", "json")
    name = load_exported_task(folder).name
    sys.argv = [str(program), *([] if "--data" in theirs else ["--data", name]), *theirs]
    sys.path.insert(0, str(program.parent))
    runpy.run_path(str(program), run_name="__main__")


def register_export(folder: Path, frames: int = 0, fps: float = -1) -> None:
    """Make VLMEvalKit know the dataset of an export by its name.

    Raises:
        FileNotFoundError: if a video is missing.
    """
    task, documents = load_exported_task(folder), load_documents(folder)
    chosen = _load_class(folder, task)

    class Exported(chosen):  # type: ignore[misc, valid-type] # VLMEvalKit has no types
        """Dataset of the export, with the videos of this machine or what a condition shows."""

        def prepare_dataset(self, dataset: str) -> dict[str, str]:
            """Return the folder of the videos and the TSV."""
            if task.condition is not None:
                return {"root": str(folder), "data_file": str(folder / f"{task.name}.tsv")}
            found: dict[str, str] = super().prepare_dataset(dataset, str(_gather(folder, task, documents)))
            return found

        def build_prompt(self, line: Any, video_llm: bool) -> list[dict[str, str]]:
            """Return what is shown of a row, and the prompt."""
            if task.condition is not None:
                index = line if isinstance(line, int) else int(line["index"])
                shown = find_shown(documents[index], folder)
                if not shown or is_pictures(shown):
                    *_, prompt = super().build_prompt(line, video_llm=True)
                    return [*({"type": "image", "value": path} for path in shown), prompt]
            return list(super().build_prompt(line, video_llm))

    def build(**options: JsonObject) -> Exported:  # noqa: ARG001
        return Exported(nframe=frames, fps=fps)

    vlmeval.dataset.DATASET_CLASSES.append(Exported)
    vlmeval.dataset.SUPPORTED_DATASETS.append(task.name)
    vlmeval.dataset.supported_video_datasets[task.name] = build


def _load_class(folder: Path, task: HarnessTask) -> Any:
    """Import the module of an export as one of VLMEvalKit's datasets, and return its class."""
    name = f"vlmeval.dataset.{task.name}"
    spec = importlib.util.spec_from_file_location(name, folder / f"{task.name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, task.name.title().replace("_", ""))


def _gather(folder: Path, task: HarnessTask, documents: list[JsonObject]) -> Path:
    """Return a folder with the TSV and links to the videos, as it is published."""
    root = Path(LMUDataRoot()) / "datasets" / task.name
    (root / "videos").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / f"{task.name}.tsv", root / f"{task.name}.tsv")
    for document in documents:
        source, link = Path(find_video(document, folder)).resolve(), root / "videos" / f"{document['video_id']}.mp4"
        if link.is_symlink() and link.resolve() == source:
            continue
        link.unlink(missing_ok=True)
        try:
            link.symlink_to(source)
        except OSError:
            shutil.copyfile(source, link)
    return root
