"""Show the report of a build or dataset, and its plots one by one, in a notebook."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path

from markupsafe import Markup

from vttdata.files.output_file import HTML, check_output_file, write_whole
from vttdata.load.local_builds import BuildRegistry, read_account
from vttdata.load.lookup import find_dataset
from vttdata.report.build_report import REPORT, write_report
from vttdata.report.page import render_figure

_REPORT_PIXELS = 700
# Heights of a histogram, and of the head and a row of a table with bars.
_PLOT_PIXELS, _HEAD_PIXELS, _ROW_PIXELS = 270, 130, 34
_PLOT = re.compile(r'<figure class="plot">.*?</figure>', re.DOTALL)
_TITLE = re.compile(r"<(figcaption|caption)>(.*?)</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Figure:
    """Plot of a report, which a notebook displays: an HTML page with the plot alone, in a frame so many pixels high."""

    title: str
    page: str = field(repr=False)
    height: int

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the plot as an HTML file.

        Raises:
            VttdataError: when the name does not end in ``.html``, or is that of a file which is no page of vttdata.
        """
        target = Path(path)
        check_output_file(target, HTML)
        write_whole(target, self.page)
        return target

    def _repr_html_(self) -> str:
        """Return the plot in a frame of its own."""
        return _frame(self.title, self.page, self.height, "")


@dataclass(frozen=True, slots=True)
class DatasetReport:
    """Report of a build or dataset that a notebook displays; without a build its file lasts as long as this object."""

    folder: Path
    path: Path
    _temporary: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False, compare=False)

    @property
    def figures(self) -> dict[str, Figure]:
        """Title -> plot, of all plots of the report, in its order."""
        found = {}
        for match in _PLOT.finditer(self.path.read_text(encoding="utf-8")):
            # Links lead into the report.
            plot = re.sub(r"</?a\b[^>]*>", "", match[0])
            caption = _TITLE.search(plot)
            title = unescape(re.sub(r"<[^>]*>", "", caption[2])).strip() if caption else ""
            rows = plot.count("<tr>")
            height = _HEAD_PIXELS + _ROW_PIXELS * rows if rows else _PLOT_PIXELS
            found[title] = Figure(title, render_figure(title, Markup(plot)), height)  # noqa: S704
        return found

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as an HTML file, and what does not fit into the folder PATH.files beside it.

        Raises:
            VttdataError: when the name does not end in ``.html``.
        """
        return write_report(self.folder, Path(path))

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, which can reach neither the notebook nor its files."""
        return _frame("Report", self.path.read_text(encoding="utf-8"), _REPORT_PIXELS, "allow-scripts")


def _frame(title: str, page: str, height: int, permissions: str) -> str:
    return (
        f'<iframe title="{escape(title)}" sandbox="{permissions}" srcdoc="{escape(page)}" '
        f'style="width: 100%; height: {height}px; border: 1px solid #999"></iframe>'
    )


def dataset_report(dataset: str | os.PathLike[str]) -> DatasetReport:
    """Write the report of a build or dataset, as ``vttdata show --page`` does, and return it for a notebook to display.

    That of a build is its ``report.html``. The frame in a notebook shows the clips that the page itself holds, the
    first thousand or so; `DatasetReport.save` writes a report with all of them.

    Args:
        dataset: Folder of a build or dataset, name of a local build, or Hub id.

    Raises:
        VttdataError: if there is no such build or dataset, or a table is damaged.
    """
    build = BuildRegistry().find(str(dataset))
    folder = build.folder if build is not None else find_dataset(dataset)
    if build is not None or read_account(folder.parent) is not None:
        return DatasetReport(folder, write_report(folder))
    temporary = tempfile.TemporaryDirectory(prefix="vttdata-report-")
    return DatasetReport(folder, write_report(folder, Path(temporary.name) / REPORT), temporary)
