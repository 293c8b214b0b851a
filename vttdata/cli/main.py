"""The command line: parses, calls, prints. Results go to standard output, messages and progress to standard error."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import vttdata
from vttdata.cli.audit import EXIT_CODES, add_audit
from vttdata.cli.datasets import add_datasets
from vttdata.cli.degrade import add_degrade
from vttdata.cli.export import add_export
from vttdata.cli.foil import add_foil
from vttdata.cli.hits import add_hits
from vttdata.cli.publish import add_publish
from vttdata.cli.verify import add_diff, add_verify
from vttdata.errors import HaltError, LeakError, MediaError, VttdataError

_DONE, _INCOMPLETE, _BAD_INPUT, _LEAKS, _INTERRUPTED = 0, 1, 2, 3, 130


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(_BAD_INPUT, f"{self.prog}: {message}. See '{self.prog} --help'.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
        return code
    except VttdataError as error:
        print(f"vttdata: {error}", file=sys.stderr)
        return _LEAKS if isinstance(error, LeakError) else _INCOMPLETE if isinstance(error, HaltError) else _BAD_INPUT
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "vttdata":
            raise
        print(f"vttdata: this needs more than loading does: pip install 'vttdata[build]' ({error}).", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        print("vttdata: interrupted; what is finished is kept, run the same command to go on.", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return _DONE
    except OSError as error:
        if error.filename is None:
            _give_up_output()
        print(f"vttdata: {error.strerror or error}{f' ({error.filename})' if error.filename else ''}.", file=sys.stderr)
        return _INCOMPLETE


def _give_up_output() -> None:
    """Send the rest of standard output nowhere, so that the interpreter does not complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="vttdata", description=vttdata.__doc__, epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"vttdata {vttdata.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_recipes(commands)
    _add_build(commands)
    add_datasets(commands)
    _add_shots(commands)
    add_audit(commands)
    _add_stats(commands)
    add_degrade(commands)
    add_foil(commands)
    add_hits(commands)
    add_export(commands)
    add_publish(commands)
    add_diff(commands)
    add_verify(commands)
    return parser


def _add_recipes(commands: Any) -> None:
    parser = commands.add_parser("recipes", help="list the packaged recipes, a line each")
    parser.set_defaults(run=_recipes)


def _recipes(_: argparse.Namespace) -> int:
    from vttdata.recipe import packaged

    known = packaged.recipes()
    width = max(map(len, known))
    for name, path in known.items():
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        print(f"{name:<{width}}  {first.removeprefix('#').strip()}")
    return _DONE


def _add_build(commands: Any) -> None:
    parser = commands.add_parser(
        "build",
        help="turn a recipe into a dataset",
        description="Turn a recipe into a build folder with a dataset. Stopped at any moment, the same command goes on "
        "where it was; after a change in the recipe, only what the change touches is done again.",
        epilog="Example: vttdata build own-folder --set collect.folder=VIDEOS --set name=me/street --out street",
    )
    parser.add_argument("recipe", metavar="RECIPE", help="a YAML file, or a packaged recipe's name")
    parser.add_argument("--out", metavar="DIR", type=Path, help="build folder (default: $VTTDATA_HOME/<recipe's name>)")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="override a recipe key, such as clips.max_seconds=20; may be repeated",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=_positive,
        default=os.cpu_count() or 1,
        help="worker processes (default: one a core)",
    )
    parser.add_argument("--engine", choices=["local"], default="local", help="where stages run (default: local)")
    parser.add_argument("--retry-failed", action="store_true", help="try again what failed and may succeed now")
    parser.add_argument("--quiet", action="store_true", help="show no progress, only the table")
    parser.set_defaults(run=_build)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 on")
    return int(text)


def _build(options: argparse.Namespace) -> int:
    from vttdata.load.dataset import builds_folder
    from vttdata.pipeline.attrition import HEADER, stage_text
    from vttdata.pipeline.build import open_build
    from vttdata.pipeline.executors.local import LocalExecutor
    from vttdata.publish.stale_version import warn_if_rows_changed
    from vttdata.recipe.load import load_recipe

    loaded = load_recipe(options.recipe, options.set)
    folder = options.out or builds_folder() / loaded.recipe.name
    executor = LocalExecutor(options.workers)
    flags = {"retry_failed": options.retry_failed, "quiet": options.quiet}
    with open_build(folder, loaded, executor, lambda stage: print(stage_text(stage), flush=True), **flags) as build:
        print(HEADER, flush=True)
        try:
            with warn_if_rows_changed(build.dataset, lambda sentence: print(f"vttdata: {sentence}", file=sys.stderr)):
                loaded.builder.build(loaded.recipe, build)
        except VttdataError:
            if build.dataset.exists():
                print(f"{build.dataset} is still that of an earlier build", file=sys.stderr)
            raise
        build.describe("complete")
        failures, retryable = build.too_many_failures(), build.retryable()
    print(f"\n{loaded.recipe.name} {loaded.recipe.version} is in {folder / 'dataset'}")
    if retryable:
        print(f"{retryable} of the failures may succeed now: --retry-failed tries them again", file=sys.stderr)
    if failures:
        print(f"vttdata: {failures}", file=sys.stderr)
    return _INCOMPLETE if failures else _DONE


