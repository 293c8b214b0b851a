"""Compares what is loaded with what was built: files with the manifest, rows with the card, versions with the wish.

It loads nothing from the Hub; of the readers' cache it knows where prepared versions lie.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vttdata.errors import VttdataError


def left_on_hub(folder: Path) -> list[str]:
    """The names of the videos that are not in a dataset folder because it is the Hub's cache, where few are wanted."""
    from vttdata.dataset.manifest import read_manifest

    if folder.parent.name != "snapshots":
        return []
    videos = (name for name in read_manifest(folder)["files"] if name.startswith("videos/"))
    return [name for name in videos if not (folder / name).exists()]


def check_tables(folder: Path, text: str) -> None:
    """Compare the files of a dataset folder with its manifest: sizes, checksums, rows.

    Args:
        folder: the dataset.
        text: what the user calls it.

    Raises:
        VttdataError: when a file is missing, differs or is not listed.
    """
    import pyarrow.parquet as pq

    from vttdata.dataset.manifest import find_damage, read_manifest

    left_out = left_on_hub(folder)
    damage = find_damage(folder, left_out)
    if not damage:
        files = read_manifest(folder)["files"]
        tables = [name for name in files if name.endswith(".parquet") and name not in left_out]
        rows = ((name, pq.read_metadata(folder / name).num_rows, files[name].get("rows")) for name in tables)
        damage = [
            f"{name}: has {there} rows instead of {said}." for name, there, said in rows if said not in (None, there)
        ]
    if damage:
        more = f" ({len(damage) - 1} more differ)" if len(damage) > 1 else ""
        raise VttdataError(f"'{text}' is not as it was built: {damage[0].rstrip('.')}{more}; it lies in {folder}.")


def check_rows(loaded: Any, folder: Path, text: str, split: object) -> None:
    """Compare the number of rows that a reader returned with that of the tables.

    Nothing is compared of a stream or of a part of a split.

    Raises:
        VttdataError: when they differ, as after a cache of the reader was damaged.
    """
    from vttdata.dataset.tables import read_contents

    came = loaded if isinstance(loaded, dict) else {str(split): loaded}
    for name, rows in came.items():
        config = rows.info.config_name
        contents = read_contents(folder).get(config)
        said = contents.rows().get(name) if contents is not None else None
        if said is not None and hasattr(rows, "num_rows") and rows.num_rows != said:
            raise VttdataError(
                f"'{text}': {rows.num_rows} rows of {config}/{name} came, and the dataset has {said}; "
                "load it with another cache_dir."
            )


def version_of(loaded: Any) -> str | None:
    """The version that a loaded dataset says it is; None where it says nothing."""
    first = next(iter(loaded.values())) if isinstance(loaded, dict) else loaded
    came = str(first.info.version) if first.info.version is not None else "0.0.0"
    return came if came != "0.0.0" else None


def cached_version(text: str, version: str, arguments: dict[str, Any]) -> Any:
    """A version that the readers prepared earlier, from their cache; None where there is none.

    Offline, the readers by themselves return the version that was used last.
    """
    import datasets
    from datasets.naming import camelcase_to_snakecase
    from datasets.packaged_modules.cache.cache import Cache

    root = Path(arguments["cache_dir"] or datasets.config.HF_DATASETS_CACHE).expanduser()
    owner, _, own = text.partition("/")
    place = root / f"{owner}___{camelcase_to_snakecase(own)}"
    found = sorted(place.glob(f"*/{version}/*/dataset_info.json"), key=lambda path: path.stat().st_mtime)
    configs = {path.parts[-4]: path.parts[-2] for path in found}
    name = arguments["name"] or next((usual for usual in ("clips", "foils") if usual in configs), None)
    if name not in configs:
        return None
    builder = Cache(
        cache_dir=str(root),
        dataset_name=own,
        config_name=name,
        version=version,
        hash=configs[name],
        repo_id=text,
    )
    if arguments["streaming"]:
        return builder.as_streaming_dataset(split=arguments["split"])
    return builder.as_dataset(split=arguments["split"], in_memory=bool(arguments["keep_in_memory"]))
