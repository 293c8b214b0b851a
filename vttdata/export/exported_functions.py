"""Functions that exports for evaluation harnesses have a copy of, which needs no vttdata.

A document of captioning has `captions`. One of a question or of a pair of texts has `options` with their `labels`, and
`answer`, the index of the right one; answers are read as by other tasks of the harness.
"""

import inspect
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

METRICS = ("Bleu_4", "METEOR", "ROUGE_L", "CIDEr")


def sources(*functions: Callable[..., Any]) -> str:
    """Return the sources of functions, as a file has them."""
    return "\n\n".join(map(inspect.getsource, functions))


def doc_to_visual(doc: dict[str, Any]) -> list[Any]:
    """Return the path of the video of a document."""
    return [find_video(doc, Path(__file__).parent)]


def stimuli_to_visual(doc: dict[str, Any]) -> list[Any]:
    """Return what is shown of a document: the path of its video, pictures, or nothing; see `find_shown`."""
    paths = find_shown(doc, Path(__file__).parent)
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
    """Return the path of the video of a document.

    It is in the folder `VTTDATA_VIDEOS`, in ``videos`` of the export, or where lmms-eval unpacks videos from the Hub.

    Raises:
        FileNotFoundError: if the folder has no video of the clip.
    """
    beside, cache = export / "videos", Path(os.environ.get("HF_HOME", "~/.cache/huggingface")) / export.name / "videos"
    unpacked = cache.expanduser().is_dir() and not beside.is_dir()
    folder = Path(os.environ.get("VTTDATA_VIDEOS") or (cache if unpacked else beside)).expanduser()
    # The dataset's own folder of videos has a folder for each split.
    names = ["/".join(Path(doc["video"]).parts[1:]), Path(doc["video"]).name] if doc.get("video") else []
    names += [doc["video_id"] + suffix for suffix in (".mp4", ".webm", ".mkv", ".avi", ".mov", ".MP4")]
    for name in names:
        if (folder / name).is_file():
            return str(folder / name)
    raise FileNotFoundError(f"no video {doc['video_id']}.* in {folder}; set VTTDATA_VIDEOS to the folder of the videos")


def caption_to_text(doc: dict[str, Any], lmms_eval_specific_kwargs: dict[str, Any] | None = None) -> str:
    """Return the prompt, which is the same for all clips."""
    return str((lmms_eval_specific_kwargs or {}).get("prompt", "Describe the video in one sentence."))


def caption_to_target(doc: dict[str, Any]) -> list[str]:
    """Return the references."""
    return list(doc["captions"])


def process_caption(doc: dict[str, Any], results: list[str]) -> dict[str, dict[str, Any]]:
    """Return, for each metric, the id, the references and the answer of a clip."""
    answer = results[0] if results else ""
    result = {"video_id": doc["video_id"], "references": list(doc["captions"]), "answer": answer}
    return dict.fromkeys(METRICS, result)


def choice_to_text(doc: dict[str, Any], lmms_eval_specific_kwargs: dict[str, Any] | None = None) -> str:
    """Return the question with its options, unless they are yes and no, between the prompts of the task."""
    around = lmms_eval_specific_kwargs or {}
    lines = [doc["question"], *([] if is_yes_no(doc) else option_lines(doc))]
    return f"{around.get('pre_prompt', '')}{chr(10).join(lines)}{around.get('post_prompt', '')}"


def choice_to_target(doc: dict[str, Any]) -> str:
    """Return the label of the right option, or yes or no."""
    return str(doc["options" if is_yes_no(doc) else "labels"][doc["answer"]])


def option_lines(doc: dict[str, Any]) -> list[str]:
    """Return each option after its label: ``A. text``, ``Option 1: text``."""
    labelled = zip(doc["labels"], doc["options"], strict=True)
    return [f"{label}{':' if ' ' in label else '.'} {option}" for label, option in labelled]


def is_yes_no(doc: dict[str, Any]) -> bool:
    """Return whether the options are yes and no."""
    return sorted(option.lower() for option in doc["options"]) == ["no", "yes"]


