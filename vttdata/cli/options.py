"""Building blocks of commands: help, subcommands found in a folder, completion of names, shared options and types.

Nothing here imports what a command works with: ``vttdata --help`` and completion read every command's module. Defaults
and ranges of options that are settings of a recipe are read from the settings class when they are needed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import importlib.util
import inspect
import math
import operator
import os
import pkgutil
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import annotated_types
import click
from click.shell_completion import CompletionItem

from vttdata.cli.exit_codes import BAD_INPUT
from vttdata.ids import is_split_name

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    # Older versions of click have no generic class.
    ParamType = click.ParamType

F = TypeVar("F", bound=Callable[..., Any])

# click puts what is not a value into parentheses.
_WORDED_DEFAULT = re.compile(r"\[default: \((.+)\)\]$")


class Command(click.Command):
    """Command whose help has arguments with descriptions, options in groups, and examples.

    Args:
        notes: paragraphs after the options.
        examples: commands that run as printed, where the files that they name are there.
        not_on_windows: True if it starts processes, so that Windows needs WSL for it.
        others: as for `click.Command`; the first paragraph of the help is the short help.
    """

    def __init__(
        self,
        *args: Any,
        notes: Sequence[str] = (),
        examples: Sequence[str] = (),
        not_on_windows: bool = False,
        **others: Any,
    ) -> None:
        super().__init__(*args, **others)
        self.notes, self.examples, self.not_on_windows = notes, examples, not_on_windows
        first = inspect.cleandoc(self.help or "").partition("\n\n")[0]
        self.short_help = self.short_help or " ".join(first.split()).rstrip(".")

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, where the system can."""
        if self.not_on_windows:
            from vttdata.subprocesses import check_system

            check_system(f"'{ctx.command_path}'")
        return super().invoke(ctx)

    def synopsis(self, *, required_only: bool = False) -> list[str]:
        """Return arguments and options that belong to no group as a usage line shows them."""
        pieces = [param.metavar or "" for param in self.params if isinstance(param, click.Argument)]
        for option in (param for param in self.params if isinstance(param, click.Option)):
            if option.hidden or getattr(option, "group", None) or (required_only and not option.required):
                continue
            text = option.opts[0] if option.is_flag else f"{option.opts[0]} {option.metavar}"
            pieces.append((text if option.required else f"[{text}]") + ("..." if option.multiple else ""))
        return pieces

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return arguments and required options; all others stand for themselves in the help."""
        return [*self.synopsis(required_only=True), "[OPTIONS]"]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments, options without a group, then each group of options."""
        arguments = [(param.metavar or "", param.description) for param in self.params if isinstance(param, Argument)]
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": arguments, "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                sections.setdefault(getattr(param, "group", None) or "Options", []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write notes and examples."""
        for note in self.notes:
            formatter.write_paragraph()
            formatter.write_text(note)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"{'':>{formatter.current_indent}}{line}\n" for line in self.examples))


class CommandFolder(Command, click.Group):
    """Group of the commands that the modules of a package define as `command`, each imported when it is needed.

    Args:
        package: whose modules are searched.
        sections: names of commands by the title that the help lists them under, in this order.
        others: as for `Command`.
    """

    collect_usage_pieces = click.Group.collect_usage_pieces
    format_options = click.Group.format_options

    def __init__(
        self, *args: Any, package: str, sections: Mapping[str, Sequence[str]] | None = None, **others: Any
    ) -> None:
        super().__init__(*args, **others)
        self.package = package
        self._sections = dict(sections or {})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; without any, print the help and end as after bad usage."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(BAD_INPUT)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, sorted."""
        modules = pkgutil.iter_modules(importlib.import_module(self.package).__path__)
        names = [module.name.replace("_", "-") for module in modules]
        return [name for name in names if self.get_command(ctx, name) is not None]

    def list_sections(self, ctx: click.Context) -> dict[str, list[str]]:
        """Return the names of the commands by the titles of their sections; those of no section come last."""
        names = self.list_commands(ctx)
        sections = {title: [name for name in listed if name in names] for title, listed in self._sections.items()}
        listed = {name for section in sections.values() for name in section}
        sections["Other" if self._sections else "Commands"] = [name for name in names if name not in listed]
        return {title: section for title, section in sections.items() if section}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections with the commands of each, all descriptions in one column."""
        sections = self.list_sections(ctx)
        width = max((len(name) for section in sections.values() for name in section), default=0)
        for title, section in sections.items():
            with formatter.section(title):
                commands = ((name, self.get_command(ctx, name)) for name in section)
                formatter.write_dl(
                    [(name.ljust(width), command.short_help or "") for name, command in commands if command is not None]
                )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command, whose module has ``_`` for ``-``; None where there is none of this name."""
        module = cmd_name.replace("-", "_")
        name = f"{self.package}.{module}"
        if not module.isidentifier() or importlib.util.find_spec(name) is None:
            return None
        command = getattr(importlib.import_module(name), "command", None)
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed; a mistyped one is a usage error with the nearest name."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Commands are {', '.join(self.list_commands(ctx))}."
            ctx.fail(f"There is no command '{args[0][:80]}'.{hint}")
        return super().resolve_command(ctx, args)


class Argument(click.Argument):
    """Positional argument with a description; `metavar` is written as the usage line shows it."""

    def __init__(self, *args: Any, description: str, **others: Any) -> None:
        super().__init__(*args, **others)
        self.description = description


class GroupedOption(click.Option):
    """Option that may belong to a group of the help; those of a group are left out of the synopsis.

    Other arguments are those of `click.Option`; choices are their own metavar.
    """

    def __init__(self, *args: Any, group: str | None = None, **others: Any) -> None:
        if isinstance(others.get("type"), click.Choice):
            others.setdefault("metavar", "|".join(map(str, others["type"].choices)))
        super().__init__(*args, **others)
        self.group = group
        if not self.is_flag:
            self.metavar = self.metavar or self.type.name.upper()

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the names and the help, with defaults in words written like those in values."""
        record = super().get_help_record(ctx)
        return record and (record[0], _WORDED_DEFAULT.sub(r"[default: \1]", record[1]))


class SettingOption(GroupedOption):
    """Option with the default, range and choices of a field of a settings class.

    Args:
        settings: ``module:Class`` of a dataclass; imported when the option is used or its help is printed.
        others: as for `GroupedOption`; the parameter's name is that of the field.
    """

    def __init__(self, *args: Any, settings: str, **others: Any) -> None:
        others.setdefault("type", SettingType(settings))
        super().__init__(*args, **others)
        self._settings = settings
        if isinstance(self.type, SettingType):
            self.type.field = self.name or ""

    def get_default(self, ctx: click.Context, call: bool = True) -> Any:
        """Return the default of the field; completion needs none, and the help omits it if a library is missing."""
        if ctx.resilient_parsing and call:
            return None
        try:
            fields = {field.name: field for field in dataclasses.fields(_load(self._settings))}
            return fields[self.name or ""].default
        except ModuleNotFoundError:
            if ctx.resilient_parsing:
                return None
            raise


class SettingType(ParamType):
    """Type of an option's value, from the annotation of a field of a settings class."""

    name = "setting"
    field = ""

    def __init__(self, settings: str) -> None:
        self._settings = settings

    @functools.cached_property
    def resolved(self) -> ParamType:
        """Return the choice or range that the annotation states."""
        hint = typing.get_type_hints(_load(self._settings), include_extras=True)[self.field]
        plain, constraints = (hint.__origin__, hint.__metadata__) if hasattr(hint, "__metadata__") else (hint, ())
        if typing.get_origin(plain) is typing.Literal:
            return click.Choice(typing.get_args(plain))
        limits: dict[str, Any] = {}
        for constraint in constraints:
            match constraint:
                case annotated_types.Ge(low):
                    limits |= {"min": low}
                case annotated_types.Gt(low):
                    limits |= {"min": low, "min_open": True}
                case annotated_types.Le(high):
                    limits |= {"max": high}
                case annotated_types.Lt(high):
                    limits |= {"max": high, "max_open": True}
        return IntegerRange(**limits) if plain is int else NumberRange(**limits)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert as the resolved type."""
        return self.resolved.convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete as the resolved type."""
        return self.resolved.shell_complete(ctx, param, incomplete)


def _load(path: str) -> Any:
    """Import what a text ``module:name`` or ``module:name.attribute`` names."""
    module, _, name = path.partition(":")
    return operator.attrgetter(name)(importlib.import_module(module))


class IntegerRange(click.IntRange):
    """Whole number in a range, which messages call an integer."""

    name = "integer"


class NumberRange(click.FloatRange):
    """Number in a range, which messages call a number; NaN is in none."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a text to a number in the range."""
        number = super().convert(value, param, ctx)
        if isinstance(number, float) and math.isnan(number):
            self.fail(f"{value!r} is not in the range {self._describe_range()}.", param, ctx)
        return number


class WholeNumber(ParamType):
    """Whole number from `least` to `most`, in decimal digits."""

    name = "integer"

    def __init__(self, least: int = 0, most: int = 2**63 - 1) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Convert digits to a number in the range."""
        text = str(value)
        # The length is checked first, since converting millions of digits takes minutes.
        if text.isascii() and text.isdecimal() and len(text) < 20 and self._least <= int(text) <= self._most:
            return int(text)
        wanted = "a positive integer" if self._least else "a non-negative integer"
        limit = f" up to {self._most:,}" if self._most < 2**31 - 1 else ""
        raise click.BadParameter(f"'{text[:40]}' is not {wanted}{limit}.", ctx, param)


class Names(ParamType):
    """Text that completes to names, and to files where a path may be given too.

    `list_names` returns all names, or is where that is done, as ``module:function``, imported when names are completed.
    """

    def __init__(self, name: str, list_names: str | Callable[[], Iterable[str]], *, files: bool = False) -> None:
        self.name = name
        self._list_names, self._files = list_names, files

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Complete names, and ask the shell for files."""
        list_names = _load(self._list_names) if isinstance(self._list_names, str) else self._list_names
        names = [CompletionItem(name) for name in list_names() if name.startswith(incomplete)]
        # Shells add names to what they complete of files by themselves, so that item comes first.
        return [CompletionItem(incomplete, type="file"), *names] if self._files else names


def _recipe_names() -> Iterable[str]:
    from vttdata.recipe import packaged

    return [*packaged.recipes(), *known_datasets()]


def known_datasets() -> Iterable[str]:
    """Return the names of the datasets on this machine."""
    from vttdata.load.local_builds import BuildRegistry

    return (build.name for build in BuildRegistry().builds() if build.dataset is not None)


def _first_argument(ctx: click.Context, name: str) -> str:
    """Return an argument before the option that is completed, where click leaves what it has not parsed."""
    return str(ctx.params.get(name) or next(iter(ctx.args), ""))


class DatasetParts(ParamType):
    """Name of a ``split`` or ``config``, which completes to those of the command's dataset if it is on this machine."""

    def __init__(self, name: str) -> None:
        self.name = name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Complete names; without a dataset those of splits that every benchmark has."""
        from vttdata.dataset.front_matter import read_layout
        from vttdata.dataset.rows import is_protocol
        from vttdata.errors import VttdataError
        from vttdata.load.local_builds import BuildRegistry, dataset_in

        reference = _first_argument(ctx, "dataset")
        files: dict[str, Any] = {"clips": dict.fromkeys(("train", "validation", "test"))}
        with contextlib.suppress(VttdataError, OSError):
            builds = BuildRegistry().builds(reference)
            folder = dataset_in(Path(reference)) or next((build.dataset for build in builds), None)
            if reference and folder is not None:
                files = read_layout(folder, None, check_rows=False).files
        splits = dict.fromkeys(split for by_split in files.values() for split in by_split)
        configs = [name for name in files if name in ("clips", "foils", "paragraphs") or is_protocol(name)]
        names = list(splits) if self.name == "split" else configs
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class SettingName(ParamType):
    """Setting ``KEY=VALUE``, whose key completes to those of the command's recipe."""

    name = "KEY=VALUE"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Complete a dotted key, and a file after ``=``."""
        from vttdata.errors import VttdataError

        key, equals, value = incomplete.partition("=")
        if equals:
            return [CompletionItem(value, type="file")]
        try:
            from vttdata.recipe.load import setting_keys

            keys = setting_keys(_first_argument(ctx, "recipe"))
        except (VttdataError, ModuleNotFoundError):
            return []
        return [CompletionItem(f"{name}=") for name in keys if name.startswith(key)]


RECIPE = Names("recipe", _recipe_names, files=True)
DATASET = Names("dataset", known_datasets, files=True)


class FilePath(click.Path):
    """Path, in which a leading ``~`` that the shell has left is the home folder, as in ``--out=~/street``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Convert a text to a path; an address would become a folder ``s3:`` on this machine."""
        if isinstance(value, str) and "://" in value:
            self.fail(
                f"'{value[:200]}' is an address; give a path on this machine, and copy files with the tool of the "
                "store, such as 'aws s3 sync' (docs/remote.md).",
                param,
                ctx,
            )
        return super().convert(os.path.expanduser(value) if isinstance(value, str) else value, param, ctx)


FILE = FilePath(path_type=Path, readable=False)


SEED = WholeNumber()
POSITIVE = WholeNumber(1, 2**31 - 1)


class SplitWithFile(DatasetParts):
    """Name of a split, ``NAME=FILE`` with a file of the ids in it, or a file of splits, which has no name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path | None]:
        """Split the name from the file."""
        name, equals, file = str(value).partition("=")
        if not name or (equals and not file):
            self.fail(f"'{value}' is not NAME or NAME=FILE, such as test or test=ids.csv.", param, ctx)
        if not equals and not is_split_name(name):
            name, file = "", name
        return name, Path(os.path.expanduser(file)) if file else None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete a split, and a file after ``=``."""
        _, equals, file = incomplete.partition("=")
        return [CompletionItem(file, type="file")] if equals else super().shell_complete(ctx, param, incomplete)


class ColumnName(ParamType):
    """Names of columns in a table, ``NAME=COLUMN`` or several with commas; converts to pairs."""

    name = "NAME=COLUMN"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, str], ...]:
        """Split the names from the columns; a comma belongs to a column unless a further name follows it."""
        text = str(value)
        parts = text.split(",")
        pairs = [part.partition("=") for part in (parts if all("=" in part for part in parts) else [text])]
        if not all(name.strip() and column.strip() for name, _, column in pairs):
            self.fail(f"'{text[:80]}' is not NAME=COLUMN, such as caption=text.", param, ctx)
        return tuple((name.strip(), column.strip()) for name, _, column in pairs)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Complete the names of columns."""
        from vttdata.text.captions import COLUMNS

        return [CompletionItem(f"{name}=") for name in COLUMNS if name.startswith(incomplete)]


