"""Shows what blind attackers reached on a set of foils: as a text table, and as rows for a dataset's card."""

from __future__ import annotations

from collections.abc import Sequence

from vttdata.assess.shortcuts import LIMIT, Attack

HEADER = ("blind attacker", "accuracy", "95 % interval", "cannot tell", "how it decides")


def attack_rows(attacks: Sequence[Attack]) -> list[tuple[str, ...]]:
    """A header and one row an attacker, in the given order."""
    rows: list[tuple[str, ...]] = [HEADER]
    for own in attacks:
        low, high = own.interval
        accuracy = f"{own.accuracy:.3f}" + ("" if own.closed else " (open)")
        rows.append((own.name, accuracy, f"{low:.3f}-{high:.3f}", f"{own.found.ties:,}", own.meaning))
    return rows


def attack_sentence(attacks: Sequence[Attack]) -> str:
    """What the table comes to, in one sentence."""
    still = [own.name for own in attacks if not own.closed]
    pairs = attacks[0].found.pairs
    if not still:
        return f"No blind attacker is right on more than {LIMIT:.2f} of {pairs:,} pairs, its 95 % interval considered."
    return f"{len(still)} of {len(attacks)} blind attackers are right on more than {LIMIT:.2f} of {pairs:,} pairs: " + (
        f"{', '.join(still)}."
    )


def attacks_text(attacks: Sequence[Attack]) -> str:
    """The table and the sentence, for a terminal."""
    rows = attack_rows(attacks)
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", attack_sentence(attacks)])
