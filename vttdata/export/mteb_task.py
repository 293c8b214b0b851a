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
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
from mteb.abstasks.task_metadata import TaskMetadata

FOLDER = Path(__file__).resolve().parent
SETTINGS: dict[str, Any] = json.loads((FOLDER / "task.json").read_text(encoding="utf-8"))

_SHOWN = ("hit_rate_at_1", "hit_rate_at_5", "hit_rate_at_10", "mrr_at_10", "ndcg_at_10")
_SUFFIXES = (".mp4", ".webm", ".mkv", ".avi", ".mov", ".MP4")


def videos_folder() -> Path:
    """Return the folder of the clips' videos: that of `VTTDATA_VIDEOS`, or ``videos`` beside this file."""
    return Path(os.environ.get("VTTDATA_VIDEOS") or FOLDER / "videos").expanduser()


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


def read_exported_tables(task: AbsTaskRetrieval) -> list[datasets.Dataset]:
    """Return the tables `corpus`, `queries` and `qrels` of the split of a task, from this folder, or from the Hub."""
    about, is_here = task.metadata.dataset, (FOLDER / "corpus").is_dir()
    path, revision = (str(FOLDER), None) if is_here else (about["path"], about["revision"])
    split = task.metadata.eval_splits[0]
    return [
        datasets.load_dataset(path, name, split=split, revision=revision) for name in ("corpus", "queries", "qrels")
    ]


def load_retrieval(task: AbsTaskRetrieval) -> None:
    """Read the tables of retrieval in the direction of a task, for which the judgments may have to be turned round."""
    if task.data_loaded:
        return
    clips, queries, pairs = read_exported_tables(task)
    is_to_video = task.metadata.category == "t2v"
    relevant: dict[str, dict[str, int]] = {}
    for pair in pairs:
        query, document = (pair[name] for name in ("query-id", "corpus-id")[:: 1 if is_to_video else -1])
        relevant.setdefault(query, {})[document] = pair["score"]
    paths = [clip_video(videos_folder(), *each) for each in zip(clips["video"], clips["id"], strict=True)]
    clips = datasets.Dataset.from_dict({"id": clips["id"], "video": paths}).cast_column("video", datasets.Video())
    corpus, searched = (clips, queries) if is_to_video else (queries, clips)
    data = RetrievalSplitData(queries=searched, corpus=corpus, relevant_docs=relevant, top_ranked=None)
    task.dataset = {"default": {task.metadata.eval_splits[0]: data}}
    task.data_loaded = True


def load_questions(task: AbsTaskRetrieval) -> None:
    """Read the tables of questions; the options of a question are those whose ids begin with its own."""
    if task.data_loaded:
        return
    corpus, asked, pairs = read_exported_tables(task)
    options: dict[str, list[str]] = {}
    for name in corpus["id"]:
        options.setdefault(name.rpartition("#")[0], []).append(name)
    paths = [clip_video(videos_folder(), name, Path(name).stem) for name in asked["video"]]
    rows = {"id": asked["id"], "text": asked["text"], "video": paths}
    queries = datasets.Dataset.from_dict(rows).cast_column("video", datasets.Video())
    relevant = {pair["query-id"]: {pair["corpus-id"]: pair["score"]} for pair in pairs}
    data = RetrievalSplitData(queries=queries, corpus=corpus, relevant_docs=relevant, top_ranked=options)
    task.dataset = {"default": {task.metadata.eval_splits[0]: data}}
    task.data_loaded = True


if "vt2t" in SETTINGS:

    class QuestionAnswering(AbsTaskRetrieval):  # type: ignore[misc] # MTEB is not installed where types are checked
        """Choice of an option of a question about a video."""

        metadata = TaskMetadata(**SETTINGS["vt2t"])

        def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:  # noqa: ARG002
            """Read the tables."""
            load_questions(self)

    TASKS = [QuestionAnswering]
else:

    class TextToVideo(AbsTaskRetrieval):  # type: ignore[misc] # MTEB is not installed where types are checked
        """Search of clips by their captions."""

        metadata = TaskMetadata(**SETTINGS["t2v"])

        def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:  # noqa: ARG002
            """Read the tables."""
            load_retrieval(self)

    class VideoToText(AbsTaskRetrieval):  # type: ignore[misc] # MTEB is not installed where types are checked
        """Search of captions by their clips."""

        metadata = TaskMetadata(**SETTINGS["v2t"])

        def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:  # noqa: ARG002
            """Read the tables."""
            load_retrieval(self)

    TASKS = [TextToVideo, VideoToText]


def load_tasks(split: str | None = None, language: str | None = None) -> list[AbsTaskRetrieval]:
    """Return the tasks of text-to-video and video-to-text retrieval on a split, or the task of questions.

    Args:
        split: by default ``test``, or the first one.
        language: of the captions, as MTEB names languages; by default that of the metadata.

    Raises:
        ValueError: if the split does not exist.
    """
    tasks = [task() for task in TASKS]
    for task in tasks:
        splits = task.metadata.eval_splits
        chosen = split or ("test" if "test" in splits else splits[0])
        if chosen not in splits:
            raise ValueError(f"no split is called {chosen}; choose from {', '.join(splits)}")
        languages = [language] if language else task.metadata.eval_langs
        task.metadata = task.metadata.model_copy(update={"eval_splits": [chosen], "eval_langs": languages})
    return tasks


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
    parser.add_argument("--videos", type=Path, default=videos_folder(), help="folder of the clips' videos")
    parser.add_argument("--split", help="by default test, or the first one")
    parser.add_argument("--language", help="of the captions, as MTEB names languages; by default eng-Latn")
    parser.add_argument(
        "--out", type=Path, default=Path("scores"), help="folder for rankings, and t2v.run or answers.jsonl"
    )
    options = parser.parse_args()
    os.environ["VTTDATA_VIDEOS"] = str(options.videos)
    tasks = load_tasks(options.split, options.language)
    model = mteb.get_model(options.model)
    results = mteb.evaluate(model, tasks, cache=None, prediction_folder=options.out, show_progress_bar=False)
    first, is_questions = tasks[0], "vt2t" in SETTINGS
    write, name = (write_option_scores, "answers.jsonl") if is_questions else (write_run, "t2v.run")
    write(options.out / first.prediction_file_name, first.metadata.eval_splits[0], options.out / name)
    for result in results.task_results:
        scores = next(iter(result.scores.values()))[0]
        shown = {name: scores[name] for name in (("accuracy",) if is_questions else _SHOWN)}
        print(json.dumps({"task": result.task_name, **shown}))


if __name__ == "__main__":
    main()
