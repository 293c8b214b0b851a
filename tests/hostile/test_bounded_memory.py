"""Small files that ask for gigabytes are refused in one sentence, with less than a gigabyte of memory."""

from __future__ import annotations

import lzma
import struct
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.helpers.damage import write_rich_dataset
from tests.helpers.peak_memory import Ended, run_python
from vttdata import subprocesses
from vttdata.annotations.files import list_files
from vttdata.collect import CollectSettings, FetchError, LimitSettings, fetch, ytdlp
from vttdata.errors import MediaError, VttdataError
from vttdata.files.strict_yaml import parse_yaml
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.media.measure import measure
from vttdata.media.probe import probe
from vttdata.records import Candidate

MAX_MEGABYTES = 1024
# Nine levels of nine: 400 million texts when they are written out.
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def refused(ended: Ended, words: str, code: int = 2) -> None:
    assert (ended.code, words in ended.stderr, ended.stderr.count("\n")) == (code, True, 1), ended
    assert ended.megabytes < MAX_MEGABYTES
    assert ended.seconds < 30


def test_aliases_in_a_card_are_refused(tmp_path: Path) -> None:
    dataset = write_rich_dataset(tmp_path / "me" / "rich")
    write_rich_dataset(tmp_path / "me" / "other")
    card = dataset / "README.md"
    card.write_text(card.read_text().replace("---\n", f"---\n{BOMB}", 1))
    refused(run_python(["-m", "vttdata", "show", str(dataset)]), "YAML aliases (*name) are not allowed")
    listed = run_python(["-m", "vttdata", "list"], VTTDATA_HOME=str(tmp_path))
    assert (listed.code, "me/other: 1.0.0, 4 clips" in listed.stdout) == (0, True)
    assert "aliases" in listed.stdout
    assert listed.megabytes < MAX_MEGABYTES


def test_yaml_of_many_values_is_refused_before_it_is_built() -> None:
    with pytest.raises(VttdataError, match="more than 200000 values, the limit for YAML"):
        parse_yaml("[" + "a," * 300_000 + "]", "x.yaml")


def read_archive(path: Path) -> Ended:
    script = (
        "import sys; from pathlib import Path; import pydantic; from vttdata.annotations.files import *\n"
        "(file,) = list_files(Path(sys.argv[1]), {'.json'})\n"
        "try: read_json(file, pydantic.TypeAdapter(object), {})\n"
        "except VttdataError as error: sys.exit(str(error))"
    )
    return run_python(["-c", script, str(path.parent)])


def archive(path: Path, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as opened:
        opened.writestr("videodatainfo.json", content)
    return path


def test_archive_of_nested_values_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "files" / "a.zip", b"[" + b"[],[{}]," * 8_000_000 + b"0]")
    assert path.stat().st_size < 400_000
    ended = read_archive(path)
    refused(ended, "has more than 8388608 values, the limit for an official file", 1)


def test_archive_that_lies_about_its_size_is_unpacked_in_pieces(tmp_path: Path) -> None:
    path = archive(tmp_path / "files" / "a.zip", b" " * 300_000_000)
    content = bytearray(path.read_bytes())
    for position in (content.index(b"PK\x03\x04") + 22, content.index(b"PK\x01\x02") + 24):
        content[position : position + 4] = struct.pack("<I", 1000)
    path.write_bytes(content)
    ended = read_archive(path)
    refused(ended, f"{path} (videodatainfo.json): damaged or incomplete (", 1)
    assert ended.megabytes < 150


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_archive_with_damaged_content_is_refused(method: int, tmp_path: Path) -> None:
    path = archive(tmp_path / "files" / "a.zip", bytes(range(256)) * 64, method)
    content = bytearray(path.read_bytes())
    start = content.index(b"videodatainfo.json") + 18
    content[start + 9 : start + 60] = lzma.compress(b"x")[:51]
    path.write_bytes(content)
    (file,) = list_files(path.parent, {".json"})
    with pytest.raises(VttdataError, match=r"videodatainfo\.json\): "):
        file.read()


def film(path: Path, size: str, *options: str, frames: int = 1) -> Path:
    picture = ["-f", "lavfi", "-i", f"color=s={size}:r=25", "-frames:v", str(frames)]
    subprocess.run([ffmpeg_path(), "-v", "error", *picture, *options, str(path)], check=True)
    return path


def test_pictures_that_are_too_large_are_refused_and_the_limit_can_be_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = film(tmp_path / "huge.mov", "10000x8000", "-c:v", "mjpeg")
    script = "import sys; from pathlib import Path; from vttdata.media.probe import probe; probe(Path(sys.argv[1]))"
    ended = run_python(["-c", script, str(huge)])
    assert "pictures of 10000 x 8000 pixels are larger than the limit of 35651584 pixels (VTTDATA_MAX_PIXELS)" in (
        ended.stderr
    )
    assert ended.megabytes < MAX_MEGABYTES
    monkeypatch.setenv("VTTDATA_MAX_PIXELS", "100000000")
    assert probe(huge).width == 10000
    for text in ("x", "0", "-1", "1e9", "\u0661"):
        monkeypatch.setenv("VTTDATA_MAX_PIXELS", text)
        with pytest.raises(VttdataError, match=r"VTTDATA_MAX_PIXELS: found .* it should be a number of pixels"):
            probe(huge)


def test_pictures_that_become_too_large_in_the_stream_are_not_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [
        film(tmp_path / f"{n}.ts", size, "-c:v", "mpeg2video", frames=20) for n, size in enumerate(("64x64", "640x480"))
    ]
    path = tmp_path / "grows.ts"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    monkeypatch.setenv("VTTDATA_MAX_PIXELS", "20000")
    probe(parts[0])
    with pytest.raises(MediaError):
        measure(path)


@pytest.mark.usefixtures("fresh_interpreters")
def test_worker_that_takes_too_much_memory_ends_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VTTDATA_WORKER_MEMORY", "300")
    assert len(subprocesses.call(bytes, 10**8, seconds=60)) == 10**8
    with pytest.raises(VttdataError, match=r"the limit for a worker \(VTTDATA_WORKER_MEMORY\), did not suffice"):
        subprocesses.call(bytes, 10**9, seconds=60)
    # A program that a worker starts has the user's limit.
    script = (
        "from vttdata.subprocesses import limit_memory, run\n"
        "limit_memory(2**28)\nprint(run(['sh', '-c', 'ulimit -d'], seconds=9).stdout)"
    )
    assert run_python(["-c", script]).stdout == subprocesses.run(["sh", "-c", "ulimit -d"], seconds=9).stdout + "\n"


class _EndlessPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><body>")
        while True:
            self.wfile.write(b"<p>more and more</p>" * 50_000)

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None:
        """Keep the test output clean."""


@pytest.fixture
def endless_page() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _EndlessPage)
    server.daemon_threads = True
    server.handle_error = lambda *arguments: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/page"
    server.shutdown()


def test_page_without_end_exceeds_the_limit_of_an_item(
    endless_page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ytdlp, "BASE_MEMORY", 150 * 2**20)
    settings = CollectSettings(
        folder=".", limits=LimitSettings(120.0, 50.0), retries=0, backoff_seconds=0.0, sleep_seconds=0.0
    )
    with pytest.raises(FetchError) as caught:
        fetch(Candidate("url", endless_page), originals=tmp_path, store=tmp_path, settings=settings)
    assert (caught.value.reason, caught.value.detail) == ("too_large", "larger than the limit of 50 MB.")
    assert list(tmp_path.iterdir()) == []
