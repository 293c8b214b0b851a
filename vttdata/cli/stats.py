"""Print the statistics of a dataset (``vttdata stats``)."""

from __future__ import annotations

import json

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import Command, dataset_argument, json_option, option


@click.command(
    "stats",
    cls=Command,
    notes=[
        "--svo takes the lemmas of subjects, verbs and objects of the main clause, and says which share of a caption's "
        "another caption of the clip has in the same role (one at random, and any). --similarity is the cosine of the "
        "words of two captions of a clip, weighted by inverse document frequency; people are one author."
    ],
    examples=["vttdata stats vttdata/demo", "vttdata stats vttdata/trecvid-vtt --similarity"],
)
@dataset_argument
@json_option
@option("--similarity", "Add the similarity of captions by every two authors: systems, and people.", is_flag=True)
@option(
    "--svo PIPELINE",
    "Add the consistency of subjects, verbs and objects of human captions, by a spaCy pipeline such as "
    "en_core_web_sm (its name or folder).",
)
def command(dataset: str, as_json: bool, similarity: bool, svo: str | None) -> int:
    """Count what is in a dataset.

    Sources, clips, hours, sentences, words and vocabulary, by split and by category; of foils their pairs, videos,
    captions, concepts and swaps, and the accuracy of the best blind attacker.
    """
    from vttdata.dataset.foils.statistics import compute_foil_statistics
    from vttdata.dataset.statistics import compute_statistics
    from vttdata.load.lookup import find_dataset

    folder = find_dataset(dataset)
    figures = compute_foil_statistics(folder) if (folder / "foils").is_dir() else compute_statistics(folder)
    values, parts = figures.as_json(), [figures.as_text()]
    if similarity or svo is not None:
        from vttdata.dataset.caption_agreement import agreement_tables, describe_agreement, plain_agreement
        from vttdata.files.table_formats import align_columns

        agreement = describe_agreement(folder, similarity=similarity, pipeline=svo)
        values["agreement"] = plain_agreement(agreement)
        parts += [title + (f"\n{align_columns(rows)}" if rows else "") for title, rows in agreement_tables(agreement)]
    print(json.dumps(values, indent=2, ensure_ascii=False) if as_json else "\n\n".join(parts))
    return DONE