def argument(name: str, metavar: str, description: str, **others: Any) -> Callable[[F], F]:
    """Declare an argument with a description."""
    return click.argument(name, metavar=metavar, cls=Argument, description=description, **others)


def option(declaration: str, description: str, *, name: str | None = None, **others: Any) -> Callable[[F], F]:
    """Declare an option.

    Args:
        declaration: the option and its metavar, as the help shows them: ``--out DIR``.
        description: for the help.
        name: of the parameter; that of the option by default.
        others: as for `click.option`; `group` is the group of the help that it belongs to.
    """
    flag, _, metavar = declaration.partition(" ")
    names = [flag] if name is None else [flag, name]
    return click.option(*names, **{"cls": GroupedOption, "metavar": metavar or None, "help": description} | others)


def setting(declaration: str, description: str, *, settings: str, **others: Any) -> Callable[[F], F]:
    """Declare an option that is a field of a settings class."""
    return option(declaration, description, cls=SettingOption, settings=settings, **others)


dataset_argument = argument(
    "dataset",
    "DATASET",
    "A dataset folder, a build folder, an address such as s3://bucket/street, or a name.",
    type=DATASET,
)


def input_argument(more: str = "") -> Callable[[F], F]:
    """Declare INPUT, the captions that a command takes; `more` says what else a table may have."""
    table = "a CSV, TSV or JSON table with the columns video_id and caption"
    description = f"A dataset (folder, build or name), or {table}{f', which {more}' if more else ''}."
    return argument("reference", "INPUT", description, type=DATASET)


