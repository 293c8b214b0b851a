"""`docs/extending.md` is followed to the letter: its files are saved, its commands are run, and their results hold."""

from __future__ import annotations

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from selenium.webdriver import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from tests.helpers.forked import COMMANDS
from tests.helpers.needs import library
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.plugins import PLUGINS_VARIABLE

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
FILES = re.findall(r"Save\s+as\s+`([^`]+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
EVERY_COMMAND = re.findall(r"^\$ (.+)$", PAGE, re.MULTILINE)
# Between these, people answer.
CAMPAIGN = [command for command in EVERY_COMMAND if command.startswith("vttdata people")]
PRINTED = [command for command in EVERY_COMMAND if command not in CAMPAIGN]


class Workplace:
    """A folder with the page's files, and a shell in which the page's commands run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "VTTDATA_HOME": str(folder / "home"),
            "VTTDATA_PLUGINS": str(folder / "plugins"),
            "PATH": os.pathsep.join([str(folder / "bin"), os.environ["PATH"]]),
            "HF_HUB_OFFLINE": "1",
        }
        for name, program in (("vttdata", "-m vttdata"), ("python", "")):
            path = folder / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {program} "$@"\n')
            path.chmod(0o755)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        program, *arguments = shlex.split(command)
        if program == "vttdata":
            return COMMANDS.run(["vttdata.cli.main", *arguments], self.environment, self.folder)
        return subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A folder in which the whole page was followed."""
    folder = tmp_path_factory.mktemp("extending")
    workplace = Workplace(folder)
    for name, content in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "videos").mkdir()
    for name, picture in (("colourful", "testsrc2="), ("grey", "color=c=gray:")):
        video = folder / "videos" / f"{name}.mp4"
        options = ["-f", "lavfi", "-i", f"{picture}s=320x240:r=10:d=12", "-pix_fmt", "yuv420p"]
        subprocess.run([ffmpeg_path(), "-v", "error", *options, str(video)], check=True, timeout=60)
    return workplace


@pytest.fixture(scope="module")
def output(workplace: Workplace) -> dict[str, str]:
    """What each command of the page printed; all of them must succeed."""
    printed = {}
    for command in PRINTED:
        done = workplace.run(command)
        assert done.returncode == 0, (command, done.stderr)
        printed[command] = done.stdout
    return printed


def test_page_adds_one_file_for_each_extension() -> None:
    added = [name for name, _ in FILES if name.startswith("plugins/")]
    assert sorted({name.split("/")[1] for name in added}) == [
        "builders",
        "evaluation_tasks",
        "executors",
        "export",
        "filters",
        "metrics",
        "recipes",
        "tasks",
    ]
    assert len(added) == 10


def test_benchmark_is_listed_and_built(workplace: Workplace, output: dict[str, str]) -> None:
    assert "talks  " in output["vttdata list"]
    assert "lectures  " in output["vttdata list"]
    clips = pd.concat(pd.read_parquet(path) for path in sorted((workplace.folder / "talks/dataset/clips").glob("*")))
    assert sorted(clips["video_id"]) == ["talk1_a", "talk1_b", "talk2_a"]
    assert "0 sources" in output["vttdata audit talks"]
    assert (
        "1 passed" in output["python -m pytest -q tests/test_talks.py"]
        or "." in output["python -m pytest -q tests/test_talks.py"]
    )


def test_filter_has_a_recipe_key_a_column_and_a_reason(workplace: Workplace, output: dict[str, str]) -> None:
    assert output
    rejected = pd.read_parquet(workplace.folder / "street/stages/filter/rejected.parquet")
    assert rejected["reason"].tolist() == ["flat"]
    sources = pd.concat(pd.read_parquet(path) for path in (workplace.folder / "street/dataset/sources").glob("*"))
    assert sources["flat"].tolist() == [0.0]
    unknown = workplace.run("vttdata build own-folder --set collect.folder=videos --set filter.max_flatt=1 --out x")
    assert unknown.returncode == 2
    assert "did you mean 'max_flat'" in unknown.stderr


def test_export_format_is_listed_and_writes_its_files(workplace: Workplace, output: dict[str, str]) -> None:
    assert "transcript" in output["vttdata export --help"]
    assert "One text file a split" in output["vttdata export --help"]
    assert (workplace.folder / "transcript/test.txt").read_text() == "talk2_a\ta man writes on a blackboard\n"


def test_captioning_metric_scores_predictions(output: dict[str, str]) -> None:
    printed = output["vttdata evaluate talks system.csv --metric brevity --metric bleu1"]
    assert "brevity" in printed
    assert "brevity|tok:ptb-3.4.1|v:1" in printed


def test_metric_is_compared_with_people(output: dict[str, str]) -> None:
    assert (
        "Judged captions 8, systems 4, videos 2, assessments 16."
        in output["vttdata metric test captions.csv --scores ours.csv"]
    )


