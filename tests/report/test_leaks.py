"""What splits share is on the page, with or without videos, whatever the names and captions hold."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.needs import library

library("selenium")
library("jinja2")

from selenium.webdriver.remote.webdriver import WebDriver

from tests.helpers import leaking_dataset
from tests.helpers.leaking_dataset import write_leaking_dataset
from tests.report.test_results import HOSTILE, check
from vttdata.dataset.front_matter import read_layout
from vttdata.dataset.leak_audit import audit_files
from vttdata.report.build_report import write_report


def test_every_leak_of_an_audit_is_shown(browser: WebDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaking_dataset, "THINGS", [f"{thing} {HOSTILE}" for thing in leaking_dataset.THINGS])
    dataset = write_leaking_dataset(tmp_path / "dataset")
    audit = audit_files(read_layout(dataset).files).as_json()
    # An audit by fingerprints, of a dataset whose build is gone, says nothing on where copies begin.
    pair = {"splits": [["train"], ["test"]], "offset_seconds": -2.0, "overlap_seconds": 5.0, "similarity": 1.5}
    audit["examples"]["near_duplicate"] = [{"sources": ["b", "d"], **pair}]
    audit["closest"] = {"sources": ["c", HOSTILE], **pair, "similarity": 0.5}
    settings = {"description": HOSTILE}
    account = {"recipe": "me/small", "status": "complete", "settings": settings, "audit": audit}
    (tmp_path / "build.json").write_text(json.dumps(account), encoding="utf-8")
    page = check(browser, write_report(tmp_path))
    titles = ["Source in several splits", "Overlap in time", "Near-duplicates", "Captions in several splits"]
    assert page.texts("#leaks h3") == titles
    texts = page.texts("#leaks .reason p, #leaks .reason li")
    assert any(text.startswith("a: 1 in train (r0); 2 in test (t0, t1); by ") for text in texts)
    assert "5.00 s: r0 (train) and t0 (test) of a" in texts
    assert {"r0, train, 0.00 to 10.00 s", "t0, test, 5.00 to 15.00 s"} <= {*texts}
    assert any(
        text.startswith("Across splits. Both show the same for 5 s, the second at t \u2212 2 s") for text in texts
    )
    page.js("[...document.querySelectorAll('#leaks a[data-clip]')].find((a) => a.innerText.startsWith('t0,')).click()")
    page.wait(lambda: page.texts("dialog ol li"))
    assert page.texts("dialog h3") == ["t0"]
    copies = {"source_a": ["b"], "source_b": ["d"], "offset_seconds": [1.0], "overlap_seconds": [4.0]}
    copies |= {"speed": [1.0], "start_seconds": [0.0], "mirrored": [False], "rotation": [0], "similarity": [1.5]}
    table = tmp_path / "stages" / "copies" / "kept.parquet"
    table.parent.mkdir(parents=True)
    pq.write_table(pa.table(copies), table)
    page = check(browser, write_report(tmp_path), "#leaks")
    assert any("Both show the same for 4 s, the second at t + 1 s" in text for text in page.texts("#leaks .reason p"))
    table.unlink()
    del audit["examples"]["near_duplicate"]
    (tmp_path / "build.json").write_text(json.dumps(account), encoding="utf-8")
    page = check(browser, write_report(tmp_path), "#leaks")
    assert "Closest sources of different splits" in page.texts("#leaks h3")
    assert any(HOSTILE.replace("\u202e", "\ufffd") in text for text in page.texts("#leaks li"))
