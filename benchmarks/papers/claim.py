"""Claims of papers, what comes out here, and the verdict on each, which follows from the two by one rule."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

SHARE = Decimal("0.02")
"""Share of a printed figure by which a measured one may differ, unless a unit of the last printed digit is more."""

VERDICTS = ("agrees", "differs", "not comparable", "a setting", "not done")
SCALES = {"K": 1_000, "M": 1_000_000}


class Note(NamedTuple):
    """Table below the claims of a paper that is no claim of it: an experiment of ours. The first row has headings."""

    title: str
    text: str
    rows: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Claim:
    """Figure or statement of a paper, and what comes out here.

    Fields:
        section: where it stands; the numbers of tables and figures that it belongs to are found in it.
        says: what the paper says, without the figures.
        printed: figures as the paper prints them, such as ``0.72``, ``1.8 M``, ``65 %``; a count has no unit.
        measured: figures here, in the same order.
        holds: name of a set -> whether the statement holds there.
        here: words on what comes out here.
        material: what was measured in place of the paper's material, if it was other material.
        setting: whether the figures here are what vttdata is set to, and none is measured.
        command: that gives what comes out here, as Markdown.
    """

    section: str
    says: str
    printed: Sequence[str] = ()
    measured: Sequence[float] = ()
    holds: Mapping[str, bool] | None = None
    here: str = ""
    material: str = ""
    setting: bool = False
    command: str = ""

    @property
    def outcomes(self) -> list[bool]:
        """Return whether each figure is within the tolerance, and whether the statement holds in each set."""
        pairs = zip(self.printed, self.measured, strict=True) if self.measured else ()
        return [*(within(*pair) for pair in pairs), *(self.holds or {}).values()]

    @property
    def verdict(self) -> str:
        """Return one of `VERDICTS`, with the number of figures or sets that agree where some do and some do not."""
        outcomes = self.outcomes
        agree = f" ({sum(outcomes)} of {len(outcomes)} agree)"
        if not outcomes:
            return "not done"
        if self.material:
            return f"not comparable{agree}"
        if self.setting:
            return "a setting" if all(outcomes) else f"a setting{agree}"
        if all(outcomes):
            return "agrees"
        return f"differs{agree if len(outcomes) > 1 else ''}"

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """Return the row of the page: section, what the paper says, what comes out here, verdict, command."""
        says = f"{self.says}: {', '.join(self.printed)}" if self.printed else self.says
        figures = ", ".join(written(*pair) for pair in zip(self.printed, self.measured, strict=False))
        fails = [name for name, holds in (self.holds or {}).items() if not holds]
        sets = self.holds and len(self.holds) > 1 and fails and f"does not hold: {'; '.join(fails)}"
        here = "; ".join(part for part in (figures, self.here, sets, self.material and f"of {self.material}") if part)
        return self.section, says, here, self.verdict, self.command


def parse(printed: str) -> tuple[str, str, int]:
    """Return the figure without commas, its unit, and what it is multiplied by.

    Raises:
        ValueError: if it does not begin with a figure.
    """
    match = re.fullmatch(r"(-?[\d.,]+) ?(.*)", printed)
    if match is None:
        raise ValueError(f"{printed!r} is no figure.")
    return match[1].replace(",", ""), match[2], SCALES.get(match[2], 1)


def within(printed: str, measured: float) -> bool:
    """Return whether a count is equal to the printed one, or another figure within the tolerance of it; NaN is not."""
    figure, unit, scale = parse(printed)
    if figure.isdigit() and not unit:
        return measured == int(figure)
    number = Decimal(figure) * scale
    last_digit = Decimal(1).scaleb(int(Decimal(figure).as_tuple().exponent)) * scale
    return math.isfinite(measured) and abs(Decimal(str(measured)) - number) <= max(last_digit, abs(number) * SHARE)


def written(printed: str, measured: float) -> str:
    """Return a measured figure in the printed one's unit, with one decimal more; counts as they are."""
    figure, unit, scale = parse(printed)
    decimals = len(figure.partition(".")[2])
    value = measured / scale
    text = f"{int(value):,}" if not decimals and value == int(value) else f"{value:,.{decimals + 1}f}"
    return f"{text} {unit}".strip()


def exhibit_rows(exhibits: Mapping[str, tuple[str, str]], claims: Iterable[Claim]) -> Iterator[tuple[str, str, str]]:
    """Yield each table and figure of a paper, what it shows, and where it is on the page or why not.

    Args:
        exhibits: ``Table 1`` and so on -> what it shows, and why there is no row of it; empty where there is one.
        claims: rows of the page.

    Raises:
        ValueError: if an exhibit has neither a row nor a reason, or both.
    """
    by_section = list(claims)
    for name, (shows, reason) in exhibits.items():
        rows = [claim for claim in by_section if name in claim.section.split(", ")]
        if bool(rows) == bool(reason):
            raise ValueError(f"{name} has {len(rows)} rows, and its reason for having none is {reason!r}")
        verdicts = [claim.verdict.partition(" (")[0] for claim in rows]
        counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in verdicts)
        yield name, shows, reason or f"above: {counts}"
