"""Make the stimuli of a dataset's items: what models are shown of each clip in each condition, in a folder of its own.

The folder has a folder for each condition, ``CONDITION/VIDEO_ID.mp4`` or ``CONDITION/VIDEO_ID/0000.png``, and the table
``stimuli.parquet`` of `vttdata.conditions.Stimulus`. Stopped at any moment, the same call goes on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vttdata.conditions import CONDITIONS, StimuliSettings, Stimulus
from vttdata.dataset.parquet import write_rows
from vttdata.dataset.stimuli import MANIFEST, STIMULI, TABLE, read_stimuli, read_stimuli_manifest
from vttdata.dataset.tombstones import Tombstones
from vttdata.errors import VttdataError, halt_on_disk_errors
from vttdata.evaluate.evaluation import name_local_videos
from vttdata.evaluate.items import Items
from vttdata.evaluate.metric import MetricInputs
from vttdata.evaluate.task import guess_task, load_evaluation_task
from vttdata.export.reader import DatasetReader
from vttdata.files.own_folder import FileChanges, check_own
from vttdata.files.reading import file_sha256
from vttdata.json_types import JsonObject
from vttdata.media.video_folder import locate_videos
from vttdata.partial_file import partial_file
from vttdata.pipeline.build_folder import tool_versions
from vttdata.pipeline.engine import Engine, Table
from vttdata.pipeline.executors import create_executor
from vttdata.pipeline.journal import JOURNAL, LOCK, Journal, locked, write_json
from vttdata.pipeline.stage import Failed
from vttdata.pipeline.stages.stimuli import Stimuli, StimulusClip
from vttdata.pipeline.withdrawn_results import remove_withdrawn_results
from vttdata.records import arrow_schema, to_row

_SCRATCH = "scratch"
_TOOLS = ("ffmpeg", "av", "numpy")
_ROWS_PER_GROUP = 64


@dataclass(frozen=True, slots=True)
class StimuliRequest:
    """What stimuli are made of.

    Fields:
        dataset: dataset folder.
        config: configuration of the items, by default that of the dataset's task: foils, questions, or clips.
        split: by default ``test``, or the only one.
        videos: folders of videos called ``<video_id>.<extension>``; by default those of the dataset on this machine.
    """

    dataset: Path
    config: str | None = None
    split: str | None = None
    videos: Sequence[Path] = ()


def make_stimuli(
    request: StimuliRequest, out: Path, settings: StimuliSettings, *, workers: int | None = None, quiet: bool = False
) -> JsonObject:
    """Write the stimuli of all clips that the items of a split are about, or go on with it; return the manifest.

    What cannot be made is listed in it under ``left_out``, by clip and condition, with the reason.

    Raises:
        VttdataError: if the dataset has no such items, none of their videos is at hand, or `out` holds anything else.
        HaltError: if it cannot go on, for example because the disk is full; the same call continues later.
    """
    task = guess_task(request.dataset, None, None)
    loaded = load_evaluation_task(task)
    items = loaded.read_items(request.dataset, config=request.config or loaded.default_config, split=request.split)
    ids = list(dict.fromkeys(items.clip_ids))
    folders = name_local_videos(MetricInputs(videos=request.videos), [request.dataset]).videos
    files: dict[str, Path] = {}
    for folder in folders:
        files = locate_videos(folder, ids) | files
    if not files:
        raise VttdataError(
            f"{request.dataset}: none of the {len(ids):,} clips has a video on this machine (first {ids[0]!a}); name "
            "the folder of <video_id>.mp4 with --videos."
        )
    head = {"dataset": items.dataset, "version": items.version, "config": items.config, "split": items.split}
    _prepare_folder(out, request.dataset, head)
    with locked(out), halt_on_disk_errors(out):
        write_json(out / MANIFEST, head | {"status": "incomplete"})
        others = choose_others(ids, request.dataset, items, settings) if "other" in settings.conditions else {}
        recipients: dict[str, list[str]] = defaultdict(list)
        for video_id, other in others.items():
            recipients[other].append(video_id)
        clips = [StimulusClip(name, file_sha256(files[name]), tuple(recipients[name])) for name in ids if name in files]
        shutil.rmtree(out / _SCRATCH, ignore_errors=True)
        (out / _SCRATCH).mkdir()
        executor = create_executor("local", workers)
        tools = {name: tool_versions()[name] for name in _TOOLS}
        stage = Stimuli(settings, str(tools), files, out.resolve(), out.resolve() / _SCRATCH)
        try:
            engine = Engine(out / "stages", executor, Journal(out / JOURNAL), retry_failed=False, quiet=quiet)
            table = engine.run(stage, clips, len(clips))
        finally:
            executor.close()
            shutil.rmtree(out / _SCRATCH, ignore_errors=True)
        missing = [{"video_id": name, "reason": "no_video", "detail": ""} for name in ids if name not in files]
        if "other" in settings.conditions:
            shown = {stimulus.video_id for stimulus in table if stimulus.condition == "other"}
            missing += [
                {
                    "video_id": name,
                    "condition": "other",
                    "reason": "no_other",
                    "detail": _why_no_other(others.get(name)),
                }
                for name in ids
                if name not in shown
            ]
        about = {"task": task, "items": len(items.ids), "digest": items.digest, "clips": len(ids)}
        made = {"settings": dataclasses.asdict(settings), "tools": tools}
        manifest = head | about | made | _write_table(table, out, settings, missing)
        write_json(out / MANIFEST, {"status": "complete", **manifest})
    return manifest


def withdraw_from_stimuli(folder: Path, dataset: str, tombstones: Tombstones, changes: FileChanges) -> None:
    """Remove the stimuli that are of withdrawn clips or show them, and what is said about them.

    Raises:
        VttdataError: if the folder is at work, or its table is damaged.
    """
    manifest = read_stimuli_manifest(folder)
    if manifest.get("dataset") != dataset:
        changes.left.append((folder, f"holds stimuli of {manifest.get('dataset')}"))
        return
    with locked(folder):
        stimuli = list(read_stimuli(folder)) if (folder / TABLE).is_file() else []
        kept = []
        for stimulus in stimuli:
            if not (tombstones.covers(stimulus.video_id) or tombstones.covers(stimulus.shows)):
                kept.append(stimulus)
                continue
            for name, sha256 in zip(stimulus.files, stimulus.sha256, strict=True):
                changes.remove(folder, name, sha256)
                with contextlib.suppress(OSError):
                    # That of the pictures, which has the id of the clip, once it is empty.
                    (folder / name).parent.rmdir()
        remove_withdrawn_results(folder, tombstones, changes)
        if len(kept) < len(stimuli) and changes.note(folder / TABLE, "changed"):
            with partial_file(folder / TABLE) as partial:
                write_rows(partial, arrow_schema(Stimulus), map(to_row, kept), _ROWS_PER_GROUP)
        left_out = [entry for entry in manifest.get("left_out", ()) if not tombstones.cover_tree(entry)]
        about: JsonObject = {"left_out": left_out}
        if "settings" in manifest:
            about["conditions"] = _count(kept, manifest["settings"]["conditions"], manifest["settings"]["frames"])
        if manifest | about != manifest and changes.note(folder / MANIFEST, "changed"):
            write_json(folder / MANIFEST, manifest | about)


def choose_others(ids: Sequence[str], dataset: Path, items: Items, settings: StimuliSettings) -> dict[str, str]:
    """Draw for each clip another one of the same category and of another source; clips without such a one have none."""
    reader = DatasetReader(dataset)
    facts = {
        row["video_id"]: (row["category"], row["source_id"])
        for split in (reader.splits("clips") if "clips" in reader.configs else ())
        for row in reader.rows("clips", split, ["video_id", "category", "source_id"])
    }
    sources = {name: items.source_ids[source] for name, source in zip(items.clip_ids, items.sources, strict=True)}
    of_clip = {name: facts.get(name, (None, sources[name])) for name in ids}
    by_category: dict[object, list[str]] = defaultdict(list)
    for name, (category, _) in of_clip.items():
        by_category[category].append(name)
    others = {}
    for name, (category, source) in of_clip.items():
        fitting = [other for other in by_category[category] if of_clip[other][1] != source]
        if fitting:
            others[name] = settings.draw(name, "other").choice(sorted(fitting))
    return others


def _why_no_other(drawn: str | None) -> str:
    if drawn is None:
        return "no clip of another source is of its category"
    return f"{drawn}, which was drawn, has no stimuli"


def _prepare_folder(out: Path, dataset: Path, head: Mapping[str, str]) -> None:
    """Make the folder, or check that it holds stimuli of the same items.

    Raises:
        VttdataError: if it holds anything else, or lies in the dataset.
    """
    if out.resolve().is_relative_to(dataset.resolve()):
        raise VttdataError(f"{out}: is inside the dataset; choose another folder.")
    # A call that was stopped before it could write the manifest leaves its lock.
    names = [path.name for path in out.iterdir()] if out.is_dir() else [out.name]
    if not all(name.startswith(LOCK) or name == f"{MANIFEST}.tmp" for name in names):
        check_own(out, STIMULI)
    if (out / MANIFEST).is_file():
        found = read_stimuli_manifest(out)
        if any(found.get(key) != value for key, value in head.items()):
            raise VttdataError(
                f"{out}: holds stimuli of {found.get('dataset')} {found.get('version')}, {found.get('config')}/"
                f"{found.get('split')}; choose another folder."
            )
    out.mkdir(parents=True, exist_ok=True)


def _write_table(
    table: Table[Stimulus], out: Path, settings: StimuliSettings, left_out: list[dict[str, str]]
) -> JsonObject:
    """Write the table, remove files that it does not list, and return what the manifest says about the conditions."""
    kept = {file for stimulus in table for file in stimulus.files}
    earlier: dict[str, str] = {}
    if (out / TABLE).is_file():
        earlier = {name: sha256 for s in read_stimuli(out) for name, sha256 in zip(s.files, s.sha256, strict=True)}
    partial = out / f".{TABLE}.tmp"
    write_rows(partial, arrow_schema(Stimulus), map(to_row, table), _ROWS_PER_GROUP)
    partial.replace(out / TABLE)
    for name, sha256 in earlier.items():
        if name not in kept:
            FileChanges().remove(out, name, sha256)
    for condition in CONDITIONS:
        for path in (out / condition).rglob(".*.part"):
            path.unlink()
    for result in table.results():
        left_out += [
            {"video_id": outcome.id, "reason": outcome.reason, "detail": outcome.detail}
            for outcome in result.outcomes
            if isinstance(outcome, Failed)
        ]
    return {"conditions": _count(table, settings.conditions, settings.frames), "left_out": left_out}


def _count(stimuli: Iterable[Stimulus], conditions: Iterable[str], frames: int) -> dict[str, dict[str, int]]:
    """Return the numbers of a manifest by condition; `frames` is how many pictures are wanted of a clip."""
    counts = {name: {"clips": 0, "pictures": 0, "bytes": 0, "short": 0} for name in conditions}
    for stimulus in stimuli:
        of_condition = counts[stimulus.condition]
        of_condition["clips"] += 1
        of_condition["pictures"] += len(stimulus.files) if stimulus.seconds is None else 0
        of_condition["bytes"] += stimulus.bytes
        of_condition["short"] += "frames" in stimulus.condition and len(stimulus.indices) < frames
    return counts
