"""The small dataset of `tests.dataset.conftest`."""

from tests.dataset.conftest import *  # noqa: F403
