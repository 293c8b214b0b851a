"""The command ``vttdata degrade``: reads captions, degrades them, writes Parquet tables and says how it went.

Parquet and not CSV: types stay, and a caption that begins with ``=`` is no formula anywhere.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.dataset.captions import SplitCaptions
    from vttdata.generate import DegradeSettings
    from vttdata.records import Degraded
    from vttdata.text.captions import RawCaption, Removal

_TABLES = {".csv", ".tsv", ".jsonl", ".ndjson"}
_VARIANTS = [  # as in vttdata.generate, which is too heavy to import for --help
    "video-2018",
    "wmt17",
    "bad-refs-2016",
    "ad-bad-refs-2013",
    "appraise-wmt19",
    "wmt22",
]
_ROWS_AT_A_TIME = 10_000
_WRITTEN = ("degraded.parquet", "rejected.parquet")


def add_degrade(commands: Any) -> None:
    """Add the command to a parser's subparsers."""
    parser = commands.add_parser(
        "degrade",
        help="make captions worse on purpose, as controls for Direct Assessment",
        description="Replace a run of words of each caption, neither its first nor its last, by a run from the human "
        "caption of another source (Graham, Awad and Smeaton, PLOS ONE 2018). Writes DIR/degraded.parquet, one row a "
        "caption with where its words come from, and DIR/rejected.parquet, the captions that were left out and why.",
        epilog="Example: vttdata degrade captions.csv --out degraded --seed 7",
    )
    table = "a CSV, TSV or JSONL table with video_id and caption, and if known source_id, sen_id, language, author"
    parser.add_argument("input", metavar="INPUT", help=f"a dataset (folder, build or name), or {table}")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where to write")
    parser.add_argument("--seed", metavar="N", type=_seed, default=0, help="of all draws (default: 0)")
    variant = "the rules: our default for video, or those of a published script, for comparison"
    parser.add_argument("--variant", choices=_VARIANTS, default=_VARIANTS[0], help=f"{variant} (default: %(default)s)")
    whole = "replace captions of one or two words as a whole, instead of flagging them"
    parser.add_argument("--whole", action="store_true", help=whole)
    parser.set_defaults(run=_degrade)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 0 on")
    return int(text)


def _degrade(options: argparse.Namespace) -> int:
    from vttdata.generate import DegradeSettings

    removed: list[Removal] = []
    material = read_material(options.input, removed)
    _check_sources(options.input, material)
    tally: Counter[str] = Counter()
    settings = DegradeSettings(options.variant, options.whole)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        _write_degraded(options.out / "degraded.parquet", _results(material, settings, options.seed, tally))
        _write_rejected(options.out / "rejected.parquet", removed)
        _describe(options)
    except OSError as error:
        raise VttdataError(f"{options.out}: cannot be written ({error.strerror or error}).") from error
    flags = "".join(f", {number:,} {flag}" for flag, number in sorted(tally.items()) if flag != "degraded")
    print(f"{tally['degraded']:,} degraded{flags}: {options.out / 'degraded.parquet'}")
    if removed:
        reasons = sorted(Counter(removal.reason for removal in removed).items())
        told = ", ".join(f"{number:,} {reason}" for reason, number in reasons)
        print(f"{told}: {options.out / 'rejected.parquet'}")
    return 0


def _describe(options: argparse.Namespace) -> None:
    """Say beside the tables how they were made, and list them."""
    from vttdata.dataset.manifest import write_manifest
    from vttdata.dataset.provenance import (
        PROVENANCE,
        Provenance,
        input_file,
        library_versions,
        write_provenance,
    )
    from vttdata.load.dataset import caption_input_files

    chosen = {"variant": options.variant, "whole": options.whole}
    tools = library_versions(("numpy", "pyarrow"))
    inputs = caption_input_files(options.input)
    write_provenance(options.out, Provenance("degrade", options.seed, inputs, options=chosen, tools=tools))
    files = (input_file("", options.out / name) for name in (*_WRITTEN, PROVENANCE))
    facts = {own.name: {"sha256": own.sha256, "bytes": own.bytes} for own in files}
    write_manifest(options.out, name="local/degraded", version="1.0.0", files=facts)


