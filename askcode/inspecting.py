"""Say by its text why a file is left out: private key, generated, minified, bulk data."""

from __future__ import annotations

import re
from dataclasses import dataclass

from askcode.commenting import MAX_CHARACTERS, opening_comments

# Tables, drawings and logs beyond this tell a reader less than they cost.
MAX_DATA_CHARACTERS = 100_000
# A drawing of more is paths and no words.
MAX_DRAWING_CHARACTERS = 20_000
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".log", ".map", ".geojson", ".topojson", ".dat")
_DOCUMENTS = (".json", ".xml", ".sql", ".har", ".plist", ".xmi", ".lst", ".hex", ".srec")
MAX_DOCUMENT_CHARACTERS = 400_000

# People break lines long before; a bundle has next to no others.
LONG_LINE = 1000
_MINIFIED_ENDINGS = (".js", ".mjs", ".cjs", ".css", ".html", ".htm", ".json", ".ts", ".jsx")
# Code has 10 to 25 % of these, base64 and prose next to none.
_CODE_SIGNS = re.compile(r"[(){}\[\];:,=]")
_MIN_CODE_SIGN_SHARE = 0.05
# Lines of a normal length, per long one, that make a file a normal one.
_MAX_SHORT_PER_LONG = 10

_PRIVATE_KEY = re.compile(
    r"^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----$.*?(?:^-----END [^\n]*|\Z)"
    r"|^PuTTY-User-Key-File-\d:.*\Z|^AGE-SECRET-KEY-1\w+$",
    re.MULTILINE | re.DOTALL,
)
_SERVICE_ACCOUNT = re.compile(r'"private_key"\s*:\s*"-----BEGIN')
_CLUSTER_SECRET = re.compile(r"^kind:\s*[\"']?Secret[\"']?\s*$", re.MULTILINE)
_CLUSTER_DATA = re.compile(r"^(?:data|stringData):\s*$", re.MULTILINE)

# Not in the middle of a sentence that goes over several lines.
_START = r"(?<![\w,]\n)^\W*"
_NOUN = (
    r"(?:file|code|module|source|class|script|header|document|page|makefile|configuration|"
    r"interface|package|program|output|content|stub|binding|parser|table)"
)
_AUTO = r"(?:(?:auto|automatically|machine)[-\ ]?generated|generated\ automatically)"
_WITH = r"(?:by|from|with|using)"
_THIS = (
    rf"(?:this|these|the\ following)\ (?:[\w.]+\ ){{0,3}}{_NOUN}s?\ (?:is|are|was|were|has\ been)"
)
# in quotes it is spoken of
_HANDS_OFF = (
    r"(?<![\"'`])(?:do\ not|don't)\ (?:manually\ )?(?:edit|modify|change|touch)\b"
    r"(?!\ (?:the\ )?generated)"
)
_TOOLS = (
    r"(?:the\ protocol\ buffer\ compiler|protoc|grpc|thrift|flatbuffers|flatc|openapi|swagger|"
    r"cython|swig|bindgen|cbindgen|haxe|coffeescript|peg\.?js|antlr|bison|flex|yacc|re2c|lalrpop|"
    r"javacc|gperf|gnu\ autoconf|autoconf|aclocal|automake|autoheader|cmake|wayland-scanner|"
    r"pip-compile|uv|mockgen|mockery|counterfeiter|stringer|sqlc|ent|gqlgen|jooq|pyuic\d?)"
)
# Each stands in a comment; the words alone ("skip generated files") mark nothing.
_MARKERS = re.compile(
    rf"""
    ^\W*code\ generated\ .{{0,200}}?do\ not\ edit
    | {_START}@(?:auto)?generated\b
    | {_THIS}\ @generated\b
    | <auto-?generated\b
    | {_START}(?:(?:warning|note|attention|notice)\W+)?
      {_AUTO}(?:\W*$|\ (?:{_WITH}|{_NOUN})\b|\W+do\ not\b)
    | \b{_THIS}\ {_AUTO}
    | \b{_THIS}\ generated\ {_WITH}\b
    | {_START}(?:\S+\ )?(?:auto-?)?generated\ (?:automatically\ )?{_WITH}\ (?:\S+\ by\ )?{_TOOLS}\b
    | \bgenerated\b.{{0,120}}?\n?.{{0,80}}?{_HANDS_OFF}
    | {_HANDS_OFF}.{{0,120}}?\n?.{{0,80}}?\bgenerated\b
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a text is left out."""

    reason: str
    detail: str = ""


def find_secret(text: str) -> Finding | None:
    """Return a finding for a text that is a private key or a file of credentials."""
    if "PRIVATE KEY" in text or "PuTTY-User-Key" in text or "AGE-SECRET-KEY-1" in text:
        if _SERVICE_ACCOUNT.search(text):
            return Finding("secret", "service account key")
        key = sum(len(block[0]) for block in _PRIVATE_KEY.finditer(text))
        if key * 2 >= len(text.strip()):
            return Finding("secret", "private key")
    if "Secret" in text and _CLUSTER_SECRET.search(text) and "{{" not in text:
        return Finding("secret", "cluster secret") if _CLUSTER_DATA.search(text) else None
    return None


def find_reason(path: str, text: str) -> Finding | None:
    """Return why the default rules leave a text out, None when they do not."""
    if text.startswith("version https://git-lfs.github.com/spec/"):
        return Finding("data", "Git LFS pointer")
    lowered = path.lower()
    if lowered.endswith(".ipynb"):
        return None
    return (
        _find_data(lowered, text) or _find_minified(lowered, text) or _find_generated(lowered, text)
    )


def _find_data(path: str, text: str) -> Finding | None:
    limits = (
        (_TABLES, MAX_DATA_CHARACTERS),
        (_DOCUMENTS, MAX_DOCUMENT_CHARACTERS),
        ((".svg",), MAX_DRAWING_CHARACTERS),
    )
    for endings, most in limits:
        if path.endswith(endings) and len(text) > most:
            return Finding("data", f"more than {most:,} characters")
    return None


def _find_minified(path: str, text: str) -> Finding | None:
    if not path.endswith(_MINIFIED_ENDINGS) or len(text) < 2 * LONG_LINE:
        return None
    lines = [line for line in text.split("\n") if line.strip()]
    long_lines = [line for line in lines if len(line) > LONG_LINE]
    if not long_lines or len(lines) - len(long_lines) > _MAX_SHORT_PER_LONG * len(long_lines):
        return None
    long_text = "".join(long_lines)
    if 2 * len(long_text) < len(text):
        return None
    signs = len(_CODE_SIGNS.findall(long_text))
    return Finding("minified") if signs > _MIN_CODE_SIGN_SHARE * len(long_text) else None


def _find_generated(path: str, text: str) -> Finding | None:
    # the word is rare, and reading comments is most of the cost of a scan
    if "generated" not in text[:MAX_CHARACTERS].lower():
        return None
    marker = _MARKERS.search(opening_comments(path, text))
    return Finding("generated", _shown(marker[0])) if marker else None


def _shown(marker: str) -> str:
    words = " ".join(marker.split()).strip(" -#*/;<!")
    return words if len(words) <= 60 else words[:57] + "..."
