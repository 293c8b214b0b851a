"""Say which rows of an older version of a dataset were withdrawn since."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub

from vttdata.dataset.tombstones import WITHDRAWN, Tombstones, read_tombstones
from vttdata.errors import VttdataError, VttdataWarning
from vttdata.load.local_builds import BuildRegistry

_EXAMPLES = 5


def warn_of_withdrawn_rows(loaded: Any, repo_id: str, *, token: bool | str | None = None) -> None:
    """Warn if loaded rows have an id that a newer version, on the Hub or on this machine, lists as withdrawn.

    Streams are not read for that. Without a connection only this machine is asked.
    """
    tombstones = [found for found in _newer_tombstones(repo_id, token) if found.rows]
    if not tombstones:
        return
    splits = list(loaded.values()) if isinstance(loaded, dict) else [loaded]
    ids = {
        name
        for rows in splits
        if hasattr(rows, "num_rows") and "video_id" in rows.column_names
        for name in rows["video_id"][:]
    }
    withdrawn = sorted(name for name in ids if any(found.covers(name) for found in tombstones))
    if withdrawn:
        shown = ", ".join(withdrawn[:_EXAMPLES])
        message = (
            f"'{repo_id}': {len(withdrawn):,} clips of this version were withdrawn since, {shown}"
            f"{' and others' if len(withdrawn) > _EXAMPLES else ''}; leave them out, or load the newest version."
        )
        warnings.warn(message, VttdataWarning, stacklevel=5)


def _newer_tombstones(repo_id: str, token: bool | str | None) -> Iterator[Tombstones]:
    for build in BuildRegistry().builds(repo_id):
        if build.dataset is not None:
            with contextlib.suppress(VttdataError):
                yield read_tombstones(build.dataset)
    with contextlib.suppress(VttdataError, OSError, ValueError, huggingface_hub.errors.HTTPError):  # type: ignore[attr-defined]
        patterns = ["README.md", f"{WITHDRAWN}/*.parquet"]
        folder = huggingface_hub.snapshot_download(repo_id, repo_type="dataset", allow_patterns=patterns, token=token)
        yield read_tombstones(Path(folder))
