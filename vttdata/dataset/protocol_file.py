"""Protocol files: named lists of clips with a digest, by which two people can state that they used the same clips.

A file is JSON: `protocol` (its name), `splits` (split -> ids), `digest`, and what else is known of it. The digest
depends on the ids of each split alone, not on their order, the file or the machine.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vttdata.dataset.tombstones import ITEM, VIDEO, Tombstones
from vttdata.errors import VttdataError
from vttdata.files.output_file import write_whole
from vttdata.files.own_folder import FileChanges, check_own_file
from vttdata.files.reading import refuse_special
from vttdata.files.tables import refuse_duplicate_keys
from vttdata.ids import is_split_name

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_SHOWN_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Protocol:
    """Named division of clips into splits: split -> ids of clips, in their order.

    `about` is what else its file says, such as `dataset`, `version`, `date`, `source` and `citation`.
    """

    name: str
    splits: Mapping[str, Sequence[str]]
    about: Mapping[str, object] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the lines ``split<tab>id`` of all splits, sorted."""
        lines = sorted(f"{split}\t{video_id}\n" for split, ids in self.splits.items() for video_id in ids)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def label(self) -> str:
        """Name and first digits of the digest, to be stated beside a score."""
        return f"{self.name}@{self.digest[:_SHOWN_DIGITS]}"

    def write(self, path: Path) -> None:
        """Write the file.

        Raises:
            VttdataError: when no split has a clip, or another file than a protocol would be replaced.
        """
        if not any(self.splits.values()):
            raise VttdataError(f"{path}: no clip is left, so there is no protocol to write.")
        check_own_file(path, lambda: read_protocol_file(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"protocol": self.name, "digest": self.digest, **self.about, "splits": self.splits}
        write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def check_ids(self, known: Collection[str], source: object) -> None:
        """Raise VttdataError when it lists a clip that is not known."""
        unknown = [video_id for ids in self.splits.values() for video_id in ids if video_id not in known]
        if unknown:
            raise VttdataError(
                f"{source}: no clip has the id {unknown[0]!a} ({len(unknown):,} of the protocol's ids are unknown); it "
                "is a protocol of another dataset or version."
            )


def withdraw_from_protocol(path: Path, dataset: str, tombstones: Tombstones, changes: FileChanges) -> None:
    """Take withdrawn clips out of a protocol file, which gets another digest; a split may be left without clips.

    Raises:
        VttdataError: when it is no protocol file, or its digest is not that of its ids.
    """
    protocol = read_protocol_file(path)
    kept = {
        split: [video_id for video_id in ids if not tombstones.covers(video_id, (*VIDEO, *ITEM))]
        for split, ids in protocol.splits.items()
    }
    if protocol.about.get("dataset", dataset) != dataset:
        changes.left.append((path, f"is a protocol of {protocol.about['dataset']}"))
    elif kept != protocol.splits and not any(kept.values()):
        changes.left.append((path, f"no clip of it would be left: rm {shlex.quote(str(path))}"))
    elif kept != protocol.splits and changes.note(path, "changed"):
        Protocol(protocol.name, kept, protocol.about).write(path)


def is_protocol_file(name: object) -> bool:
    """Return True if what is given as the name of a configuration is the path of a protocol file."""
    return isinstance(name, str) and name.endswith(".json")


def read_protocol_file(path: Path) -> Protocol:
    """Read a protocol file and check its digest.

    Raises:
        VttdataError: when it cannot be read, has another shape, lists an id twice in a split, or its ids are not those
            that its digest was made of.
    """
    try:
        refuse_special(path)
        content = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=refuse_duplicate_keys)
    except OSError as error:
        raise VttdataError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (ValueError, RecursionError) as error:
        raise VttdataError(f"{path}: cut off, damaged or not JSON ({error}).") from error
    about = dict(content) if isinstance(content, dict) else {}
    name, digest, splits = (about.pop(key, None) for key in ("protocol", "digest", "splits"))
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(splits, dict) or not splits:
        raise VttdataError(f"{path}: is no protocol file, which has 'protocol' (a name), 'splits' and 'digest'.")
    for split, ids in splits.items():
        if not is_split_name(split) or not isinstance(ids, list) or not all(isinstance(own, str) for own in ids):
            raise VttdataError(f"{path}: the split {split[:60]!a} is not a list of ids, or has no usable name.")
        if len(set(ids)) < len(ids):
            raise VttdataError(f"{path}: an id of the split {split} is duplicated.")
    protocol = Protocol(name, splits, about)
    if digest != protocol.digest:
        raise VttdataError(
            f"{path}: its ids have the digest {protocol.digest[:_SHOWN_DIGITS]}..., but it states "
            f"{str(digest)[:_SHOWN_DIGITS]!a}...; they were changed after it was written."
        )
    return protocol
