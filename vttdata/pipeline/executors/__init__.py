"""Executors decide where the items of a stage run. Each file in this folder that defines an `Executor` is one.

An executor knows nothing of parts, keys or stored results: it takes tagged items and yields tagged results.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from vttdata.errors import VttdataError
from vttdata.pipeline.stage import In, ItemResult, Out, Stage
from vttdata.plugins import discover, load_module
from vttdata.subprocesses import check_system

# Numbers of a part and of an item in it; an executor returns it unchanged with the item's result.
Tag = tuple[int, int]


class Executor(ABC):
    """Way to run the items of a stage.

    An executor's file is named after it, and imports libraries that not everybody has in functions only, since all
    these files are imported to list what there is. `run` has to

    - take tasks from their iterator only as there is room for them, so that memory stays flat;
    - call `vttdata.pipeline.stage.process_item` for each, where any error of the item becomes a result;
    - give up an item after `Stage.seconds_limit`, counted from when its process is ready to work;
    - turn an item whose process died into a `Failed` after one more try, with reason ``killed`` after SIGKILL (the
      kernel's for want of memory, for example) and ``crashed`` else, and one that exceeded its limit into a `Failed`
      with reason ``timeout``, all with ``retry=True`` and ``inconclusive=True``;
    - raise any `HaltError` of an item at once.
    """

    # One line for the help text of the command line.
    description: ClassVar[str]

    @abstractmethod
    def __init__(self, workers: int | None = None) -> None:
        """Prepare to run at most `workers` items at a time; None for as many as the executor finds sensible.

        One that works on a cluster has a second argument, `address`, which may be None.
        """

    def prepare(self, witness: Path) -> None:  # noqa: B027 - most executors need nothing of it
        """Take note of a file of the build folder, before the first `run`.

        Processes that see other content under its path work on a machine that does not share the build folder.
        """

    @abstractmethod
    def run(self, stage: Stage[In, Out], tasks: Iterable[tuple[Tag, In]]) -> Iterator[tuple[Tag, ItemResult[Out]]]:
        """Process every (tag, item), and yield (tag, result) as results come, in any order."""

    @abstractmethod
    def close(self) -> None:
        """Stop all work at once; calling it again does nothing."""


def executors() -> dict[str, str]:
    """Return the description of each executor by its name, which is that of its file.

    Raises:
        VttdataError: when a user's own file of an executor is wrong.
    """
    files = discover(Path(__file__).parent, "executors")
    return {name: _executor_class(path).description for name, path in files.items()}


def create_executor(name: str, workers: int | None = None, address: str | None = None) -> Executor:
    """Create the executor of a name, to run so many items at a time, on the cluster at an address if one is given.

    Raises:
        VttdataError: when there is no executor of this name, it works on no cluster though there is an address, or it
            cannot work on this machine, such as on Windows.
    """
    check_system("Building")
    files = discover(Path(__file__).parent, "executors")
    if name not in files:
        raise VttdataError(f"'{name}' is not an executor; choose one of {', '.join(files)}.")
    executor_class: Callable[..., Executor] = _executor_class(files[name])
    if address is None:
        return executor_class(workers)
    if "address" not in inspect.signature(executor_class).parameters:
        raise VttdataError(f"The executor '{name}' works on no cluster, so it takes no address; choose --engine ray.")
    return executor_class(workers, address=address)


def _executor_class(path: Path) -> type[Executor]:
    module = load_module(path, "executor")
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Executor) and value.__module__ == module.__name__:
            return value
    raise VttdataError(f"{path}: defines no class derived from vttdata.pipeline.executors.Executor.")
