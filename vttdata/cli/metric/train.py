"""Train a metric on people's scores (``vttdata metric train``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import (
    DATASET,
    POSITIVE,
    Command,
    NumberRange,
    WholeNumber,
    human_option,
    judgments_argument,
    option,
    out_option,
    seed_option,
)
from vttdata.errors import VttdataError


@click.command(
    "train",
    cls=Command,
    notes=[
        "A training that was cut off goes on with the same command after its last finished pass. The folder holds "
        "weights as safetensors and a card that says how the metric compares with the plain similarity of its encoder "
        "on what was held out."
    ],
    examples=[
        "vttdata metric train vttdata/trecvid-vtt --encoder sentence-encoder --hold-out 2017 --out learned",
        "vttdata metric train vttdata/trecvid-vtt --encoder bert-base-uncased --cross-encoder --out bertha",
        "vttdata metric train vttdata/trecvid-vtt --pairs vttdata/msrvtt --pair-epochs 10 --out learned",
    ],
)
@judgments_argument
@out_option("Folder of the metric.")
@option(
    "--encoder MODEL",
    "Encoder of HuggingFace to begin with, by name or folder, with @REVISION if needed.",
    show_default="a small one from scratch",
)
@option("--fine-tune", "Train the encoder, too, and not only a regression on its embeddings.", is_flag=True)
@option(
    "--cross-encoder",
    "Read the caption and a reference in one sequence and predict from its [CLS], as BERTHA does.",
    is_flag=True,
)
@option(
    "--hold-out YEAR",
    "Do not train on the sets of this year, but compare the metric with people there; may be repeated.",
    multiple=True,
)
@human_option
@option(
    "--pairs INPUT",
    "Captions, a dataset or a table, of which the encoder learns that those of one video are alike.",
    type=DATASET,
    group="Training",
)
@option("--pair-epochs N", "Passes over pairs of captions.", type=WholeNumber(0, 10**6), default=0, group="Training")
@option("--epochs N", "Passes over judged captions.", type=WholeNumber(0, 10**6), default=3, group="Training")
@option("--batch N", "Captions a step.", type=POSITIVE, default=32, group="Training")
@option("--rate NUMBER", "Learning rate.", type=NumberRange(min=0, max=1), default=5e-5, group="Training")
@option("--device DEVICE", "Where to compute: cpu, cuda, cuda:1.", default="cpu", group="Training")
@seed_option("Seed of weights, order and dropout.")
def command(
    judgments: tuple[str, ...],
    out: Path,
    hold_out: tuple[str, ...],
    pairs: str | None,
    device: str,
    human: bool,
    **settings: object,
) -> int:
    """Train a text metric of your own on people's scores.

    A caption and its references are embedded, and a regression on their products predicts people's
    score. The encoder is any one of HuggingFace, kept as it is unless it is to be fine-tuned, or a small
    one from scratch. A cross-encoder reads both in one sequence.
    """
    from vttdata.evaluate.learned.training import JudgedCaptions, TrainingSettings, train_metric, verdict
    from vttdata.evaluate.meta.fusion import year_of
    from vttdata.evaluate.meta.inputs import read_inputs, read_references

    tables = [table.without((), people=not human) for table in read_inputs(judgments).judgments]
    years = {year_of(table.name) for table in tables}
    unknown = next((year for year in hold_out if year not in years), None)
    if unknown is not None:
        raise VttdataError(f"--hold-out: no set is of {unknown}; there are {', '.join(sorted(years))}.")
    judged = {table.name: JudgedCaptions.of(table) for table in tables}
    results = train_metric(
        [own for name, own in judged.items() if year_of(name) not in hold_out],
        [own for name, own in judged.items() if year_of(name) in hold_out],
        out,
        TrainingSettings(**settings),  # type: ignore[arg-type]
        pairs=read_references(pairs) if pairs else None,
        device=device,
    )
    for result in results:
        print(
            f"{result.name}: r {result.r:.3f}, plain similarity {result.similarity:.3f}, p {result.p:.3g} "
            f"({result.captions:,} captions)"
        )
    print(f"{verdict(results)}\nThe metric is in {out}: --metric learned --model learned={out}")
    return DONE
