"""Builds from a list of links to a local HTTP server with good, bad and missing files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers.builds import LOOSE, account, build, film, vttdata
from tests.helpers.file_server import FileServer, serving_files

QUICK = [
    *LOOSE,
    "filter.max_frozen=1.0",
    "max_failed=0.9",
    "collect.sleep_seconds=0",
    "collect.retries=0",
    "collect.backoff_seconds=0",
]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FileServer]:
    with serving_files(film(tmp_path / "film.mp4", 3).read_bytes()) as running:
        yield running


def manifest(tmp_path: Path, server: FileServer, *paths: str) -> str:
    rows = [f"{server.url(path)},id{number}" for number, path in enumerate(paths)]
    (tmp_path / "links.csv").write_text("\n".join(["url,id", *rows]) + "\n")
    return f"collect.manifest={tmp_path / 'links.csv'}"


def test_good_links_become_clips_and_bad_ones_failures_with_the_sites_message(
    server: FileServer, tmp_path: Path
) -> None:
    listed = manifest(tmp_path, server, "/good.mp4", "/gone.mp4", "/forbidden.mp4", "/truncated.mp4", "/page.html")
    done = build(tmp_path / "out", listed, *QUICK, recipe="own-list")
    assert done.returncode == 0, done.stderr
    stages = account(tmp_path / "out")
    assert stages["collect"]["kept"] == 1
    assert stages["split"]["kept"] >= 1
    failed = pd.read_parquet(tmp_path / "out" / "stages" / "collect" / "failed.parquet").set_index("source_id")
    assert failed.reason.to_dict() == {"id1": "removed", "id2": "forbidden", "id3": "network", "id4": "unsupported"}
    assert failed.retry.to_dict() == {"id1": False, "id2": True, "id3": True, "id4": False}
    assert "404" in failed.detail["id1"]
    assert not [path for path in (tmp_path / "out" / "media" / "sources").iterdir() if path.name.startswith(".")]


def test_fetched_file_is_not_fetched_again(server: FileServer, tmp_path: Path) -> None:
    listed = manifest(tmp_path, server, "/good.mp4")
    assert build(tmp_path / "out", listed, *QUICK, recipe="own-list").returncode == 0
    hits = server.hits.total()
    assert build(tmp_path / "out", listed, *QUICK, "collect.retries=2", recipe="own-list").returncode == 0
    assert server.hits.total() == hits
    next((tmp_path / "out" / "media" / "sources").iterdir()).unlink()
    assert build(tmp_path / "out", listed, *QUICK, recipe="own-list").returncode == 0
    assert server.hits.total() > hits


def test_rate_limits_halt_the_build_which_can_be_resumed(server: FileServer, tmp_path: Path) -> None:
    paths = ["/good.mp4", *(f"/busy.mp4?{number}" for number in range(8))]
    listed = manifest(tmp_path, server, *paths)
    stopped = build(tmp_path / "out", listed, *QUICK, "collect.breaker=3", recipe="own-list")
    assert stopped.returncode == 1
    assert "3 items in a row ended as 'rate_limit'" in stopped.stderr
    assert "run the same command later to go on" in stopped.stderr
    assert stopped.stderr.count("\n") == 1
    assert server.hits["/busy.mp4"] < 8
    assert not (tmp_path / "out" / "dataset").exists()
    manifest(tmp_path, server, *("/good.mp4" for _ in range(1)))
    assert build(tmp_path / "out", listed, *QUICK, recipe="own-list").returncode == 0


def test_useless_cookies_stop_the_build_before_the_first_request(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "cookies.json").write_text('[{"name": "crumb"}]')
    listed = manifest(tmp_path, server, *(f"/good.mp4?{number}" for number in range(20)))
    stopped = build(tmp_path / "out", listed, *QUICK, f"collect.cookies={tmp_path}/cookies.json", recipe="own-list")
    assert (stopped.returncode, server.hits.total()) == (1, 0)
    assert "must be Netscape formatted, not JSON" in stopped.stderr
    assert stopped.stderr.count("\n") == 1


def test_dead_network_stops_the_build_which_goes_on_when_it_is_back(tmp_path: Path) -> None:
    video = film(tmp_path / "film.mp4", 3).read_bytes()
    with serving_files(video) as server:
        listed = manifest(tmp_path, server, *(f"/good{number}.mp4" for number in range(4)))
        port = server.server_port
    stopped = build(tmp_path / "out", listed, *QUICK, recipe="own-list")
    assert stopped.returncode == 1
    assert "stopped after 3 items in a row ended as 'unreachable'" in stopped.stderr
    assert stopped.stderr.count("\n") == 1
    assert not [*(tmp_path / "out" / "stages" / "collect" / "parts").glob("*.jsonl")]
    with serving_files(video, port):
        done = build(tmp_path / "out", listed, *QUICK, recipe="own-list")
        assert done.returncode == 0, done.stderr
    assert account(tmp_path / "out")["collect"]["kept"] == 4
    assert account(tmp_path / "out")["collect"]["failed"] == {}


@pytest.mark.long
def test_dead_host_among_living_ones_costs_its_own_links_only(server: FileServer, tmp_path: Path) -> None:
    listed = manifest(tmp_path, server, "/good.mp4")
    with (tmp_path / "links.csv").open("a") as stream:
        stream.writelines(f"http://127.0.0.1:9/{number}.mp4,dead{number}\n" for number in range(4))
    done = build(tmp_path / "out", listed, *QUICK, recipe="own-list")
    assert done.returncode == 0, done.stderr
    assert account(tmp_path / "out")["collect"]["kept"] == 1
    assert account(tmp_path / "out")["collect"]["failed"] == {"unreachable": 4}


@pytest.mark.long
def test_recovered_server_is_asked_again_only_with_retry_failed(server: FileServer, tmp_path: Path) -> None:
    listed = manifest(tmp_path, server, "/good.mp4", "/flaky.mp4")
    first = build(tmp_path / "out", listed, *QUICK, recipe="own-list")
    assert first.returncode == 0
    assert account(tmp_path / "out")["collect"]["failed"] == {"network": 1}
    assert "1 of the failures may succeed now" in first.stderr
    build(tmp_path / "out", listed, *QUICK, recipe="own-list")
    assert account(tmp_path / "out")["collect"]["failed"] == {"network": 1}
    done = vttdata("build", "own-list", "--out", str(tmp_path / "out"), "--retry-failed", *_set(listed, *QUICK))
    assert done.returncode == 0, done.stderr
    assert account(tmp_path / "out")["collect"]["failed"] == {}
    assert account(tmp_path / "out")["collect"]["kept"] == 2


SIGNATURE = "c0ffee5igned"
EXITS = {
    "good": None, "gone": "removed", "forbidden": "forbidden", "truncated": "network", "nothing": "network",
    "huge": "too_large", "page": "unsupported", "several": "unsupported", "loop": "unsupported", "down": "network",
    "busy": "rate_limit", "signed": "forbidden", "stall": "timeout", "text": None,
}  # fmt: skip


@pytest.mark.long
def test_no_file_of_a_build_has_a_signature(server: FileServer, tmp_path: Path) -> None:
    server.files["/text.mp4"] = b"This is no video.\n"
    forms = itertools.cycle(("?v={0}&sig={1}", "?v={0}&{1}", ";jsessionid={1}?v={0}&zq={1}#{1}"))
    paths = [f"/{name}.mp4{form.format(name, SIGNATURE)}" for name, form in zip(EXITS, forms, strict=False)]
    listed = manifest(tmp_path, server, *paths)
    limits = ["collect.socket_timeout_seconds=2", "collect.limits={megabytes_per_item: 1}"]
    done = build(tmp_path / "out", listed, *QUICK, *limits, recipe="own-list")
    assert done.returncode == 0, done.stderr
    failed = pd.read_parquet(tmp_path / "out" / "stages" / "collect" / "failed.parquet")
    assert dict(zip(failed.source_id, failed.reason, strict=True)) == {
        f"id{number}": reason for number, reason in enumerate(EXITS.values()) if reason
    }
    shown = [vttdata("rejects", str(tmp_path / "out")), vttdata("rejects", str(tmp_path / "out"), "--json")]
    texts = {"what was printed": done.stdout + done.stderr + "".join(one.stdout + one.stderr for one in shown)}
    for path in (tmp_path / "out").rglob("*"):
        if path.suffix == ".parquet":
            texts[str(path)] = pd.read_parquet(path).to_json()
        elif path.is_file():
            texts[str(path)] = path.read_bytes().decode("latin-1")
    assert [name for name, text in texts.items() if SIGNATURE in text] == []
    assert any("/forbidden.mp4?v=forbidden" in text for text in texts.values())


def _set(*settings: str) -> list[str]:
    return [part for setting in settings for part in ("--set", setting)]


def test_listed_spans_become_the_clips(server: FileServer, tmp_path: Path) -> None:
    url = server.url("/good.mp4")
    (tmp_path / "links.csv").write_text(
        f"url,id,start,end,video_id\n{url},one,0.5,1.5,clip-a\n{url},one,1.5,3.2,clip-b\n{url},one,1.5,9,clip-c\n"
    )
    done = build(tmp_path / "out", f"collect.manifest={tmp_path / 'links.csv'}", *QUICK, recipe="own-list")
    assert done.returncode == 0, done.stderr
    clips = pd.read_parquet(tmp_path / "out" / "stages" / "cut" / "kept.parquet").set_index("video_id")
    assert sorted(clips.index) == ["clip-a", "clip-b"]
    assert (clips.start["clip-a"], clips.end["clip-a"], clips.frames["clip-a"]) == (0.5, 1.5, 12)
    assert clips.end["clip-b"] == pytest.approx(3.0)
    assert account(tmp_path / "out")["clips"]["rejected"] == {"outside": 1}
