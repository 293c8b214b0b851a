"""How the official files of a benchmark write which original videos it is of, as data: ``recipes/sources/NAME.yaml``.

`vttdata.annotations.stated_sources` reads files by it. Values are found by paths: ``database.*`` are all values of the
list or object ``database``, ``segment.0`` is the first element of a list, an empty path is a row itself, and ``@`` is
the key of a row in an object, or a line of a text.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pydantic

from vttdata.files.strict_yaml import read_yaml_as
from vttdata.plugins import discover
from vttdata.recipe import packaged
from vttdata.settings import Strict


def _check_form(form: str) -> str:
    try:
        if re.compile(form).groups:
            return form
    except re.error as error:
        raise ValueError(f"{form!a} is no regular expression ({error})") from error
    raise ValueError(f"{form!a} has no group for the id")


@dataclass(frozen=True, slots=True)
class StatedName(Strict):
    """One way in which a row names its original video.

    Fields:
        at: path of the text in the row.
        form: regular expression of the whole text, whose groups are the id, joined by ``_``, and whose groups
            ``start``, ``end`` (seconds) and ``text`` say more; a text of another form is no such name.
        name: what the id is turned into: an address, the name of a collection with the id after it, or the id of a
            YouTube video alone.
    """

    at: str = "@"
    form: Annotated[str, pydantic.AfterValidator(_check_form)] = "(.+)"
    name: str = "{}"


@dataclass(frozen=True, slots=True)
class SourceTable(Strict):
    """Rows of files, which say of items what their sources are, in which split they are, or what is written about them.

    Fields:
        files: patterns of their names: JSON, JSON lines, CSV, TSV, Parquet or lines of text, also in zip archives.
        rows: path of the rows in a file.
        item: path of the official id of what a row is about; by default the first id among the names.
        names: at most two of them are used of a row.
        split: that all rows are in.
        split_at: path of the split of a row. Without either it is that of the item in other tables, or else ``test``.
        start, end: paths of times in seconds, several for several spans.
        duration: path of the length of the source, in seconds, of which a row without times has all.
        text: path of captions or questions.
    """

    files: list[str]
    rows: str = "*"
    item: str | None = None
    names: list[StatedName] = field(default_factory=list)
    split: str | None = None
    split_at: str | None = None
    start: str | None = None
    end: str | None = None
    duration: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class StatedSources(Strict):
    """What the official files of a benchmark say of its sources.

    Fields:
        tables: where that is; empty if they do not say it.
        unknown: what they do not say, for people.
    """

    tables: list[SourceTable] = field(default_factory=list)
    unknown: str | None = None


def all_sources() -> dict[str, Path]:
    """Return the files of sources by benchmark: packaged ones, then those in the folder ``sources`` of plugins."""
    return discover(packaged.folder("recipes") / "sources", "sources", ".yaml")


@functools.cache
def read_stated_sources(path: Path) -> StatedSources:
    """Return the content of a file of sources.

    Raises:
        VttdataError: when it is not as it should be; names the key.
    """
    return read_yaml_as(path, pydantic.TypeAdapter(StatedSources))[0]
