"""Test downloads with yt-dlp from a local server that fails in many ways."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.helpers.file_server import FileServer
from vttdata.collect import CollectSettings, FetchError, LimitSettings, fetch, format_selector, remove_unfinished
from vttdata.collect.ytdlp import retry_download, run_ytdlp
from vttdata.errors import HaltError
from vttdata.media import decode
from vttdata.media.ffmpeg_program import ffmpeg_path
from vttdata.records import Candidate, Source, Span


def quick(seconds: float = 60.0, **changes: object) -> CollectSettings:
    defaults: dict[str, object] = {
        "folder": ".",
        "limits": LimitSettings(seconds_per_item=seconds, megabytes_per_item=1.0),
        "retries": 0,
        "backoff_seconds": 0.0,
        "sleep_seconds": 0.0,
        "socket_timeout_seconds": 20.0,
    }
    return CollectSettings(**(defaults | changes))  # type: ignore[arg-type]


def get(url: str, store: Path, settings: CollectSettings | None = None, **facts: object) -> Source:
    candidate = Candidate("url", url, **facts)  # type: ignore[arg-type]
    return fetch(candidate, originals=store, store=store, settings=settings or quick())


def failing(url: str, store: Path, settings: CollectSettings | None = None) -> FetchError:
    with pytest.raises(FetchError) as caught:
        get(url, store, settings)
    assert list(store.iterdir()) == [], "a failed download leaves nothing behind"
    return caught.value


@pytest.mark.usefixtures("fresh_interpreters")
def test_direct_link_is_stored_under_its_content_hash(server: FileServer, tmp_path: Path) -> None:
    digest = hashlib.sha256(server.video).hexdigest()
    first = get(server.url("/good.mp4"), tmp_path)
    again = get(server.url("/other%20name's.mp4?x=1"), tmp_path, category="music", query="a cat", licence="cc0")
    assert first.source_id == again.source_id == "v" + digest[:16]
    assert (first.file, first.stored, first.sha256) == (f"v{digest[:16]}-{digest[:8]}.mp4", "fetched", digest)
    assert (first.bytes, first.url, first.format) == (len(server.video), server.url("/good.mp4"), "mp4")
    assert (again.category, again.query, again.licence) == ("music", "a cat", "cc0")
    assert [path.name for path in tmp_path.iterdir()] == [first.file]
    assert (tmp_path / first.file).read_bytes() == server.video


def test_listed_attributes_take_precedence_over_the_site(server: FileServer, tmp_path: Path) -> None:
    source = get(server.url("/good.mp4"), tmp_path, source_id="mine", title="My title", spans=(Span(0.0, 0.5),))
    assert (source.source_id, source.title) == ("mine", "My title")
    assert source.file == f"mine-{source.sha256[:8]}.mp4"
    assert source.spans == (Span(0.0, 0.5),)


FAILURES = [
    ("/stall.mp4", "timeout", True),
    ("/truncated.mp4", "network", True),
    ("/nothing.mp4", "network", True),
    ("/huge.mp4", "too_large", True),
    ("/endless.mp4", "too_large", True),
    ("/loop.mp4", "unsupported", False),
    ("/page.html", "unsupported", False),
    ("/several.html", "unsupported", False),
]
# Of failures that yt-dlp has no error for.
SENTENCES = {"/huge.mp4": "limit of 1 MB", "/endless.mp4": "limit of 1 MB", "/several.html": "a list of videos"}


REFUSALS = [("/gone.mp4", "removed", 404), ("/forbidden.mp4", "forbidden", 403), ("/busy.mp4", "rate_limit", 429)]


@pytest.mark.parametrize(("path", "reason", "status"), REFUSALS)
def test_refused_requests_are_not_retried(
    server: FileServer, tmp_path: Path, path: str, reason: str, status: int
) -> None:
    before = server.hits[path]
    error = failing(server.url(path), tmp_path, quick(60.0, retries=5, socket_timeout_seconds=30.0))
    assert error.reason == reason
    assert str(status) in error.detail
    assert server.hits[path] == before + 1


@pytest.mark.parametrize(("path", "reason", "retry"), FAILURES)
@pytest.mark.sampled(4)
def test_each_failure_has_its_reason(server: FileServer, tmp_path: Path, path: str, reason: str, retry: bool) -> None:
    settings = quick(socket_timeout_seconds=1.0) if path == "/stall.mp4" else quick()
    error = failing(server.url(path), tmp_path, settings)
    assert (error.reason, error.retry) == (reason, retry)
    assert SENTENCES.get(path, "") in error.detail
    assert error.detail
    assert str(tmp_path) not in error.detail


def test_wall_clock_limit_ends_a_stalled_download(server: FileServer, tmp_path: Path) -> None:
    error = failing(server.url("/stall.mp4"), tmp_path, quick(seconds=1.5, socket_timeout_seconds=60.0))
    assert (error.reason, error.retry, error.detail) == ("timeout", True, "not finished within the limit of 1.5 s.")


def test_host_without_a_connection_is_unreachable(tmp_path: Path) -> None:
    error = failing("http://127.0.0.1:9/x.mp4", tmp_path)
    assert (error.reason, error.retry) == ("unreachable", True)


def test_download_is_retried_when_the_server_recovers(server: FileServer, tmp_path: Path) -> None:
    source = get(server.url("/flaky.mp4"), tmp_path, quick(retries=1))
    assert (tmp_path / source.file).read_bytes() == server.video


def test_server_that_asks_for_a_pause_gets_it(server: FileServer, tmp_path: Path) -> None:
    start = time.monotonic()
    source = get(server.url("/later.mp4?1"), tmp_path, quick(retries=1))
    assert time.monotonic() - start >= 1
    assert (tmp_path / source.file).read_bytes() == server.video


def test_pause_longer_than_the_limit_is_not_waited_for(server: FileServer, tmp_path: Path) -> None:
    error = failing(server.url("/later.long.mp4?600"), tmp_path, quick(seconds=60.0, retries=1))
    assert (error.reason, error.wait) == ("rate_limit", 600.0)


def test_broken_transfer_is_resumed(server: FileServer, tmp_path: Path) -> None:
    source = get(server.url("/halved.mp4"), tmp_path, quick(retries=1))
    assert any(asked for path, asked in server.requests if path == "/halved.mp4")
    assert (tmp_path / source.file).read_bytes() == server.video


def test_pauses_between_retries_double_within_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now, pauses, remaining = 0.0, [], []

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        pauses.append(seconds)

    def fail(seconds: float) -> None:
        remaining.append(seconds)
        raise FetchError("network", "The server is down.", retry=True)

    monkeypatch.setattr("vttdata.collect.ytdlp.time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    with pytest.raises(FetchError, match="down"):
        retry_download(fail, quick(seconds=3.0, retries=50, backoff_seconds=0.5))
    assert pauses == [0.5, 1.0], "0.5 s + 1 s fit into 3 s, a further 2 s do not"
    assert remaining == [3.0, 2.5, 1.5]


def test_video_and_audio_are_merged_and_av1_is_skipped(
    server: FileServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The AV1 variant is the first choice of yt-dlp's own ranking; here its address leads nowhere."""
    made = tmp_path_factory.mktemp("hls")
    inputs = ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1", "-f", "lavfi", "-i", "sine=duration=1"]
    outputs = ["-map", "0", "-pix_fmt", "yuv420p", "-f", "hls", "v.m3u8", "-map", "1", "-f", "hls", "a.m3u8"]
    subprocess.run([ffmpeg_path(), "-v", "error", *inputs, *outputs], check=True, cwd=made)
    server.files |= {f"/hls/{path.name}": path.read_bytes() for path in made.iterdir()}
    variant = '#EXT-X-STREAM-INF:BANDWIDTH=90000,RESOLUTION={0},AUDIO="s",CODECS="{1},mp4a.40.2"\n{2}\n'
    server.files["/hls/film.m3u8"] = (
        '#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="s",DEFAULT=YES,URI="a.m3u8"\n'
        + variant.format("1280x720", "av01.0.05M.08", "absent.m3u8")
        + variant.format("640x480", "avc1.42c01e", "v.m3u8")
        + variant.format("1920x1080", "avc1.42c01e", "absent.m3u8")
    ).encode()
    source = get(server.url("/hls/film.m3u8"), tmp_path)
    with decode.open_video(tmp_path / source.file) as video:
        codecs = {stream.type: stream.codec_context.name for stream in video.container.streams}
    assert codecs["video"] == "h264"
    assert codecs["audio"] == "aac"
    assert [path.name for path in tmp_path.iterdir()] == [source.file]
    monkeypatch.setattr("vttdata.collect.download.ffmpeg_path", lambda: "/nowhere/ffmpeg")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(HaltError, match="could not merge video and audio with /nowhere/ffmpeg"):
        get(server.url("/hls/film.m3u8"), tmp_path)


