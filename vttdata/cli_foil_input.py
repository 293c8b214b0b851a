"""What the command ``foil`` reads: captions from tables and datasets; and what is to be known of it afterwards."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.generate.mining import Captions
    from vttdata.publish.provenance import InputFile, Provenance

TABLES = {".csv", ".tsv", ".jsonl", ".ndjson"}
_WEIGHTS = (".safetensors", ".json")
ALWAYS = ("selection", "min_count", "pair_share", "imbalance", "doubt", "caution", "judged_only", "candidates")
"""Options that are settings of the choice, and noted whatever they are."""

_PLAIN = {"name": "local/foils", "licence": "unknown", "device": "cpu"}
"""Options that are noted only where another value than this, their default, was given."""


def read_captions(reference: str) -> tuple[Captions, dict[str, str | None]]:
    """The captions of a table or of a dataset, for `vttdata.generate.mine_foils`, and the split of each video.

    Raises:
        VttdataError: when there are none, or they cannot be read.
    """
    path = Path(reference)
    captions, splits = _of_table(path) if path.suffix.lower() in TABLES else _of_dataset(reference)
    if not captions:
        raise VttdataError(f"{reference}: holds no captions.")
    return captions, splits


def _of_table(path: Path) -> tuple[Captions, dict[str, str | None]]:
    from vttdata.text.captions import CaptionSettings
    from vttdata.text.captions import read_captions as read_table

    texts: dict[str, list[str]] = {}
    for raw in read_table(path, CaptionSettings()):
        texts.setdefault(raw.video_id or raw.source or "", []).append(raw.caption)
    return texts, {}


def _of_dataset(reference: str) -> tuple[Captions, dict[str, str | None]]:
    from vttdata.loading import find_dataset
    from vttdata.publish.front_matter import read_layout
    from vttdata.records import Caption

    captions: list[Caption] = []
    splits: dict[str, str | None] = {}
    for split, files in read_layout(find_dataset(reference)).files.get("captions", {}).items():
        for row in rows_of(files, ("video_id", "sen_id", "caption")):
            captions.append(Caption(row["video_id"], row["sen_id"], row["caption"]))
            splits[row["video_id"]] = split
    return captions, splits


def rows_of(files: list[Path], columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The rows of Parquet files, with these columns only."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in files:
        try:
            yield from pq.read_table(file, columns=list(columns)).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise VttdataError(f"{file}: damaged or unreadable ({str(error).splitlines()[0]}).") from error


def origin_of(options: argparse.Namespace) -> Provenance:
    """What the dataset was made from and how; of files and models only what is in them matters, not where they lie."""
    from vttdata.publish.provenance import Provenance, inputs_of_table, library_versions
    from vttdata.text.lm import is_trained

    models = {"scorer": [options.scorer], "judge": options.judge or []}
    inputs = inputs_of_table(options.input)
    files = {key: [getattr(options, key)] for key in ("lexicon", "verdicts", "pipeline") if getattr(options, key)}
    for key, given in (*models.items(), *files.items()):
        inputs += [own for place in given if not is_trained(str(place)) for own in _content(key, Path(place))]
    chosen: dict[str, Any] = {key: getattr(options, key) for key in ALWAYS}
    chosen |= {key: getattr(options, key) for key, plain in _PLAIN.items() if getattr(options, key) != plain}
    chosen |= {key: _bare(getattr(options, key)) for key in ("scorer", "pipeline") if getattr(options, key)}
    chosen |= {"judge": [_bare(judge) for judge in options.judge]} if options.judge else {}
    tools = ["datasets", "numpy", "pyarrow", "scikit-learn", "scipy", "spacy"]
    causal = any(not is_trained(own) and not own.endswith(".npz") for both in models.values() for own in both)
    tools += ["torch", "transformers"] if causal else []
    tools += [options.pipeline] if options.pipeline else []
    return Provenance("foil", options.seed, inputs, options=chosen, tools=library_versions(tools))


def _content(key: str, place: Path) -> Iterator[InputFile]:
    """The files of a lexicon or a model that lies here; none of one that has its name from the Hub."""
    from vttdata.publish.provenance import input_file

    if place.is_file():
        yield input_file(key, place)
    elif place.is_dir():
        for file in sorted(place.iterdir()):
            if file.suffix in _WEIGHTS:
                yield input_file(key, file)


def _bare(model: str) -> str:
    """A model without the folders in which it lies here."""
    return Path(model).resolve().name if Path(model).exists() else model
