"""macOS builds, and Windows does all but building, as far as a simulation on Linux tells."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import vttdata
from tests.helpers.builds import TINY_DEMO
from tests.helpers.other_systems import SYSTEMS, environment, run_command, run_python
from tests.helpers.session_files import make_once

# Imports all modules but those whose libraries are not installed, and prints what else goes wrong.
_IMPORT_ALL = """
import importlib, pkgutil, vttdata
for module in pkgutil.walk_packages(vttdata.__path__, "vttdata."):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        if error.name in ("fcntl", "resource") or error.name.startswith("vttdata"):
            print(module.name, repr(error))
    except SystemExit:
        pass
    except BaseException as error:
        print(module.name, repr(error))
"""

# Prints what modules of the package see of the system.
_LOOK = """
import vttdata, vttdata.load
import vttdata.subprocesses as seen
missing = []
for name in ("fcntl", "resource"):
    try:
        vars(seen)["__builtins__"]["__import__"](name)
    except ModuleNotFoundError:
        missing.append(name)
lacking = [name for name in ("sched_getaffinity", "fork", "killpg") if not hasattr(seen.os, name)]
try:
    open_there = eval(compile("lambda: open('/proc/self/stat')", seen.__file__, "eval"))
    open_there()
    lacking.append("nothing of /proc")
except FileNotFoundError:
    pass
print(seen.sys.platform, *missing, *lacking)
"""

# Calls a function that writes the id of its process and sleeps, or runs a program that does.
_PARENT = {
    "worker": (
        "from vttdata.subprocesses import CallProcess\n"
        "import os, sys\n"
        "process = CallProcess()\n"
        "print(process.call(os.getpid, seconds=600), flush=True)\n"
        "import time; process.call(time.sleep, 600, seconds=600)\n"
    ),
    "program": (
        "from vttdata.subprocesses import run\n"
        "import sys\n"
        "run(['sh', '-c', f'echo $$ > {sys.argv[1]}; sleep 600 & wait'], seconds=600)\n"
    ),
}


def has_ended(pid: int) -> bool:
    """Wait until a process has ended; False if it does not."""
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


@pytest.fixture(scope="session")
def built_on_macos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small dataset that was built where macOS is simulated."""

    def make(folder: Path) -> None:
        settings = [f"--set={key}={value}" for key, value in TINY_DEMO.items()]
        done = run_command("darwin", ["build", "demo", "--quiet", "--workers", "2", "--out", folder / "out", *settings])
        assert done.returncode == 0, done.stderr

    return make_once(tmp_path_factory, "built-on-macos", make) / "out"


@pytest.mark.parametrize(
    ("system", "seen"),
    [
        ("linux", "linux nothing of /proc"),
        ("darwin", "darwin sched_getaffinity fork"),
        ("win32", "win32 fcntl resource sched_getaffinity fork killpg"),
    ],
)
def test_package_and_its_loading_are_imported_where_the_system_lacks_modules(system: str, seen: str) -> None:
    code = _LOOK if system != "linux" else _LOOK.replace('vars(seen)["__builtins__"]["__import__"]', "__import__")
    done = run_python(system, "-c", code)
    assert (done.stdout.strip(), done.stderr) == (seen, "")


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_module_is_imported(system: str) -> None:
    done = run_python(system, "-c", _IMPORT_ALL)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.long
