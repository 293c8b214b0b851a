"""Provide pages on a local server, and views of HITs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.people.conftest import VIDEOS
from tests.people.static_page.site import Site
from vttdata.people.static_page import HitView, ItemView, write_page


@pytest.fixture
def site(tmp_path: Path, clips: Path) -> Iterator[Site]:
    """Serve a folder with the videos."""
    folder = tmp_path / "site"
    shutil.copytree(clips, folder)
    server = Site(folder)
    yield server
    server.close()


@pytest.fixture
def hit() -> Callable[..., HitView]:
    """Provide a function that makes the view of a HIT from captions."""

    def make(*captions: str, videos: tuple[str, ...] = VIDEOS) -> HitView:
        items = (ItemView(f"i{n}", videos[n % len(videos)], caption) for n, caption in enumerate(captions))
        return HitView("hit-1", tuple(items))

    return make


@pytest.fixture
def page(site: Site) -> Callable[..., str]:
    """Provide a function that writes a HIT's page into the server's folder and returns its URL."""

    def write(view: HitView, query: str = "?worker=W1", submit_url: str | None = None) -> str:
        write_page(site.folder / "page.html", view, submit_url=submit_url)
        return site.url("page.html") + query

    return write
