"""Audit the splits of a dataset, or a set of foils (``vttdata audit``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
from vttdata.cli.terminal import print_result
from vttdata.errors import VttdataError
from vttdata.files.output_file import HTML, MARKDOWN, check_output_file, make_output_folder, write_whole

if TYPE_CHECKING:
    from vttdata.compose.question_audit import AttackedQuestions
    from vttdata.dataset.leak_audit import AuditedClips
    from vttdata.files.results import Section
    from vttdata.generate.blind.questions import MultipleChoice
    from vttdata.generate.blind.shortcuts import Attack


@click.command(
    "audit",
    cls=Command,
    notes=[SUMMARY],
    examples=[
        "vttdata audit vttdata/msrvtt --against training.parquet --clean clean",
        "vttdata audit vttdata/demo",
        "vttdata audit youcook2 --across msrvtt --across activitynet-captions --clean apart",
        "vttdata audit all --across all --page atlas.html",
        "vttdata audit msrvtt --split splits.csv --clean clean",
        "vttdata audit vttdata/demo --split train=a.csv --split test=b.txt",
    ],
)
@argument(
    "dataset",
    "DATASET",
    "A dataset folder, a build folder, or the name of a dataset; a table of clips with a column split, or a folder of "
    "tables or videos named by splits; of foils also a table with the columns true, foil and video_id, or of questions "
    "with question, options (or option_0, option_1, ...), answer and video_id.",
    type=DATASET,
)
@option(
    "--split [NAME=]FILE",
    "Audit these splits: those of a file or a folder (a table with the columns video_id and split, a JSON object of "
    "lists of ids, text files named by splits), NAME=FILE for one of them, or NAME for one of the dataset; may be "
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
    "--across NAME",
    "Compare DATASET with another benchmark, dataset, table or list of ids: shared sources, seconds and texts of each "
    "pair of splits; NAME=FOLDER for official files of your own, all for what has been fetched, also as DATASET; may "
    "be repeated.",
    name="across",
    type=DATASET,
    multiple=True,
    group="Contamination",
)
@option(
    "--clean DIR",
    "Write the clean clips, which share nothing with other splits or with the corpus, into this folder, as a protocol "
    "file; with --across also those that training of each other set has, for --train-split.",
    type=FILE,
)
@option(
    "--page FILE",
    "Write the audit as a page: .html for the browser, with pictures, or .md with figures, what they mean and what to "
    "do; may be repeated.",
    name="pages",
    type=FILE,
    multiple=True,
)
@option(
    "--videos DIR",
    "Of foils and questions: folder of the videos, named by their ids, for the frames of the page.",
    type=FILE,
)
@option(
    "--errata FILE",
    "Of a dataset of questions: write the errors that its questions show (.csv), for evaluate --errata.",
    type=FILE,
)
@columns_option("the corpus, or in tables of clips, foils or questions")
@config_option("clips, a protocol, or the file of one that somebody sent (.json).", default="clips", group="Selection")
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
    across: tuple[str, ...],
    clean: Path | None,
    pages: tuple[Path, ...],
    videos: Path | None,
    errata: Path | None,
    columns: dict[str, str],
    config: str,
    judges: tuple[str, ...],
    texts: Path | None,
    encoder: str | None,
    device: str,
) -> int:
    """Find leaks between splits, and foils that are solved blindly.

    Leaks are shared sources by any id, address or checksum, clips that overlap in time, near-duplicate sources and
    sets of captions; single captions that are found verbatim in several splits are reported only. Of foils and
    questions: how far they can be solved without videos. With --against: what of the dataset a corpus contains. With
    --across: what benchmarks share.
    """
    from vttdata.compose.input_captions import is_table
    from vttdata.load.lookup import find_dataset

    selection = _Selection(splits, config)
    output = _Output.of(as_json, pages, videos, clean, errata)
    models = _Models(judges, texts, encoder, device)
    _check_options(against, {} if Path(dataset).exists() or across else columns, output)
    if across and (against is not None or selection.is_part):
        raise VttdataError("--across does not go with --against, --split or --config.")
    if across:
        return _audit_across(dataset, across, columns, output)
    if against is not None:
        return _audit_against(dataset, against, columns, selection, output)
    if (foreign := _find_foreign(dataset, columns)) is not None:
        return _audit_foreign(foreign, columns, selection, output)
    if not splits and (is_table(dataset) or (find_dataset(dataset) / "foils").is_dir()):
        if clean is not None:
            raise VttdataError(f"--clean is about splits of clips, and {dataset} has texts only.")
        return _audit_foils(dataset, columns, models, output)
    for name, value in (("judge", judges), ("texts", texts), ("encoder", encoder)):
        if value:
            raise VttdataError(f"--{name} is for sets of foils, and {dataset} is none.")
    if (videos or errata) is not None and not (find_dataset(dataset) / "questions").is_dir():
        named = "--errata is for sets of questions" if errata else "--videos is for sets of foils or questions"
        raise VttdataError(f"{named}, and {dataset} is none.")
    return _audit_splits(dataset, selection, output)


class _Selection(NamedTuple):
    """Clips that are audited: splits, some with a file of their ids, and the configuration that they are read from."""

    splits: Sequence[tuple[str, Path | None]]
    config: str

    @property
    def is_part(self) -> bool:
        """Whether these are not all clips of a dataset."""
        return bool(self.splits) or self.config != "clips"


class _Output(NamedTuple):
    """What is printed and written: files of pages and of a protocol, and the videos that pictures come from."""

    as_json: bool
    page: Path | None
    html: Path | None
    videos: Path | None
    clean: Path | None
    errata: Path | None

    @classmethod
    def of(
        cls, as_json: bool, pages: Sequence[Path], videos: Path | None, clean: Path | None, errata: Path | None
    ) -> _Output:
        """Return what options ask for.

        Raises:
            VttdataError: when a page has another extension than those of pages, or errata would replace a file.
        """
        for file in pages:
            check_output_file(file, HTML + MARKDOWN)
        page, html = (next((file for file in pages if file.suffix.lower() in kind), None) for kind in (MARKDOWN, HTML))
        if errata is not None and (errata.exists() or errata.suffix.lower() != ".csv"):
            raise VttdataError(f"{errata}: --errata takes the name of a new file that ends in .csv.")
        return cls(as_json, page, html, videos, clean, errata)

    @property
    def pages(self) -> list[Path]:
        """Pages that are written."""
        return [page for page in (self.page, self.html) if page is not None]


class _Models(NamedTuple):
    """What attackers of foils use besides the foils."""

    judges: Sequence[str]
    texts: Path | None
    encoder: str | None
    device: str


def _find_foreign(dataset: str, columns: Mapping[str, str]) -> Path | None:
    """Return the path of clips that vttdata did not write; None for datasets of ours, and tables of foils or questions.

    Raises:
        VttdataError: when columns are named of a dataset.
    """
    from vttdata.load.local_builds import dataset_in, read_account

    path = Path(dataset)
    if not path.is_dir():
        return path if path.is_file() and _is_table_of_clips(path, columns) else None
    if dataset_in(path) is not None or read_account(path) is not None or (path / "manifest.json").is_file():
        if columns:
            raise VttdataError(
                f"--columns goes with --against CORPUS, or with tables; {dataset} is a dataset of vttdata."
            )
        return None
    from vttdata.dataset.foreign_tables import SUFFIXES
    from vttdata.ids import VIDEO_EXTENSIONS

    endings = (*SUFFIXES, *VIDEO_EXTENSIONS, ".txt")
    return path if any(file.name.lower().endswith(endings) for file in path.rglob("*")) else None


def _is_table_of_clips(path: Path, columns: Mapping[str, str]) -> bool:
    """Return whether a file says which split each clip is in, and is neither of foils nor of questions.

    Raises:
        VttdataError: if it is a table without rows.
    """
    from vttdata.compose.input_captions import is_table
    from vttdata.dataset.foreign_tables import NAMES, SUFFIXES
    from vttdata.files.id_lists import is_id_list
    from vttdata.files.tables import fold_name, read_table

    if not is_table(str(path)):
        return path.name.lower().endswith(SUFFIXES)
    if not columns and is_id_list(path):
        return True
    try:
        first = next(read_table(path), None)
    except VttdataError:
        return False
    if first is None:
        raise VttdataError(f"{path}: has no rows.")
    names = {*map(fold_name, first[1]), *columns}
    return names.isdisjoint({"true", "foil", "question"}) and not names.isdisjoint(NAMES["split"])


def _audit_foreign(path: Path, columns: Mapping[str, str], selection: _Selection, output: _Output) -> int:
    """Audit the splits of clips that vttdata did not write."""
    from vttdata.dataset.leak_audit import clips_of_foreign
    from vttdata.files.results import Section

    if selection.is_part:
        raise VttdataError(f"--split and --config need a dataset of vttdata, and {path} is none.")
    clips = clips_of_foreign(path, columns)
    is_unknown = not clips.table.has_source.any()
    option = f"--split {path}{'/' * path.is_dir()}"
    hint = f"Ids alone do not say which clips are of one video; a dataset does: vttdata audit DATASET {option}"
    return _report_clips(clips, _Audited(str(path), None, path.name), output, [Section("", [hint])] * is_unknown)


class _Audited(NamedTuple):
    """What clips are of: an input, the folder of the dataset if vttdata wrote it, and its name and version.

    `is_part` says that other splits than those of the dataset are audited, which the options `options` name.
    """

    reference: str
    folder: Path | None
    name: str
    version: str | None = None
    is_part: bool = False
    options: str = ""


def _audit_splits(dataset: str, selection: _Selection, output: _Output) -> int:
    """Audit the splits of a dataset."""
    from vttdata.dataset.leak_audit import clips_of_dataset
    from vttdata.dataset.manifest import MANIFEST, read_dataset_manifest
    from vttdata.load.lookup import find_dataset

    folder = find_dataset(dataset)
    clips = clips_of_dataset(folder, _expand(selection.splits) or None, config=selection.config)
    # Datasets that others wrote have none.
    manifest = read_dataset_manifest(folder) if (folder / MANIFEST).exists() else {}
    options = "".join(f" --split {f'{name}={file}'.strip('=') if file else name}" for name, file in selection.splits)
    options += f" --config {selection.config}" if selection.config != "clips" else ""
    if output.errata is not None:
        from vttdata.dataset.question_errors import find_question_errors, write_question_errors

        write_question_errors(output.errata, find_question_errors(folder))
    name, version = str(manifest.get("name", folder.name)), manifest.get("version")
    return _report_clips(clips, _Audited(dataset, folder, name, version, selection.is_part, options), output)


def _expand(splits: Sequence[tuple[str, Path | None]]) -> dict[str, Path | None]:
    """Return the splits with their files, where a file without a name has the splits that are in it."""
    from vttdata.files.id_lists import read_splits

    files: dict[str, Path | None] = {}
    for name, file in splits:
        for each in [name] if name or file is None else read_splits(file):
            if each in files:
                raise VttdataError(f"--split names the split {each} twice; put all of its ids into one file.")
            files[each] = file
    return files


def _report_clips(clips: AuditedClips, audited: _Audited, output: _Output, remarks: Sequence[Section] = ()) -> int:
    """Print the audit of clips, and write its pages and the protocol of clips that are not shared."""
    from vttdata.compose.audit_page import clean_protocol, clip_sections, format_audit_page
    from vttdata.compose.question_audit import attack_questions
    from vttdata.files.results import Section

    audit = clips.audit()
    whole = None if audited.is_part else audited.folder
    asked = attack_questions(whole) if whole is not None else {}
    sections = []
    if output.pages or output.clean is not None:
        protocol = clean_protocol(clips, audited.name, audited.version)
        sections = clip_sections(clips, audit, protocol, official=whole, questions=asked)
        if output.clean is not None:
            protocol.write(output.clean / "protocol.json")
    if output.page is not None:
        page_command = f"vttdata audit {audited.reference}{audited.options} --page {output.page.name}"
        verdicts = [*filter(None, (attacked.headline() for attacked in asked.values())), audit.verdict]
        page = format_audit_page(audited.folder or Path(audited.reference), page_command, sections, verdicts)
        write_whole(output.page, page)
    if output.html is not None:
        from vttdata.report.audit_report import audit_page

        title = f"{audited.name} {audited.version or ''}".strip()
        write_whole(output.html, audit_page(audited.folder, title, audit, sections, output.videos))
    found = {"questions": {kind: attacks.as_json() for kind, attacks in asked.items()}} if asked else {}
    # Of clips in one split nothing is compared, so that questions are all that there is to read.
    of_splits = [Section("", [audit.verdict])] if asked and len(audit.filled) < 2 else audit.sections()
    printed = [*(attacks.section() for attacks in asked.values()), *of_splits, *remarks]
    print_result(audit.as_json() | found, printed, as_json=output.as_json)
    return DONE if audit.ok else LEAKS


def _check_options(against: str | None, columns: Mapping[str, str], output: _Output) -> None:
    """Raise VttdataError for options that do not go together."""
    if against is None and columns:
        raise VttdataError("--columns goes with --against CORPUS, or with tables of clips, foils or questions.")
    if against is not None and output.pages:
        raise VttdataError("--page is about the splits of a dataset, and does not go with --against.")
    if output.clean is not None:
        make_output_folder(output.clean)
    if output.videos is not None and output.html is None:
        raise VttdataError("--videos goes with --page FILE.html.")


def _audit_against(
    dataset: str, corpus: str, columns: Mapping[str, str], selection: _Selection, output: _Output
) -> int:
    """Look for the clips of a dataset in a corpus."""
    from vttdata.dataset.contamination import find_contamination
    from vttdata.load.lookup import find_dataset

    with_file = next((name for name, file in selection.splits if file is not None), None)
    if with_file is not None:
        raise VttdataError(f"--split {with_file}=FILE does not go with --against; name splits of the dataset.")
    path = Path(corpus)
    found = find_contamination(
        find_dataset(dataset),
        path if path.exists() else find_dataset(corpus),
        config=selection.config,
        splits=[name for name, _ in selection.splits],
        columns=columns,
    )
    print_result(found.as_json(), found.sections(), as_json=output.as_json)
    if output.clean is not None:
        found.clean_protocol().write(output.clean / "protocol.json")
    return DONE if found.ok else LEAKS


def _audit_across(dataset: str, across: Sequence[str], columns: Mapping[str, str], output: _Output) -> int:
    """Count what a set of videos, or each of all, shares with others."""
    import datetime

    from vttdata.cli.build import print_note
    from vttdata.compose.audit_page import format_audit_page
    from vttdata.dataset.atlas_protocols import shared_protocols
    from vttdata.load.video_sets import ALL, read_video_sets
    from vttdata.report.audit_report import atlas_page
    from vttdata.split.audit.atlas import compare_sets

    sets, absent = read_video_sets([dataset, *across], print_note, columns, trained=across)
    # What is named comes first.
    of = None if dataset == ALL else [sets[0].name]
    atlas = compare_sets(sets, datetime.datetime.now(datetime.UTC).date().isoformat(), of, absent)
    command_line = " ".join(["vttdata audit", dataset, *(f"--across {name}" for name in across), "--page"])
    if output.page is not None:
        title = Path("sources that benchmarks share")
        write_whole(output.page, format_audit_page(title, f"{command_line} {output.page.name}", atlas.sections()))
    if output.html is not None:
        write_whole(output.html, atlas_page(atlas, f"{command_line} {output.html.name}"))
    if output.clean is not None:
        for name in of or atlas.items:
            for file, protocol in shared_protocols(atlas, name).items():
                protocol.write((output.clean if of else output.clean / name) / file)
    print_result(atlas.as_json(), atlas.sections(), as_json=output.as_json)
    return DONE if atlas.ok else LEAKS


def _audit_foils(dataset: str, columns: Mapping[str, str], models: _Models, output: _Output) -> int:
    """Let blind attackers try the questions or pairs of a table, or a dataset of foils."""
    from vttdata.compose.foils import read_questions, read_text_pairs
    from vttdata.compose.input_captions import is_table
    from vttdata.compose.question_audit import attack_questions
    from vttdata.dataset.foils.statistics import read_attacks
    from vttdata.files.tables import fold_name, read_table
    from vttdata.generate.blind.shortcuts import add_published, attack_section, audit_shortcuts
    from vttdata.load.lookup import find_dataset
    from vttdata.text.lm import load_judges
    from vttdata.text.lm.pretrained import load_encoder
    from vttdata.text.questions import no_questions

    is_of_pairs = not {"true", "foil"}.isdisjoint(columns)
    if is_table(dataset) and not is_of_pairs and (questions := read_questions(Path(dataset), columns)) is not None:
        return _audit_questions(dataset, questions, output)
    if is_table(dataset) and not is_of_pairs:
        header = next((row for _, row in read_table(Path(dataset))), {})
        if header and {"true", "foil"}.isdisjoint(map(fold_name, header)):
            raise no_questions(Path(dataset), ", and one of foils the columns true and foil")
    judges = load_judges(models.judges, device=models.device)
    encode = load_encoder(models.encoder, device=models.device) if models.encoder else None
    training = {0: _read_texts(models.texts)} if models.texts else None
    pairs_of, same_texts = read_text_pairs(dataset, columns), dict[str, int]()
    if not is_table(dataset):
        # A dataset keeps pairs as published, so those without a difference are a finding; in a table they are a fault.
        for config, pairs in pairs_of.items():
            pairs_of[config] = [pair for pair in pairs if pair.true != pair.foil]
            same_texts[config] = len(pairs) - len(pairs_of[config])
    audits = {
        config: audit_shortcuts(pairs, texts=training, models=judges, encoder=encode)
        for config, pairs in pairs_of.items()
    }
    if not is_table(dataset):
        # Texts and models that the attackers of the card learned from may not be at hand.
        published = read_attacks(find_dataset(dataset))
        audits = {config: add_published(attacks, published.get(config, [])) for config, attacks in audits.items()}
    asked = {} if is_table(dataset) else attack_questions(find_dataset(dataset))
    _write_foil_pages(dataset, _AttackedFoils(audits, same_texts, asked), output)
    has_titles = len(audits) > 1 or bool(asked)
    sections = [
        attack_section(attacks, same_texts.get(config, 0), title=config if has_titles else "", narrow=True)
        for config, attacks in audits.items()
    ]
    results = {config: [attack.as_json() for attack in attacks] for config, attacks in audits.items()}
    is_open = any(attacks[0].open for attacks in audits.values())
    found: dict[str, object] = {"same_texts": same_texts} if any(same_texts.values()) else {}
    found |= {"questions": {kind: attacks.as_json() for kind, attacks in asked.items()}} if asked else {}
    content = {"attacks": results.pop("foils"), **results, **found, "ok": not is_open}
    print_result(content, [*sections, *(attacks.section() for attacks in asked.values())], as_json=output.as_json)
    return DONE


class _AttackedFoils(NamedTuple):
    """What blind attackers reach on a set of foils by configuration, and on its questions by kind.

    `same_texts` counts the pairs by configuration that were left out because their texts are the same.
    """

    attacks: Mapping[str, Sequence[Attack]]
    same_texts: Mapping[str, int]
    questions: Mapping[str, AttackedQuestions]


def _audit_questions(dataset: str, questions: Sequence[MultipleChoice], output: _Output) -> int:
    from vttdata.compose.question_audit import AttackedQuestions

    if output.pages:
        raise VttdataError(
            f"--page is for datasets and tables of foils, and {dataset} is a table of questions; vttdata build "
            f"questions --set annotations={dataset} makes a dataset of it."
        )
    attacked = AttackedQuestions.of(questions)
    print_result(attacked.as_json(), [attacked.section()], as_json=output.as_json)
    return DONE


def _write_foil_pages(dataset: str, found: _AttackedFoils, output: _Output) -> None:
    from vttdata.compose.audit_page import foil_sections, format_audit_page
    from vttdata.compose.input_captions import is_table
    from vttdata.load.lookup import find_dataset

    folder = None if is_table(dataset) else find_dataset(dataset)
    sections = foil_sections(*found)
    if output.page is not None:
        command_line = f"vttdata audit {dataset} --page {output.page.name}"
        write_whole(output.page, format_audit_page(folder or Path(dataset), command_line, sections))
    if output.html is not None:
        from vttdata.report.audit_report import foil_audit_page

        write_whole(output.html, foil_audit_page(folder, dataset, sections, output.videos))


def _read_texts(path: Path) -> list[list[str]]:
    """Read the captions of a table, those of one video together where it names videos."""
    from vttdata.files.tables import Columns, read_table

    videos: dict[object, list[str]] = {}
    for line, row in read_table(path, Columns(("caption", "video_id"), (("caption",),), keep_spaces=True)):
        if not isinstance(row.get("caption"), str):
            raise VttdataError(f"{path}:{line}: the column 'caption' should hold a text.")
        video = str(row["video_id"]).strip() if row.get("video_id") else line
        videos.setdefault(video, []).append(row["caption"])
    return list(videos.values())
