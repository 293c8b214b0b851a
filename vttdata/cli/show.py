"""Print the figures of a dataset, or write its report (``vttdata show``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import DATASET, FILE, Command, argument, json_option, option
from vttdata.cli.terminal import print_result
from vttdata.errors import VttdataError


@click.command(
    "show",
    cls=Command,
    notes=[
        "Which source a clip was cut from, and from which second to which, are source_id, start and end of its row, "
        "which the page shows and 'vttdata export --format jsonl' writes.",
        "The page needs no network and no server. What is too large for it is in the folder FILE.files beside it, "
        "which the page reads when it is needed: move both. Every build writes its report as report.html.",
        "--svo takes the lemmas of subjects, verbs and objects of the main clause, and says which share of a caption's "
        "another caption of the clip has in the same role (one at random, and any). --similarity is the cosine of the "
        "words of two captions of a clip, weighted by inverse document frequency, or of the vectors of --encoder; "
        "people are one author.",
    ],
    examples=[
        "vttdata show vttdata/demo",
        "vttdata show street --page street.html",
        "vttdata show vttdata/trecvid-vtt --similarity",
        "vttdata show vttdata/msrvtt vttdata/msvd vttdata/youcook2",
    ],
)
@argument(
    "datasets",
    "DATASET|BUILD...",
    "A dataset or build: its folder, its name, or an address such as s3://bucket/street. Several are compared in one "
    "table, a row for each.",
    type=DATASET,
    nargs=-1,
    required=True,
)
@json_option
@option(
    "--page FILE",
    "Write a page for the browser (.html) instead: clips with frames, shots and captions, to filter, sort and search; "
    "what was left out and why; leaks side by side; odd captions; provenance.",
    type=FILE,
)
@option(
    "--similarity",
    "Add the similarity of captions by every two authors: systems, and people.",
    is_flag=True,
    group="Captions",
)
@option(
    "--encoder MODEL",
    "Compare captions by an encoder of HuggingFace, its name or folder, instead of by their words.",
    group="Captions",
)
@option(
    "--svo PIPELINE",
    "Add the consistency of subjects, verbs and objects of human captions, by a spaCy pipeline such as "
    "en_core_web_sm (its name or folder).",
    group="Captions",
)
@option(
    "--parts PIPELINE",
    "Add words and vocabulary by part of speech of human captions, by a spaCy pipeline such as en_core_web_sm.",
    group="Captions",
)
def command(
    datasets: tuple[str, ...],
    as_json: bool,
    page: Path | None,
    similarity: bool,
    encoder: str | None,
    svo: str | None,
    parts: str | None,
) -> int:
    """Show what is in a dataset: figures here, or a page for the browser.

    Sources, clips, hours, sentences, words and vocabulary, by split and by category; of foils their pairs, videos,
    captions, concepts and swaps, and the accuracy of all blind attackers. The page also shows a build that is not
    finished, and says what is missing where there are no videos or no build.
    """
    from vttdata.load.lookup import find_dataset

    if encoder is not None and not similarity:
        raise VttdataError("--encoder says how --similarity compares captions; name both.")
    if len(datasets) > 1:
        if page is not None or similarity or svo is not None:
            raise VttdataError("--page, --similarity and --svo are for one dataset, and several are named.")
        return compare(datasets, as_json=as_json, pipeline=parts)
    (dataset,) = datasets
    if page is not None:
        from vttdata.load.local_builds import BuildRegistry
        from vttdata.report.build_report import write_report

        if as_json or similarity or svo is not None or parts is not None:
            message = "--page writes a page instead of figures: --json, --similarity, --svo and --parts are for these."
            raise VttdataError(message)
        build = BuildRegistry().find(dataset)
        print(write_report(find_dataset(dataset) if build is None else build.folder, page))
        return DONE
    from vttdata.dataset.errata import correction_hint
    from vttdata.dataset.foils.statistics import compute_foil_statistics
    from vttdata.dataset.statistics import compute_statistics
    from vttdata.files.results import ResultTable, Section

    folder = find_dataset(dataset)
    figures = compute_foil_statistics(folder) if (folder / "foils").is_dir() else compute_statistics(folder)
    values, sections = figures.as_json(), [*figures.sections()]
    if hint := correction_hint(folder):
        sections.append(Section("", [hint]))
    if parts is not None:
        from vttdata.dataset.comparison import count_parts_of_dataset

        counted = count_parts_of_dataset(folder, parts)
        values["parts"] = {part: counts._asdict() for part, counts in counted.items()}
        rows = [(part, *counts) for part, counts in counted.items()]
        sections.append(Section(table=ResultTable(("part of speech", "words", "vocabulary"), rows)))
    if similarity or svo is not None:
        from vttdata.dataset.caption_agreement import agreement_sections, describe_agreement, plain_agreement

        agreement = describe_agreement(folder, similarity=similarity, pipeline=svo, encoder=encoder)
        values["agreement"] = plain_agreement(agreement)
        sections += agreement_sections(agreement)
    print_result(values, sections, as_json=as_json)
    return DONE


def compare(names: Sequence[str], *, as_json: bool, pipeline: str | None) -> int:
    """Print the figures of several datasets, a row for each."""
    from vttdata.dataset.comparison import DatasetFigures, comparison_table, count_parts_of_dataset, plain_comparison
    from vttdata.dataset.statistics import compute_statistics
    from vttdata.files.results import Section
    from vttdata.load.lookup import find_dataset

    compared = []
    for name in names:
        folder = find_dataset(name)
        parts = count_parts_of_dataset(folder, pipeline) if pipeline is not None else {}
        compared.append(DatasetFigures(name, compute_statistics(folder).total, parts))
    print_result(plain_comparison(compared), [Section(table=comparison_table(compared))], as_json=as_json)
    return DONE