json_option = option("--json", "Print JSON.", name="as_json", is_flag=True)
judgments_argument = argument(
    "judgments", "JUDGMENTS...", "Sets of judgments, as of 'metric test'.", type=DATASET, nargs=-1, required=True
)
scores_option = option(
    "--scores FILE",
    "Anybody's scores, a table with video_id, score, and system or candidate; named as the file; may be repeated.",
    type=FILE,
    multiple=True,
)
human_option = option("--human", "Count captions by people as those of systems.", is_flag=True, group="Judgments")
quiet_option = option("--quiet", "Show no progress on standard error.", is_flag=True, group="Progress")
device_option = option(
    "--device DEVICE", "Where models of HuggingFace compute: cpu, cuda, cuda:1.", default="cpu", group="Language models"
)


def metric_option(description: str, *, show_default: str) -> Callable[[F], F]:
    """Declare ``--metric NAME``, which may be repeated."""
    metrics = Names("metric", "vttdata.evaluate.metrics:METRICS.files")
    return option("--metric NAME", description, name="metrics", type=metrics, multiple=True, show_default=show_default)


def judgment_options(split: str) -> Callable[[F], F]:
    """Declare what tables of judgments need that do not say everything; `split` describes ``--split``."""
    group = "Judgments"
    options = (
        option(
            "--candidates FILE",
            "Captions of systems, a table with video_id, system and caption, for a table of judgments without texts.",
            type=FILE,
            group=group,
        ),
        option(
            "--references INPUT",
            "Human captions, a dataset or a table with video_id and caption, for a table of judgments without them.",
            type=DATASET,
            group=group,
        ),
        option(
            "--offset N", "Number to add to the ids of judgments, where they are off.", type=int, default=0, group=group
        ),
        option("--leave-out SYSTEM", "A system that does not count; may be repeated.", multiple=True, group=group),
        human_option,
        split_option(split, show_default="test, or the only one", group=group),
        option(
            "--tokenizer NAME",
            "Of captioning metrics: ptb-3.4.1, unicode or none.",
            default="ptb-3.4.1",
            group="Computation",
        ),
    )
    return lambda function: functools.reduce(lambda decorated, decorate: decorate(decorated), options[::-1], function)


