"""Write a dataset in another format (``vttdata export``)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import FILE, Command, Names, config_option, dataset_argument, option, out_option, split_option
from vttdata.errors import VttdataError


class ExportCommand(Command):
    """Command whose help lists the export formats, plugins among them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the formats, then notes and examples."""
        from vttdata.export.formats import export_formats

        with formatter.section("Formats"):
            try:
                formatter.write_dl(list(export_formats().items()))
            except VttdataError as error:
                formatter.write_text(str(error))
        super().format_epilog(ctx, formatter)


@click.command(
    "export",
    cls=ExportCommand,
    examples=[
        "vttdata export vttdata/msrvtt --format coco --split test --out references",
        "vttdata export vttdata/msrvtt --format coco-results --captions system.csv --out results",
        "vttdata export vttdata/tempcompass --format lmms-eval --stimuli shown --out tasks",
    ],
)
@dataset_argument
@option(
    "--format NAME",
    "One of the formats below.",
    name="format_name",
    type=Names("format", "vttdata.export.formats:export_formats"),
    required=True,
)
@out_option("Folder to write.")
@split_option(
    "Only this split.",
    group="Selection",
    show_default="all; for evaluation, coco-results and harnesses test, or the only one",
)
@config_option(
    "clips, or a protocol; for evaluation and harnesses also foils, paragraphs, questions, or questions/KIND.",
    group="Selection",
    show_default="clips; for retrieval these and all protocols, for jsonl every table, for evaluation and harnesses "
    "foils or questions where there are some",
)
@option(
    "--captions TABLE",
    "For coco-results: a CSV, TSV or JSON table with video_id and caption, one row a clip.",
    type=FILE,
    group="Selection",
)
@option(
    "--every-caption",
    "For mteb: every human caption is a query, not only the first of each clip.",
    is_flag=True,
    group="Selection",
)
@option(
    "--stimuli DIR",
    "For evaluation and harnesses: a task of each condition that 'vttdata stimuli' wrote, in a folder of its name.",
    type=FILE,
    group="Selection",
)
def command(
    dataset: str,
    format_name: str,
    out: Path,
    split: str | None,
    config: str | None,
    captions: Path | None,
    every_caption: bool,
    stimuli: Path | None,
) -> int:
    """Write a dataset for other programs: COCO, lmms-eval, retrieval.

    DIR/README.md says how the files are read and by which rules they were written. An earlier export in DIR is replaced
    as a whole.
    """
    from vttdata.export.format import load_format
    from vttdata.export.write import export
    from vttdata.load.lookup import ALL_VIDEOS, find_dataset

    folder = find_dataset(dataset, videos=ALL_VIDEOS if load_format(format_name).takes_videos else ())

    def note(sentence: str) -> None:
        print(f"note: {sentence}", file=sys.stderr, flush=True)

    written = export(
        folder,
        format_name,
        out,
        config=config,
        split=split,
        captions=captions,
        every_caption=every_caption,
        stimuli=stimuli,
        warn=note,
    )
    for name in written.files:
        print(written.folder / name)
    for sentence in written.notes:
        note(sentence)
    return DONE
