"""The official annotation files of known benchmarks, read as they are: records, and findings about what is odd.

It neither mends nor drops anything, and it knows nothing of media.
"""

from vttdata.annotations.activitynet import read_activitynet
from vttdata.annotations.findings import MEANINGS, Finding, Findings
from vttdata.annotations.model import Annotations
from vttdata.annotations.msrvtt import read_msrvtt
from vttdata.annotations.msvd import read_msvd
from vttdata.annotations.protocols import read_protocol
from vttdata.annotations.trecvid.read import read_trecvid

READERS = {"msrvtt": read_msrvtt, "msvd": read_msvd, "activitynet-captions": read_activitynet}
"""The readers by the name of their format: each takes a folder and the language of the sentences."""

__all__ = [
    "MEANINGS",
    "READERS",
    "Annotations",
    "Finding",
    "Findings",
    "read_activitynet",
    "read_msrvtt",
    "read_msvd",
    "read_protocol",
    "read_trecvid",
]