def metric_inputs_options(function: F) -> F:
    """Declare what metrics by models need, for `read_metric_inputs`."""
    group = "Metrics by models"
    for decorate in (
        option(
            "--model [METRIC=]MODEL",
            "Model of HuggingFace, by name or folder, with @REVISION if needed; for one metric, or all that need one; "
            "may be repeated.",
            name="models",
            multiple=True,
            show_default="CLIP ViT-B/32; all-MiniLM-L6-v2 for sentences; roberta-large for BERTScore",
            group=group,
        ),
        option(
            "--videos DIR",
            "Videos called <video_id>.<extension>; may be repeated.",
            type=FILE,
            multiple=True,
            show_default="the dataset's on this machine",
            group=group,
        ),
        option(
            "--frames N",
            "Frames of each video, spread evenly; 0 for all.",
            type=WholeNumber(0, 10**6),
            default=10,
            group=group,
        ),
        option(
            "--features FILE",
            "Embeddings of videos and texts (.npz) instead of computing them.",
            type=FILE,
            group=group,
        ),
        option(
            "--layer N",
            "Layer of the encoder whose vectors BERTScore compares, from 0.",
            type=WholeNumber(0, 1000),
            show_default="as published for the model, or the last one",
            group=group,
        ),
        option(
            "--rescale FILE",
            "Baseline of BERTScore, a CSV with LAYER,P,R,F, on which its scores are rescaled.",
            type=FILE,
            group=group,
        ),
        option("--device DEVICE", "Where models compute: cpu, cuda, cuda:1.", default="cpu", group=group),
    )[::-1]:
        function = decorate(function)
    return function


