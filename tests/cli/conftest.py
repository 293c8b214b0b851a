"""The same draws in each run of a test."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest


@pytest.fixture(autouse=True)
def drawn_secrets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw the secrets of campaigns from a seed: draws of items, and so simulated ratings, follow from them."""
    draw = random.Random(request.node.nodeid)
    monkeypatch.setattr("vttdata.people.campaign.secrets", SimpleNamespace(token_bytes=draw.randbytes))
