"""Runs ``vttdata foil`` and ``vttdata degrade`` again from what a dataset says of how they made it."""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from vttdata.cli_degrade import add_degrade
from vttdata.cli_foil import add_foil
from vttdata.errors import VttdataError

if TYPE_CHECKING:
    from vttdata.publish.provenance import Provenance

_COMMANDS = {"foil": add_foil, "degrade": add_degrade}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise VttdataError(f"What the dataset says of how it was made cannot be done again: {message}.")


def rerun(provenance: Provenance, given: str, settings: Sequence[str], folder: Path) -> Path:
    """Make what a command made again, in a new folder; return that folder.

    Args:
        provenance: of the dataset: the command, its options and its seed.
        given: its input.
        settings: ``option=value`` to take the place of what the provenance says, such as ``seed=3``.
        folder: where to write.

    Raises:
        VttdataError: when there is no such command or option, or the command itself refuses its input.
    """
    add = _COMMANDS.get(provenance.command)
    if add is None:
        raise VttdataError(f"The dataset was made by {provenance.command!a}, which is no command that can be repeated.")
    options: dict[str, Any] = {"seed": provenance.seed, **provenance.options}
    own = {file.key: file.name for file in provenance.inputs if file.key != "input"}
    allowed = {*options, *own, "lexicon", "verdicts"}
    given_again: dict[str, list[str]] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or key not in allowed:
            raise VttdataError(f"--set {text}: of this dataset can be set: {', '.join(sorted(allowed))}.")
        given_again.setdefault(key, []).append(value)
    for key in sorted(own.keys() - given_again):
        names = options.get(key, own[key])
        told = f"{key} of its own, {names if isinstance(names, str) else ', '.join(names)}"
        raise VttdataError(f"The dataset was made with {told}: give --set {key}=FILE.")
    options |= given_again
    parser = _Parser(prog="vttdata")
    add(parser.add_subparsers())
    parsed = parser.parse_args([provenance.command, *_arguments(options), f"--out={folder}", "--", given])
    with contextlib.redirect_stdout(io.StringIO()):
        parsed.run(parsed)
    return folder


def _arguments(options: dict[str, Any]) -> list[str]:
    flags = [(f"--{name.replace('_', '-')}", value) for name, value in options.items()]
    single = [(flag, one) for flag, value in flags for one in (value if isinstance(value, list) else [value])]
    given = [(flag, value) for flag, value in single if value is not None and value is not False]
    return [flag if value is True else f"{flag}={value}" for flag, value in given]
