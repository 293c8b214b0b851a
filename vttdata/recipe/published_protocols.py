"""Protocols of the literature: one data file each, from which a protocol file of a dataset is made.

A file (``recipes/protocols/NAME.yaml``) says for each split where its ids come from: splits of the dataset (``from``,
of a configuration `config`), a list that the user has (``list`` says which), or all clips that no other split has
(``rest``); how many `clips` there are; and the `digest` of the whole, where it is known. Lists of ids are not in it.
`reported` has the tasks that papers report by it in place of the dataset's own splits -> what they call the test set.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

import pydantic

from vttdata.errors import VttdataError
from vttdata.files.strict_yaml import read_yaml
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


def read_published_protocol(path: Path) -> PublishedProtocol:
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


def reported_protocols(dataset: str, task: str) -> dict[str, str]:
    """Return the protocols by which papers report a task on a dataset -> what they call the test set."""
    recipe = packaged.datasets_of_recipes().get(dataset)
    published = ((name, read_published_protocol(path)) for name, path in packaged.protocols().items())
    return {
        name: protocol.reported[task]
        for name, protocol in published
        if protocol.benchmark == recipe and task in protocol.reported
    }
