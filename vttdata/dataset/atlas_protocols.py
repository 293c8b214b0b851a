"""Protocols of what a set of videos shares with training of others, and of what it does not."""

from __future__ import annotations

import re

from vttdata.dataset.protocol_file import Protocol
from vttdata.split.audit.atlas import Atlas


def shared_protocols(atlas: Atlas, name: str) -> dict[str, Protocol]:
    """Return the protocols of a set by the names of their files, those without items left out.

    ``protocol.json`` has the items that training of no other set has; what is trained on stays whole.
    ``shared-with-OTHER.json`` has those that training of this other set has, as `evaluate --train-split` takes them.
    """
    protocols, shared = {}, set()
    for (own, other), splits in atlas.shared_items.items():
        if own == name:
            label = re.sub(r"[^A-Za-z0-9._-]", "-", f"shared-with-{other}")[:60]
            protocols[f"{label}.json"] = Protocol(label, splits)
            shared |= {(split, item) for split, items in splits.items() for item in items}
    kept = {
        split: [item for item in items if (split, item) not in shared] for split, items in atlas.items[name].items()
    }
    protocols["protocol.json"] = Protocol("shared-with-no-training", {split: ids for split, ids in kept.items() if ids})
    return protocols
