"""Run the tasks of ``mteb_tasks.py`` on the tables of this folder; the exporter copies this file beside them.

``python task.py MODEL --videos VIDEOS --out scores`` scores a model of MTEB's registry. Own code calls `load_tasks` and
gives the tasks to `mteb.evaluate`. The tables `corpus`, `queries` and `qrels` are those of text-to-video retrieval;
video to text searches the queries with the clips. Of questions, the corpus has the options of each.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
from pathlib import Path

import datasets
import mteb
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData

FOLDER = Path(__file__).resolve().parent

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


def with_videos(table: datasets.Dataset, clips: list[str]) -> datasets.Dataset:
    """Return a table whose column `video` has the videos in the place of their names."""
    paths = [clip_video(videos_folder(), *each) for each in zip(table["video"], clips, strict=True)]
    return table.remove_columns("video").add_column("video", paths).cast_column("video", datasets.Video())


def read_exported_split(category: str, split: str) -> RetrievalSplitData:
    """Return the tables of a split for a category of tasks, as MTEB reads them from the Hub.

    The options of a question are those whose ids begin with its own. Those who search captions by videos turn the
    judgments round.
    """
    names = ("corpus", "queries", "qrels")
    corpus, queries, pairs = (datasets.load_dataset(str(FOLDER), name, split=split) for name in names)
    options: dict[str, list[str]] = {}
    if category == "vt2t":
        queries = with_videos(queries, [Path(name).stem for name in queries["video"]])
        for name in corpus["id"]:
            options.setdefault(name.rpartition("#")[0], []).append(name)
    else:
        corpus = with_videos(corpus, corpus["id"][:])
    relevant: dict[str, dict[str, int]] = {}
    for pair in pairs:
        query, document = (pair[name] for name in ("query-id", "corpus-id")[:: -1 if category == "v2t" else 1])
        relevant.setdefault(query, {})[document] = pair["score"]
    if category == "v2t":
        corpus, queries = queries, corpus
    return RetrievalSplitData(queries=queries, corpus=corpus, relevant_docs=relevant, top_ranked=options or None)


def load_tasks(split: str | None = None, language: str | None = None) -> list[AbsTaskRetrieval]:
    """Return the tasks of text-to-video and video-to-text retrieval on a split, or the task of questions, with data.

    Args:
        split: by default that of the metadata.
        language: of the captions, as MTEB names languages; by default that of the metadata.
    """
    defined = runpy.run_path(str(FOLDER / "mteb_tasks.py")).values()
    kinds = [each for each in defined if isinstance(each, type) and AbsTaskRetrieval in each.__bases__]
    tasks: list[AbsTaskRetrieval] = [kind() for kind in kinds]
    for task in tasks:
        changes = {"eval_splits": [split]} if split else {}
        changes |= {"eval_langs": [language]} if language else {}
        task.metadata = task.metadata.model_copy(update=changes)
        task.dataset = {
            "default": {name: read_exported_split(task.metadata.category, name) for name in task.eval_splits}
        }
        task.data_loaded = True
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
    parser.add_argument("--split", help="by default that of the metadata")
    parser.add_argument("--language", help="of the captions, as MTEB names languages; by default that of the metadata")
    parser.add_argument(
        "--out", type=Path, default=Path("scores"), help="folder for rankings, and t2v.run or answers.jsonl"
    )
    options = parser.parse_args()
    os.environ["VTTDATA_VIDEOS"] = str(options.videos)
    tasks = load_tasks(options.split, options.language)
    model = mteb.get_model(options.model)
    results = mteb.evaluate(model, tasks, cache=None, prediction_folder=options.out, show_progress_bar=False)
    first, is_questions = tasks[0], tasks[0].metadata.category == "vt2t"
    write, name = (write_option_scores, "answers.jsonl") if is_questions else (write_run, "t2v.run")
    write(options.out / first.prediction_file_name, first.metadata.eval_splits[0], options.out / name)
    for result in results.task_results:
        scores = next(iter(result.scores.values()))[0]
        shown = {name: scores[name] for name in (("accuracy",) if is_questions else _SHOWN)}
        print(json.dumps({"task": result.task_name, **shown}))


if __name__ == "__main__":
    main()
