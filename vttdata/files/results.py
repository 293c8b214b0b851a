"""Results as sections of sentences, tables and figures, and their renderers for a terminal and in Markdown.

Pages of sections for the browser are made by `vttdata.report.sections`. Texts from outside cannot become markup or
commands of a terminal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vttdata.files.table_formats import align_columns, printable

_MARKUP = re.compile(r"([\\`*_{}\[\]#|~])")
# Characters that make a list or a heading of a line.
_BEGINNING = re.compile(r"^[-+=]|(?<=^\d)[.)]")
_CODE = re.compile(r"(`[^`]+`)")
_NUMBER = re.compile(r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?%?|-|")


@dataclass(frozen=True, slots=True)
class Interval:
    """Score with the ends of its interval; NaN where there is none."""

    score: float
    low: float
    high: float


class ResultColumn(NamedTuple):
    """Column of a table: its name, and the number of decimals of what is not whole in it."""

    name: str
    digits: int = 3


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Table whose cells are texts, numbers, intervals, or None for what is not known; a page shows the caption too.

    Columns whose texts are all numbers are numeric. Names stand for columns with three decimals. Only
    pages show the ends of intervals of a `brief` table.
    """

    columns: Sequence[ResultColumn | str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    brief: bool = False

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[Any]], caption: str = "") -> ResultTable:
        """Return the table of rows of which the first names the columns."""
        header, *body = rows
        return cls(tuple(header), body, caption)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column if isinstance(column, str) else column.name for column in self.columns]

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers."""
        return [
            all(not isinstance(cell, str) or _NUMBER.fullmatch(cell) for cell in (row[index] for row in self.rows))
            for index in range(len(self.columns))
        ]

    @property
    def digits(self) -> list[int]:
        """Number of decimals of each column."""
        return [3 if isinstance(column, str) else column.digits for column in self.columns]

    def texts(self, missing: str = "-") -> list[list[str]]:
        """Return the rows as texts."""
        return [
            [
                format_score(cell, decimals, missing)
                if self.brief and isinstance(cell, Interval)
                else format_cell(cell, decimals, missing)
                for cell, decimals in zip(row, self.digits, strict=True)
            ]
            for row in self.rows
        ]


class Bar(NamedTuple):
    """Row of `Bars`: label, value, and the ends of an interval; `text` stands in place of the formatted value."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    tone: str = "a"
    href: str = ""

    @classmethod
    def of(cls, label: str, interval: Interval, tone: str = "a") -> Bar:
        """Return the bar of an interval, whose ends may be NaN."""
        low, high = (end if math.isfinite(end) else None for end in (interval.low, interval.high))
        return cls(label, interval.score, low, high, tone=tone)


class Limit(NamedTuple):
    """Vertical line in a figure, such as a threshold, with its name."""

    value: float
    label: str
    tone: str = "bad"


@dataclass(frozen=True, slots=True)
class Bars:
    """Figure of bars with intervals, drawn on pages only.

    `columns` are the headings of the labels and of the values. A full bar has the maximum, by default the largest
    value. Limits, such as chance or a floor, are lines through all bars.
    """

    rows: Sequence[Bar]
    caption: str
    columns: tuple[str, str]
    maximum: float | None = None
    limits: Sequence[Limit] = ()
    sortable: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Part of a result: title, sentences, a list, a table, and figures.

    What stands in backquotes in sentences and lists is code. Sections of a depth above 0 belong to the one before. On a
    page the key is the anchor and the badge a short text beside the title, such as a count.
    """

    title: str = ""
    sentences: Sequence[str] = ()
    items: Sequence[str] = ()
    table: ResultTable | None = None
    figures: Sequence[Bars] = ()
    depth: int = 0
    key: str = ""
    badge: str = ""


class Result:
    """Result that says what it is in sections."""

    __slots__ = ()

    def sections(self) -> Iterable[Section]:
        """Yield the sections in order."""
        raise NotImplementedError

    def as_text(self) -> str:
        """Return the sections for a terminal."""
        return format_text(self.sections())

    def as_markdown(self, depth: int = 2) -> str:
        """Return the sections in Markdown; headings begin at level `depth`."""
        return format_markdown(self.sections(), depth)


def format_cell(value: object, digits: int = 3, missing: str = "-") -> str:
    """Return a value as text.

    Numbers from 10 on have two decimals, and what would be 0 has one significant digit, but for scores with intervals.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return missing
    if isinstance(value, Interval):
        ends = format_ends(value, digits)
        return f"{format_score(value, digits, missing)}{ends and f' ({ends})'}"
    if isinstance(value, float):
        is_tiny = value and abs(value) < 0.5 * 10**-digits
        return f"{value:.0e}" if is_tiny else _format_decimals(value, digits)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def format_p(value: float) -> str:
    """Return a p-value as papers print it, such as ``p = .012`` or ``p < .001``."""
    return "p < .001" if value < 0.001 else f"p = {value:.3f}".replace("= 0.", "= .")


