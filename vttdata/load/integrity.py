"""Compare what is loaded with what was built: files with the manifest, rows with the tables, versions with the request.

Nothing is downloaded here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import huggingface_hub

from vttdata.dataset.find_tables import read_tables
from vttdata.dataset.front_matter import read_front_matter, read_layout, read_version
from vttdata.dataset.manifest import find_damage, read_dataset_manifest
from vttdata.dataset.parquet import open_parquet, read_parquet_rows
from vttdata.dataset.rows import is_protocol
from vttdata.errors import VttdataError


def videos_not_downloaded(folder: Path) -> list[str]:
    """Return the videos in the manifest that the Hub's cache lacks, since they are downloaded only on request."""
    if folder.parent.name != "snapshots":
        return []
    videos = (name for name in read_dataset_manifest(folder)["files"] if name.startswith("videos/"))
    return [name for name in videos if not (folder / name).exists()]


def verify_files(folder: Path, reference: str) -> None:
    """Compare the files of a dataset folder with its manifest: sizes, checksums, rows.

    Raises:
        VttdataError: If a file is missing, differs or is not listed; the message begins with `reference`.
    """
    ignored = videos_not_downloaded(folder)
    damage = find_damage(folder, ignored)
    if not damage:
        for name, entry in read_dataset_manifest(folder)["files"].items():
            if name.endswith(".parquet") and name not in ignored and "rows" in entry:
                with open_parquet(folder / name) as file:
                    rows = file.metadata.num_rows
                damage += [f"{name}: has {rows} rows instead of {entry['rows']}."] if rows != entry["rows"] else []
    if damage:
        more = f" ({len(damage) - 1} more differ)" if len(damage) > 1 else ""
        raise VttdataError(f"'{reference}' is not as it was built: {damage[0].rstrip('.')}{more}; it is in {folder}.")


def verify_row_counts(loaded: Any, folder: Path, reference: str, split: object) -> None:
    """Compare the number of loaded rows with that of the tables.

    Streams and slices of a split are not compared.

    Raises:
        VttdataError: If they differ, for example since the cache of `datasets` is damaged.
    """
    contents = read_tables(folder)
    for name, rows in (loaded if isinstance(loaded, dict) else {str(split): loaded}).items():
        config = rows.info.config_name
        expected = contents[config].rows().get(name) if config in contents else None
        if expected is not None and hasattr(rows, "num_rows") and rows.num_rows != expected:
            raise VttdataError(
                f"'{reference}': {rows.num_rows} rows of {config}/{name} were loaded, but the dataset has {expected}; "
                "load it with another cache_dir."
            )


def loaded_version(loaded: Any) -> str | None:
    """Return the version in the info of a loaded dataset, or None if it has none."""
    first = next(iter(loaded.values())) if isinstance(loaded, dict) else loaded
    version = str(first.info.version)
    return version if version not in ("None", "0.0.0") else None


def find_cached(repo_id: str, version: str, config: str | None) -> dict[str, Any] | None:
    """Return the arguments with which `datasets.load_dataset` loads a version from the Hub's cache, or None.

    The version is MAJOR.MINOR.PATCH as on the card; no configuration means the default one.
    """
    try:
        cached = huggingface_hub.scan_cache_dir()
    except huggingface_hub.CacheNotFound:
        return None
    revisions = (
        revision
        for repo in cached.repos
        if (repo.repo_type, repo.repo_id) == ("dataset", repo_id)
        for revision in repo.revisions
    )
    for revision in sorted(revisions, key=lambda revision: revision.last_modified, reverse=True):
        try:
            if read_version(revision.snapshot_path) == version:
                return _load_arguments(revision.snapshot_path, config)
        except (VttdataError, LookupError, TypeError, StopIteration):
            # No card, the card of another program, or no such configuration.
            continue
    return None


def _load_arguments(folder: Path, config: str | None) -> dict[str, Any]:
    """Return the arguments for a cached configuration.

    Only the used configurations are in the Hub's cache, and an interrupted download leaves a part of one, which the
    size on the card tells. Files are passed explicitly, since `datasets` looks at those of the first configuration.

    Raises:
        LookupError: If tables of the configuration are missing.
    """
    front_matter = read_front_matter(folder)
    info = next(info for info in front_matter["dataset_info"] if config in (None, info["config_name"]))
    name = info["config_name"]
    files = next(entry["data_files"] for entry in front_matter["configs"] if entry["config_name"] == name)
    patterns = {entry["split"]: entry["path"] for entry in files}
    sizes = (path.stat().st_size for pattern in patterns.values() for path in folder.glob(pattern))
    if sum(sizes) != info["download_size"]:
        raise LookupError(name)
    return {"path": str(folder), "name": name, "data_files": patterns}


def shared_with_training(folder: Path, config: object) -> str:
    """Return a sentence on the clips of a protocol whose source is also one of its training split; empty without any.

    Raises:
        VttdataError: If a table is damaged.
    """
    splits = (
        read_layout(folder, needs=None, check_rows=False).files.get(str(config), {}) if is_protocol(str(config)) else {}
    )
    if len(splits) < 2 or "train" not in splits:
        return ""
    sources = {
        name: [row["source_id"] for row in read_parquet_rows(paths, ("source_id",))] for name, paths in splits.items()
    }
    train = set(sources.pop("train"))
    shared = {name: sum(source in train for source in own) for name, own in sources.items()}
    counts = ", ".join(f"{count:,} of {len(sources[name]):,} {name} clips" for name, count in shared.items() if count)
    return f"{counts} share a source with a training clip; scores on them are too good." if counts else ""
