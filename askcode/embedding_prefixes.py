"""Know which embedding models want queries and passages marked, and how."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEARCH_FOR = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What goes before each query and each passage."""

    query: str = ""
    passage: str = ""


# By the models' own cards; the first pattern that is found in the name counts.
_KNOWN = (
    (r"\be5-", Prefixes("query: ", "passage: ")),
    (r"nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    (r"bge-.*-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (r"bge-.*-en", Prefixes(_SEARCH_FOR)),
    (r"mxbai-embed", Prefixes(_SEARCH_FOR)),
    (r"snowflake-arctic-embed", Prefixes(_SEARCH_FOR)),
)


def prefixes_for(model_name: str) -> Prefixes:
    """Return the prefixes of a model, empty for those that want none."""
    for pattern, prefixes in _KNOWN:
        if re.search(pattern, model_name.lower()):
            return prefixes
    return Prefixes()