def read_material(given: str, removed: list[Removal]) -> list[SplitCaptions]:
    """The captions of a table or a dataset, split by split; what cleaning takes out is added to `removed`."""
    if Path(given).suffix.lower() in _TABLES and not Path(given).is_dir():
        return [_read_table(Path(given), removed)]
    from vttdata.dataset.captions import read_captions_by_split
    from vttdata.load.dataset import find_dataset

    return list(read_captions_by_split(find_dataset(given)))


def _read_table(path: Path, removed: list[Removal]) -> SplitCaptions:
    """The captions of a table, cleaned as a build cleans them, in an order that is not that of its rows."""
    from vttdata.dataset.captions import SplitCaptions
    from vttdata.files.tables import read_table
    from vttdata.records import Caption
    from vttdata.text.captions import CaptionSettings, clean_captions, read_caption_table

    has_source = any("source_id" in row for _, row in read_table(path))
    columns = {"source": "source_id"} if has_source else {}
    settings = CaptionSettings(columns=columns, min_words=0, max_words=None, max_characters=None)
    by_clip: dict[str, list[RawCaption]] = {}
    for raw in read_caption_table(path, settings):
        if raw.video_id is None:
            raise VttdataError(f"{path}:{raw.line}: has no video_id.")
        by_clip.setdefault(raw.video_id, []).append(raw)
    captions: list[Caption] = []
    source_of: dict[str, str] = {}
    for video_id in sorted(by_clip):
        raws = by_clip.pop(video_id)
        source_of[video_id] = _source(path, video_id, raws if has_source else ())
        for result in clean_captions(video_id, raws, settings):
            if isinstance(result, Caption):
                captions.append(result)
            else:
                removed.append(result)
    return SplitCaptions("", captions, source_of)


def _source(path: Path, video_id: str, raws: Iterable[RawCaption]) -> str:
    """The source that the rows of a clip name; the clip itself where none does."""
    named = sorted({raw.source for raw in raws if raw.source is not None})
    if len(named) > 1:
        raise VttdataError(f"{path}: clip {video_id!a} has two sources, {named[0]!a} and {named[1]!a}.")
    return named[0] if named else video_id


def _check_sources(given: str, material: Sequence[SplitCaptions]) -> None:
    captions = sum(len(own.captions) for own in material)
    sources = {own.source_of.get(caption.video_id) for own in material for caption in own.captions}
    if not captions:
        raise VttdataError(f"{given}: has no caption to degrade.")
    if len(sources) == 1:
        only = f"all {captions:,} captions are about one source"
        raise VttdataError(f"{given}: {only}, and words must come from another one.")


def _results(
    material: Iterable[SplitCaptions], settings: DegradeSettings, seed: int, tally: Counter[str]
) -> Iterator[Degraded]:
    """Every caption, degraded with words from its own split."""
    from vttdata.generate import Donors, degrade

    for own in material:
        donors = Donors(own.captions, own.source_of)
        for caption in own.captions:
            result = degrade(caption, donors, settings, seed=seed)
            tally["degraded" if result.flag is None else result.flag] += 1
            yield result


def _write_degraded(path: Path, results: Iterable[Degraded]) -> None:
    from vttdata.record_schemas import arrow_schema, to_row
    from vttdata.records import Degraded

    _write(path, arrow_schema(Degraded), map(to_row, results))


def _write_rejected(path: Path, removed: Iterable[Removal]) -> None:
    import pyarrow as pa

    schema = pa.schema([("video_id", pa.string()), ("reason", pa.string()), ("detail", pa.string())])
    _write(path, schema, ({name: getattr(removal, name) for name in schema.names} for removal in removed))


def _write(path: Path, schema: Any, rows: Iterator[dict[str, Any]]) -> None:
    """Write a table under a temporary name, then in one step under its own."""
    import itertools

    import pyarrow as pa
    import pyarrow.parquet as pq

    temporary = path.with_name(f"{path.name}.tmp")
    with pq.ParquetWriter(temporary, schema) as writer:
        while batch := list(itertools.islice(rows, _ROWS_AT_A_TIME)):
            writer.write_table(pa.Table.from_pylist(batch, schema))
    temporary.replace(path)