def format_score(value: Interval, digits: int = 3, missing: str = "-") -> str:
    """Return the score of an interval as text; one that is 0 but for smoothing is 0."""
    return missing if math.isnan(value.score) else _format_decimals(value.score, digits)


def format_ends(value: Interval, digits: int = 3) -> str:
    """Return the ends of an interval as text; empty where there are none."""
    if math.isnan(value.score) or math.isnan(value.low):
        return ""
    return f"{_format_decimals(value.low, digits)} to {_format_decimals(value.high, digits)}"


def _format_decimals(value: float, digits: int) -> str:
    text = f"{value:,.{digits if abs(value) < 10 else min(digits, 2)}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def format_text(sections: Iterable[Section]) -> str:
    """Return sections for a terminal; figures are left out."""
    parts = []
    for section in sections:
        lines = [*filter(None, [section.title]), *section.sentences, *(f"- {item}" for item in section.items)]
        parts += ["\n".join(map(printable, lines))] if lines else []
        if section.table is not None:
            parts.append(format_plain_table(section.table))
    return "\n\n".join(parts)


def format_plain_table(table: ResultTable) -> str:
    """Return a table for a terminal: columns of numbers to the right, others to the left."""
    left = [index for index, is_numeric in enumerate(table.numeric) if not is_numeric]
    return align_columns([table.names, *table.texts()], left)


def format_markdown(sections: Iterable[Section], depth: int = 2) -> str:
    """Return sections in Markdown; headings begin at level `depth`, and figures are left out."""
    parts = []
    for section in sections:
        parts += [f"{'#' * (depth + section.depth)} {escape_sentence(section.title)}"] if section.title else []
        parts += map(escape_sentence, section.sentences)
        parts += ["\n".join(f"- {escape_sentence(item)}" for item in section.items)] if section.items else []
        if section.table is not None:
            parts.append(format_markdown_table(section.table))
    return "\n\n".join(parts) + "\n"


def format_markdown_table(table: ResultTable) -> str:
    """Return a table in Markdown."""
    rows = ([_escape_cell(text) for text in row] for row in [table.names, *table.texts()])
    header = next(rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])


def _escape_cell(text: str) -> str:
    # In a table, a bar ends a cell inside of code too.
    return "".join(map_code(text, escape_markdown, lambda code: code.replace("|", "\\|")))


def escape_sentence(text: str) -> str:
    """Return text as one line of Markdown without any markup but code in backquotes."""
    return _escape_beginning("".join(map_code(text, escape_markdown, str)))


def escape_line(text: str) -> str:
    """Return text as one line of Markdown without any markup."""
    return _escape_beginning(escape_markdown(_fold(text)))


def _escape_beginning(line: str) -> str:
    return _BEGINNING.sub(lambda match: f"\\{match[0]}", line)


def _fold(text: str) -> str:
    return " ".join("".join(char for char in text if char.isprintable() or char.isspace()).split())


def map_code(text: str, prose: Callable[[str], str], code: Callable[[str], str]) -> list[str]:
    """Return the parts of a text, those in backquotes changed by `code` and the others by `prose`."""
    return [code(part) if number % 2 else prose(part) for number, part in enumerate(_CODE.split(_fold(text))) if part]


def escape_markdown(text: str) -> str:
    """Return text inside of a line as Markdown without any markup: no HTML, no links, no table cells."""
    escaped = _MARKUP.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    # GitHub and the Hub make links of bare addresses and user names.
    return escaped.replace("://", ":&#47;/").replace("@", "&#64;").replace("www.", "www&#46;")
