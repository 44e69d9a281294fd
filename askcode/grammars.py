"""Load tree-sitter parsers, whichever grammar bundle is installed.

tree-sitter-languages serves Python up to 3.12, tree-sitter-language-pack later ones; they
differ in grammar names, in grammar versions and in the binding they need.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from tree_sitter import Parser, Tree

_log = logging.getLogger(__name__)

# The markdown grammar of tree-sitter-languages aborts the process while it parses.
_UNSAFE = frozenset({"markdown", "markdown_inline"})

# What tree-sitter-language-pack calls differently.
_PACK_NAMES = {
    "c_sharp": "csharp",
    "embedded_template": "embeddedtemplate",
    "fixed_form_fortran": "fortran",
    "sqlite": "sql",
    "tsq": "query",
}

# Some grammars never end on some inputs (Lua's on the one word "x") and take ever more memory.
# A parse takes well under a second per megabyte, so this is no limit to one that works.
_TIMEOUT_MICROS = 1_000_000
_TIMEOUT_MICROS_PER_BYTE = 5

# As the type stubs of the binding do not have both versions' methods.
_Loader = Callable[[str], Any]


@cache
def parser_for(language: str) -> Parser | None:
    """Return the parser of a language, or None where no grammar can be loaded."""
    load = _loader()
    if load is None or language in _UNSAFE:
        return None
    try:
        return cast("Parser", load(language))
    except LookupError:
        return None  # the bundle does not have this language
    except (AttributeError, ImportError, OSError, TypeError, ValueError) as error:
        _log.warning("no grammar for %s, its files are cut by lines: %s", language, error)
        return None


def parse(language: str, data: bytes) -> Tree | None:
    """Return the syntax tree of data, or None without a grammar or when parsing does not end."""
    parser = parser_for(language)
    if parser is None:
        return None
    set_timeout = getattr(parser, "set_timeout_micros", None)
    if set_timeout is not None:
        set_timeout(_TIMEOUT_MICROS + _TIMEOUT_MICROS_PER_BYTE * len(data))
    try:
        return parser.parse(data)
    except ValueError:
        parser.reset()  # or the next parse would go on with this one
        return None


@cache
def _loader() -> _Loader | None:
    if importlib.util.find_spec("tree_sitter_languages") is not None:
        return _load_from_languages
    if importlib.util.find_spec("tree_sitter_language_pack") is not None:
        return _load_from_pack
    _log.warning("no tree-sitter grammars are installed, files are cut by lines")
    return None


def _load_from_languages(language: str) -> Any:
    bundle = importlib.import_module("tree_sitter_languages")
    with warnings.catch_warnings():
        # The bundle loads its grammars in a way that its own binding deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return bundle.get_parser(language)
        except AttributeError as error:
            if "undefined symbol" in str(error):
                raise LookupError(language) from error
            raise


def _load_from_pack(language: str) -> Any:
    bundle = importlib.import_module("tree_sitter_language_pack")
    return bundle.get_parser(_PACK_NAMES.get(language, language))
