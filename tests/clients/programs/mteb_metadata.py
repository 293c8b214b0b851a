"""Print the name, the licence and the state of the metadata of the tasks of an export, and whether MTEB has them."""

import json
import sys

import mteb

sys.path.insert(0, sys.argv[1])

from task import load_tasks

known = {task.metadata.name.lower() for task in mteb.get_tasks()}
tasks = [task.metadata for task in load_tasks()]
facts = [
    {"name": each.name, "license": each.license, "is_filled": each.is_filled(), "is_known": each.name.lower() in known}
    for each in tasks
]
print(json.dumps(facts))
