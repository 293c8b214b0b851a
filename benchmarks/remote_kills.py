"""What kills cost builds on a disk and in stores, on the same machine and on another one.

``python benchmarks/remote_kills.py [--kills N] [KIND ...]`` builds drawn films on a disk, at ``file://`` and on a local
S3 server (``pip install 'moto[server]' 'vttdata[remote]'``), kills each build at random moments until N were killed,
begins anew when one ends, and counts the results that were had twice. With s3-another-machine, each run has an empty
``$VTTDATA_HOME``. Run it in the root of the checkout.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vttdata.cli.main import main as run_command
from vttdata.files.remote import RemoteFolder, is_remote
from vttdata.pipeline import remote_build
from vttdata.pipeline.executors.local import LocalExecutor

SETTINGS = [
    *("collect.scenes.videos=6", "collect.scenes.width=160", "collect.scenes.height=96"),
    *("collect.scenes.frame_rate=8", "clips.per_source=1", "media.height=96"),
]
SERVER = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}

# Kind of builds -> beginning of their folders or addresses.
KINDS = {
    "disk": "{folder}/builds",
    "file": "file://{folder}/stores",
    "s3": "s3://bucket/same",
    "s3-another-machine": "s3://bucket/other",
}


def work(results: str, *arguments: str) -> None:
    """Build in this process, and write a line for each result that comes from a worker."""
    remote_build.BEAT_SECONDS, remote_build.WATCH_SECONDS = 0.3, 1.0
    run = LocalExecutor.run

    def noted(executor: LocalExecutor, stage: object, tasks: object) -> object:
        with Path(results).open("a", buffering=1) as stream:
            for tag, result in run(executor, stage, tasks):  # type: ignore[arg-type]
                stream.write(f"{stage.name} {result.item_id}\n")  # type: ignore[attr-defined]
                yield tag, result

    LocalExecutor.run = noted  # type: ignore[method-assign,assignment]
    sys.exit(run_command(["build", "demo", "--quiet", "--workers", "2", *arguments]))


def hashes(out: str) -> dict[str, str]:
    """Return the hash of each file of a dataset."""
    store = RemoteFolder(f"{out if is_remote(out) else f'file://{out}'}/dataset")
    return {name: hashlib.sha256(store.read(name) or b"").hexdigest() for name in store.files()}


def build(out: str, results: Path, home: Path) -> subprocess.Popen[bytes]:
    """Start a build in a process of its own."""
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    program = f"from benchmarks.remote_kills import work; work({str(results)!r}, '--out', {out!r}, *{settings})"
    environment = os.environ | {"VTTDATA_HOME": str(home)}
    return subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.DEVNULL)


def kill_builds(out: str, kills: int, folder: Path, expected: dict[str, str], results: int, *, moves: bool) -> str:
    """Kill builds at an address or in a folder so many times, and return what that cost.

    Args:
        out: beginning of the addresses.
        kills: how many.
        folder: for files of this measurement.
        expected: hashes of the dataset.
        results: number of results of an undisturbed build.
        moves: each run has an empty home.
    """
    moments = random.Random(20)
    killed = builds = again = same = 0
    while killed < kills:
        address, home, number = f"{out}-{builds}", folder / f"home-{builds}", 0
        had = folder / f"results-{builds}"
        had.touch()
        while True:
            before = had.stat().st_size
            process = build(address, had, home / str(number if moves else 0))
            while process.poll() is None and (killed == kills or had.stat().st_size == before):
                time.sleep(0.02)
            # The moment is in the time that a result takes, or several.
            end = time.monotonic() + moments.uniform(0, 3)
            while process.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
            if process.poll() is not None:
                break
            process.kill()
            process.wait()
            killed, number = killed + 1, number + 1
        if process.returncode:
            raise SystemExit(f"{address}: ended with exit code {process.returncode}")
        builds += 1
        again += len(had.read_text().splitlines()) - results
        same += hashes(address) == expected
    all_results = builds * results
    return f"{killed} kills of {builds} builds, {same} with the same bytes; {again} of {all_results} results had twice"


def main() -> None:
    """Kill builds on a disk, at file:// and on the server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="of builds of each kind (default: 20)")
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], default=[*KINDS], help="of builds (default: all)")
    options = parser.parse_args()
    from moto.server import ThreadedMotoServer
    from s3fs import S3FileSystem

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= SERVER | {"AWS_ENDPOINT_URL": f"http://{host}:{port}"}
    S3FileSystem(skip_instance_cache=True).mkdir("bucket")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if build(str(folder / "undisturbed"), folder / "results", folder / "home").wait():
            raise SystemExit("the undisturbed build failed")
        results = len((folder / "results").read_text().splitlines())
        expected = hashes(str(folder / "undisturbed"))
        for kind in options.kinds:
            room = folder / kind
            room.mkdir()
            address = KINDS[kind].format(folder=folder)
            moves = kind == "s3-another-machine"
            cost = kill_builds(address, options.kills, room, expected, results, moves=moves)
            print(f"{kind}: {cost}", flush=True)
    server.stop()


if __name__ == "__main__":
    main()
