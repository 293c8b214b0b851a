"""A self-contained web page on which one HIT is assessed; `vttdata.assess.read_results` reads what it gives back.

It knows what an assessor sees and nothing of systems or kinds of items; composing HITs is not done here.
"""

from vttdata.annotate.da_page.view import DEFAULT_ENDS, DEFAULT_QUESTION, HitView, ItemView, page_text, write_page

__all__ = ["DEFAULT_ENDS", "DEFAULT_QUESTION", "HitView", "ItemView", "page_text", "write_page"]
