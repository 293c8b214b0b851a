"""Write the files that describe a dataset of any kind: README, Croissant description and manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vttdata.dataset.card.sections import Tables
from vttdata.dataset.croissant import write_croissant
from vttdata.dataset.front_matter import format_front_matter
from vttdata.dataset.manifest import write_manifest
from vttdata.dataset.metadata import Metadata
from vttdata.files.checksums import file_sha256


def write_description(
    dataset: Path,
    metadata: Metadata,
    tables: Tables,
    body: str,
    *,
    categories: Sequence[str] = (),
    classes: Sequence[str] = (),
    limitations: Sequence[str] = (),
    known_files: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Describe a dataset folder whose tables and other files are complete.

    Args:
        dataset: Folder.
        metadata: Metadata of the dataset.
        tables: Configuration -> its splits, the default one first.
        body: README below its front matter.
        categories: Names of the category labels, in the order of their numbers.
        classes: Names of the classes of concepts, in the order of their numbers.
        limitations: Known limitations of the dataset, a sentence each.
        known_files: Manifest entries of files that need not be read again.
    """
    front_matter = format_front_matter(tables, categories, metadata, classes)
    (dataset / "README.md").write_text(f"{front_matter}\n{body}", encoding="utf-8")
    write_croissant(dataset, metadata, tables, categories=categories, classes=classes, limitations=limitations)
    files = {
        shard.path: {"sha256": shard.sha256, "bytes": shard.bytes, "rows": shard.rows}
        for splits in tables.values()
        for split in splits
        for shard in split.shards
    } | dict(known_files or {})
    for path in dataset.rglob("*"):
        name = path.relative_to(dataset).as_posix()
        if path.is_file() and name not in files:
            files[name] = {"sha256": file_sha256(path), "bytes": path.stat().st_size}
    write_manifest(dataset, name=metadata.name, version=metadata.version, files=files)
