"""Write what the tests of clients showed into ``docs/clients.json``, from which the manual's table is made.

``python -m tests.clients.showed`` replaces the rows of the clients that were tested, and keeps the others; the size and
time of environments are those of the machine that made them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.clients.client import RESULTS
from tests.clients.environments import ROOT, environments

FILE = ROOT / "docs" / "clients.json"


def main() -> int:
    """Merge the results; return 1 if there are none."""
    found = [(path.name, json.loads(path.read_bytes())) for path in sorted(Path(RESULTS).glob("*.json"))]
    if not found:
        print("No test of a client has passed; make test-clients runs them.")
        return 1
    stored = json.loads(FILE.read_bytes()) if FILE.exists() else {"showed": [], "environments": []}
    tested = {(row["client"], row["version"].partition(".")[0]) for _, row in found}
    kept = [row for row in stored["showed"] if (row["client"], row["version"].partition(".")[0]) not in tested]
    rows = {json.dumps(row): row for row in [*kept, *(row for _, row in found)]}
    notes = {row["name"]: row for row in stored["environments"]}
    notes |= {name: {"name": name, **each.note()} for name, each in environments().items() if each.note()}
    content = {
        "showed": sorted(rows.values(), key=lambda row: (row["client"].lower(), row["version"], row["command"])),
        "environments": [notes[name] for name in sorted(notes)],
    }
    FILE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
