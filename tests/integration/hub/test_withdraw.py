"""A withdrawal reaches the Hub: the next version lacks the rows, and on request no revision has them any more."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.helpers.forked import COMMANDS
from tests.helpers.hub.built import build
from tests.helpers.hub.server import Hub
from tests.integration.hub.conftest import ROOT, Client
from vttdata.compose.correct import correct_dataset
from vttdata.compose.withdraw import WithdrawalRequest, withdraw
from vttdata.publish.hub import publish

NAME = "vttdata/small"
SECRETS = ("v1", "s1", "a dog runs after a ball")
pytestmark = pytest.mark.usefixtures("logged_in")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    texts = ("a person waves", SECRETS[2], "a child sings", "a cat sleeps")
    return build(tmp_path / "small", texts, sources=("alpha", "beta-source", "gamma", "delta"))


def kept_on(hub: Hub) -> str:
    """Everything that the Hub keeps, tables as the text of their rows."""
    found = []
    for path in (hub.store._folder).iterdir():
        try:
            found.append(str(pq.read_table(path).to_pylist()))
        except OSError:
            continue
        except ValueError:
            found.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(found)


def test_no_revision_has_what_was_withdrawn_after_the_history_is_erased(hub: Hub, dataset: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["v1"]))
    publish(dataset, NAME, endpoint=hub.url)
    repository = hub.store.find(NAME)
    assert set(repository.tags) == {"v1.0.0", "v2.0.0"}
    assert "beta-source" in kept_on(hub)  # in the old revision
    publish(dataset, NAME, endpoint=hub.url, erase=True)
    assert set(repository.tags) == {"v2.0.0"}
    assert repository.tags["v2.0.0"] == repository.head
    assert len(repository.history()) == 1
    kept = kept_on(hub)
    assert "beta-source" not in kept
    assert SECRETS[2] not in kept
    assert "a child sings" in kept


def test_the_published_card_names_no_withdrawn_row(hub: Hub, dataset: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["beta-source"]))
    publish(dataset, NAME, endpoint=hub.url)
    card = hub.store.read(NAME, "README.md").decode()
    assert "### 2.0.0, after 1.0.0" in card
    assert "v1" not in card.partition("\n---\n")[2].replace("v1.0.0", "")


def test_loading_an_older_version_names_what_was_withdrawn_since(hub: Hub, dataset: Path, client: Client) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    withdraw(dataset, WithdrawalRequest("takedown", ids=["v1"]))
    publish(dataset, NAME, endpoint=hub.url)
    program = f"from vttdata import load_dataset; load_dataset('{NAME}', revision='v{{}}', hub=True)"
    environment = client.environment(PYTHONPATH=str(ROOT))
    old, new = (COMMANDS.run(["-c", program.format(version)], environment) for version in ("1.0.0", "2.0.0"))
    assert (old.returncode, new.returncode) == (0, 0), old.stderr + new.stderr
    assert "1 clips of this version were withdrawn since, v1;" in old.stderr
    assert "withdrawn" not in new.stderr


def test_a_corrected_version_is_published_after_the_old_one(hub: Hub, dataset: Path, tmp_path: Path) -> None:
    publish(dataset, NAME, endpoint=hub.url)
    table = tmp_path / "errata.csv"
    table.write_text(
        "id,field,old value,new value,reason,who,date\n"
        "v0#1,caption,a person waves,a man waves,imprecise,ann,2026-11-27\n"
    )
    correct_dataset(dataset, table)
    plan = publish(dataset, NAME, endpoint=hub.url).plan
    assert plan.version == "2.0.0"
    assert plan.difference is not None
    assert {config.config: config.changed for config in plan.difference.configs if config.changed} == {
        "clips": 1,
        "captions": 1,
    }
