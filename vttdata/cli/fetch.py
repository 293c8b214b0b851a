"""Download the official files of benchmarks (``vttdata fetch``)."""

from __future__ import annotations

from pathlib import Path

import click

from vttdata.cli.exit_codes import DONE
from vttdata.cli.options import Command, Names, argument, option, out_option


@click.command(
    "fetch",
    cls=Command,
    examples=["vttdata fetch msrvtt", "vttdata fetch msrvtt youcook2 --out mirror"],
    notes=[
        "Files are looked for in $VTTDATA_MIRROR first, a folder or an address at which they lie as BENCHMARK/FILE or "
        "under their digests. With VTTDATA_OFFLINE=1 or HF_HUB_OFFLINE=1 no server is asked: on a machine without "
        "internet, 'VTTDATA_MIRROR=mirror VTTDATA_OFFLINE=1 vttdata build msrvtt'.",
    ],
)
@argument(
    "names",
    "NAME...",
    "Packaged recipes over official files, or their benchmarks.",
    type=Names("recipe", "vttdata.recipe.origins:all_origins"),
    nargs=-1,
    required=True,
)
@out_option(
    "Mirror to fill; DIR/NAME is also what --set annotations=FOLDER takes.",
    required=False,
    show_default="only the store",
)
@option("--accept-terms", "Accept the terms of these files, once for all; otherwise a terminal is asked.", is_flag=True)
def command(names: tuple[str, ...], out: Path | None, accept_terms: bool) -> int:
    """Download official files of benchmarks for later builds or a mirror.

    These are annotations and lists, and no videos; where the terms ask for consent, nothing is downloaded without it.
    Each file is kept under its digest in $VTTDATA_HOME/downloads and downloaded once. 'vttdata build NAME' and
    load_dataset fetch what they need by themselves.
    """
    from vttdata.cli.build import print_note
    from vttdata.load import official_files

    for origins in map(official_files.origins_named, names):
        if accept_terms:
            official_files.accept_terms(origins)
        paths = official_files.fetch_files(origins, print_note)
        place = "$VTTDATA_HOME/downloads"
        if out is not None:
            official_files.copy_files(paths, out / origins.benchmark)
            place = str(out / origins.benchmark)
        size = sum(path.stat().st_size for path in paths.values()) / 1e6
        print(f"{origins.benchmark}: {len(paths)} files, {size:.1f} MB, are in {place}")
    return DONE
