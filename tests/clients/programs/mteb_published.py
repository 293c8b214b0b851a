"""Publish the tasks of an export as publish.md says, to a folder in the place of the Hub, and score them from there.

The videos are taken away before, so that a score shows that the tables have them.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import datasets
import mteb
from datasets.table import embed_table_storage
from mteb.abstasks.task_metadata import TaskMetadata

export, videos, hub = map(Path, sys.argv[1:4])
sys.path.insert(0, str(export))
os.environ["VTTDATA_VIDEOS"] = str(videos)


def push(self, name, config, **options):
    for split, table in self.items():
        (hub / name / config).mkdir(parents=True, exist_ok=True)
        embedded = table.with_format("arrow").map(embed_table_storage, batched=True).with_format(None)
        embedded.to_parquet(hub / name / config / f"{split}.parquet")


datasets.DatasetDict.push_to_hub = push
# The card, which needs the Hub.
TaskMetadata.push_dataset_card_to_hub = lambda self, name: None

from task import load_tasks

pushed = load_tasks()
for task in pushed:
    task.push_dataset_to_hub(task.metadata.dataset["path"])
for folder in hub.glob("*/*"):
    lines = [
        f"- config_name: {config.name}\n  data_files:\n"
        + "".join(f"  - split: {path.stem}\n    path: {config.name}/{path.name}\n" for path in config.iterdir())
        for config in folder.iterdir()
    ]
    (folder / "README.md").write_text("---\nconfigs:\n" + "".join(lines) + "---\n")
shutil.move(videos, videos.with_name("taken away"))
scores = {}
for task in pushed:
    fresh = type(task)()
    path = str(hub / task.metadata.dataset["path"])
    fresh.metadata = fresh.metadata.model_copy(update={"dataset": {"path": path, "revision": "main"}})
    model = mteb.get_model("mteb/baseline-random-encoder")
    (result,) = mteb.evaluate(model, [fresh], cache=None, show_progress_bar=False).task_results
    about = fresh.metadata
    scores[about.name] = {split: each[0][about.main_score] for split, each in result.scores.items()}
print(json.dumps(scores))
