"""Publication of datasets on the HuggingFace Hub, and the comparison of two versions of a dataset.

Nothing here builds a dataset.
"""

from vttdata.publish.changes import ConfigDifference, Difference
from vttdata.publish.diff import difference

__all__ = ["ConfigDifference", "Difference", "difference"]