def read_metric_inputs(options: dict[str, Any]) -> Any:
    """Take the options of `metric_inputs_options` out of a command's and return `MetricInputs`.

    Raises:
        VttdataError: if a folder or file does not exist, or a metric is named twice.
    """
    from vttdata.errors import VttdataError
    from vttdata.evaluate.metric import MetricInputs
    from vttdata.evaluate.metrics import METRICS

    for folder in options["videos"]:
        if not folder.is_dir():
            raise VttdataError(f"--videos: '{folder}' is not an existing folder.")
    models: dict[str, str] = {}
    for text in options.pop("models"):
        family, equals, model = text.partition("=")
        family, model = (family, model) if equals and family in METRICS.files() else ("", text)
        if family in models:
            raise VttdataError(f"--model names a model twice for {family or 'all metrics'}.")
        models[family] = model
    names = ("device", "videos", "features", "frames", "layer", "rescale")
    return MetricInputs(models, **{name: options.pop(name) for name in names})


def out_option(description: str, *, required: bool = True, **others: Any) -> Callable[[F], F]:
    """Declare ``--out DIR``."""
    others.setdefault("type", FILE)
    return option("--out DIR", description, required=required, **others)


def replace_option(description: str) -> Callable[[F], F]:
    """Declare ``--replace``."""
    return option("--replace", description, is_flag=True)


