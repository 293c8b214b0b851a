"""Protocols of the literature: one data file each, from which a protocol file of a dataset is made.

A file (``recipes/protocols/NAME.yaml``) says for each split where its ids come from: splits of the dataset (``from``,
of a configuration `config`), a list that the user has (``list`` says which), or all clips that no other split has
(``rest``); how many `clips` there are; and the `digest` of the whole, where it is known. Lists of ids are not in it.
`reported` has the tasks that papers report by it in place of the dataset's own splits -> what they call the test set.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import pydantic

from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.manifest import read_dataset_manifest
from vttdata.dataset.parquet import read_parquet_rows
from vttdata.dataset.protocol_file import Protocol
from vttdata.errors import VttdataError, list_choices
from vttdata.files.id_lists import read_ids
from vttdata.files.strict_yaml import read_yaml
from vttdata.ids import find_video_id
from vttdata.json_types import JsonObject
from vttdata.recipe import packaged
from vttdata.validation import describe_problem


class ProtocolSplit(pydantic.BaseModel):
    """Where the ids of a split come from; exactly one of `from_splits`, `user_list` and `rest`."""

    model_config: ClassVar[pydantic.ConfigDict] = pydantic.ConfigDict(extra="forbid", strict=True)

    from_splits: Annotated[list[str], pydantic.Field(alias="from")] = []
    config: str = "clips"
    user_list: Annotated[str, pydantic.Field(alias="list")] = ""
    rest: bool = False
    clips: int | None = None

    @pydantic.model_validator(mode="after")
    def _has_one_origin(self) -> ProtocolSplit:
        if sum(map(bool, (self.from_splits, self.user_list, self.rest))) != 1:
            raise ValueError("exactly one of 'from', 'list' and 'rest' says where the ids come from")
        return self


class PublishedProtocol(pydantic.BaseModel):
    """Protocol of the literature, as its file describes it."""

    model_config: ClassVar[pydantic.ConfigDict] = pydantic.ConfigDict(extra="forbid", strict=True)

    benchmark: str
    description: str
    source: str
    citation: str
    splits: dict[str, ProtocolSplit]
    digest: str | None = None
    reported: dict[str, str] = {}


def read_specification(path: Path) -> PublishedProtocol:
    """Read and check the file of a protocol.

    Raises:
        VttdataError: when a key is missing, unknown or of another type.
    """
    try:
        return PublishedProtocol.model_validate(read_yaml(path))
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise VttdataError(f"{path}: {key}: {describe_problem(first)}.") from error


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
    published = read_specification(known[name])
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
