"""Count right answers to TempCompass' yes-no questions by the rule of lmms-eval's task; no judge is asked.

python tempcompass_rule.py PREDICTIONS
"""

import json
import sys
from pathlib import Path

from lmms_eval.tasks.tempcompass.utils import extract_pred

videos = json.loads(Path(sys.argv[1]).read_text())
rows = [row for dimensions in videos.values() for rows in dimensions.values() for row in rows]
right = sum(extract_pred(row["prediction"] or "") == row["answer"] for row in rows)
print(json.dumps({"asked": len(rows), "right": right}))
