"""Write docs/papers.md: what the five papers behind vttdata say, what vttdata gives, and the command that says so.

Run ``python -m benchmarks.papers SHARED WORK --trecvid FOLDER``. SHARED is the folder of real data; builds and scores
stay in WORK, so that a second run takes minutes. FOLDER is a checkout of LLebronC/TRECvid-VTT_HA with all years. What
takes long or needs a program or weights of its own is kept in ``kept.json`` with its date, and measured again with
``--renew``: METEOR's and SPICE's programs, the encoder that is fine-tuned as BERTHA was (`learned`), the models of the
ranking paper (`ranking`), and what a pipeline of spaCy counts (`spacy`). ``--only NAME`` prints the section of one
paper and writes nothing.
"""

from __future__ import annotations

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType

from benchmarks.papers import assessment, bertha, emscore, hodosh, msrvtt
from benchmarks.papers.claim import SHARE, Claim, Note, exhibit_rows
from benchmarks.papers.laboratory import ROOT, Laboratory

PAGE = ROOT / "docs/papers.md"
PAPERS: dict[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module for module in (msrvtt, assessment, emscore, bertha, hodosh)
}
"""Name -> module with a title, the tables and figures of the paper, and its claims."""

INTRODUCTION = f"""# What the papers say, and what comes out here

Written by `python -m benchmarks.papers SHARED WORK --trecvid FOLDER`, which runs the commands below; nothing is edited
by hand. DATA is the folder of the official files, WORK that of builds. What takes an hour or a program of its own is
kept, with the day on which it was measured.

The verdict of a row follows from its figures by one rule. A count, which is a whole number without a unit, agrees with
a printed one that is equal. Any other figure agrees with a printed one that differs from it by no more than a unit of
its last printed digit or {SHARE * 100:.0f} %, whichever is more. A statement agrees where it holds. The first of these
that is true of a row is its verdict:

- **not done**: nothing was measured, or there is no figure to compare with; the cell says why.
- **not comparable**: other material was measured than the paper's, which the cell names; so many would agree.
- **a setting**: nothing is measured; vttdata is set to what the paper did.
- **agrees**: all figures of the row do, or the statement does in all sets.
- **differs**: not all do; the number that agree follows.

The copies of the papers at hand are texts. They lack the figures of table 1 of MSR-VTT, of the tables of Direct
Assessment, and, but for fragments, of the tables and of figure 3 of the ranking task, so that rows of these have what
the text says of them. CIDEr is CIDEr-D here, the variant of COCO's program. Tables below those of claims are
experiments of ours; no paper has them, and they have no verdict.
"""
INDEX = """## Every table and figure

Where each numbered table and figure of the papers is on this page, by the verdicts of its rows, or why it is not.
"""


def table(rows: list[tuple[str, ...]]) -> str:
    """Return rows, the first of which are headings, as a table of Markdown."""
    lines = [rows[0], ("---",) * len(rows[0]), *rows[1:]]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def section(module: ModuleType, found: list[Claim | Note]) -> str:
    """Return the section of a paper."""
    headings = ("section", "the paper says", "here", "verdict", "command")
    claims = [claim.cells for claim in found if isinstance(claim, Claim)]
    notes = [f"### {note.title}\n\n{note.text}\n\n{table(note.rows)}" for note in found if isinstance(note, Note)]
    return "\n".join([f"## {module.TITLE}\n\n{table([headings, *claims])}", *notes])


def index(found: dict[str, list[Claim | Note]]) -> str:
    """Return the table of all tables and figures of the papers."""
    rows = [("paper", "table or figure", "what it shows", "here")]
    for name, claims in found.items():
        paper = PAPERS[name].TITLE.partition(":")[0]
        only_claims = (claim for claim in claims if isinstance(claim, Claim))
        rows += [(paper, *row) for row in exhibit_rows(PAPERS[name].EXHIBITS, only_claims)]
    return f"{INDEX}\n{table(rows)}"


def collect(name: str, lab: Laboratory) -> list[Claim | Note]:
    """Return the claims of a paper, and experiments of ours."""
    return list(PAPERS[name].claims(lab))


def main() -> None:
    """Write the page, or print a section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path, help="folder of real data")
    parser.add_argument("work", type=Path, help="folder for builds and scores")
    parser.add_argument("--only", choices=PAPERS, help="print the section of this paper")
    parser.add_argument("--renew", nargs="+", choices=["meteor", "spice", "learned", "ranking", "spacy"], default=[])
    parser.add_argument("--trecvid", type=Path, help="folder of TRECVID's judgments of all years")
    parser.add_argument("--encoder", type=Path, help="folder of an encoder that is fine-tuned as BERTHA was")
    parser.add_argument("--wordnet", type=Path, help="folder with index.noun and data.noun of WordNet 3.0")
    parser.add_argument("--features", type=Path, help="features of Flickr8k's images, a file of EMScore's form")
    parser.add_argument("--processes", type=int, default=1, help="papers, and models of the ranking paper, at a time")
    options = vars(parser.parse_args())
    only = options.pop("only")
    lab = Laboratory(options.pop("shared"), options.pop("work"), **options)
    names = [only] if only else list(PAPERS)
    if not only:
        # Papers share builds and scores, which are made once.
        _ = lab.trecvid, lab.agreement
    with ProcessPoolExecutor(lab.processes) as pool:
        found = dict(zip(names, pool.map(collect, names, itertools.repeat(lab)), strict=True))
    sections = [section(PAPERS[name], claims) for name, claims in found.items()]
    if only:
        print(*sections, sep="\n", end="")
    else:
        PAGE.write_text("\n".join([INTRODUCTION, *sections, index(found)]), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
