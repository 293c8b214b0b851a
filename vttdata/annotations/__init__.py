"""Parts that readers of official annotation files share: records as they are, and findings about irregularities.

The readers themselves are in the builders of their benchmarks. Nothing is mended or dropped, and no media is touched.
"""

from vttdata.annotations.findings import MEANINGS, Finding, Findings
from vttdata.annotations.model import Annotations
from vttdata.annotations.protocols import read_protocol

__all__ = [
    "MEANINGS",
    "Annotations",
    "Finding",
    "Findings",
    "read_protocol",
]
