"""Retrieval tasks for MTEB in both directions, or one of questions; the exporter copies this file beside the tables.

``python task.py MODEL --videos VIDEOS --out scores`` scores a model of MTEB's registry. Own code calls `load_tasks` and
gives the tasks to `mteb.evaluate`. The tables `corpus`, `queries` and `qrels` are those of text-to-video retrieval;
video to text searches the queries with the clips. Of questions, the corpus has the options of each.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import datasets
import mteb
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata

FOLDER = Path(__file__).resolve().parent
SETTINGS: dict[str, Any] = json.loads((FOLDER / "task.json").read_text(encoding="utf-8"))

_SHOWN = ("hit_rate_at_1", "hit_rate_at_5", "hit_rate_at_10", "mrr_at_10", "ndcg_at_10")
_SUFFIXES = (".mp4", ".webm", ".mkv", ".avi", ".mov", ".MP4")


def clip_video(folder: Path, name: str, clip: str) -> str:
    """Return the path of a clip's video: under its name in the dataset, without leading folders of it, or by its id.

    Raises:
        FileNotFoundError: if the folder has no video of the clip.
    """
    parts = Path(name).parts
    names = ["/".join(parts[start:]) for start in range(len(parts))] + [clip + suffix for suffix in _SUFFIXES]
    path = next((folder / each for each in names if (folder / each).is_file()), None)
    if path is None:
        raise FileNotFoundError(f"no video {clip}.* in {folder}; --videos or VTTDATA_VIDEOS names the folder of videos")
    return str(path)


def load_tasks(videos: Path, split: str | None = None, language: str = "eng-Latn") -> list[AbsTaskRetrieval]:
    """Return the tasks of text-to-video and video-to-text retrieval on a split, or the task of questions.

    Args:
        videos: folder of the clips' videos.
        split: by default ``test``, or the first one.
        language: of the captions, as MTEB names languages.

    Raises:
        ValueError: if the split does not exist.
    """
    splits = SETTINGS["splits"]
    chosen = split or ("test" if "test" in splits else splits[0])
    if chosen not in splits:
        raise ValueError(f"no split is called {chosen}; choose from {', '.join(splits)}")
    if SETTINGS.get("kind") == "questions":
        return [_question_task(videos, chosen, language)]
    return [_task(direction, videos, chosen, language) for direction in ("t2v", "v2t")]


def read_exported_tables(split: str) -> tuple[datasets.Dataset, datasets.Dataset, datasets.Dataset]:
    """Return the tables `corpus`, `queries` and `qrels` of a split."""
    corpus, queries, pairs = (
        datasets.load_dataset(str(FOLDER), name, split=split) for name in ("corpus", "queries", "qrels")
    )
    return corpus, queries, pairs


def _question_task(videos: Path, split: str, language: str) -> AbsTaskRetrieval:
    class QuestionAnswering(AbsTaskRetrieval):  # type: ignore[misc] # MTEB is not installed where types are checked
        metadata = TaskMetadata(
            name=f"{SETTINGS['name']}VideoCentricQA",
            description=SETTINGS["description"],
            dataset={"path": str(FOLDER), "revision": SETTINGS["version"]},
            type="VideoCentricQA",
            category="vt2t",
            modalities=["video", "text"],
            eval_splits=[split],
            eval_langs=[language],
            main_score="accuracy",
            task_subtypes=["Question answering"],
        )

        def load_data(self, num_proc: int | None = None, **_: Any) -> None:  # noqa: ARG002
            """Read the tables; the options of a question are those whose ids begin with its own."""
            corpus, asked, pairs = read_exported_tables(split)
            options: dict[str, list[str]] = {}
            for name in corpus["id"]:
                options.setdefault(name.rpartition("#")[0], []).append(name)
            paths = [clip_video(videos, name, Path(name).stem) for name in asked["video"]]
            rows = {"id": asked["id"], "text": asked["text"], "video": paths}
            queries = datasets.Dataset.from_dict(rows).cast_column("video", datasets.Video())
            relevant = {pair["query-id"]: {pair["corpus-id"]: pair["score"]} for pair in pairs}
            data = {"corpus": corpus, "queries": queries, "relevant_docs": relevant, "top_ranked": options}
            self.dataset = {"default": {split: data}}
            self.data_loaded = True

    return QuestionAnswering()


def _task(direction: str, videos: Path, split: str, language: str) -> AbsTaskRetrieval:
    to_video = direction == "t2v"

    class Retrieval(AbsTaskRetrieval):  # type: ignore[misc] # MTEB is not installed where types are checked
        metadata = TaskMetadata(
            name=f"{SETTINGS['name']}{direction.upper()}",
            description=SETTINGS["description"],
            dataset={"path": str(FOLDER), "revision": SETTINGS["version"]},
            type="Any2AnyRetrieval",
            category=direction,
            modalities=["text", "video"],
            eval_splits=[split],
            eval_langs=[language],
            main_score="ndcg_at_10",
            task_subtypes=["Caption Pairing"],
            prompt={"query": f"Find the {'video that a caption' if to_video else 'caption that a video'} matches."},
        )

        def load_data(self, num_proc: int | None = None, **_: Any) -> None:  # noqa: ARG002
            """Read the tables, and turn the judgments round for video-to-text retrieval."""
            clips, queries, pairs = read_exported_tables(split)
            relevant: dict[str, dict[str, int]] = {}
            for pair in pairs:
                query, document = (pair[name] for name in ("query-id", "corpus-id")[:: 1 if to_video else -1])
                relevant.setdefault(query, {})[document] = pair["score"]
            paths = [clip_video(videos, *each) for each in zip(clips["video"], clips["id"], strict=True)]
            clips = datasets.Dataset.from_dict({"id": clips["id"], "video": paths})
            clips = clips.cast_column("video", datasets.Video())
            corpus, searched = (clips, queries) if to_video else (queries, clips)
            data = {"corpus": corpus, "queries": searched, "relevant_docs": relevant, "top_ranked": None}
            self.dataset = {"default": {split: data}}
            self.data_loaded = True

    return Retrieval()


def write_run(predictions: Path, split: str, path: Path) -> None:
    """Write the rankings of a task as a TREC run, which `vttdata evaluate` reads."""
    rankings = json.loads(predictions.read_text(encoding="utf-8"))["default"][split]
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for query, scores in rankings.items():
            ranked = sorted(scores.items(), key=lambda entry: -entry[1])
            for place, (document, score) in enumerate(ranked, 1):
                stream.write(f"{query} Q0 {document} {place} {score!r} mteb\n")


def write_option_scores(predictions: Path, split: str, path: Path) -> None:
    """Write the scores of each question's options as JSON lines, which `vttdata evaluate` reads."""
    rankings = json.loads(predictions.read_text(encoding="utf-8"))["default"][split]
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for query, scores in rankings.items():
            ordered = [scores[f"{query}#{index}"] for index in range(len(scores))]
            stream.write(json.dumps({"question_id": query, "scores": ordered}) + "\n")