def test_build_on_macos_gives_the_same_files(built_on_macos: Path, tmp_path: Path) -> None:
    here = vttdata.build("demo", out=tmp_path / "out", settings=TINY_DEMO).dataset
    macos_dataset = built_on_macos / "dataset"
    assert (here / "manifest.json").read_bytes() == (macos_dataset / "manifest.json").read_bytes()
    assert sorted(path.relative_to(here) for path in here.rglob("*")) == sorted(
        path.relative_to(macos_dataset) for path in macos_dataset.rglob("*")
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["show", "DATASET"],
        ["audit", "DATASET"],
        ["verify", "DATASET"],
        ["verify", "DATASET", "--files-only"],
        ["diff", "DATASET", "DATASET"],
        ["rejects", "BUILD"],
        *(["export", "DATASET", "--format", name, "--out", "OUT"] for name in ("jsonl", "coco", "evaluation")),
        ["evaluate", "DATASET", "--baseline", "random-caption", "--metric", "bleu", "--out", "OUT"],
    ],
    ids=" ".join,
)
@pytest.mark.sampled(3)
def test_command_does_on_windows_what_it_does_on_linux(
    arguments: list[str], built_on_macos: Path, tmp_path: Path
) -> None:
    results = []
    for system in ("linux", "win32"):
        out = tmp_path / system / "out"
        out.parent.mkdir()
        places = {"DATASET": str(built_on_macos / "dataset"), "BUILD": str(built_on_macos), "OUT": str(out)}
        done = run_command(system, [places.get(argument, argument) for argument in arguments])
        files = {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        results.append((done.returncode, done.stdout.replace(str(out), "OUT"), files))
        assert done.returncode == 0, done.stderr
    assert results[0] == results[1]


def test_dataset_is_loaded_on_windows(built_on_macos: Path, tmp_path: Path) -> None:
    code = "import sys, vttdata; print(*sorted(row['video_id'] for row in vttdata.load_dataset(sys.argv[1])['train']))"
    results = [
        run_python(system, "-c", code, str(built_on_macos / "dataset"), HF_HOME=str(tmp_path / system))
        for system in ("linux", "win32")
    ]
    assert results[0].stdout == results[1].stdout != "", results[1].stderr


def test_commands_that_start_processes_say_on_windows_that_they_need_wsl(tmp_path: Path) -> None:
    commands = {
        "build": "build demo --out out",
        "foil": "foil captions.csv --out out",
        "degrade": "degrade captions.csv --out out",
        "video shots": "video shots film.mp4",
        "people serve": "people serve campaign",
        "people make": "people make caption videos --out out",
    }
    code = "import sys; from vttdata.cli.main import main; print(*(main(text.split()) for text in sys.argv[1:]))"
    done = run_python("win32", "-c", f"import os; os.chdir({str(tmp_path)!r}); {code}", *commands.values())
    assert done.stdout.split() == ["2"] * len(commands), done.stderr
    needed = "needs Linux or macOS; on Windows, run vttdata in WSL."
    assert done.stderr.splitlines() == [f"vttdata: 'vttdata {name}' {needed}" for name in commands]
    assert not list(tmp_path.iterdir())


def test_rebuilding_says_on_windows_that_it_needs_wsl(built_on_macos: Path) -> None:
    done = run_command("win32", ["verify", built_on_macos / "dataset", "--rebuild"])
    assert done.returncode == 2
    assert done.stderr == "vttdata: Building needs Linux or macOS; on Windows, run vttdata in WSL.\n"


@pytest.mark.parametrize("system", ["linux", "darwin"])
@pytest.mark.parametrize("child", _PARENT)
def test_child_ends_with_its_killed_parent(child: str, system: str, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT[child], str(file)], env=environment(system), stdout=subprocess.PIPE, text=True
    ) as parent:
        if child == "worker":
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
        else:
            while not file.exists() or not file.read_text().strip():
                time.sleep(0.02)
            pid = int(file.read_text())
        parent.kill()
    assert has_ended(pid)


def test_program_that_macos_ends_takes_its_children_along_and_no_watcher_stays(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    code = (
        "import os, sys; from vttdata.subprocesses import run\n"
        "done = run(['sh', '-c', f'sleep 600 & echo $! > {sys.argv[1]}'], seconds=600)\n"
        "print(done.code, done.stopped)\n"
        "try:\n    print(os.waitpid(-1, os.WNOHANG))\nexcept ChildProcessError:\n    print('no children')\n"
    )
    done = run_python("darwin", "-c", code, str(file))
    assert done.stdout == "0 None\nno children\n", done.stderr
    assert has_ended(int(file.read_text()))


@pytest.mark.parametrize("system", ["linux", *SYSTEMS])
def test_cores_are_counted(system: str) -> None:
    done = run_python(system, "-c", "from vttdata.subprocesses import usable_cores; print(usable_cores())")
    assert 1 <= int(done.stdout) <= (os.cpu_count() or 1)


def test_paths_that_lead_out_of_a_dataset_are_noticed() -> None:
    # Path -> whether it is inside for Linux and for Windows.
    is_inside = {
        "videos/train/a.mp4": (True, True),
        "../a.mp4": (False, False),
        "/etc/passwd": (False, False),
        "videos\\..\\..\\a.mp4": (True, False),
        "C:\\a.mp4": (True, False),
        "C:a.mp4": (True, False),
        "\\\\server\\share\\a.mp4": (True, False),
    }
    code = "import sys; from vttdata.files.reading import is_inside; print(*map(is_inside, sys.argv[1:]))"
    for place, system in enumerate(("linux", "win32")):
        found = run_python(system, "-c", code, *is_inside).stdout.split()
        assert found == [str(expected[place]) for expected in is_inside.values()], system
