"""Keep what is read of a dataset folder inside of it, whatever the names and links in it say."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from vttdata.errors import VttdataError
from vttdata.files.regular import read_regular

LINKS_OUT = "is a link that leads out of the dataset; put the file itself there"
"""Problem of a file, after its name."""

# The provenance of 100,000 inputs has 2^24 bytes, and the manifest of as many files.
_MAX_DESCRIPTION_BYTES = 2**26


def is_inside(name: str) -> bool:
    """Return whether a path from an untrusted file stays inside the folder that it starts from, links aside."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def links_out(dataset: Path, path: Path) -> bool:
    """Return whether a file of a dataset is a link, or in a linked folder, that leads out of the dataset.

    In the Hub's cache every file is a link to a blob beside the snapshots.
    """
    target = path.resolve()
    roots = [dataset.resolve()]
    if dataset.parent.name == "snapshots":
        roots.append((dataset.parent.parent / "blobs").resolve())
    return not any(target.is_relative_to(root) for root in roots)


def read_description(dataset: Path, name: str) -> bytes:
    """Return the content of a file that describes a dataset, such as its card.

    Raises:
        OSError: If it cannot be read.
        VttdataError: If it is a link that leads out of the dataset, or too large.
    """
    path = dataset / name
    if links_out(dataset, path):
        raise VttdataError(f"{path}: {LINKS_OUT}.")
    data = read_regular(path, _MAX_DESCRIPTION_BYTES + 1)
    if len(data) > _MAX_DESCRIPTION_BYTES:
        raise VttdataError(f"{path}: is larger than {_MAX_DESCRIPTION_BYTES} bytes, the limit for such a file.")
    return data