def read_choice(answer: str, doc: dict[str, Any]) -> int | None:
    """Return the index of the option that an answer names, or None.

    Of yes and no, the beginning decides, as in TempCompass. Otherwise an option's label, text or line is read, and then
    the letter that `find_letter` finds.
    """
    text = answer.strip()
    if is_yes_no(doc):
        starts = (index for index, option in enumerate(doc["options"]) if text.lower().startswith(option.lower()))
        return next(starts, None)
    for index, line in enumerate(option_lines(doc)):
        label, option = doc["labels"][index], doc["options"][index]
        if {text, text.rstrip(".")} & {label, label.rpartition(" ")[2], option, line}:
            return index
    letters = [label.rpartition(" ")[2] for label in doc["labels"]]
    found = find_letter(text, letters)
    return letters.index(found) if found in letters else None


def find_letter(text: str, letters: list[str]) -> Any:
    """Return the letter that an answer names, as other tasks of lmms-eval read it."""
    from lmms_eval.tasks._task_utils.mcq_extract import extract_mcq_answer

    return extract_mcq_answer(text, choices=letters)


def process_choice(doc: dict[str, Any], results: list[str]) -> dict[str, dict[str, Any]]:
    """Return, for the accuracy and for that of its type, the id of a document, its answer and its score."""
    answer = results[0] if results else ""
    is_right = read_choice(answer, doc) == doc["answer"]
    result: dict[str, Any] = {"video_id": doc["video_id"], "free_text": answer, "score": float(is_right)}
    if "foil_id" in doc:
        result |= {"foil_id": doc["foil_id"], "preferred": "true" if is_right else "foil"}
    else:
        result["question_id"] = doc["question_id"]
    dimension = doc.get("type")
    names = ["accuracy", *([f"{metric_name(dimension)}_accuracy"] if dimension else [])]
    return dict.fromkeys(names, result)


def metric_name(dimension: str) -> str:
    """Return the type of a question as a part of the name of a metric."""
    return re.sub(r"\W+", "_", dimension).lower()


def mean_score(results: list[dict[str, Any]]) -> float:
    """Return the share of right answers, 0..1."""
    return float(sum(result["score"] for result in results) / len(results))


def bleu4(results: list[dict[str, object]]) -> float:
    """Return the corpus BLEU-4."""
    from pycocoevalcap.bleu.bleu import Bleu

    return coco_score(Bleu(4), results)[-1]


def meteor(results: list[dict[str, object]]) -> float:
    """Return METEOR 1.5."""
    from pycocoevalcap.meteor.meteor import Meteor

    return coco_score(Meteor(), results)[-1]


def rouge_l(results: list[dict[str, object]]) -> float:
    """Return ROUGE-L."""
    from pycocoevalcap.rouge.rouge import Rouge

    return coco_score(Rouge(), results)[-1]


def cider(results: list[dict[str, object]]) -> float:
    """Return CIDEr-D, with the inverse document frequencies of these references."""
    from pycocoevalcap.cider.cider import Cider

    return coco_score(Cider(), results)[-1]


def coco_score(scorer: Any, results: list[dict[str, Any]]) -> list[float]:
    """Return the scores of a scorer of pycocoevalcap over all results."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    # The tokenizer reads one caption per line, so a line break inside a caption would shift all captions after it.
    line_breaks = re.compile("[\n\r\v\f\u2028\u2029]+")
    references, answers = {}, {}
    for result in results:
        texts = (line_breaks.sub(" ", text) for text in result["references"])
        references[result["video_id"]] = [{"caption": text} for text in texts]
        answers[result["video_id"]] = [{"caption": line_breaks.sub(" ", result["answer"])}]
    tokenizer = PTBTokenizer()
    score, _ = scorer.compute_score(tokenizer.tokenize(references), tokenizer.tokenize(answers))
    return [float(value) for value in score] if isinstance(score, list) else [float(score)]