def test_evaluation_task_scores_predictions(workplace: Workplace, output: dict[str, str]) -> None:
    printed = output["vttdata evaluate talks durations.csv --task duration"]
    # The clip lasts 18 s, and 24 s are predicted.
    assert re.search(r"duration/ratio\W+0\.750", printed), printed
    (workplace.folder / "unknown.csv").write_text("video_id,seconds\ntalk9,24\n")
    refused = workplace.run("vttdata evaluate talks unknown.csv --task duration")
    assert refused.returncode == 2
    assert "none of the 1 durations is about one of the 1 items" in refused.stderr


def test_task_for_people_is_answered_and_scored(
    workplace: Workplace, browser: WebDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    library("starlette")
    library("httpx")
    from tests.people.served import Client, served
    from tests.people.static_page.site import Assessor
    from vttdata.people.campaign import read_campaign

    make, serve, score = CAMPAIGN
    monkeypatch.setenv(PLUGINS_VARIABLE, workplace.environment[PLUGINS_VARIABLE])
    made = workplace.run(make)
    assert made.returncode == 0, made.stderr
    ann = Assessor(browser)
    with served(read_campaign(workplace.folder / serve.split()[-1])) as running:
        ann.open(running.link("ann"))
        ann.wait(lambda: ann.is_shown("start"))
        ann.click("begin")
        for number in (1, 2):
            ann.wait(lambda number=number: ann.is_shown("task") and ann.text("count") == f"Video {number}")
            assert "How many people are to be seen?" in ann.text("box")
            ann.press("many", Keys.ENTER)
            assert ann.text("hint") == "Please enter a whole number."
            ann.press(Keys.BACKSPACE * len("many"), str(number), Keys.ENTER)
        ann.wait(lambda: ann.is_shown("end"))
        bob = Client(running.link("bob"))
        state = bob.insist("agree", {})
        refused = bob.post("check", {"unit": state["unit"], "item": state["item"], "answer": {"count": -1}})
        while state["stage"] == "item":
            state = bob.answer(state, {"count": 2})
    assert "Please enter a whole number." in refused.text
    scored = workplace.run(score)
    assert scored.returncode == 0, scored.stderr
    with (workplace.folder / "counted/results.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert sorted(row["count"] for row in rows) == ["1", "2", "2", "2"]
    assert {row["video_id"] for row in rows} == {"colourful", "grey"}
    assert "count,interval,2,4" in (workplace.folder / "counted/agreement.csv").read_text()


def test_executor_gives_the_same_data_files(workplace: Workplace, output: dict[str, str]) -> None:
    assert output
    tables = {
        name: {
            path.relative_to(workplace.folder / name): path.read_bytes()
            for path in (workplace.folder / name / "dataset").rglob("*.parquet")
        }
        for name in ("talks", "talks-inline")
    }
    assert list(tables["talks"].values()) == list(tables["talks-inline"].values()) != []
    unknown = workplace.run("vttdata build talks --set annotations=annotations --engine inlin --out x")
    assert unknown.returncode == 2
    assert "inline" in unknown.stderr


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("executors/inline.py", "vttdata build talks --set annotations=annotations --engine inline --out y"),
        ("builders/talks.py", "vttdata build talks --set annotations=annotations --out y"),
        ("filters/flat.py", "vttdata build own-folder --set collect.folder=videos --out y"),
        ("export/transcript.py", "vttdata export talks --format transcript --out y"),
        ("metrics/brevity.py", "vttdata evaluate talks system.csv --metric brevity"),
        ("evaluation_tasks/duration.py", "vttdata evaluate talks durations.csv --task duration"),
        ("tasks/count.py", "vttdata people make count videos --out y"),
    ],
)
@pytest.mark.parametrize("mistake", ["def broken(:\n", "raise RuntimeError('not today')\n", "x = 1 / 0\n"])
@pytest.mark.sampled(7)
def test_mistake_is_one_sentence_with_file_and_line(
    workplace: Workplace, output: dict[str, str], file: str, command: str, mistake: str
) -> None:
    assert output
    path = workplace.folder / "plugins" / file
    content = path.read_text()
    path.write_text(content + mistake)
    try:
        done = workplace.run(command)
    finally:
        path.write_text(content)
    assert done.returncode == 2
    # The folder `talks` is a build, and a first line says that the recipe is meant.
    *notes, sentence = done.stderr.splitlines()
    assert len(notes) <= ("build talks" in command)
    assert f"{path}:{content.count(chr(10)) + 1}" in sentence


def test_documentation_tables_list_the_extensions(workplace: Workplace, output: dict[str, str]) -> None:
    assert output
    for command, name in (("formats", "transcript"), ("filters", "flat")):
        assert f"| `{name}` |" in workplace.run(f"python {ROOT}/docs/tables.py {command}").stdout
