"""The command line as a whole: usage errors, help, exit codes, and what it imports."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.helpers.builds import LOOSE, film
from vttdata.cli.main import SECTIONS, cli, main
from vttdata.cli.options import Command, CommandFolder


def all_commands(group: click.Group = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from all_commands(command, (*path, name))
        else:
            assert isinstance(command, Command)
            yield (*path, name), command


COMMANDS = dict(all_commands())
ROOT = Path(__file__).resolve().parents[2]


LISTED = [name for section in SECTIONS.values() for name in section]


def test_sections_list_the_commands() -> None:
    assert len(set(LISTED)) == len(LISTED)
    assert set(cli.list_commands(click.Context(cli))) == set(LISTED)


def test_help_lists_commands_by_section_and_others_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "orchard"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name in ("pear", "apple", "new_plum", "notes"):
        summary = f"Pick the {name}.\n\n    More."
        command = f"import click\nfrom vttdata.cli.options import Command\n@click.command({name!r}, cls=Command)\n"
        (package / f"{name}.py").write_text(
            "" if name == "notes" else f'{command}def command() -> None:\n    """{summary}"""\n'
        )
    monkeypatch.syspath_prepend(tmp_path)
    group = CommandFolder("orchard", package="orchard", sections={"Round": ("apple", "cherry"), "None": ("fig",)})
    sections = group.list_sections(click.Context(group))
    assert sections == {"Round": ["apple"], "Other": ["new-plum", "pear"]}
    shown = group.get_help(click.Context(group, info_name="orchard"))
    assert shown.endswith(
        "Round:\n  apple     Pick the apple\n\nOther:\n  new-plum  Pick the new_plum\n  pear      Pick the pear"
    )


def test_descriptions_take_a_line_each() -> None:
    commands = (cli.get_command(click.Context(cli), name) for name in LISTED)
    assert all(len(command.short_help or "") <= 66 for command in commands if command is not None)


@pytest.mark.parametrize("arguments", [["video", "shots"], ["bild"], ["build", "demo", "--workers", "0"]])
def test_bad_usage_is_one_sentence_and_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.endswith("--help'.\n")


@pytest.mark.parametrize("group", [[], ["people"]])
def test_no_command_prints_the_help_and_ends_as_bad_usage(group: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "vttdata", *group], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    help_text = subprocess.run(
        [sys.executable, "-m", "vttdata", *group, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stderr == help_text.stdout
    assert f" {' '.join(['vttdata', *group])} " in done.stderr.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bild"], "vttdata: There is no command 'bild'. Did you mean 'build'? See 'vttdata --help'."),
        (
            ["people", "mak"],
            "vttdata people: There is no command 'mak'. Did you mean 'make'? See 'vttdata people --help'.",
        ),
        (["build", "--wrokers", "2"], "--workers"),
        (["build", "demo", "--workers", "x"], "'x' is not a positive integer. See 'vttdata build --help'."),
        (["export", "me/x", "--format", "coco"], "--out"),
        (["verify", "me/x", "--rebuild", "--files-only"], "--rebuild and --files-only exclude each other."),
    ],
)
def test_a_mistyped_command_or_option_is_answered_with_the_nearest(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_has_a_description_and_examples_that_can_be_parsed(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*path, "--help"]) == 0
    printed = capsys.readouterr().out
    assert f" vttdata {' '.join(path)} " in printed.splitlines()[0]
    # Defaults and repetition are told in one style.
    joined = " ".join(printed.split())
    assert not [other for other in ("[default: (", "repeatable", "by default", "(default") if other in joined]
    command = COMMANDS[path]
    assert command.short_help
    assert command.examples
    for example in command.examples:
        assert f"  {example}\n" in printed
        program, *words = split_command(example)
        assert (program, tuple(words[: len(path)])) == ("vttdata", path)
        with click.Context(cli, info_name="vttdata"):
            command.make_context(path[-1], words[len(path) :])


def split_command(line: str) -> list[str]:
    """Return the words of a command without a comment and without the file that its output goes to."""
    words = shlex.split(line, comments=True)
    return words[: words.index(">")] if ">" in words else words


def documented_commands() -> Iterator[tuple[Path, str]]:
    """Yield the commands in blocks of code of the documentation."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        in_code = False
        for line in path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
            in_code ^= line.startswith("```")
            if in_code and re.match(r"(\$ )?vttdata [a-z]", line):
                yield path, line.removeprefix("$ vttdata ").removeprefix("vttdata ")


def test_commands_in_the_documentation_can_be_parsed() -> None:
    commands = list(documented_commands())
    assert len(commands) >= 40
    for path, line in commands:
        words = split_command(line)
        name = next((name for name in (tuple(words[:2]), tuple(words[:1])) if name in COMMANDS), None)
        assert name is not None, f"{path.name}: {line}"
        # A command whose help is asked for ends there.
        with click.Context(cli, info_name="vttdata"), contextlib.suppress(click.exceptions.Exit):
            try:
                COMMANDS[name].make_context(name[-1], words[len(name) :])
            except click.UsageError as error:
                pytest.fail(f"{path.name}: {line}: {error.message}")


def test_help_version_and_completion_import_no_reader() -> None:
    heavy = "('av', 'datasets', 'numpy', 'pandas', 'pyarrow', 'pydantic', 'scipy', 'spacy', 'torch')"
    code = f"""
import os, sys
from vttdata.cli.main import main
assert main(['--help']) == main(['people', '--help']) == main(['--version']) == 0
os.environ |= {{'_VTTDATA_COMPLETE': 'bash_complete', 'COMP_WORDS': 'vttdata foil x --sel', 'COMP_CWORD': '3'}}
main()
print(*(name for name in {heavy} if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["plain,--selection", ""]


@pytest.mark.not_on("win32")
def test_build_without_a_terminal_imports_neither_pandas_nor_rich(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    film(tmp_path / "videos" / "a.mp4", seconds=3)
    settings = [*LOOSE, f"collect.folder={tmp_path / 'videos'}"]
    arguments = ["build", "own-folder", "--out", str(tmp_path / "out"), *(f"--set={each}" for each in settings)]
    code = f"""
import sys
from vttdata.cli.main import main
assert main({arguments}) == 0
print(*(name for name in ("pandas", "rich", "datasets") if name in sys.modules))
import pyarrow as pa
assert pa.table({{"a": [1.5, None]}}).to_pandas().a.isna().tolist() == [False, True]
"""
    environment = os.environ | {"VTTDATA_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("module", ["yt_dlp", "spacy", "torch", "av", "datasets", "pandas"])
def test_importing_the_package_pulls_nothing_heavy(module: str) -> None:
    code = f"import vttdata, sys; sys.exit('{module}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_too_long_name_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "x" * 300]) == 2
    assert re.fullmatch(r"vttdata: .*\bx{300}\b.*\n", capsys.readouterr().err)


def test_a_closed_pipe_ends_quietly_and_a_full_disk_with_a_sentence() -> None:
    recipes = [sys.executable, "-m", "vttdata", "list"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(recipes, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.stderr == ""
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            done = subprocess.run(recipes, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr == f"vttdata: {os.strerror(errno.ENOSPC)}.\n"
