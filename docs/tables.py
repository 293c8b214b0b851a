"""Write the tables of the documentation that follow from the code, or check them.

Each table lies between ``<!-- table: NAME -->`` and ``<!-- end -->`` in README.md or below docs/. Run ``python
docs/tables.py`` to write all of them, with ``--check`` to compare only, and with a table's name to print it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from vttdata.cli.main import cli
from vttdata.cli.options import Command, CommandFolder
from vttdata.evaluate.baselines import BASELINES
from vttdata.export.formats import export_formats
from vttdata.generate.blind.attackers import ATTACKERS
from vttdata.media.filters import FILTERS

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_PLACE = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def formats() -> str:
    """Return the table of export formats."""
    return table(["format", "what it writes"], ([f"`{name}`", text] for name, text in export_formats().items()))


def filters() -> str:
    """Return the table of filters, with their recipe keys and defaults."""
    return table(
        ["filter", "key in `filter`", "default", "meaning"],
        (
            [
                f"`{filter_class.name}`",
                f"`{key.name}`",
                "null" if key.default is None else f"{key.default:g}",
                key.description,
            ]
            for filter_class in FILTERS
            for key in filter_class.recipe_keys()
        ),
    )


def commands(group: CommandFolder = cli, path: str = "vttdata") -> list[tuple[str, str]]:
    """Return the synopsis and the description of each command by section, those of groups included."""
    rows = []
    context = click.Context(group)
    for title, names in group.list_sections(context).items():
        rows += [(f"**{title}**", "")] if group is cli else []
        for name in names:
            command = group.get_command(context, name)
            if isinstance(command, CommandFolder):
                rows += commands(command, f"{path} {name}")
            elif isinstance(command, Command):
                rows.append((f"`{' '.join([path, name, *command.synopsis()])}`", command.short_help or ""))
    return rows


def command_table() -> str:
    """Return the table of commands; options that the help shows in a group are left out."""
    return table(["command", "what it does"], commands())


def baselines() -> str:
    """Return the table of baselines."""
    return table(
        ["baseline", "what it predicts"], ([f"`{name}`", text] for name, text in BASELINES.descriptions().items())
    )


def attackers() -> str:
    """Return the table of blind attackers."""
    return table(
        ["blind attacker", "how it decides"], ([f"`{name}`", text] for name, text in ATTACKERS.descriptions().items())
    )


def _clients() -> Any:
    return json.loads((ROOT / "docs" / "clients.json").read_text(encoding="utf-8"))


def clients() -> str:
    """Return the table of other people's programs, from what their tests showed."""
    names = ("client", "version", "date", "command", "showed", "oracle")
    rows = ([f"`{row[name]}`" if name == "command" else row[name] for name in names] for row in _clients()["showed"])
    return table(["client", "version", "date", "command", "what it showed", "what decided"], rows)


def client_environments() -> str:
    """Return the table of environments with these programs, with what it took to make each."""
    rows = (
        [row["name"], str(len(row["packages"])), str(row["megabytes"]), str(row["seconds"])]
        for row in _clients()["environments"]
    )
    return table(["environment", "packages named", "MB", "seconds to install"], rows)


TABLES = {
    "attackers": attackers,
    "client_environments": client_environments,
    "clients": clients,
    "commands": command_table,
    "formats": formats,
    "filters": filters,
    "baselines": baselines,
}


def main() -> int:
    """Write or check the tables; return 1 when a table differs from the code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=TABLES, help="print this table only")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a table differs")
    options = parser.parse_args()
    if options.name:
        print(TABLES[options.name](), end="")
        return 0
    stale = []
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = _PLACE.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}{match[4]}", before)
        if after != before:
            stale.append(page.relative_to(ROOT).as_posix())
            if not options.check:
                page.write_text(after, encoding="utf-8")
    if stale:
        print(f"{'differs from the code' if options.check else 'written'}: {', '.join(stale)}")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