def codec(name: str, video: str, audio: str, height: int | None = None, extension: str = "mp4") -> dict[str, object]:
    width = height * 16 // 9 if height else None
    facts: dict[str, object] = {
        "format_id": name,
        "vcodec": video,
        "acodec": audio,
        "height": height,
        "width": width,
        "ext": extension,
    }
    return facts | {"url": f"https://a.example/{name}", "protocol": "https"}


YOUTUBE = [
    codec("140", "none", "mp4a.40.2", extension="m4a"),
    codec("251", "none", "opus", extension="webm"),
    codec("18", "avc1.42001E", "mp4a.40.2", 360),
    codec("134", "avc1.4d401e", "none", 360),
    codec("136", "avc1.4d401f", "none", 720),
    codec("137", "avc1.640028", "none", 1080),
    codec("247", "vp9", "none", 720, "webm"),
    codec("398", "av01.0.05M.08", "none", 720),
    codec("399", "av01.0.08M.08", "none", 1080),
]


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ("18 134 136 137 140 247 251 398 399", ["136+140"]),
        ("247 251 398 399", ["247+251"]),
        ("137 140 399", ["137+140"]),
        ("18 398", ["18"]),
        ("136 398", ["136"]),
        ("140 398 399", []),
    ],
)
def test_h264_is_preferred_and_av1_never_selected(offered: str, chosen: list[str]) -> None:
    import yt_dlp

    formats = [dict(entry) for entry in YOUTUBE if entry["format_id"] in offered.split()]
    silent = all(entry["acodec"] == "none" for entry in formats)
    with yt_dlp.YoutubeDL({"quiet": True}) as program:
        choose = program.build_format_selector(format_selector(720))
        program.sort_formats({"formats": formats})
        picked = [entry["format_id"] for entry in choose({"formats": formats, "incomplete_formats": silent})]
    assert picked == chosen


