"""Compare what blind attackers reach by the cards of sets of foils with what `vttdata audit` finds in the sets.

Run `python benchmarks/foil_cards.py DATASET...`; each is a folder that `vttdata build` or `vttdata foil` wrote. Prints
a row for each table of pairs: its pairs, the ensemble on the card and by the audit, and how many attacks differ.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path, nargs="+", help="folders with shortcuts.json")
    for folder in parser.parse_args().datasets:
        card = json.loads((folder / "shortcuts.json").read_text(encoding="utf-8"))
        audit = [sys.executable, "-m", "vttdata", "audit", str(folder), "--json"]
        found = json.loads(subprocess.run(audit, stdout=subprocess.PIPE, check=True).stdout)
        for table, published in card.items():
            compare(f"{folder} {table}", published, found["attacks" if table == "foils" else table])


def compare(name: str, published: list[dict[str, Any]], audited: list[dict[str, Any]]) -> None:
    """Print a row; where the attacks come from is no figure of theirs."""
    plain = [{key: value for key, value in attack.items() if key != "from_card"} for attack in audited]
    different = sum(attack not in plain for attack in published) + sum(attack not in published for attack in plain)
    ensembles = " | ".join(
        f"{each[0]['accuracy']:.3f} ({each[0]['low']:.3f}-{each[0]['high']:.3f})" for each in (published, plain)
    )
    print(f"| {name} | {published[0]['pairs']:,} | {ensembles} | {different} |", flush=True)


if __name__ == "__main__":
    main()
