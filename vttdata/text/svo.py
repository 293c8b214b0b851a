"""Subject, verb and object of a sentence, by a spaCy pipeline that parses dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


ROLES = ("subject", "verb", "object")
"""Roles of the parts of a sentence."""

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_OBJECTS = frozenset({"dobj", "obj"})


def extract_svo(doc: Doc) -> dict[str, frozenset[str]]:
    """Return the lemmas of the subjects, the verb and the objects of the main clause, in lower case.

    A caption without a finite verb, such as ``a man singing a song``, has the verb that modifies its main noun, whose
    subject is that noun. Subjects and objects that are joined by ``and`` count each; the subject of a passive is its
    grammatical one. Of several sentences in a document of spaCy the first one with a verb counts. Roles (`ROLES`) that
    the sentence does not have are left out.
    """
    roots = [token for token in doc if token.dep_ == "ROOT"]
    for root in sorted(roots, key=lambda token: token.pos_ not in ("VERB", "AUX")):
        verb: Token | None = root
        if root.pos_ in ("VERB", "AUX"):
            subjects = _children(root, _SUBJECTS)
        else:
            verb = next((child for child in root.children if child.dep_ in ("acl", "relcl")), None)
            subjects = _joined(root) if root.pos_ in ("NOUN", "PROPN", "PRON") else []
        parts = {
            "subject": subjects,
            "verb": [verb] if verb is not None else [],
            "object": _children(verb, _OBJECTS) if verb is not None else [],
        }
        return {role: frozenset(token.lemma_.lower() for token in tokens) for role, tokens in parts.items() if tokens}
    return {}


def _children(verb: Token, relations: frozenset[str]) -> list[Token]:
    return [token for child in verb.children if child.dep_ in relations for token in _joined(child)]


def _joined(token: Token) -> list[Token]:
    return [token, *(child for child in token.conjuncts if child.i > token.i)]
