"""Claims of papers, what comes out here, and the verdict on each, which follows from the two by one rule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

SHARE = Decimal("0.02")
"""Share of a printed figure by which a measured one may differ, unless a unit of the last printed digit is more."""

VERDICTS = ("agrees", "differs", "not comparable", "not done")


@dataclass(frozen=True, slots=True)
class Claim:
    """Figure or statement of a paper, and what comes out here.

    Fields:
        section: where it stands; the numbers of tables and figures that it belongs to are found in it.
        says: what the paper says, without the figures.
        printed: figures as the paper prints them, such as ``0.72``.
        measured: figures here, in the same order.
        holds: name of a set -> whether the statement holds there.
        here: words on what comes out here.
        material: what was measured in place of the paper's material, if it was other material.
        command: that gives what comes out here, as Markdown.
    """

    section: str
    says: str
    printed: Sequence[str] = ()
    measured: Sequence[float] = ()
    holds: Mapping[str, bool] | None = None
    here: str = ""
    material: str = ""
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
        agree = f"{sum(outcomes)} of {len(outcomes)} agree"
        if self.material:
            return f"not comparable ({agree})" if outcomes else "not comparable"
        if not outcomes:
            return "not done"
        if all(outcomes):
            return "agrees"
        return f"differs ({agree})" if len(outcomes) > 1 else "differs"

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """Return the row of the page: section, what the paper says, what comes out here, verdict, command."""
        says = f"{self.says}: {', '.join(self.printed)}" if self.printed else self.says
        figures = ", ".join(written(*pair) for pair in zip(self.printed, self.measured, strict=False))
        fails = [name for name, holds in (self.holds or {}).items() if not holds]
        sets = self.holds and len(self.holds) > 1 and fails and f"not in {', '.join(fails)}"
        here = "; ".join(part for part in (figures, self.here, sets, self.material and f"of {self.material}") if part)
        return self.section, says, here, self.verdict, self.command


def within(printed: str, measured: float) -> bool:
    """Return whether a measured figure is within the tolerance of a printed one; NaN is not."""
    number = Decimal(printed.replace(",", ""))
    unit = Decimal(1).scaleb(int(number.as_tuple().exponent))
    return math.isfinite(measured) and abs(Decimal(str(measured)) - number) <= max(unit, abs(number) * SHARE)


def written(printed: str, measured: float) -> str:
    """Return a measured figure with one decimal more than the printed one has; counts as they are."""
    decimals = len(printed.partition(".")[2])
    return f"{measured:,.{decimals + 1}f}" if decimals or measured != int(measured) else f"{int(measured):,}"


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
