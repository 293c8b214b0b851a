"""Publication of datasets on the HuggingFace Hub, and the comparison of two versions of a dataset.

Nothing here builds a dataset.
"""

from vttdata.publish.diff import ConfigDifference, DatasetDifference, compare_datasets

__all__ = ["ConfigDifference", "DatasetDifference", "compare_datasets"]
