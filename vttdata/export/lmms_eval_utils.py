"""Functions of a captioning task for lmms-eval; the exporter copies this file beside the task's YAML.

A document is a row of the exported table: `video_id`, `video`, `captions`. Scores are those of coco-caption over all
documents (pycocoevalcap, which needs Java). The task can be loaded without pycocoevalcap.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

METRICS = ("Bleu_4", "METEOR", "ROUGE_L", "CIDEr")

_SUFFIXES = (".mp4", ".webm", ".mkv", ".avi", ".mov", ".MP4")
_LINE_BREAKS = re.compile("[\n\r\v\f\u2028\u2029]+")


def doc_to_visual(doc: dict[str, Any]) -> list[Any]:
    """Return what is shown; see `load_shown`."""
    return load_shown(doc, Path(__file__).parent)


def load_shown(doc: dict[str, Any], export: Path) -> list[Any]:
    """Return what is shown of a document: the path of its video, pictures, or nothing; see `find_shown`."""
    paths = find_shown(doc, export)
    if not is_pictures(paths):
        return list(paths)
    from PIL import Image

    return [Image.open(path).convert("RGB") for path in paths]


def find_shown(doc: dict[str, Any], export: Path) -> list[str]:
    """Return the paths of what is shown of a document: its video, or what the condition of the export shows of it.

    Raises:
        FileNotFoundError: if there is no such file.
    """
    task = export / "task.json"
    condition = json.loads(task.read_text(encoding="utf-8")).get("condition") if task.is_file() else None
    if condition is None:
        return [find_video(doc, export)]
    if condition == "text":
        return []
    videos = export / "videos"
    found = sorted(path for path in (videos / doc["video_id"]).glob("*.*") if is_pictures([str(path)]))
    found = found or [path for path in [videos / f"{doc['video_id']}.mp4"] if path.is_file()]
    if not found:
        raise FileNotFoundError(f"nothing is shown of {doc['video_id']} in {videos}; export the stimuli again")
    return list(map(str, found))


def is_pictures(paths: list[str]) -> bool:
    """Return whether paths are those of pictures."""
    return bool(paths) and paths[0].endswith((".png", ".jpeg"))


def find_video(doc: dict[str, Any], export: Path) -> str:
    """Return the path of the video of a document, in the folder `VTTDATA_VIDEOS` or in ``videos`` of the export.

    Raises:
        FileNotFoundError: if the folder has no video of the clip.
    """
    folder = Path(os.environ.get("VTTDATA_VIDEOS") or export / "videos").expanduser()
    # The dataset's own folder of videos has a folder for each split.
    names = ["/".join(Path(doc["video"]).parts[1:]), Path(doc["video"]).name] if doc.get("video") else []
    names += [doc["video_id"] + suffix for suffix in _SUFFIXES]
    for name in names:
        if (folder / name).is_file():
            return str(folder / name)
    raise FileNotFoundError(f"no video {doc['video_id']}.* in {folder}; set VTTDATA_VIDEOS to the folder of the videos")


def doc_to_text(doc: dict[str, object], lmms_eval_specific_kwargs: dict[str, object] | None = None) -> str:  # noqa: ARG001
    """Return the prompt, which is the same for all documents."""
    return str((lmms_eval_specific_kwargs or {}).get("prompt", "Describe the video in one sentence."))


def doc_to_target(doc: dict[str, Any]) -> list[str]:
    """Return the references."""
    return list(doc["captions"])


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, dict[str, Any]]:
    """Return, for each metric, the id, the references and the answer of a document."""
    answer = results[0] if results else ""
    result = {"video_id": doc["video_id"], "references": list(doc["captions"]), "answer": answer}
    return dict.fromkeys(METRICS, result)


def bleu4(results: list[dict[str, object]]) -> float:
    """Return the corpus BLEU-4."""
    from pycocoevalcap.bleu.bleu import Bleu

    return _score(Bleu(4), results)[-1]


def meteor(results: list[dict[str, object]]) -> float:
    """Return METEOR 1.5."""
    from pycocoevalcap.meteor.meteor import Meteor

    return _score(Meteor(), results)[-1]


def rouge_l(results: list[dict[str, object]]) -> float:
    """Return ROUGE-L."""
    from pycocoevalcap.rouge.rouge import Rouge

    return _score(Rouge(), results)[-1]


def cider(results: list[dict[str, object]]) -> float:
    """Return CIDEr-D, with the inverse document frequencies of these references."""
    from pycocoevalcap.cider.cider import Cider

    return _score(Cider(), results)[-1]


def _score(scorer: Any, results: list[dict[str, Any]]) -> list[float]:
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    # The tokenizer reads one caption per line, so a line break inside a caption would shift all captions after it.
    references = {
        result["video_id"]: [{"caption": _LINE_BREAKS.sub(" ", text)} for text in result["references"]]
        for result in results
    }
    answers = {result["video_id"]: [{"caption": _LINE_BREAKS.sub(" ", result["answer"])}] for result in results}
    tokenizer = PTBTokenizer()
    score, _ = scorer.compute_score(tokenizer.tokenize(references), tokenizer.tokenize(answers))
    return [float(value) for value in score] if isinstance(score, list) else [float(score)]
