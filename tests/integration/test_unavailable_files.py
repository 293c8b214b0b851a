"""Trouble of the machine is no verdict on a file: the same command tries it again and gets the right result."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.builds import film
from tests.helpers.failing_reads import run_with_failing_reads
from vttdata.collect import CollectSettings, list_folder
from vttdata.errors import DISK_ERRORS, HaltError, MediaError, UnavailableError
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.measure import measure
from vttdata.media.probe import probe
from vttdata.pipeline.engine import Engine, Table
from vttdata.pipeline.executors.local import LocalExecutor
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.stage import Stage
from vttdata.pipeline.stages.annotations import ClipFiles, find_record_files
from vttdata.pipeline.stages.collect import Fetch
from vttdata.pipeline.stages.videos import MeasureSources, ProbeSources, SourceFolders
from vttdata.records import Clip
from vttdata.subprocesses import run as run_program


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    folder = tmp_path / "mount" / "videos"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        film(folder / f"{name}.mp4", seconds=2)
    (folder / "c.mp4").write_bytes(b"no video")
    return folder


@pytest.fixture
def executor() -> Iterator[LocalExecutor]:
    pool = LocalExecutor(1)
    yield pool
    pool.close()


def test_folder_that_was_away_is_read_by_the_same_command(
    videos: Path, tmp_path: Path, executor: LocalExecutor
) -> None:
    folders = SourceFolders(videos, tmp_path / "fetched")
    stages: list[Stage] = [
        Fetch(720, CollectSettings(folder=str(videos)), folders, frozenset()),
        ProbeSources(folders),
        MeasureSources("av", folders, tmp_path),
    ]

    def bring_up_to_date(stage: Stage, items: list[object]) -> Table:
        journal = Journal(tmp_path / "journal.jsonl")
        return Engine(tmp_path / "stages", executor, journal, retry_failed=False, quiet=True).run(stage, items)

    items: list[object] = [*list_folder(videos)]
    expected = [{}, {"unreadable": 1}, {}]
    for stage, failed in zip(stages, expected, strict=True):
        videos.parent.rename(tmp_path / "away")
        # The mount point stays, as it does where a network folder is gone.
        videos.parent.mkdir()
        away = bring_up_to_date(stage, items)
        assert (len(away), away.tally.failed) == (0, {"io_error": len(items)})
        assert away.tally.inconclusive == away.tally.failed
        videos.parent.rmdir()
        (tmp_path / "away").rename(videos.parent)
        table = bring_up_to_date(stage, items)
        assert (table.tally.failed, len(table)) == (failed, len(items) - sum(failed.values()))
        assert not table.tally.inconclusive
        items = [*table]


def test_checksum_of_an_official_video_is_not_left_out_because_the_folder_is_away(videos: Path) -> None:
    clip = Clip("a", "a", 0.0, 2.0, None, None, None)
    (item,) = find_record_files(videos, [clip])
    videos.rename(videos.parent / "away")
    with pytest.raises(HaltError, match=rf"The build stopped: .* \({videos}.*run the same command again") as error:
        list(ClipFiles(videos).process(item))
    assert isinstance(error.value.__cause__, FileNotFoundError)


LIMITED = """
import functools, resource, sys
from pathlib import Path
from vttdata.errors import MediaError
from vttdata.media import detect_shots
from vttdata.media.measure import measure
read = {'measure': measure, 'shots': functools.partial(detect_shots, threads=0)}[sys.argv[1]]
# Number of the field of statm: the whole address space, or data alone, of which shared memory is no part.
kind, field = {'AS': (resource.RLIMIT_AS, 0), 'DATA': (resource.RLIMIT_DATA, 5)}[sys.argv[2]]
read(Path(sys.argv[3]))
pages = int(open('/proc/self/statm').read().split()[field])
for megabytes in map(int, sys.argv[5:]):
    limit = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(kind, (limit, resource.RLIM_INFINITY))
    try:
        read(Path(sys.argv[4]))
        print('kept')
    except MediaError as error:
        print(error.reason)
    resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("limit", ["AS", "DATA"])
@pytest.mark.parametrize("reader", ["measure", "shots"])
@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
@pytest.mark.sampled(3)
def test_memory_limit_makes_no_healthy_file_a_damaged_one(codec: str, reader: str, limit: str, tmp_path: Path) -> None:
    small = film(tmp_path / "small.mp4", seconds=1)
    large = tmp_path / "large.mp4"
    picture = ["-f", "lavfi", "-i", "testsrc2=s=3840x2160:r=5:d=0.8"]
    fast = ["-preset", "ultrafast"] if codec == "libx264" else []
    subprocess.run([ffmpeg_path(), "-v", "error", *picture, "-c:v", codec, *fast, str(large)], check=True)
    limits = ("5", "12", "25", "40", "60", "90", "130", "200")
    command = [sys.executable, "-c", LIMITED, reader, limit, str(small), str(large), *limits]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = done.stdout.split()
    assert len(found) == len(limits)
    assert found[0] == "out_of_memory"
    assert {*found} <= {"out_of_memory", "kept"}


