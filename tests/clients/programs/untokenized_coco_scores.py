"""Print the scores of rows [[references, answer], ...] of a JSON file by pycocoevalcap, without its tokenizer."""

import contextlib
import io
import json
import sys
from pathlib import Path

from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

rows = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
texts = {number: references for number, (references, _) in enumerate(rows)}
answers = {number: [answer] for number, (_, answer) in enumerate(rows)}
with contextlib.redirect_stdout(io.StringIO()):
    scores = {
        name: float(each.compute_score(texts, answers)[0])
        for name, each in {"CIDEr": Cider(), "ROUGE_L": Rouge()}.items()
    }
print(json.dumps(scores))
