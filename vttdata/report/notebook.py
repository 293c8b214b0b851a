"""Show the report of a build or dataset in a notebook."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from vttdata.load.local_builds import find_build, read_account
from vttdata.load.lookup import find_dataset
from vttdata.report.build_report import REPORT, write_report


@dataclass(frozen=True, slots=True)
class DatasetReport:
    """Report that a notebook displays.

    Fields:
        folder: build or dataset that it is about.
        path: HTML file; without a build it lasts as long as this object.
    """

    folder: Path
    path: Path
    _temporary: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False, compare=False)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as an HTML file, and what does not fit into a folder of the same name beside it.

        Raises:
            VttdataError: when the name does not end in ``.html``.
        """
        return write_report(self.folder, Path(path))

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, which can reach neither the notebook nor its files."""
        page = escape(self.path.read_text(encoding="utf-8"))
        return (
            f'<iframe title="Report" sandbox="allow-scripts" srcdoc="{page}" '
            'style="width: 100%; height: 700px; border: 1px solid #999"></iframe>'
        )


def dataset_report(dataset: str | os.PathLike[str]) -> DatasetReport:
    """Write the report of a build or dataset, as ``vttdata report`` does, and return it for a notebook to display.

    That of a build is its ``report.html``. The frame in a notebook shows the clips that the page itself holds, the
    first thousand or so; `DatasetReport.save` writes a report with all of them.

    Args:
        dataset: Folder of a build or dataset, name of a local build, or Hub id.

    Raises:
        VttdataError: if there is no such build or dataset, or a table is damaged.
    """
    build = find_build(str(dataset))
    folder = build if build is not None else find_dataset(dataset)
    if build is not None or read_account(folder.parent) is not None:
        return DatasetReport(folder, write_report(folder))
    temporary = tempfile.TemporaryDirectory(prefix="vttdata-report-")
    return DatasetReport(folder, write_report(folder, Path(temporary.name) / REPORT), temporary)
