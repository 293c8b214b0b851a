"""What ``audit`` does with foils: lets blind attackers try a dataset of them, or any table of true and false texts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vttdata.cli_foil import add_device
from vttdata.cli_foil_input import TABLES, rows_of
from vttdata.errors import VttdataError

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
    from vttdata.assess.shortcuts import audit_shortcuts
    from vttdata.report.shortcuts import attacks_text
    from vttdata.text.lm import load_judges

    judges = load_judges(options.judge or (), device=options.device)
    pairs = list(_text_pairs(options.dataset))
    texts = {0: list(_captions(options.texts))} if options.texts else None
    attacks = audit_shortcuts(pairs, texts=texts, models=judges)
    content = {"attacks": [own.as_json() for own in attacks], "ok": all(own.closed for own in attacks)}
    print(json.dumps(content, indent=2, ensure_ascii=False) if options.json else attacks_text(attacks))
    return 0


def _folder(reference: str) -> Path:
    from vttdata.loading import find_dataset

    return find_dataset(reference)


def _text_pairs(reference: str) -> Iterator[Any]:
    from vttdata.assess.shortcuts import TextPair

    path = Path(reference)
    if path.suffix.lower() not in TABLES:
        files = sorted((_folder(reference) / "foils").glob("*.parquet"))
        for row in rows_of(files, ("caption", "foil", "video_id")):
            yield TextPair(row["caption"], row["foil"], row["video_id"])
        return
    from vttdata.tables import read_table

    for line, row in read_table(path):
        for name in ("true", "foil"):
            if not isinstance(row.get(name), str):
                raise VttdataError(f"{path}:{line}: the column '{name}' should hold a text; a row has true and foil.")
        yield TextPair(row["true"], row["foil"], str(row.get("video_id") or line))


def _captions(path: Path) -> Iterator[str]:
    from vttdata.tables import read_table

    for line, row in read_table(path):
        if not isinstance(row.get("caption"), str):
            raise VttdataError(f"{path}:{line}: the column 'caption' should hold a text.")
        yield row["caption"]
