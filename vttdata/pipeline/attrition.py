"""Attrition of a build: how much went into each stage, what stayed, and why the rest did not, in sum and one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.load.local_builds import ACCOUNT, read_account

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
    "concepts": "clips",
    "degraded": "captions",
    "scores": "judgments",
    "alignment": "offsets",
    "clip_files": "clips",
    "findings": "findings",
}

_MAIN_REASONS = 4

# Header above the lines of `stage_text`.
HEADER = f"{'stage':<11} {'of':<15} {'in':>7} {'kept':>7}  rejected and failed"

_ID_COLUMNS = ("source_id", "video_id")
_COLUMNS = ("file", "reason", "detail")


def attrition_rows(stages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, int, int, str]]:
    """Return a row for each of the ``stages`` of ``build.json``.

    A row is a stage's name, the unit, the numbers of things in and kept, and losses in words.
    """
    rows = []
    for stage in stages:
        name, rejected, failed = stage["name"], stage["rejected"].items(), stage["failed"].items()
        lost = [f"{count} {reason}" for reason, count in rejected]
        lost += [f"{count} failed: {reason}" for reason, count in failed]
        rows.append((name, _UNITS.get(name, "sources"), stage["in"], stage["kept"], ", ".join(lost)))
    return rows


def stage_text(stage: Mapping[str, Any]) -> str:
    """Return an aligned line for the terminal about one of the ``stages`` of ``build.json``."""
    ((name, unit, taken, kept, lost_text),) = attrition_rows([stage])
    return f"{name:<11} {unit:<15} {taken:>7} {kept:>7}  {lost_text}".rstrip()


def main_losses(stages: Sequence[Mapping[str, Any]]) -> str:
    """Return in words how much ``stages`` of ``build.json`` rejected or failed, and why mostly; empty for nothing."""
    counts = [
        (number, f"{prefix}{reason} ({stage['name']})")
        for stage in stages
        for prefix, numbers in (("", stage["rejected"]), ("failed: ", stage["failed"]))
        for reason, number in numbers.items()
    ]
    main = sorted(counts, key=lambda count: -count[0])[:_MAIN_REASONS]
    more = ", ..." if len(counts) > _MAIN_REASONS else ""
    return ", ".join(f"{number:,} {reason}" for number, reason in main) + more


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
        for row in read_parquet_rows([path], [], optional=[*_ID_COLUMNS, *_COLUMNS]):
            id_ = next((row[name] for name in _ID_COLUMNS if row.get(name)), "")
            file, reason, detail = (row.get(name) for name in _COLUMNS)
            yield Reject(
                stage, str(id_), str(file) if file else None, str(reason or ""), str(detail or ""), table == "failed"
            )
