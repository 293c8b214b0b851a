"""Audit the splits of a dataset, or a set of foils (``vttdata audit``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vttdata.cli.exit_codes import DONE, LEAKS, SUMMARY
from vttdata.cli.options import (
    DATASET,
    FILE,
    Command,
    SplitWithFile,
    argument,
    columns_option,
    config_option,
    device_option,
    json_option,
    option,
)
from vttdata.errors import VttdataError
from vttdata.files.output_file import HTML, MARKDOWN, check_output_file, make_output_folder, write_whole

if TYPE_CHECKING:
    from vttdata.split import Audit


@click.command(
    "audit",
    cls=Command,
    notes=[SUMMARY],
    examples=[
        "vttdata audit vttdata/msrvtt --against training.parquet --clean clean",
        "vttdata audit vttdata/demo",
        "vttdata audit vttdata/demo --split train=a.csv --split test=b.csv",
    ],
)
@argument(
    "dataset",
    "DATASET",
    "A dataset folder, a build folder, or the name of a dataset; of foils also a table with the columns true, foil and "
    "video_id, or of questions with question, options (or option_0, option_1, ...), answer and video_id.",
    type=DATASET,
)
@option(
    "--split NAME[=FILE]",
    "Audit this split of the dataset, or the ids of a file: a table with a column video_id, or one id a line; may be "
    "repeated.",
    name="splits",
    type=SplitWithFile("split"),
    multiple=True,
    show_default="all of the dataset",
)
@json_option
@option(
    "--against CORPUS",
    "Look for the clips of DATASET in a corpus instead: a dataset, a table (Parquet, CSV, TSV, JSON lines) with any of "
    "video_id, url, start, end and caption, or a folder of tables, of any size.",
    type=DATASET,
    group="Contamination",
)
@option(
    "--clean DIR",
    "Write the clips that splits, or the corpus, do not share into this folder, as a protocol file.",
    type=FILE,
)
@option("--page FILE", "Write the audit as a page (Markdown): figures, what they mean, what to do.", type=FILE)
@option("--html FILE", "Write the audit as a page to look at, which needs no network.", name="html", type=FILE)
@option("--videos DIR", "Of foils: folder of the videos, named by their ids, for the frames of --html.", type=FILE)
@columns_option("the corpus")
@config_option("clips, or a protocol.", default="clips", group="Selection")
@option(
    "--judge MODEL",
    "Of foils: let this language model try as well (HuggingFace name or folder, or an .npz of ours); may be repeated.",
    name="judges",
    multiple=True,
    group="Language models",
)
@option(
    "--texts FILE",
    "Of foils: let attackers learn how people write from the column caption of this table, about other videos (column "
    "video_id, if there is one).",
    type=FILE,
    group="Language models",
)
@option(
    "--encoder MODEL",
    "Of foils: try sentence embeddings by this encoder as well (HuggingFace name or folder).",
    group="Language models",
)
@device_option
def command(
    dataset: str,
    splits: tuple[tuple[str, Path | None], ...],
    as_json: bool,
    against: str | None,
    clean: Path | None,
    page: Path | None,
    html: Path | None,
    videos: Path | None,
    columns: dict[str, str],
    config: str,
    judges: tuple[str, ...],
    texts: Path | None,
    encoder: str | None,
    device: str,
) -> int:
    """Find what the splits of a dataset share.

    Leaks are shared sources, clips that overlap in time and near-duplicate sources; captions that are found verbatim in
    several splits are reported only. Of foils and questions: how far they can be solved without videos. With
    --against: what of the dataset a corpus contains.
    """
    from vttdata.compose.input_captions import is_table
    from vttdata.dataset.leak_audit import audit_dataset
    from vttdata.load.lookup import find_dataset
    from vttdata.split.audit.leaks import audit_text

    _check_options(against, columns, page, html, has_part=bool(splits or config != "clips"), clean=clean)
    if videos is not None and html is None:
        raise VttdataError("--videos goes with --html FILE.")
    if against is not None:
        return _audit_against(dataset, against, splits, config, columns, clean, as_json=as_json)
    if not splits and (is_table(dataset) or (find_dataset(dataset) / "foils").is_dir()):
        if clean is not None:
            raise VttdataError(f"--clean is about splits of clips, and {dataset} has texts only.")
        return _audit_foils(dataset, judges, texts, encoder, device, page, html, videos, as_json=as_json)
    for name, value in (("judge", judges), ("texts", texts), ("encoder", encoder), ("videos", videos)):
        if value:
            raise VttdataError(f"--{name} is for sets of foils, and {dataset} is none.")
    by_name = dict(splits)
    if len(by_name) < len(splits):
        raise VttdataError("--split names one split twice; put all of its ids into one file.")
    folder = find_dataset(dataset)
    audit = audit_dataset(folder, by_name or None, config=config)
    _write_pages(folder, dataset, audit, page, html, clean)
    print(json.dumps(audit.as_json(), indent=2, ensure_ascii=False) if as_json else audit_text(audit))
    return DONE if audit.ok else LEAKS


def _write_pages(
    folder: Path, dataset: str, audit: Audit, page: Path | None, html: Path | None, clean: Path | None
) -> None:
    """Write what is asked for beside the text of an audit of splits."""
    if page is not None:
        from vttdata.compose.audit_page import format_clip_page

        write_whole(page, format_clip_page(folder, f"vttdata audit {dataset} --page {page.name}"))
    if html is not None:
        from vttdata.report.audit_report import audit_page

        write_whole(html, audit_page(folder, audit))
    if clean is not None:
        from vttdata.compose.audit_page import clean_protocol

        clean_protocol(folder).write(clean / "protocol.json")


def _check_options(
    against: str | None,
    columns: Mapping[str, str],
    page: Path | None,
    html: Path | None,
    *,
    has_part: bool,
    clean: Path | None,
) -> None:
    """Raise VttdataError for options that do not go together."""
    if against is None and columns:
        raise VttdataError("--columns goes with --against CORPUS.")
    for name, file in (("page", page), ("html", html)):
        if against is not None and file is not None:
            raise VttdataError(f"--{name} is about the splits of a dataset, and does not go with --against.")
    if against is None and has_part and (page is not None or clean is not None):
        raise VttdataError("--page and --clean are about all splits of a dataset; leave out --split and --config.")
    for file, suffixes in ((page, MARKDOWN), (html, HTML)):
        if file is not None:
            check_output_file(file, suffixes)
    if clean is not None:
        make_output_folder(clean)


def _audit_against(
    dataset: str,
    corpus: str,
    splits: Iterable[tuple[str, Path | None]],
    config: str,
    columns: Mapping[str, str],
    clean: Path | None,
    *,
    as_json: bool,
) -> int:
    """Look for the clips of a dataset in a corpus."""
    from vttdata.dataset.contamination import find_contamination
    from vttdata.load.lookup import find_dataset

    names = [name for name, _ in splits]
    with_file = next((name for name, file in splits if file is not None), None)
    if with_file is not None:
        raise VttdataError(f"--split {with_file}=FILE does not go with --against; name splits of the dataset.")
    path = Path(corpus)
    found = find_contamination(
        find_dataset(dataset),
        path if path.exists() else find_dataset(corpus),
        config=config,
        splits=names,
        columns=columns,
    )
    print(json.dumps(found.as_json(), indent=2, ensure_ascii=False) if as_json else found.as_text())
    if clean is not None:
        found.clean_protocol().write(clean / "protocol.json")
    return DONE if found.ok else LEAKS


def _audit_foils(
    dataset: str,
    judges: Iterable[str],
    texts: Path | None,
    encoder: str | None,
    device: str,
    page: Path | None,
    html: Path | None,
    videos: Path | None,
    *,
    as_json: bool,
) -> int:
    """Let blind attackers try the questions or pairs of a table, or a dataset of foils."""
    from vttdata.compose.foils import read_questions, read_text_pairs
    from vttdata.compose.input_captions import is_table
    from vttdata.generate.foils.blind.questions import audit_questions, questions_text
    from vttdata.generate.foils.blind.shortcuts import attacks_text, audit_shortcuts
    from vttdata.text.lm import load_judges
    from vttdata.text.lm.pretrained import load_encoder

    if is_table(dataset) and (questions := read_questions(Path(dataset))) is not None:
        if html is not None:
            raise VttdataError(f"--html is for splits and foils, and {dataset} holds questions.")
        answers = audit_questions(questions)
        found = {"questions": len(questions), "attacks": [answer.as_json() for answer in answers]}
        print(json.dumps(found, indent=2) if as_json else questions_text(answers, len(questions)))
        return DONE
    models = load_judges(judges, device=device)
    encode = load_encoder(encoder, device=device) if encoder else None
    training = {0: _read_texts(texts)} if texts else None
    audits = {
        config: audit_shortcuts(pairs, texts=training, models=models, encoder=encode)
        for config, pairs in read_text_pairs(dataset).items()
    }
    if page is not None:
        from vttdata.compose.audit_page import format_foil_page
        from vttdata.load.lookup import find_dataset

        place = dataset if is_table(dataset) else str(find_dataset(dataset))
        write_whole(page, format_foil_page(place, f"vttdata audit {dataset} --page {page.name}", audits))
    if html is not None:
        from vttdata.load.lookup import find_dataset
        from vttdata.report.audit_report import foil_audit_page

        folder = None if is_table(dataset) else find_dataset(dataset)
        write_whole(html, foil_audit_page(folder, dataset, audits, videos))
    if not as_json:
        headed = (f"{config}\n\n{attacks_text(attacks)}" for config, attacks in audits.items())
        print("\n\n".join(headed) if len(audits) > 1 else attacks_text(audits["foils"]))
        return DONE
    results = {config: [attack.as_json() for attack in attacks] for config, attacks in audits.items()}
    is_open = any(attacks[0].open for attacks in audits.values())
    print(json.dumps({"attacks": results.pop("foils"), **results, "ok": not is_open}, indent=2, ensure_ascii=False))
    return DONE


def _read_texts(path: Path) -> list[list[str]]:
    """Read the captions of a table, those of one video together where it names videos."""
    from vttdata.files.tables import Columns, read_table

    videos: dict[object, list[str]] = {}
    for line, row in read_table(path, Columns(("caption", "video_id"), (("caption",),))):
        if not isinstance(row.get("caption"), str):
            raise VttdataError(f"{path}:{line}: the column 'caption' should hold a text.")
        videos.setdefault(str(row["video_id"]) if row.get("video_id") else line, []).append(row["caption"])
    return list(videos.values())
