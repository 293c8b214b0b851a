"""Read what the stages of a build rejected or failed to process, from the tables in the build folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vttdata.dataset.parquet import read_parquet_rows
from vttdata.errors import VttdataError
from vttdata.load.local_builds import ACCOUNT, read_account

_ID_COLUMNS = ("source_id", "video_id")
_COLUMNS = ("file", "reason", "detail")


@dataclass(frozen=True, slots=True)
class Reject:
    """Thing that a stage rejected, or failed to process.

    Fields:
        stage: name of the stage.
        id: of a source or clip.
        file: file name or address of the source; None where it is not known.
        reason: a word.
        detail: the facts, such as a measured value and its limit.
        failed: True if it could not be processed.
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
    """Yield what one stage rejected, then what it failed to process.

    Args:
        folder: build folder.
        stage: name of the stage.

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
