"""Task of one split (captioning, questions or foils) for VLMEvalKit: TSV, class and program.

``NAME.py`` is the class as VLMEvalKit's own are, and needs no vttdata. ``run.py`` registers it and runs VLMEvalKit's
own ``run.py`` with the same options; `vttdata.evaluate.harness.vlmevalkit` has what it calls.
"""

from __future__ import annotations

import csv
import hashlib

from vttdata.export.documents import (
    YES_NO_PROMPT,
    ChoiceDocument,
    ClipDocument,
    PairDocument,
    ask,
    choose_task,
    write_documents,
)
from vttdata.export.exported_functions import (
    choice_to_target,
    choice_to_text,
    is_yes_no,
    option_lines,
    read_choice,
    sources,
)
from vttdata.export.files import as_json, text_file
from vttdata.export.format import ExportRequest, Format, Written
from vttdata.records import to_row

RULES = (
    "The TSV has a row for each clip, question or pair, with the columns of VLMEvalKit's TempCompass: `index`, "
    "`task_type` (the kind of a question), `dim` (its type), `prefix`, `video` and `suffix` (the path of the video), "
    "`question`, `candidates` and `labels` (the options and what the dataset calls them, JSON), and `answer` (the "
    "label of the right one, yes or no; of clips all human captions, JSON). The two texts of a pair are the options, "
    "in an order that is drawn for each. Each prompt comes with the video for models that take one, else with its "
    "frames. VLMEvalKit scores the answers itself, without vttdata: captions by its `COCO_Caption_Scorer`; of "
    "questions and pairs the share of right answers, 0..1, over all, for each dimension, for each kind, and for both "
    "together. Of yes and no the beginning of an answer decides; of other options their label or text, or the letter "
    "that `can_infer_option` finds; one that names no option is wrong. `vttdata evaluate` reads the answers by its own "
    "rules. Videos are searched in the folder named by the variable `VTTDATA_VIDEOS`, or in `videos` beside `run.py`, "
    "under their file names in the dataset or as `<video_id>.mp4`, and are linked with the TSV in "
    "`$LMUData/datasets/TASK`, which is what goes to the Hub."
)
LIMITS = "models see none: VLMEvalKit stops before the first row unless VTTDATA_VIDEOS names a folder"
_USAGE = """\
```sh
git clone https://github.com/open-compass/VLMEvalKit
pip install -e VLMEvalKit rouge-score{needs}  # into the environment that vttdata is installed in, from a checkout
VTTDATA_VIDEOS=$PWD/VIDEOS python FOLDER/run.py --model MODEL --work-dir outputs
vttdata evaluate {dataset} outputs/MODEL/MODEL_{task}{answers}.json {options}
```

`--frames 8` gives a model eight frames of a video, `--fps 1` one of each second; all other options are those of
VLMEvalKit's `run.py`."""
_RUN = '''\
"""Run VLMEvalKit on this export, with the options of its own run.py."""

from pathlib import Path

from vttdata.evaluate.harness.vlmevalkit import run_export

if __name__ == "__main__":
    run_export(Path(__file__).resolve().parent)
'''
_MODULE = """\
import json
import os.path as osp
{typing}
import pandas as pd
from huggingface_hub import snapshot_download

{imports}


class {class_name}(VideoBaseDataset):

    MD5 = '{md5}'
    TYPE = '{type}'

    def __init__(self, dataset='{name}', nframe=0, fps=-1):
        super().__init__(dataset=dataset, nframe=nframe, fps=fps)
        # Otherwise ids such as 007 are numbers, and texts such as None are missing.
        self.data = pd.read_csv(self.data_file, sep='\\t', dtype=str, keep_default_na=False)
        self.data['index'] = self.data['index'].astype(int)

    @classmethod
    def supported_datasets(cls):
        return ['{name}']

    def check_integrity(self, pth, dataset_name):
        data_file = osp.join(pth, f'{{dataset_name}}.tsv')
        if not osp.exists(data_file) or md5(data_file) != self.MD5:
            return False
        data = pd.read_csv(data_file, sep='\\t', dtype=str, keep_default_na=False)
        videos = set(data['prefix'] + '/' + data['video'] + data['suffix'])
        return all(osp.exists(osp.join(pth, video)) for video in videos)

    def prepare_dataset(self, dataset_name='{name}', repo_id='{repository}'):
        dataset_path = repo_id if osp.isdir(repo_id) else get_cache_path(repo_id)
        if dataset_path is None or not self.check_integrity(dataset_path, dataset_name):
            dataset_path = snapshot_download(repo_id=repo_id, repo_type='dataset')
        return dict(root=dataset_path, data_file=osp.join(dataset_path, f'{{dataset_name}}.tsv'))

    def build_prompt(self, line, video_llm):
        if isinstance(line, int):
            assert line < len(self)
            line = self.data.iloc[line]
        video = osp.join(line['prefix'], line['video'])
        if video_llm:
            message = [dict(type='video', value=osp.join(self.data_root, video + line['suffix']))]
        elif self.nframe <= 0 and self.fps <= 0:
            raise ValueError('nframe or fps should be set for a model that takes pictures')
        else:
            message = [dict(type='image', value=path) for path in self.save_video_frames(video)]
        return message + [dict(type='text', value={prompt})]

    @classmethod
    def evaluate(cls, eval_file, **judge_kwargs):
        data = pd.DataFrame(load(eval_file))
{evaluate}"""
_CAPTIONS = """\
        ref = {str(i): [str(prediction)] for i, prediction in enumerate(data['prediction'])}
        gt = {str(i): json.loads(captions) for i, captions in enumerate(data['answer'])}
        scores = COCO_Caption_Scorer(ref, gt).compute_scores()
        dump(scores, get_intermediate_file_path(eval_file, '_score', 'json'))
        return scores
"""
_CHOICES = """\
        data['score'] = [float(is_right(line)) for _, line in data.iterrows()]
{preferred}        dump(data, get_intermediate_file_path(eval_file, '_score'))
        scores = {{'overall': float(data['score'].mean())}}
        for columns in (['dim'], ['task_type'], ['dim', 'task_type']):
            for names, rows in data.groupby(columns):
                if all(names):
                    scores['. '.join(map(str, names))] = float(rows['score'].mean())
        return scores


# What asks for an answer, by task_type.
PROMPTS = {{
{prompts}}}


def read_line(line) -> dict[str, Any]:
    options, labels = json.loads(line['candidates']), json.loads(line['labels'])
    return dict(question=line['question'], options=options, labels=labels)


def ask(line) -> str:
    return choice_to_text(read_line(line), dict(post_prompt='\\n' + PROMPTS[line['task_type']]))


def is_right(line) -> bool:
    doc = read_line(line)
    names = doc['options'] if is_yes_no(doc) else doc['labels']
    # A prediction such as None is read back from a table as a missing one.
    found = read_choice(line['prediction'] if isinstance(line['prediction'], str) else '', doc)
    return found is not None and names[found] == line['answer']


def find_letter(text: str, letters: list[str]) -> Any:
    return can_infer_option(text, letters)


"""
_PREFERRED = "        data['preferred'] = ['true' if score else 'foil' for score in data['score']]\n"
_IMPORTS = """\
from vlmeval.smp import dump, get_cache_path, get_intermediate_file_path, load, md5
from .video_base import VideoBaseDataset"""
_CAPTION_IMPORTS = _IMPORTS.replace("\n", "\nfrom .image_caption import COCO_Caption_Scorer\n")
_CHOICE_IMPORTS = _IMPORTS.replace("\n", "\nfrom vlmeval.utils.matching_util import can_infer_option\n")


