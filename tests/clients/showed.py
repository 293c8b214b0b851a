"""Write what the tests of clients showed into ``docs/clients.json``, from which the manual's table is made.

``python -m tests.clients.showed`` writes what the last run of each environment showed. With names of environments it
only says which others were left out, and fails if nothing was shown in one that is named.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from tests.clients.environments import RESULTS, ROOT, choose, environments

FILE = ROOT / "docs" / "clients.json"


def main(names: Sequence[str]) -> int:
    """Write the results, or look for those of some environments; return 1 if there are none."""
    found = {path.name: json.loads(path.read_bytes()) for path in sorted(RESULTS.glob("*.json"))}
    ran = {name.partition(".")[0] for name in found}
    if names:
        chosen = [each.name for each in choose(names)]
        print(f"Clients left out of this run: {', '.join(sorted(environments().keys() - set(chosen))) or 'none'}.")
        for name in (silent := [name for name in chosen if name not in ran]):
            print(f"{name}: was named, and none of its tests showed anything.")
        return int(bool(silent))
    if not found:
        print("No test of a client has passed; make test-clients runs them.")
        return 1
    content = {
        "showed": sorted(
            found.values(), key=lambda row: (row["client"].lower(), row["version"], row["command"], row["showed"])
        ),
        "environments": [{"name": name} | each.note() for name, each in sorted(environments().items()) if name in ran],
    }
    FILE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
