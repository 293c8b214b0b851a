"""Time the measures of QVHighlights against the official script, on its sample predictions.

Run `python benchmarks/moments.py FOLDER --official CHECKOUT`; FOLDER holds the validation file and
``sample_val_preds.jsonl``, and CHECKOUT is one of github.com/jayleicn/moment_detr, whose ``standalone_eval`` needs
scikit-learn. Each is a process of its own, from its start to its figures; CPU seconds are those of it and its children.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_OURS = """
import sys
from pathlib import Path
from builders.qvhighlights import read
from vttdata.evaluate.tasks.moments import PART_SECONDS, MomentQuery, read_windows, score_highlights, score_windows
folder = Path(sys.argv[1])
official = read(folder)
seconds = {clip.video_id: clip.end - clip.start for clip in official.clips}
names = [f"{each.video_id}#{each.sen_id}" for each in official.moments]
queries = [
    MomentQuery(list(zip(each.starts, each.ends)), each.salient, each.saliency,
                int(seconds[each.video_id] / PART_SECONDS))
    for each in official.moments
]
predicted = dict(read_windows(folder / "sample_val_preds.jsonl", names))
windows = [predicted[name] for name in names]
print(len(score_windows(windows, queries) | score_highlights(windows, queries)))
"""


def measure_cpu(command: list[str], folder: Path) -> float:
    """Return the CPU seconds of a command that runs in a folder, which Python also imports from."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": str(folder)}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the median of the CPU seconds of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--official", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = options.folder.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        commands = {"vttdata": ([sys.executable, "-c", _OURS, str(folder)], Path(__file__).resolve().parents[1])}
        if options.official is not None:
            files = {
                "--submission_path": folder / "sample_val_preds.jsonl",
                "--gt_path": folder / "highlight_val_release.jsonl",
                "--save_path": Path(temporary, "metrics.json"),
            }
            given = [text for name, path in files.items() for text in (name, str(path))]
            commands["official"] = [sys.executable, "standalone_eval/eval.py", *given], options.official.resolve()
        for name, (command, working) in commands.items():
            seconds = [measure_cpu(command, working) for _ in range(options.rounds)]
            print(f"{name}: {statistics.median(seconds):.2f} CPU s")


if __name__ == "__main__":
    main()
