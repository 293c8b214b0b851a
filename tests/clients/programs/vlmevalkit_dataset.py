"""Load the class in ``vlmeval/dataset/few.py`` of a checkout on a folder, and print what it asks and how it scores."""

import json
import sys
from pathlib import Path

from vlmeval.dataset import few

hub = Path(sys.argv[1])
chosen = few.VttdataFewTest
prepare = chosen.prepare_dataset
chosen.prepare_dataset = lambda self, dataset: prepare(self, dataset, str(hub))
loaded = chosen(nframe=8)
messages = [loaded.build_prompt(number, video_llm=True) for number in range(len(loaded))]
line = dict(loaded.data.iloc[0])
answers = ["Option 2", "Option 2: None", "Option 1", "I cannot tell"]
# As from a table of another format, of which a prediction `None` comes back as a missing one.
loaded.data["prediction"] = ["Option 2: None", "A"]
loaded.data.to_csv(hub / "predictions.tsv", sep="\t", index=False)
shown = {
    "vttdata": any(name.partition(".")[0] == "vttdata" for name in sys.modules),
    "supported": chosen.supported_datasets(),
    "videos": [message[0]["value"] for message in messages],
    "prompts": [message[-1]["value"] for message in messages],
    "scores": [float(few.is_right(line | {"prediction": answer})) for answer in answers],
    "results": chosen.evaluate(str(hub / "predictions.tsv")),
}
print(json.dumps(shown))