def write_vlmevalkit(request: ExportRequest) -> Written:
    """Write the TSV of one split, the dataset class and ``run.py``.

    Raises:
        VttdataError: if there is nothing to ask.
    """
    task = choose_task(request)
    documents = write_documents(request, task)
    table = request.folder / f"{task.name}.tsv"
    kinds: dict[str, list[ChoiceDocument]] = {}
    with text_file(table) as stream:
        rows = csv.writer(stream, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n")
        columns = ["task_type", "dim", "prefix", "video", "suffix", "question", "candidates", "labels", "answer"]
        rows.writerow(["index", task.documents.id_column, *columns])
        for index, document in enumerate(documents):
            kind, row = getattr(document, "kind", task.kind), to_row(document)
            if isinstance(document, ChoiceDocument):
                kinds.setdefault(kind, []).append(document)
                asked = [document.question, *map(as_json, (row["options"], row["labels"])), choice_to_target(row)]
            else:
                asked = [document.prompt, "[]", "[]", as_json(row["captions"])]
            shown = ["./videos", document.video_id, ".mp4"]
            rows.writerow([index, document.name, kind, row.get("type") or "", *shown, *asked])
    prompts = {kind: ask(of_kind) for kind, of_kind in kinds.items()}
    are_captions, are_pairs = task.documents is ClipDocument, task.documents is PairDocument
    evaluate = _CAPTIONS
    if not are_captions:
        evaluate = _CHOICES.format(
            preferred=_PREFERRED if are_pairs else "",
            prompts="".join(f"    {as_json(kind)}: {as_json(prompt)},\n" for kind, prompt in prompts.items()),
        )
        evaluate += sources(choice_to_text, option_lines, is_yes_no, read_choice)
    module = _MODULE.format(
        typing="" if are_captions else "from typing import Any\n",
        imports=_CAPTION_IMPORTS if are_captions else _CHOICE_IMPORTS,
        class_name=task.name.title().replace("_", ""),
        md5=hashlib.md5(table.read_bytes(), usedforsecurity=False).hexdigest(),
        type="Video-VQA" if are_captions else "Video-Y/N" if set(prompts.values()) == {YES_NO_PROMPT} else "Video-MCQ",
        name=task.name,
        repository=f"{task.dataset}-vlmevalkit",
        prompt="line['question']" if are_captions else "ask(line)",
        evaluate=evaluate,
    )
    with text_file(request.folder / f"{task.name}.py") as stream:
        stream.write(module)
    with text_file(request.folder / "run.py") as stream:
        stream.write(_RUN)
    usage = _USAGE.format(
        dataset=task.dataset,
        task=task.name,
        options=task.evaluate_options,
        answers="_score" if are_pairs else "",
        needs=" pycocoevalcap" if are_captions else "",
    )
    return Written(usage)


FORMAT = Format(write_vlmevalkit, RULES, any_config=True, takes_stimuli=True, shows_videos=LIMITS)
