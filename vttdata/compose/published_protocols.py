"""Make a protocol file of a dataset from a protocol of the literature; see `vttdata.recipe.published_protocols`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import VttdataError, list_choices
from vttdata.files.id_lists import read_ids
from vttdata.ids import find_video_id
from vttdata.json_types import JsonObject
from vttdata.recipe import packaged
from vttdata.recipe.published_protocols import read_published_protocol


def make_protocol(name: str, folder: Path, lists: Mapping[str, Path]) -> Protocol:
    """Return a protocol of the literature for the dataset in a folder.

    `lists` are files of ids by split, for splits whose list is the user's.

    Raises:
        VttdataError: when there is no such protocol, a list is missing or names other clips, or the number of clips or
            the digest is not the published one.
    """
    known = packaged.protocols()
    if name not in known:
        raise VttdataError(f"Unknown protocol {name[:80]!a}; choose from {list_choices(name, known)}.")
    published = read_published_protocol(known[name])
    needed = {split: part.user_list for split, part in published.splits.items() if part.user_list}
    _check_lists(name, needed, lists)
    files = read_layout(folder, needs="clips").files
    all_ids = _ids_of(files["clips"], list(files["clips"]))
    splits: dict[str, list[str]] = {}
    for split, part in published.splits.items():
        if part.user_list:
            splits[split] = _listed(lists[split], set(all_ids))
        elif part.from_splits:
            if part.config not in files or not set(part.from_splits) <= files[part.config].keys():
                wanted = f"{part.config}/{' and '.join(part.from_splits)}"
                raise VttdataError(f"{folder}: has no {wanted}, which {name} is made of; is it {published.benchmark}?")
            splits[split] = _ids_of(files[part.config], part.from_splits)
    taken = {own for ids in splits.values() for own in ids}
    rest = [own for own in all_ids if own not in taken]
    splits = {split: splits.get(split, rest) for split in published.splits}
    for split, part in published.splits.items():
        if part.clips not in (None, len(splits[split])):
            raise VttdataError(
                f"{name}: the split {split} has {part.clips:,} clips, and here {len(splits[split]):,}; the dataset or "
                "the list is not the one of the literature."
            )
    manifest = read_dataset_manifest(folder)
    about = {"dataset": str(manifest.get("name")), "version": str(manifest.get("version"))}
    about |= {"description": published.description, "source": published.source, "citation": published.citation}
    protocol = Protocol(name, splits, about)
    if published.digest not in (None, protocol.digest):
        raise VttdataError(f"{name}: the ids have the digest {protocol.digest[:12]}..., not the published one.")
    return protocol


def _check_lists(name: str, needed: Mapping[str, str], lists: Mapping[str, Path]) -> None:
    """Raise VttdataError when a list is missing, or given for a split that needs none."""
    lacking = next((split for split in needed if split not in lists), None)
    if lacking is not None:
        raise VttdataError(
            f"{name}: the list of {lacking} is not shipped; give {needed[lacking]}: --list {lacking}=FILE."
        )
    extra = next((split for split in lists if split not in needed), None)
    if extra is not None:
        raise VttdataError(f"{name}: its split '{extra}' needs no list; {', '.join(needed) or 'none'} does.")


def _ids_of(config: JsonObject, splits: list[str]) -> list[str]:
    rows = (read_parquet_rows(config[split], ("video_id",)) for split in splits)
    return list(dict.fromkeys(row["video_id"] for part in rows for row in part))


def _listed(path: Path, known: set[str]) -> list[str]:
    ids = [find_video_id(own, known) or own for own in read_ids(path)]
    unknown = [own for own in ids if own not in known]
    if unknown or len(set(ids)) < len(ids):
        problem = f"no clip has the id {unknown[0]!a}" if unknown else "an id is duplicated"
        raise VttdataError(f"{path}: {problem} ({len(unknown):,} of {len(ids):,} are unknown).")
    return ids