def test_cookies_are_sent_and_their_file_is_not_written(server: FileServer, tmp_path: Path) -> None:
    cookies = tmp_path / "cookies.txt"
    text = "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tcrumb\tbutter\n"
    cookies.write_text(text)
    cookies.chmod(0o400)
    get(server.url("/good.mp4"), tmp_path / "store", quick(cookies=str(cookies)))
    assert "crumb=butter" in server.cookies
    assert cookies.read_text() == text


@pytest.mark.parametrize(
    "setting", [{"cookies": "none.txt"}, {"cookies": "cookies.json"}, {"cookies_from_browser": "netscape"}]
)
def test_useless_setting_is_no_failure_of_the_video(
    setting: dict[str, str], server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cookies.json").write_text('[{"domain": "127.0.0.1", "name": "crumb", "value": "butter"}]')
    before = server.hits.total()
    with pytest.raises(HaltError, match=r"[Cc]ookie"):
        get(server.url("/good.mp4"), tmp_path / "store", quick(**setting))
    assert server.hits.total() == before


def test_disk_that_takes_no_download_is_no_failure_of_the_video(server: FileServer, tmp_path: Path) -> None:
    options = [f"--output={'x' * 300}.%(ext)s"]
    with pytest.raises(HaltError, match=os.strerror(errno.ENAMETOOLONG)):
        run_ytdlp(options, server.url("/good.mp4"), folder=tmp_path, settings=quick(), seconds=60)


def test_requests_go_through_the_proxy(server: FileServer, tmp_path: Path) -> None:
    settings = quick(proxy=server.url(""), kilobytes_per_second=500.0)
    source = get("http://nosuch.invalid/good.mp4", tmp_path, settings)
    assert (tmp_path / source.file).read_bytes() == server.video


@pytest.mark.usefixtures("fresh_interpreters")
def test_addresses_and_user_configuration_cannot_run_commands(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "trace"
    (tmp_path / "home/yt-dlp").mkdir(parents=True)
    (tmp_path / "home/yt-dlp/config").write_text(f"--exec 'touch {trace}'\n")
    plugins = tmp_path / "home/yt-dlp/plugins/mine/yt_dlp_plugins/extractor"
    plugins.mkdir(parents=True)
    (plugins / "mine.py").write_text(f"open({str(trace)!r}, 'w')\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    get(server.url("/good.mp4"), tmp_path / "store")
    for order in (f"--exec=touch {trace}", f"file://{tmp_path}/home/yt-dlp/config"):
        failing(order, tmp_path / "empty")
    assert not trace.exists()


def test_killed_download_ends_ytdlp_and_can_be_removed(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "kept.mp4").write_bytes(b"x")
    code = (
        "from pathlib import Path; from tests.collect.test_download import get, quick; import sys;"
        "get(sys.argv[1], Path(sys.argv[2]), quick(socket_timeout_seconds=60.0))"
    )
    root = Path(__file__).parents[2]
    child = subprocess.Popen([sys.executable, "-c", code, server.url("/stall.mp4"), str(tmp_path)], cwd=root)
    before = server.hits["/stall.mp4"]
    while server.hits["/stall.mp4"] == before and child.poll() is None:
        time.sleep(0.02)
    (left,) = tmp_path.glob(".fetch-*")
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    if sys.platform.startswith("linux"):
        while working_in(left):
            time.sleep(0.02)
    remove_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.mp4"]


def working_in(folder: Path) -> bool:
    """Return True if a process has this working folder."""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.readlink() == folder:
                return True
        except OSError:
            continue
    return False


def test_listed_file_is_read_in_place(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/-odd %name\n.mp4").write_bytes(b"abc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, appendix B.1
    listed = Candidate("file", "sub/-odd %name\n.mp4", title="t", category="c", query="q", licence="l")
    source = fetch(listed, originals=tmp_path, store=tmp_path / "store", settings=quick())
    assert source == Source(
        source_id="v" + digest[:16],
        file="sub/-odd %name\n.mp4",
        stored="listed",
        sha256=digest,
        bytes=3,
        title="t",
        category="c",
        query="q",
        licence="l",
    )
    assert not (tmp_path / "store").exists()


def test_listed_file_that_cannot_be_read_is_missing(tmp_path: Path) -> None:
    (tmp_path / "folder.mp4").mkdir()
    os.mkfifo(tmp_path / "pipe.mp4")
    for name in ("absent.mp4", "folder.mp4", "pipe.mp4", "x" * 300 + ".mp4", "folder.mp4/x.mp4"):
        with pytest.raises(FetchError) as caught:
            fetch(Candidate("file", name), originals=tmp_path, store=tmp_path, settings=quick())
        assert (caught.value.reason, caught.value.retry) == ("missing", False)
