"""Write what became of every test of a run, run again what lacked a library, and add up what no run has run.

As a program it takes the files of several environments and says which tests were skipped in all of them.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.needs import CLIENT, LIBRARY, PROGRAM

_LIBRARY = re.compile(LIBRARY.format(r"(\S+)"))
_PROGRAM = re.compile(PROGRAM.format(r"(\S+)"))
_CLIENT = re.compile(CLIENT.format(r"(\S+)", ".*"))
_STARTED = pytest.StashKey[float]()
_WANTED = pytest.StashKey[Mapping[str, str]]()


@dataclass(eq=False)
class Outcomes:
    """Ids of passed tests, and of tests and whole files that were skipped, with the reason."""

    passed: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that passed or was skipped."""
        if report.skipped:
            self.skipped[report.nodeid] = _reason(report)
        elif report.passed and report.when == "call":
            self.passed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that was skipped as a whole."""
        if report.skipped:
            self.skipped[report.nodeid] = _reason(report)

    def for_libraries(self) -> dict[str, str]:
        """Return what was skipped for want of a library, and which one."""
        return {nodeid: found[1] for nodeid, reason in self.skipped.items() if (found := _LIBRARY.fullmatch(reason))}

    def has_run(self, nodeid: str) -> bool:
        """Return whether a test passed, or any test of a file."""
        return any(passed == nodeid or passed.startswith(f"{nodeid}::") for passed in self.passed)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return str(report.longrepr[2]).removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else "xfail"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the environments in which the suite runs."""
    group = parser.getgroup("environments")
    group.addoption("--outcomes", metavar="FILE", help="write what became of each test")
    group.addoption(
        "--only-skipped", metavar="FILE", help="run what the run that wrote FILE skipped for want of a library"
    )
    group.addoption("--minutes", type=float, metavar="N", help="skip the tests that have not begun after N minutes")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Read what an earlier run skipped."""
    config.stash[_STARTED] = getattr(config, "workerinput", {}).get("started", time.time())
    if file := config.getoption("--only-skipped"):
        config.stash[_WANTED] = Outcomes(**json.loads(Path(file).read_bytes())).for_libraries()
        config.args = sorted({nodeid.partition("::")[0] for nodeid in config.stash[_WANTED]})
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(), "outcomes")


def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist when the run began."""
    node.workerinput["started"] = node.config.stash[_STARTED]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep only what an earlier run skipped for want of a library, if asked to."""
    if _WANTED in config.stash:
        wanted = config.stash[_WANTED]
        items[:] = [item for item in items if wanted.keys() & {item.nodeid, item.nodeid.partition("::")[0]}]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that has not begun when the minutes of the run are over."""
    minutes = item.config.getoption("--minutes")
    if minutes is not None and time.time() > item.config.stash[_STARTED] + 60 * minutes:
        pytest.skip(f"the {minutes:g} minutes of this run are over")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the outcomes; fail where a library is missing in the environment that must have them all."""
    outcomes: Outcomes | None = session.config.pluginmanager.get_plugin("outcomes")
    if outcomes is None:
        return
    if file := session.config.getoption("--outcomes"):
        Path(file).write_text(json.dumps({"passed": outcomes.passed, "skipped": outcomes.skipped}), encoding="utf-8")
    if _WANTED in session.config.stash and outcomes.for_libraries():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say in a line what was not run and how it can be."""
    outcomes: Outcomes = config.pluginmanager.get_plugin("outcomes")
    libraries = outcomes.for_libraries()
    if _WANTED in config.stash:
        wanted = config.stash[_WANTED]
        ran = sum(map(outcomes.has_run, wanted))
        terminalreporter.write_line(f"Skipped elsewhere for want of a library: {len(wanted)}; run here: {ran}.")
        for nodeid, name in libraries.items():
            terminalreporter.write_line(f"FAILED {nodeid}: the library {name} is missing here too.", red=True)
    elif outcomes.skipped:
        terminalreporter.write_line(describe_skipped(outcomes))


def describe_skipped(outcomes: Outcomes) -> str:
    """Return a line on what was skipped: libraries, programs and the rest, and how each is had."""
    libraries = outcomes.for_libraries()
    programs, clients = (
        [found[1] for reason in outcomes.skipped.values() if (found := pattern.fullmatch(reason))]
        for pattern in (_PROGRAM, _CLIENT)
    )
    parts = []
    if libraries:
        parts.append(f"{len(libraries)} for libraries ({_names(libraries.values())}; make test-extras runs them)")
    if programs:
        parts.append(f"{len(programs)} for programs ({_names(programs)}; install them)")
    if clients:
        parts.append(f"{len(clients)} for clients ({_names(clients)}; make test-clients runs them)")
    others = len(outcomes.skipped) - len(libraries) - len(programs) - len(clients)
    if others:
        parts.append(f"{others} for the reasons above")
    return f"Skipped tests and files of tests: {', '.join(parts)}."


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))


def main(files: Sequence[str]) -> None:
    """Print how many tests of the first environment none has run, by reason."""
    first, *others = (Outcomes(**json.loads(Path(file).read_bytes())) for file in files)
    left = {nodeid: why for nodeid, why in first.skipped.items() if not any(own.has_run(nodeid) for own in others)}
    print(f"Tests and files of tests that no environment has run: {len(left)}")
    for reason, number in Counter(left.values()).most_common():
        print(f"  {number}  {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
