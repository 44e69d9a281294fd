"""Decode the bytes of a file: byte order mark, coding cookie, UTF-8, then best effort."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

# git's own rule: a NUL among the first 8,000 bytes makes a file binary.
BINARY_WINDOW = 8000

# A longer mark first where one begins with another.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Formats that can be free of NUL bytes for a long stretch.
_MAGIC = (
    b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd",
    b"\xff\xd8\xff", b"!<arch>\n",
)  # fmt: skip

# PEP 263; only in the first two lines.
_COOKIE = re.compile(
    rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?\r?\n)?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
)

# What an editor or a markup language is told: used when the text is not UTF-8.
_HINTS = (
    re.compile(rb"-\*-[^\r\n]*?coding:[ \t]*([-\w.]+)"),
    re.compile(rb"\bvim?:[^\r\n]*?\b(?:fenc|fileencoding)=([-\w.]+)"),
    re.compile(rb"<\?xml[^>]*?encoding=[\"']([-\w.]+)"),
    re.compile(rb"<meta[^>]*?charset=[\"']?([-\w.]+)", re.IGNORECASE),
    re.compile(rb"@charset \"([-\w.]+)\""),
)
_HINT_WINDOW = 1024

# Codecs that Python calls text encodings, but that turn source text into something else.
_NO_CHARSETS = {"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "charmap"}
_LATIN = {"iso8859-1", "cp1252"}

_CONTROLS = re.compile("[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
# Random bytes hold 10 % of them, text in a legacy encoding none.
_MAX_CONTROL_SHARE = 0.02

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text with "\\n" line ends, and what was lenient in decoding it."""

    text: str
    note: str = ""


def decode(data: bytes) -> Decoded | None:
    """Decode a file's bytes; None when they are no text."""
    decoded = _by_mark(data)
    if decoded is None:
        if b"\0" in data[:BINARY_WINDOW] or data.startswith(_MAGIC):
            return None
        decoded = _by_content(data)
    if decoded.note and _is_noise(decoded.text[:BINARY_WINDOW]):
        return None
    return _without_nul(Decoded(normal_lines(decoded.text), decoded.note))


def normal_lines(text: str) -> str:
    r"""Turn "\r\n" into "\n", and lone "\r" too where they are the only line ends."""
    if "\r" not in text:
        return text
    if "\n" not in text:
        return text.replace("\r", "\n")
    return re.sub(r"\r+\n", "\n", text)


def _by_mark(data: bytes) -> Decoded | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            if encoding == "utf-8":
                return _noted(text, "") if REPLACEMENT in text else Decoded(text)
            return _noted(text, f"decoded as {encoding[:6].upper()}")
    return None


def _is_noise(head: str) -> bool:
    """Return whether bytes that were no UTF-8 are no text in another encoding either."""
    return "\0" in head or len(_CONTROLS.findall(head)) > max(2, _MAX_CONTROL_SHARE * len(head))


def _by_content(data: bytes) -> Decoded:
    cookie = _COOKIE.match(data[:_HINT_WINDOW])
    text = _declared(data, cookie) if cookie else None
    if text is not None:
        return Decoded(text)
    try:
        return Decoded(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _by_hint(data) or _lenient(data)


def _by_hint(data: bytes) -> Decoded | None:
    # an editor's line stands at either end of a file
    window = data[:_HINT_WINDOW] + b"\n" + data[-_HINT_WINDOW:]
    for pattern in _HINTS:
        hint = pattern.search(window)
        text = _declared(data, hint) if hint else None
        if text is not None:
            return Decoded(text)
    return None


def _declared(data: bytes, declaration: re.Match[bytes]) -> str | None:
    """Decode as declared; None when that is no charset or the text is not written in it."""
    name = re.sub(r"-(?:unix|dos|mac)$", "", declaration[1].decode("ascii", "replace"))
    try:
        charset = codecs.lookup(name).name
        # what calls itself latin-1 mostly is cp1252, whose quotes would become controls
        text = data.decode("cp1252" if charset in _LATIN else charset)
    except (LookupError, ValueError, TypeError):
        return None
    if charset in _NO_CHARSETS or not isinstance(text, str):
        return None
    # a charset that the declaration itself cannot be read in ("utf-16") is a mistake
    around = declaration.string[max(0, declaration.start(1) - 7) : declaration.end(1)]
    return text if around.decode("ascii", "ignore") in text else None


def _lenient(data: bytes) -> Decoded:
    text = data.decode("utf-8", "replace")
    bad = text.count(REPLACEMENT) - data.count(REPLACEMENT.encode())
    good = sum(character > "\x7f" for character in text) - bad
    if good > bad or _is_stray(data):
        return _noted(text, "")
    return _noted(data.decode("cp1252", "replace"), "decoded as cp1252")


def _is_stray(data: bytes) -> bool:
    """Return whether the bytes above ASCII are no letters or signs of cp1252 either."""
    high = set(data.translate(None, bytes(range(128))))
    return bool(high & {0x81, 0x8D, 0x8F, 0x90, 0x9D, 0xFF}) and len(high) < 8


def _noted(text: str, note: str) -> Decoded:
    bad = text.count(REPLACEMENT)
    replaced = f"undecodable bytes replaced: {bad}" if bad else ""
    return Decoded(text, ", ".join(filter(None, (note, replaced))))


def _without_nul(decoded: Decoded) -> Decoded:
    count = decoded.text.count("\0")
    if not count:
        return decoded
    note = f"NUL bytes replaced: {count}"
    note = f"{decoded.note}, {note}" if decoded.note else note
    return Decoded(decoded.text.replace("\0", REPLACEMENT), note)
