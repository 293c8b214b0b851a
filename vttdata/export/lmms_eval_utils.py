"""The functions of a captioning task for lmms-eval; the exporter copies this file beside the task's YAML.

A document is a row of the exported table: `video_id`, `video`, `captions`. Scores are those of coco-caption over all
documents (pycocoevalcap, which needs Java); nothing is imported before it is needed, so that the task loads anywhere.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

METRICS = ("Bleu_4", "METEOR", "ROUGE_L", "CIDEr")

_SUFFIXES = (".mp4", ".webm", ".mkv", ".avi", ".mov", ".MP4")
_LINE_BREAKS = re.compile("[\n\r\v\f\u2028\u2029]+")


def doc_to_visual(doc: dict[str, Any]) -> list[str]:
    """The path of the video, in the folder `VTTDATA_VIDEOS` or in ``videos`` beside this file.

    Raises:
        FileNotFoundError: when no file is called after the clip there.
    """
    folder = Path(os.environ.get("VTTDATA_VIDEOS") or Path(__file__).parent / "videos").expanduser()
    names = [Path(doc["video"]).name] if doc.get("video") else []
    names += [doc["video_id"] + suffix for suffix in _SUFFIXES]
    for name in names:
        if (folder / name).is_file():
            return [str(folder / name)]
    raise FileNotFoundError(f"no video {doc['video_id']}.* in {folder}; VTTDATA_VIDEOS says where the videos are")


def doc_to_text(doc: dict[str, Any], lmms_eval_specific_kwargs: dict[str, Any] | None = None) -> str:  # noqa: ARG001
    """The instruction, which is the same for all documents."""
    return str((lmms_eval_specific_kwargs or {}).get("prompt", "Describe the video in one sentence."))


def doc_to_target(doc: dict[str, Any]) -> list[str]:
    """The references."""
    return list(doc["captions"])


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, dict[str, Any]]:
    """What each metric needs of one document: its id, its references and the answer."""
    answer = results[0] if results else ""
    result = {"video_id": doc["video_id"], "references": list(doc["captions"]), "answer": answer}
    return dict.fromkeys(METRICS, result)


def bleu4(results: list[dict[str, Any]]) -> float:
    """BLEU-4 of the corpus."""
    from pycocoevalcap.bleu.bleu import Bleu

    return _score(Bleu(4), results)[-1]


def meteor(results: list[dict[str, Any]]) -> float:
    """METEOR 1.5."""
    from pycocoevalcap.meteor.meteor import Meteor

    return _score(Meteor(), results)[-1]


def rouge_l(results: list[dict[str, Any]]) -> float:
    """ROUGE-L."""
    from pycocoevalcap.rouge.rouge import Rouge

    return _score(Rouge(), results)[-1]


def cider(results: list[dict[str, Any]]) -> float:
    """CIDEr-D, with the inverse document frequencies of these references."""
    from pycocoevalcap.cider.cider import Cider

    return _score(Cider(), results)[-1]


def _score(scorer: Any, results: list[dict[str, Any]]) -> list[float]:
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    references = {own["video_id"]: [_entry(text) for text in own["references"]] for own in results}
    answers = {own["video_id"]: [_entry(own["answer"])] for own in results}
    tokenizer = PTBTokenizer()
    score, _ = scorer.compute_score(tokenizer.tokenize(references), tokenizer.tokenize(answers))
    return [float(one) for one in score] if isinstance(score, list) else [float(score)]


def _entry(text: str) -> dict[str, str]:
    """The tokenizer is given a caption a line, so a caption has to be one."""
    return {"caption": _LINE_BREAKS.sub(" ", text)}
