"""The command ``audit``: parses, calls, prints."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vttdata.cli.foil import TABLES, add_device, rows_of
from vttdata.errors import VttdataError

EXIT_CODES = (
    "Exit codes: 0 done; 1 not all of it could be done; 2 bad usage, recipe or input; 3 an audit found leaks; "
    "4 what was compared differs."
)
_DONE, _LEAKS = 0, 3


def add_audit(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "audit",
        help="find what the splits of a dataset share",
        description="Find what leaks between the splits of a dataset: shared sources, clips that overlap in time, "
        "near-duplicate sources and captions that stand verbatim in several splits (reported only). Of foils, "
        "a dataset or a table with the columns true, foil and video_id: how far they can be solved without videos.",
        epilog=f"{EXIT_CODES} Example: vttdata audit vttdata/demo --split train=a.csv --split test=b.csv",
    )
    parser.add_argument("dataset", metavar="DATASET", help="a dataset folder, a build folder, or a dataset's name")
    split = "judge this split in the place of the dataset's own: a table with a column video_id, or one id a line"
    parser.add_argument("--split", metavar="NAME=FILE", action="append", type=_split_file, help=f"{split}; repeatable")
    protocol = "judge the splits of this protocol, another configuration of the dataset"
    parser.add_argument("--protocol", metavar="NAME", default="clips", help=protocol)
    add_attack_options(parser)
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.set_defaults(run=_audit)


def _split_file(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    if not name or not equals or not file:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=FILE, such as test=ids.csv")
    return name, Path(file)


def _audit(options: argparse.Namespace) -> int:
    from vttdata.dataset.audit import audit_dataset
    from vttdata.load.dataset import find_dataset
    from vttdata.split.audit.text import audit_text

    if not options.split and holds_foils(options.dataset):
        return audit_foils(options)
    refuse_attack_options(options)
    splits = dict(options.split or ())
    if len(splits) < len(options.split or ()):
        raise VttdataError("--split names one split twice; put all of its ids into one file.")
    found = audit_dataset(find_dataset(options.dataset), splits or None, config=options.protocol)
    print(json.dumps(found.as_json(), indent=2, ensure_ascii=False) if options.json else audit_text(found))
    return _DONE if found.ok else _LEAKS


_OPTIONS = ("judge", "texts")


def add_attack_options(parser: argparse.ArgumentParser) -> None:
    """Add what only sets of foils can be asked."""
    judge = "of foils: let this language model try as well (HuggingFace name or folder, or an .npz of ours); repeatable"
    parser.add_argument("--judge", metavar="MODEL", action="append", help=judge)
    texts = "of foils: train the n-gram attackers on the column caption of this table, about other videos"
    parser.add_argument("--texts", metavar="FILE", type=Path, help=texts)
    add_device(parser)


def holds_foils(reference: str) -> bool:
    """Whether what is to be audited is a table of texts or a dataset of foils, by folder or name."""
    return Path(reference).suffix.lower() in TABLES or _folder(reference).joinpath("foils").is_dir()


def refuse_attack_options(options: argparse.Namespace) -> None:
    """See that nothing was asked that only sets of foils answer."""
    for name in _OPTIONS:
        if getattr(options, name):
            raise VttdataError(f"--{name} is for sets of foils, and {options.dataset} is none.")


def audit_foils(options: argparse.Namespace) -> int:
    """Let blind attackers try the pairs of a table (columns true, foil and perhaps video_id) or of a foil dataset."""
    from vttdata.generate.foils.blind.shortcuts import attacks_text, audit_shortcuts
    from vttdata.text.lm import load_judges

    judges = load_judges(options.judge or (), device=options.device)
    pairs = list(_text_pairs(options.dataset))
    texts = {0: list(_captions(options.texts))} if options.texts else None
    attacks = audit_shortcuts(pairs, texts=texts, models=judges)
    content = {"attacks": [own.as_json() for own in attacks], "ok": all(own.closed for own in attacks)}
    print(json.dumps(content, indent=2, ensure_ascii=False) if options.json else attacks_text(attacks))
    return 0


def _folder(reference: str) -> Path:
    from vttdata.load.dataset import find_dataset

    return find_dataset(reference)


def _text_pairs(reference: str) -> Iterator[Any]:
    from vttdata.generate.foils.blind.shortcuts import TextPair

    path = Path(reference)
    if path.suffix.lower() not in TABLES:
        files = sorted((_folder(reference) / "foils").glob("*.parquet"))
        for row in rows_of(files, ("caption", "foil", "video_id")):
            yield TextPair(row["caption"], row["foil"], row["video_id"])
        return
    from vttdata.files.tables import read_table

    for line, row in read_table(path):
        for name in ("true", "foil"):
            if not isinstance(row.get(name), str):
                raise VttdataError(f"{path}:{line}: the column '{name}' should hold a text; a row has true and foil.")
        yield TextPair(row["true"], row["foil"], str(row.get("video_id") or line))


def _captions(path: Path) -> Iterator[str]:
    from vttdata.files.tables import read_table

    for line, row in read_table(path):
        if not isinstance(row.get("caption"), str):
            raise VttdataError(f"{path}:{line}: the column 'caption' should hold a text.")
        yield row["caption"]
