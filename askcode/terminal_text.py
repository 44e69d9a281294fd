"""Make text that askcode did not write safe to print.

Source, file names and replies may hold escape sequences that clear the screen or forge
lines, and bidirectional controls that show code in another order than it runs. They are
shown as escapes; everything else is left as it is.
"""

from __future__ import annotations

import re

# C0 without \t and \n, DEL, C1; marks and overrides of writing direction (CVE-2021-42574);
# line and paragraph separators, which some terminals break lines at; tag characters, which
# are invisible; surrogates, which no encoding can write.
UNSAFE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff"
)
_UNSAFE_PATTERN = re.compile(f"[{UNSAFE}]")
_UNSAFE_OR_BREAK = re.compile(f"[{UNSAFE}\t\n]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LAST_HALF = re.compile("[\r\ud800-\udbff]\\Z")


def escape_controls(text: str) -> str:
    r"""Show controls as escapes, line ends and tabs left alone.

    Example: `"\x1b[2J"` becomes the text `\x1b[2J`, a byte of a file name that is not UTF-8
    becomes `\xe9`, a right-to-left override becomes `\u202e`; "\r\n" becomes a line end.
    """
    joined = _PAIR.sub(_join_pair, text.replace("\r\n", "\n"))
    return _UNSAFE_PATTERN.sub(_escape, joined)


def escape_line(text: str) -> str:
    """Show controls as escapes, line ends and tabs too: for paths, names and messages."""
    return _UNSAFE_OR_BREAK.sub(_escape, _PAIR.sub(_join_pair, text))


class ControlEscaper:
    """Escape text that comes in pieces, as `escape_controls` would escape the whole."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return what can be shown so far: half of a pair or of a line end waits."""
        text = self._held + piece
        half = _LAST_HALF.search(text)
        self._held = half.group() if half else ""
        return escape_controls(text[: half.start()] if half else text)

    def finish(self) -> str:
        """Return what was still held back."""
        rest, self._held = self._held, ""
        return escape_controls(rest)


def _join_pair(match: re.Match[str]) -> str:
    return match.group().encode("utf-16", "surrogatepass").decode("utf-16")


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in "\t\n":
        return "\\t" if character == "\t" else "\\n"
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name, as os.fsdecode keeps it (PEP 383)
        code -= 0xDC00
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
