"""Write any path as valid UTF-8 and read it back exactly.

A file name is bytes; Python shows those that are not UTF-8 as surrogate escapes
(PEP 383), which Arrow strings and SQL cannot hold. Each such byte becomes one code point
at the end of the last private-use plane. A name that really contains one of these code
points has it written byte by byte the same way, so that no two names share a writing.
"""

from __future__ import annotations

import re

# U+10FF80 to U+10FFFF: one for each byte from 0x80 to 0xFF.
_BASE = 0x10FF00
_SPECIAL = re.compile("[\ud800-\udfff\U0010ff80-\U0010ffff]")


def encode_path(path: str) -> str:
    """Return a path as text without surrogates; ordinary paths stay as they are."""
    return _SPECIAL.sub(_as_bytes, path)


def decode_path(text: str) -> str:
    """Return the path that `encode_path` was given."""
    if not _SPECIAL.search(text):
        return text
    data = b"".join(
        bytes([ord(letter) - _BASE]) if _SPECIAL.match(letter) else letter.encode()
        for letter in text
    )
    return data.decode("utf-8", "surrogateescape")


def _as_bytes(match: re.Match[str]) -> str:
    letter = match.group()
    escaped = "\udc80" <= letter <= "\udcff"
    data = letter.encode("utf-8", "surrogateescape" if escaped else "surrogatepass")
    return "".join(chr(_BASE + byte) for byte in data)
