"""Print what MTEB's own tests of metadata say of the tasks of an export, and whether MTEB has them."""

import json
import runpy
import sys
from pathlib import Path

import bibtexparser
import mteb
from bibtexparser.bwriter import BibTexWriter
from mteb.abstasks.retrieval import AbsTaskRetrieval


def format_bibtex(text):
    """Return BibTeX as test_citation_formatting.py of MTEB has it."""
    parser = bibtexparser.bparser.BibTexParser(
        common_strings=True, ignore_nonstandard_types=False, interpolate_strings=False
    )
    writer = BibTexWriter()
    writer.indent, writer.comma_first, writer.add_trailing_comma = "  ", False, True
    return writer.write(bibtexparser.loads(text, parser)).strip()


defined = runpy.run_path(str(Path(sys.argv[1]) / "mteb_tasks.py"))
kinds = {name: each for name, each in defined.items() if isinstance(each, type) and AbsTaskRetrieval in each.__bases__}
known = {task.metadata.name.lower() for task in mteb.get_tasks()}
facts = []
for name, kind in kinds.items():
    about = kind.metadata
    about._validate_metadata()
    assert isinstance(about.simplified_task_type, str)
    facts.append(
        about.model_dump(mode="json")
        | {
            "class": name,
            "is_filled": about.is_filled(),
            "is_known": about.name.lower() in known,
            "is_formatted": format_bibtex(about.bibtex_citation) == about.bibtex_citation.strip(),
            "loads_as_mteb": "load_data" not in vars(kind),
        }
    )
print(json.dumps(facts))