def _add_shots(commands: Any) -> None:
    parser = commands.add_parser(
        "shots",
        help="find the shots of videos",
        description="Find the shots of videos by colour histogram: one line a shot with start and end in seconds, "
        "first and last frame, and how it begins.",
    )
    parser.add_argument("videos", metavar="VIDEO", nargs="+", type=Path)
    method = "exact decodes every frame; fast leaves out those that cannot matter, where a stream shows which"
    parser.add_argument("--method", choices=["fast", "exact"], default="fast", help=f"{method} (%(default)s)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line and video")
    limit = "give up on a video after so much time (default: 20 s for each of its own seconds, and 120 s)"
    parser.add_argument("--limit", metavar="SECONDS", type=_positive, help=limit)
    sheet = "draw each shot's first, middle and last frame with times into a picture (one video)"
    parser.add_argument("--sheet", metavar="FILE.png", type=Path, help=sheet)
    parser.set_defaults(run=_shots)


def _shots(options: argparse.Namespace) -> int:
    from vttdata import subprocesses as process
    from vttdata.media.probe import PROBING_SECONDS

    if options.sheet and len(options.videos) > 1:
        raise VttdataError(f"--sheet draws one video, and {len(options.videos)} were given.")

    code = _DONE
    for video in options.videos:
        work = (video, options.method, options.sheet, options.limit)
        try:
            detection = process.call(_detect, *work, seconds=options.limit or PROBING_SECONDS)
        except (MediaError, TimeoutError, ChildProcessError) as error:
            code = _INCOMPLETE
            _print_shot_error(video, str(error), as_json=options.json)
            continue
        print(json.dumps(_detection_json(video, detection)) if options.json else _detection_text(video, detection))
    return code


def _detect(video: Path, method: Any, sheet: Path | None, limit: float | None) -> Any:
    """What `shots` does with one video, in a process that ends when its time is over."""
    from vttdata.media import ShotSettings, detect_shots, draw_sheet, probe
    from vttdata.media.probe import decoding_limit
    from vttdata.subprocesses import limit_this_process

    probed = probe(video)
    if limit is None:
        limit_this_process(decoding_limit(probed, video.stat().st_size))
    detection = detect_shots(video, ShotSettings(method=method), threads=0)
    if sheet:
        draw_sheet(video, detection, sheet, threads=0)
    return detection


def _print_shot_error(video: Path, message: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"file": str(video), "error": message}))
    else:
        print(f"vttdata: {video}: {message}", file=sys.stderr)


def _detection_json(video: Path, detection: Any) -> dict[str, Any]:
    keys = ("start", "end", "first_frame", "last_frame", "transition")
    return {
        "file": str(video),
        "frames": detection.frames,
        "fps": detection.fps,
        "seconds": detection.seconds,
        "method": detection.method,
        "shots": [{key: getattr(shot, key) for key in keys} for shot in detection.shots],
    }


def _detection_text(video: Path, detection: Any) -> str:
    number = len(detection.shots)
    plural = "" if number == 1 else "s"
    head = f"{video}: {number} shot{plural}, {detection.frames} frames, {detection.seconds:.3f} s"
    lines = [
        f"{shot.start:>10.3f} {shot.end:>10.3f} {shot.first_frame:>7} {shot.last_frame:>7}  {shot.transition}"
        for shot in detection.shots
    ]
    return "\n".join([head, *lines])


def _add_stats(commands: Any) -> None:
    parser = commands.add_parser(
        "stats",
        help="count what is in a dataset",
        description="Sources, clips, hours, sentences, words and vocabulary, by split and by category; of foils "
        "their pairs, videos, captions, concepts and swaps, and what the worst blind attacker reached.",
    )
    parser.add_argument("dataset", metavar="DATASET", help="a dataset folder, a build folder, or a dataset's name")
    parser.add_argument("--json", action="store_true", help="machine-readable")
    parser.set_defaults(run=_stats)


def _stats(options: argparse.Namespace) -> int:
    from vttdata.dataset.foils.statistics import compute_foil_statistics
    from vttdata.dataset.statistics import compute_statistics
    from vttdata.load.dataset import find_dataset

    dataset = find_dataset(options.dataset)
    facts = compute_foil_statistics(dataset) if (dataset / "foils").is_dir() else compute_statistics(dataset)
    print(json.dumps(facts.as_json(), indent=2, ensure_ascii=False) if options.json else facts.as_text())
    return _DONE


if __name__ == "__main__":
    sys.exit(main())