def main() -> None:
    """Score a model on all tasks, write its rankings and print its scores, a line of JSON each."""
    parser = argparse.ArgumentParser(description="Score a model of MTEB's registry on the tasks of this export.")
    parser.add_argument("model", help="such as mteb/baseline-random-encoder")
    default = os.environ.get("VTTDATA_VIDEOS") or str(FOLDER / "videos")
    parser.add_argument("--videos", type=Path, default=Path(default), help="folder of the clips' videos")
    parser.add_argument("--split", help="by default test, or the first one")
    parser.add_argument("--language", default="eng-Latn", help="of the captions, as MTEB names languages")
    parser.add_argument(
        "--out", type=Path, default=Path("scores"), help="folder for rankings, and t2v.run or answers.jsonl"
    )
    options = parser.parse_args()
    tasks = load_tasks(options.videos.expanduser(), options.split, options.language)
    model = mteb.get_model(options.model)
    results = mteb.evaluate(model, tasks, cache=None, prediction_folder=options.out, show_progress_bar=False)
    first, is_questions = tasks[0], SETTINGS.get("kind") == "questions"
    write, name = (write_option_scores, "answers.jsonl") if is_questions else (write_run, "t2v.run")
    write(options.out / first.prediction_file_name, first.metadata.eval_splits[0], options.out / name)
    for result in results.task_results:
        scores = next(iter(result.scores.values()))[0]
        shown = {name: scores[name] for name in (("accuracy",) if is_questions else _SHOWN)}
        print(json.dumps({"task": result.task_name, **shown}))


if __name__ == "__main__":
    main()
