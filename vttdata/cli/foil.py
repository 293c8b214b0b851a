"""Make foils from captions, by a recipe for the builder ``foils`` (``vttdata foil``)."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    FILE,
    Command,
    Names,
    columns_option,
    device_option,
    input_argument,
    option,
    out_option,
    quiet_option,
    replace_option,
    seed_option,
    setting,
)

foil_setting = partial(setting, settings="vttdata.generate.foils.settings:FoilSettings", group="Choice of foils")


@click.command(
    "foil",
    cls=Command,
    not_on_windows=True,
    examples=[
        "vttdata foil captions.csv --out foils --seed 7",
        "vttdata foil vttdata/msrvtt --out foils --name me/foils --licence cc-by-4.0",
    ],
)
@input_argument()
@out_option("Folder of the dataset; an earlier set of foils in it is replaced.")
@replace_option("Replace a build or another dataset in DIR, which is deleted.")
@columns_option("the table")
@seed_option("Seed of all choices.")
@setting(
    "--selection balanced|paper|random",
    "How foils are chosen: balanced against blind solving, the likeliest as in the paper, or at random.",
    settings="vttdata.generate.foils.settings:FoilSettings",
)
@option(
    "--scorer ngram|MODEL",
    "Language model that mines foils: ngram, or a causal model of HuggingFace by name or folder.",
    type=Names("model", lambda: ["ngram"], files=True),
    default="ngram",
)
@foil_setting("--options N", "Make multiple-choice questions of a caption and N - 1 foils of it; 2 makes pairs.")
@foil_setting("--min-count N", "Leave out concepts that are mentioned less often.")
@foil_setting("--candidates N", "Foils of a video that are scored, unless the selection is paper.")
@foil_setting("--pair-share SHARE", "When balanced, highest share of the set that swaps one word for one other.")
@foil_setting("--group-share SHARE", "When balanced, highest share of pairs of one supercategory, such as persons.")
@foil_setting("--imbalance SHARE", "When balanced, how far above one half a guess by one feature may be right.")
@foil_setting(
    "--max-unsound-probability SHARE",
    "When balanced, highest estimated probability of being unsound with which a foil is taken.",
)
@foil_setting(
    "--unsound-penalty NUMBER",
    "When balanced, how many sound foils to give up to avoid an unsound one.",
)
@option(
    "--verdicts FILE",
    "Foils that people judged, a table with the columns foil_id and verdict; unsound ones are not taken.",
    type=FILE,
    group="Choice of foils",
)
@option("--judged-only", "Take only foils that the verdicts find sound.", is_flag=True, group="Choice of foils")
@option(
    "--lexicon FILE",
    "In place of the packaged lexicon; or on top of it, where the file says 'extends: packaged'.",
    type=FILE,
    group="Language",
)
@option(
    "--pipeline NAME",
    "Trained spaCy pipeline that finds nouns, such as en_core_web_sm.",
    group="Language",
    show_default="rules",
)
@option(
    "--judge MODEL",
    "A further language model that tries to solve the set blind and chooses nothing; may be repeated.",
    name="judges",
    multiple=True,
    group="Language models",
)
@device_option
@option(
    "--name OWNER/NAME", "Name of the dataset on its card and for load_dataset.", default="local/foils", group="Dataset"
)
@option(
    "--licence NAME",
    "Licence of the captions, such as cc-by-4.0; needed to publish the set.",
    name="--license",
    default="unknown",
    group="Dataset",
)
@quiet_option
def command(reference: str, out: Path, replace: bool, quiet: bool, **options: Any) -> int:
    """Make wrong captions, or foils, that only the video can refute.

    Makes pairs of a true caption and a false one: swaps visible things in captions for others that no caption of the
    video speaks of, and chooses the foils so that the set cannot be solved without looking at the videos.
    """
    from vttdata.compose.build import composed_build
    from vttdata.dataset.replace_folder import DATASET, replace_folder
    from vttdata.files.results import format_text
    from vttdata.generate.blind.questions import question_section
    from vttdata.generate.blind.shortcuts import attack_section
    from vttdata.load.local_builds import ACCOUNT, BuildRegistry
    from vttdata.load.output_folder import BUILD, check_output

    check_output(out, {"foils"}, replace=replace)
    settings = foil_recipe(reference, options)
    kind = BUILD if (out / ACCOUNT).is_file() else DATASET
    with (
        replace_folder(out, kind) as partial_folder,
        composed_build(settings, "foil", out, quiet=quiet) as (run, made),
    ):
        run.dataset.rename(partial_folder)
    with contextlib.suppress(OSError):
        BuildRegistry().add(settings["name"], out)
    print("\n".join(f"{name}: {number}" for name, number in made.counts))
    sections = [attack_section(made.attacks["foils"], narrow=True)]
    if made.questions:
        sections.append(question_section(made.question_attacks, len(made.questions)))
    print(f"\n{format_text(sections)}\n")
    print(f"The foils are in {out}")
    return DONE


def foil_recipe(reference: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe for the builder ``foils`` that the input and the options of the command stand for."""
    from vttdata.generate.foils.settings import FoilSettings

    paths = {name: options[name] and str(options[name]) for name in ("lexicon", "verdicts")}
    return {
        "name": options["name"],
        "builder": "foils",
        "seed": options["seed"],
        "licence": options["licence"],
        "input": reference,
        "columns": options["columns"],
        "foils": {field.name: options[field.name] for field in dataclasses.fields(FoilSettings)},
        "scorer": _absolute(options["scorer"]) if options["scorer"] != "ngram" else "ngram",
        "judges": [_absolute(judge) for judge in options["judges"]],
        "device": options["device"],
        "pipeline": options["pipeline"] and _absolute(options["pipeline"]),
        **paths,
    }


def _absolute(model: str) -> str:
    """Return the full path of a model that lies on this machine, and the name of any other."""
    return str(Path(model).resolve()) if Path(model).exists() else model