def test_memory_that_is_short_in_a_filter_is_no_mistake_of_the_filter(
    videos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hungry:
        name = "hungry"

        def add(self, picture: object) -> None:
            raise MemoryError

    monkeypatch.setattr(sys.modules["vttdata.media.measure"], "PICTURE_FILTERS", (Hungry,))
    with pytest.raises(UnavailableError) as caught:
        measure(videos / "a.mp4")
    assert caught.value.reason == "out_of_memory"


def test_too_many_open_files_are_about_the_machine(videos: Path) -> None:
    with pytest.raises(MediaError) as caught:
        probe(videos / "c.mp4")
    assert caught.value.reason == "unreadable"
    script = (
        "import os, resource, sys\nfrom pathlib import Path\nfrom vttdata.media.probe import probe\n"
        "probe(Path(sys.argv[1]))\nresource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\n"
        "held = []\ntry:\n    while True: held.append(os.open('/', os.O_RDONLY))\nexcept OSError: pass\n"
        "try: probe(Path(sys.argv[1]))\nexcept Exception as error: print(type(error).__name__, error.reason)\n"
    )
    command = [sys.executable, "-c", script, str(videos / "a.mp4")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("UnavailableError io_error\n", "")


EACH_READ_FAILS = """
import ctypes, errno, os, sys
from pathlib import Path
from vttdata.errors import UnavailableError
from vttdata.media.cut import MediaSettings, cut
from vttdata.media.measure import frame_times, measure
from vttdata.media.probe import probe
path, counts = Path(sys.argv[1]), ctypes.CDLL(None)
# The ffmpeg program can read.
del os.environ["LD_PRELOAD"]
facts, measured, settings = probe(path), frame_times(path), MediaSettings(height=64, audio=False)
once, always = 1, 10**9
trials = (
    (lambda: probe(path), ((errno.EIO, once), (errno.EIO, always))),
    (lambda: measure(path), ((errno.EIO, once), (errno.EIO, always), (errno.ENOMEM, once))),
    (lambda: cut(path, facts, measured, 0.0, 3.0, path.with_name("clip.mp4"), settings), ((errno.EIO, once),)),
)
os.environ["FAIL_FILE"] = path.name
for function, errors in trials:
    counts.reads_until_now()
    expected = function()
    reads = counts.reads_until_now()
    for number, times in errors:
        for first in range(reads):
            os.environ |= {"FAIL_ERRNO": str(number), "FAIL_FIRST": str(first), "FAIL_END": str(first + times)}
            counts.reads_until_now()
            try:
                assert function() == expected, (number, first, times)
            except UnavailableError as error:
                print(number, "for a moment" if "for a moment" in str(error) else error.reason)
            except OSError as error:
                assert error.errno == number
        os.environ["FAIL_END"] = "0"
"""


def test_read_that_fails_is_no_verdict_on_the_file(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mkv", seconds=6)
    output = run_with_failing_reads(EACH_READ_FAILS, str(path), folder=tmp_path).splitlines()
    assert {"5 io_error", "5 for a moment", "12 out_of_memory"} <= {*output}


STAGE_FAILS_ONCE = """
import dataclasses, os, sys
from pathlib import Path
from vttdata.collect import CollectSettings, fetch, list_folder
from vttdata.media.probe import probe
from vttdata.pipeline.engine import Engine
from vttdata.pipeline.executors.local import LocalExecutor
from vttdata.pipeline.journal import Journal
from vttdata.pipeline.stages.videos import MeasureSources, SourceFolders
videos, out = map(Path, sys.argv[1:])
(candidate,) = list_folder(videos)
source = fetch(candidate, originals=videos, store=out, settings=CollectSettings(folder=str(videos)))
source = dataclasses.replace(source, probe=probe(videos / source.file))
stage = MeasureSources("av", SourceFolders(videos, out), out)
os.environ["FAIL_FILE"] = "a.mp4"
for end in ("1000000", "0"):
    os.environ["FAIL_END"] = end
    executor = LocalExecutor(1)
    engine = Engine(out / "stages", executor, Journal(out / "journal.jsonl"), retry_failed=False, quiet=True)
    table = engine.run(stage, [source])
    executor.close()
    print(len(table), dict(table.tally.failed), dict(table.tally.inconclusive))
"""


def test_file_that_could_not_be_read_is_read_by_the_next_run(videos: Path, tmp_path: Path) -> None:
    for name in ("b.mp4", "c.mp4"):
        (videos / name).unlink()
    output = run_with_failing_reads(STAGE_FAILS_ONCE, str(videos), str(tmp_path), folder=tmp_path)
    assert output == "0 {'io_error': 1} {'io_error': 1}\n1 {} {}\n"


def test_program_that_lacks_memory_or_files_says_nothing_about_its_input() -> None:
    for number in (errno.ENOMEM, errno.EMFILE):
        text = os.strerror(number)
        with pytest.raises(OSError, match=Path(sys.executable).name) as error:
            run_program([sys.executable, "-c", f"import sys; sys.exit('x.mp4: {text}')"], seconds=20)
        assert error.value.errno == number
        assert (
            run_program([sys.executable, "-c", f"import sys; print('{text}', file=sys.stderr)"], seconds=20).code == 0
        )


def test_unavailable_file_reaches_another_process_as_it_is() -> None:
    error = pickle.loads(pickle.dumps(UnavailableError("io_error", "gone.")))
    assert (type(error), error.reason, str(error)) == (UnavailableError, "io_error", "gone.")


def test_limit_on_the_size_of_files_says_nothing_about_a_video(videos: Path, tmp_path: Path) -> None:
    script = (
        "import resource, sys\nfrom vttdata.subprocesses import run\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9))\n"
        "try: run(sys.argv[1:], seconds=60)\nexcept OSError as error: print(error.errno)\n"
    )
    copy = [ffmpeg_path(), "-v", "error", "-i", str(videos / "a.mp4"), "-c", "copy", str(tmp_path / "copy.mp4")]
    done = subprocess.run([sys.executable, "-c", script, *copy], capture_output=True, text=True, check=True)
    assert int(done.stdout) in DISK_ERRORS
