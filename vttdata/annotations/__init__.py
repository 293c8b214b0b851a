"""Parts that readers of official annotation files share: opening files, their result, findings about irregularities.

The readers themselves are in the builders of their benchmarks. Nothing is corrected or dropped, and no media is read.
"""

from vttdata.annotations.findings import MEANINGS, Finding, Findings
from vttdata.annotations.model import Annotations
from vttdata.annotations.protocol_splits import read_protocol

__all__ = [
    "MEANINGS",
    "Annotations",
    "Finding",
    "Findings",
    "read_protocol",
]
