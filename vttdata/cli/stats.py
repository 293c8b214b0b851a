"""Print the statistics of a dataset (``vttdata stats``)."""

from __future__ import annotations

import json

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import Command, dataset_argument, json_option


@click.command("stats", cls=Command, examples=["vttdata stats vttdata/demo"])
@dataset_argument
@json_option
def command(dataset: str, as_json: bool) -> int:
    """Count what is in a dataset.

    Sources, clips, hours, sentences, words and vocabulary, by split and by category; of foils their pairs, videos,
    captions, concepts and swaps, and the accuracy of the best blind attacker.
    """
    from vttdata.dataset.foils.statistics import compute_foil_statistics
    from vttdata.dataset.statistics import compute_statistics
    from vttdata.load.lookup import find_dataset

    folder = find_dataset(dataset)
    figures = compute_foil_statistics(folder) if (folder / "foils").is_dir() else compute_statistics(folder)
    print(json.dumps(figures.as_json(), indent=2, ensure_ascii=False) if as_json else figures.as_text())
    return DONE
