"""Write a self-contained web page on which a HIT is assessed; `vttdata.assess.read_results` reads its answers.

A page contains what an assessor sees, and nothing about systems or kinds of items. HITs are made in `vttdata.assess`.
"""

from vttdata.annotate.da_page.view import (
    DEFAULT_SCALE_ENDS,
    HitView,
    ItemView,
    hit_view,
    page_text,
    page_writer,
    write_page,
)
from vttdata.assess.hits.hit_records import DEFAULT_QUESTION

__all__ = [
    "DEFAULT_QUESTION",
    "DEFAULT_SCALE_ENDS",
    "HitView",
    "ItemView",
    "hit_view",
    "page_text",
    "page_writer",
    "write_page",
]