def seed_option(description: str) -> Callable[[F], F]:
    """Declare ``--seed N`` with the default of every recipe, 0."""
    return option("--seed N", description, type=SEED, default=0)


def columns_option(tables: str, *, several: bool = False) -> Callable[[F], F]:
    """Declare ``--columns NAME=COLUMN``, which may be repeated; the command gets a dict.

    With `several`, tables may call a column differently, and its values are lists.
    """

    def merge(ctx: click.Context, param: click.Parameter, values: Any) -> Mapping[str, str | list[str]]:
        columns: dict[str, list[str]] = {}
        for name, column in dict.fromkeys(pair for pairs in values for pair in pairs):
            columns.setdefault(name, []).append(column)
            if len(columns[name]) > 1 and not several:
                raise click.BadParameter(f"two columns are named for {name}.", ctx, param)
        return columns if several else {name: column for name, (column,) in columns.items()}

    repeated = ", also for a column that tables call differently" if several else ""
    return option(
        "--columns NAME=COLUMN",
        f"What a column is called in {tables}, such as caption=text; may be repeated{repeated}.",
        type=ColumnName(),
        multiple=True,
        callback=merge,
    )


def set_option(description: str) -> Callable[[F], F]:
    """Declare ``--set KEY=VALUE``, which may be repeated."""
    return option("--set KEY=VALUE", description, name="settings", type=SettingName(), multiple=True)


def config_option(description: str, **others: Any) -> Callable[[F], F]:
    """Declare ``--config NAME``, a configuration of the dataset: its clips, a protocol, or another table."""
    return option("--config NAME", description, type=DatasetParts("config"), **others)


def split_option(description: str, **others: Any) -> Callable[[F], F]:
    """Declare ``--split NAME``."""
    return option("--split NAME", description, type=DatasetParts("split"), **others)
