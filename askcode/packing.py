"""Choose, best first, which excerpts fit into the prompt, and say what did not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from askcode.records import Chunk, Excerpt, Hit

# A piece of fewer lines says too little to be worth its frame.
MIN_CUT_LINES = 4

NO_ROOM = "no room in the prompt"
DELETED = "the file is gone"


@dataclass(frozen=True, slots=True)
class Omitted:
    """A hit, or its end, that the model does not see."""

    location: str
    reason: str


@dataclass(frozen=True, slots=True)
class Packed:
    """The excerpts a prompt holds, numbered from 1 in the order of their best hit."""

    excerpts: tuple[Excerpt, ...]
    omitted: tuple[Omitted, ...]
    tokens: int


def pack(
    hits: Sequence[Hit],
    *,
    budget: int,
    measure: Callable[[Excerpt], int],
    stale: Collection[str] = (),
    deleted: Collection[str] = (),
) -> Packed:
    """Fill a budget of tokens with hits, best first.

    `measure` counts the tokens of an excerpt as it is sent. A hit that does not fit is cut at
    a line or left out, and either is told. Hits of one file that touch or overlap become one
    excerpt; hits of deleted files are never sent.
    """
    pieces: list[Excerpt] = []
    omitted: list[Omitted] = []
    left = budget
    for hit in hits:
        if hit.chunk.path in deleted:
            omitted.append(Omitted(hit.chunk.location, DELETED))
            continue
        piece = _whole(hit.chunk, is_changed=hit.chunk.path in stale)
        if _is_within(piece, pieces):
            continue
        fitting = piece if measure(piece) <= left else _cut(piece, left, measure)
        if fitting is not None:
            pieces.append(fitting)
            left -= measure(fitting)
        omitted += _what_is_missing(piece, fitting)
    excerpts = [
        replace(each, number=number) for number, each in enumerate(_merged(pieces), start=1)
    ]
    return Packed(tuple(excerpts), tuple(omitted), sum(map(measure, excerpts)))


def _whole(chunk: Chunk, *, is_changed: bool) -> Excerpt:
    return Excerpt(
        0,
        chunk.path,
        chunk.start_line,
        chunk.end_line,
        chunk.text,
        chunk.language,
        chunk.symbol,
        is_changed=is_changed,
    )


def _is_within(piece: Excerpt, others: Sequence[Excerpt]) -> bool:
    return any(
        other.path == piece.path
        and other.start_line <= piece.start_line
        and piece.end_line <= other.end_line
        for other in others
    )


def _cut(piece: Excerpt, room: int, measure: Callable[[Excerpt], int]) -> Excerpt | None:
    """Return the longest beginning that fits, by bisection over its lines."""
    lines = piece.text.split("\n")
    fits, too_many = 0, len(lines)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if measure(_beginning(piece, lines, middle)) <= room:
            fits = middle
        else:
            too_many = middle
    return _beginning(piece, lines, fits) if fits >= MIN_CUT_LINES else None


def _beginning(piece: Excerpt, lines: Sequence[str], count: int) -> Excerpt:
    return replace(
        piece,
        text="\n".join(lines[:count]),
        end_line=piece.start_line + count - 1,
        is_cut=True,
    )


def _what_is_missing(piece: Excerpt, fitting: Excerpt | None) -> list[Omitted]:
    if fitting is None:
        return [Omitted(piece.location, NO_ROOM)]
    if fitting.end_line < piece.end_line:
        location = f"{piece.path}:{fitting.end_line + 1}-{piece.end_line}"
        return [Omitted(location, NO_ROOM)]
    return []


def _merged(pieces: Sequence[Excerpt]) -> list[Excerpt]:
    """Join pieces of one file that touch or overlap; each stands where its best one stood."""
    merged: list[Excerpt] = []
    for piece in pieces:
        touching = [each for each in merged if _touch(each, piece)]
        if not touching:
            merged.append(piece)
            continue
        place = merged.index(touching[0])
        joined = _joined([*touching, piece])
        merged = [each for each in merged if each not in touching]
        merged.insert(place, joined)
    return merged


def _touch(one: Excerpt, other: Excerpt) -> bool:
    return (
        one.path == other.path
        and one.start_line <= other.end_line + 1
        and other.start_line <= one.end_line + 1
    )


def _joined(pieces: Sequence[Excerpt]) -> Excerpt:
    lines: dict[int, str] = {}
    for piece in pieces:
        lines.update(enumerate(piece.text.split("\n"), start=piece.start_line))
    numbers = sorted(lines)
    last = max(pieces, key=lambda piece: (piece.end_line, not piece.is_cut))
    symbols = {piece.symbol for piece in pieces}
    return replace(
        pieces[0],
        start_line=numbers[0],
        end_line=numbers[-1],
        text="\n".join(lines[number] for number in numbers),
        symbol=symbols.pop() if len(symbols) == 1 else None,
        is_cut=last.is_cut,
    )
