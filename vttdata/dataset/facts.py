"""Facts about a dataset that its tables do not hold: with the tables, they are what its card is rendered from.

The manifest stores them under ``facts``, so that a revised dataset is described again by the code that described it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
from vttdata.dataset.metadata import Metadata
from vttdata.errors import VttdataError
from vttdata.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class FoilFacts:
    """How a set of foils was made; the fields are those of `vttdata.dataset.foils.write.FoilSet`."""

    selection: str
    seed: int
    lexicon: str
    scorer: str
    counts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """What is known of a dataset beside its tables.

    Fields:
        metadata: its metadata; its name and version are those of the manifest.
        audited: whether its splits were audited for leaks.
        foils: how its pairs were made; None for a dataset of clips.
        made_of: the dataset whose captions the foils are of: `dataset`, `version` and the `sha256` of its manifest.
        emptied: splits of which withdrawals left no row, ``CONFIG/SPLIT``.
    """

    metadata: Metadata
    audited: bool = False
    foils: FoilFacts | None = None
    made_of: Mapping[str, str] = field(default_factory=dict)
    emptied: Sequence[str] = ()

    def as_json(self) -> JsonObject:
        """Return plain values, without name and version."""
        content: JsonObject = _adapter().dump_python(self, mode="json")
        del content["metadata"]["name"], content["metadata"]["version"]
        return content


def read_facts(dataset: Path) -> DatasetFacts:
    """Return the facts that the manifest of a dataset stores.

    Raises:
        VttdataError: If it stores none, or others.
    """
    manifest = read_dataset_manifest(dataset)
    try:
        return parse_facts(manifest["facts"], str(manifest["name"]), str(manifest["version"]))
    except (KeyError, TypeError, ValueError) as error:
        raise VttdataError(
            f"{dataset / MANIFEST}: does not hold the facts that the card is made of; build the dataset again."
        ) from error


def parse_facts(content: JsonObject, name: str, version: str) -> DatasetFacts:
    """Return the facts of plain values.

    Raises:
        KeyError, TypeError, ValueError: If they are not those of `DatasetFacts.as_json`.
    """
    about = {**content["metadata"], "name": name, "version": version}
    facts: DatasetFacts = _adapter().validate_json(json.dumps({**content, "metadata": about}))
    return facts


def _adapter() -> Any:
    # Only builds and revisions need it, and the base install does without.
    import pydantic

    return pydantic.TypeAdapter(DatasetFacts)
