"""Attrition of a build: how much went into each stage, what stayed, and why the rest did not, in sum and one by one."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vttdata.dataset.metadata import AttritionRow
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.json_types import JsonObject, Row
from vttdata.load.local_builds import ACCOUNT, read_account
from vttdata.media.base_filter import PictureFilter
from vttdata.media.filters import FILTERS

# Things that go into a stage; two where the kept records are something else. All other stages take sources.
_UNITS = {
    "scenes": "recipe, files",
    "search": "queries, videos",
    "found": "videos",
    "copies": "sources, pairs",
    "shots": "sources, shots",
    "clips": "sources, clips",
    "cut": "clips",
    "captions": "captions",
    "captioned": "clips",
    "families": "clips",
    "split": "clips",
    "originals": "videos",
    "annotated": "clips",
    "sentences": "sentences",
    "questions": "questions",
    "moments": "queries",
    "concepts": "clips",
    "degraded": "captions",
    "scores": "judgments",
    "alignment": "offsets",
    "clip_files": "clips",
    "findings": "findings",
}

# Header above the lines of `stage_text`.
HEADER = f"{'stage':<11} {'of':<15} {'in':>7} {'kept':>7}  rejected and failed"

# Stages whose rejects are captions or ids of pins.
_WITHOUT_VIDEOS = frozenset({"captions", "split"})

# Stage -> reason -> recipe keys that decide it; of the filters of pictures `max_REASON` does.
_FILTER_KEYS = {
    "too_short": "filter.min_seconds, clips.min_seconds",
    "too_long": "filter.max_seconds",
    "too_small": "filter.min_width, filter.min_height",
    "hdr": "filter.keep_hdr",
    "interlaced": "filter.keep_interlaced",
    **{each.name: f"filter.max_{each.name}" for each in FILTERS if issubclass(each, PictureFilter)},
}
_KEYS = {
    "collect": {"too_large": "collect.limits.megabytes_per_item", "timeout": "collect.limits.seconds_per_item"},
    "screen": _FILTER_KEYS,
    "filter": _FILTER_KEYS,
    "clips": {"too_short": "clips.min_seconds", "no_fitting_run": "clips.min_seconds, clips.max_seconds, clips.whole"},
    "drawn": {"not_drawn": "clips.total"},
    "families": {"near_duplicate": "near_duplicates"},
    "captions": {
        "too_short": "captions.min_words",
        "too_long": "captions.max_words, captions.max_characters",
        "generic": "captions.generic_from",
        "language": "captions.language",
        "outside_clips": "captions.follow",
    },
    "captioned": {"too_few_captions": "captions.per_clip, captions.below", "uncaptioned": "captions.per_clip"},
    "split": {"pinned_but_missing": "split.pin"},
}

_ID_COLUMNS = ("source_id", "video_id")
_COLUMNS = ("file", "reason", "detail")


def attrition_rows(stages: Sequence[JsonObject]) -> list[AttritionRow]:
    """Return a row for each of the ``stages`` of ``build.json``."""
    rows = []
    for stage in stages:
        name, rejected, failed = stage["name"], stage["rejected"].items(), stage["failed"].items()
        lost = [f"{count} {reason}" for reason, count in rejected]
        lost += [f"{count} failed: {reason}" for reason, count in failed]
        rows.append(AttritionRow(name, _UNITS.get(name, "sources"), stage["in"], stage["kept"], ", ".join(lost)))
    return rows


def stage_text(stage: JsonObject) -> str:
    """Return an aligned line for the terminal about one of the ``stages`` of ``build.json``."""
    (row,) = attrition_rows([stage])
    return f"{row.stage:<11} {row.unit:<15} {row.taken:>7} {row.kept:>7}  {row.losses}".rstrip()


def keys_of(stage: str, reason: str) -> str:
    """Return the recipe keys that decide whether a stage rejects for a reason; empty where none does."""
    return _KEYS.get(stage, {}).get(reason, "")


@dataclass(frozen=True, slots=True)
class Reject:
    """Source or clip that a stage rejected, or `failed` to process.

    `file` is the file name or address of the source, None where it is not known; `reason` is a word, and `detail` has
    the facts, such as a measured value and its limit.
    """

    stage: str
    id: str
    file: str | None
    reason: str
    detail: str
    failed: bool

    @property
    def facts(self) -> str:
        """The detail, and the recipe keys that change the outcome."""
        keys = keys_of(self.stage, self.reason)
        return "; ".join(filter(None, (self.detail, keys and f"set by {keys}")))


def stages_of_build(folder: Path) -> list[str]:
    """Return the names of the stages that the last build in a folder finished, in order.

    Raises:
        VttdataError: when the folder holds no build.
    """
    account = read_account(folder)
    stages = account.get("stages") if account is not None else None
    if not isinstance(stages, list):
        raise VttdataError(f"{folder}: has no {ACCOUNT} of a build.")
    names = (stage.get("name") for stage in stages if isinstance(stage, dict))
    # A name from a file must not lead out of the folder.
    return [name for name in names if isinstance(name, str) and name.isidentifier()]


def read_rejects(folder: Path, stage: str) -> Iterator[Reject]:
    """Yield what one stage of a build rejected, then what it failed to process.

    Raises:
        VttdataError: when a table is missing or damaged.
    """
    for table in ("rejected", "failed"):
        path = folder / "stages" / stage / f"{table}.parquet"
        for row in _read_stage_table(path, [*_ID_COLUMNS, *_COLUMNS]):
            id_ = next((row[name] for name in _ID_COLUMNS if row.get(name)), "")
            file, reason, detail = (row.get(name) for name in _COLUMNS)
            yield Reject(
                stage, str(id_), str(file) if file else None, str(reason or ""), str(detail or ""), table == "failed"
            )


def explain_video(folder: Path, name: str) -> str:
    """Return in one line how many clips of a video a build's dataset has, and why it has no others.

    Args:
        folder: Build folder.
        name: Of the video's file, with or without folders and extension, its address or id, or the id of a clip.

    Raises:
        VttdataError: When the folder holds no build, or the build knows no such video.
    """
    stages = stages_of_build(folder)
    sources = {row["source_id"] for row in _kept_rows(folder, "collect") if _is_called(name, row)}
    clips = {
        stage: [
            row["video_id"]
            for row in _kept_rows(folder, stage)
            if {row["source_id"], row["video_id"]} & {*sources, name}
        ]
        for stage in ("clips", "split")
        if stage in stages
    }
    cut, kept = (clips.get(stage, []) for stage in ("clips", "split"))
    losses = [
        reject
        for stage in stages
        if stage not in _WITHOUT_VIDEOS
        for reject in read_rejects(folder, stage)
        if reject.id in {*sources, *cut, name} or _is_called(name, {"file": reject.file})
    ]
    if not sources and not cut and not losses:
        raise VttdataError(f"{folder}: the build knows no video '{name[:80]}'; name its file, address or id.")
    reasons = [
        f"{loss.id}: stage '{loss.stage}' {'failed' if loss.failed else 'rejected it'}: {loss.reason} ({loss.facts})"
        for loss in losses
    ]
    number = f"{len(kept):,} clips in the dataset" if len(kept) != 1 else "1 clip in the dataset"
    return "; ".join([f"{name}: {number}", *reasons])


def _kept_rows(folder: Path, stage: str) -> Iterator[Row]:
    path = folder / "stages" / stage / "kept.parquet"
    if path.is_file():
        yield from _read_stage_table(path, ["source_id", "video_id", "file", "url"])


def _read_stage_table(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    try:
        yield from read_parquet_rows([path], [], optional=columns)
    except VttdataError as error:
        build = shlex.quote(str(path.parents[2]))
        raise VttdataError(f"{error} 'vttdata build {build} --force' writes the tables of all stages again.") from error


def _is_called(name: str, row: Row) -> bool:
    """Return whether a row is that of the video of a name."""
    file = PurePosixPath(unicodedata.normalize("NFC", row.get("file") or ""))
    names = {row.get("source_id"), row.get("url"), str(file), file.name, file.stem} - {"", None}
    return unicodedata.normalize("NFC", name) in names
