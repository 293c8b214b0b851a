"""The last files of every kind of dataset: README, Croissant description and manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vttdata.dataset.card.sections import Tables
from vttdata.dataset.croissant import write_croissant
from vttdata.dataset.front_matter import front_matter
from vttdata.dataset.manifest import write_manifest
from vttdata.dataset.metadata import Metadata
from vttdata.dataset.shards import file_sha256


def write_description(
    dataset: Path,
    about: Metadata,
    tables: Tables,
    body: str,
    *,
    categories: Sequence[str] = (),
    classes: Sequence[str] = (),
    limitations: Sequence[str] = (),
    known: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Describe a dataset folder whose tables and other files are all there.

    Args:
        dataset: the folder.
        about: what the tables do not say.
        tables: configuration -> its splits, the default one first.
        body: of the README, below its YAML head.
        categories: the names of the category labels, in the order of their numbers.
        classes: those of the classes of concepts.
        limitations: what is known to be wrong with the dataset, a sentence each.
        known: what the manifest says of files that need not be read again.
    """
    head = front_matter(tables, categories, about, classes)
    (dataset / "README.md").write_text(f"{head}\n{body}", encoding="utf-8")
    write_croissant(
        dataset,
        about,
        tables,
        categories=categories,
        classes=classes,
        limitations=limitations,
    )
    files = {
        shard.path: {"sha256": shard.sha256, "bytes": shard.bytes, "rows": shard.rows}
        for splits in tables.values()
        for own in splits
        for shard in own.shards
    } | dict(known or {})
    for path in dataset.rglob("*"):
        name = path.relative_to(dataset).as_posix()
        if path.is_file() and name not in files:
            files[name] = {"sha256": file_sha256(path), "bytes": path.stat().st_size}
    write_manifest(dataset, name=about.name, version=about.version, files=files)
