"""The README shows what the demo prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from vttdata.cli.main import main

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.mark.not_on("win32")
@pytest.mark.long
def test_demo_prints_what_the_readme_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "demo", "--quiet", "--out", str(tmp_path / "demo")]) == 0
    printed = capsys.readouterr().out.splitlines()
    # Behind it stands the name of the build, which is another one here.
    shown = {line.partition("; 'vttdata")[0] for line in README.read_text(encoding="utf-8").splitlines()}
    stages = printed[printed.index(next(line for line in printed if line.startswith("stage"))) :]
    facts = stages[: stages.index("")]
    facts += [line.partition("; 'vttdata")[0] for line in printed if line.startswith(("Clips: ", "Left out: "))]
    assert len(facts) > 15
    assert [line for line in facts if line not in shown] == []
