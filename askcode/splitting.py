"""Cut the lines of a file along its parts into runs of a limited size.

Parts that fit stay whole; small neighbours share a run; what is too large is cut along the parts
inside it, and where there are none at blank lines and shallow indentation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from askcode.parts import Part

# What has this share of the limit gets a run of its own: to be found by what it does alone.
_OWN_SHARE = 1 / 3
# A head of a class of at most this share goes with a first member that has a run of its own.
_HEAD_SHARE = 1 / 4
# A comment of at least this share, set apart at the head of a file, speaks of the file (often a
# licence), and not of the first definition.
_REMARK_SHARE = 1 / 8
_REMARKS = re.compile(r"\s*(?:#(?![a-z])|//|/\*|\*|--|;|%|<!--)")
# Lines that say nothing without what comes before.
_CLOSERS = re.compile(
    r"\W*(?:end\w*(?:\s+\w+){0,2}|fi|done|esac)?\W*$|\s*[)\]};]+\s*(?://|/\*|#|--).*$|"
    r"#\s*endif\b.*$",
    re.IGNORECASE,
)
_CONTINUATIONS = re.compile(
    r"\s*(?:[)\]}]|end\b|else|elif|elsif|except|catch|finally|rescue|ensure|when\b|then\b|fi\b|"
    r"done\b|\.\w|&&|\|\||[?:]\s|in\b)"
)
_LEADS = re.compile(r"\s*(?:#|//|/\*|\*|--|;|%|@|\"\"\")")
# In steps of indentation: what a cut costs that parts a comment from its code, or a closing
# bracket from what it closes, or that has no blank line; and one that is a whole run off balance.
_LEAD_COST, _CONTINUATION_COST, _DENSE_COST, _BALANCE_COST = 3.0, 4.0, 1.0, 4.0
_TAB_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class Run:
    """Lines that belong together, 1-based and inclusive."""

    start_line: int
    end_line: int


@dataclass(slots=True)
class _Unit:
    start: int
    end: int
    is_part: bool
    """Whether it is a definition or a section, and nothing else."""
    is_single: bool = True
    """Whether it is no merger."""
    is_closed: bool = False
    """Whether nothing may be added: a run of a larger part's inside, for one."""


def is_closer(line: str) -> bool:
    """Return whether a line only ends what lines above began."""
    return _CLOSERS.match(line) is not None


def split(
    lines: Sequence[str], weights: Sequence[int], parts: Iterable[Part], *, limit: int
) -> list[Run]:
    """Return the runs of all lines, in order, without blank lines at their ends.

    Weights are the sizes of the lines, in the unit of the limit; a run is larger than the limit
    only when it is one line.
    """
    splitter = _Splitter(lines, weights, limit)
    units = splitter.cut(1, len(lines), list(parts), is_top=True)
    trimmed = (splitter.trim(unit.start, unit.end) for unit in units)
    return [run for run in trimmed if run.start_line <= run.end_line]


class _Splitter:
    def __init__(self, lines: Sequence[str], weights: Sequence[int], limit: int) -> None:
        self.lines = lines
        self.limit = limit
        self.sums = [0, *accumulate(weights)]

    def weight(self, start: int, end: int) -> int:
        """Return the size of lines start to end."""
        return self.sums[end] - self.sums[start - 1]

    def trim(self, start: int, end: int) -> Run:
        """Return the lines without blank ones at the ends."""
        while start <= end and not self.lines[start - 1].strip():
            start += 1
        while start <= end and not self.lines[end - 1].strip():
            end -= 1
        return Run(start, end)

    def cut(self, start: int, end: int, parts: list[Part], *, is_top: bool) -> list[_Unit]:
        """Return lines start to end as units that fit, cut along parts."""
        if self.weight(start, end) <= self.limit and not is_top:
            return [_Unit(start, end, is_part=True)]
        units: list[_Unit] = []
        at = start
        for part in parts:
            first, last = max(part.start_line, at), min(part.end_line, end)
            if last < first:
                continue
            if not is_top and at == start and self._is_head_of(start, first, last):
                first = start
            units += self._between(at, first - 1)
            inside = self.cut(first, last, part.parts, is_top=False)
            for unit in inside:
                unit.is_closed = len(inside) > 1
            units += inside
            at = last + 1
        if at == start and not is_top:
            return self._between(start, end)
        return self._merged([*units, *self._between(at, end)], is_top=is_top)

    def _is_head_of(self, start: int, first: int, last: int) -> bool:
        """Return whether the lines before a part too large for one run go with its own head."""
        is_small = self.weight(start, first - 1) <= self.limit * _HEAD_SHARE
        return is_small and self.weight(first, last) > self.limit

    def _between(self, start: int, end: int) -> list[_Unit]:
        """Return lines that belong to no part as units that fit."""
        run = self.trim(start, end)
        if run.start_line > run.end_line:
            return []
        if self.weight(run.start_line, run.end_line) <= self.limit:
            return [_Unit(run.start_line, run.end_line, is_part=False)]
        return self._flat(run.start_line, run.end_line)

    def _merged(self, units: list[_Unit], *, is_top: bool) -> list[_Unit]:
        merged: list[_Unit] = []
        for unit in units:
            if merged and self._belongs(merged, unit, is_top=is_top):
                last = merged[-1]
                is_part = last.is_part and self._only_closes(unit)
                is_single = last.is_single and self._only_closes(unit)
                merged[-1] = _Unit(last.start, unit.end, is_part, is_single, last.is_closed)
            else:
                merged.append(unit)
        return merged

    def _belongs(self, merged: list[_Unit], unit: _Unit, *, is_top: bool) -> bool:
        """Return whether a unit goes into the last run."""
        last = merged[-1]
        if self.weight(last.start, unit.end) > self.limit:
            return False
        if self._only_closes(unit):
            return True
        if last.is_closed or unit.is_closed:
            return False
        if is_top and unit.is_part and self._is_remark(last):
            return False
        is_head = len(merged) == 1 and not last.is_part and not is_top
        if is_head and self.weight(last.start, last.end) <= self.limit * _HEAD_SHARE:
            return True
        return not (self._stands_alone(last) or self._stands_alone(unit))

    def _only_closes(self, unit: _Unit) -> bool:
        lines = self.lines[unit.start - 1 : unit.end]
        return not unit.is_part and all(is_closer(line) for line in lines)

    def _is_remark(self, unit: _Unit) -> bool:
        lines = [line for line in self.lines[unit.start - 1 : unit.end] if line.strip()]
        is_large = self.weight(unit.start, unit.end) >= self.limit * _REMARK_SHARE
        return not unit.is_part and is_large and all(_REMARKS.match(line) for line in lines)

    def _stands_alone(self, unit: _Unit) -> bool:
        return unit.is_single and self.weight(unit.start, unit.end) >= self.limit * _OWN_SHARE

    def _flat(self, start: int, end: int) -> list[_Unit]:
        """Return lines without parts as units of about equal size, cut where it hurts least."""
        units: list[_Unit] = []
        while start <= end:
            following = self._next_cut(start, end)
            units.append(_Unit(start, following - 1, is_part=False))
            start = following
            while start <= end and not self.lines[start - 1].strip():
                start += 1
        return units

    def _next_cut(self, start: int, end: int) -> int:
        """Return the line after the first of the units that lines start to end make."""
        total = self.weight(start, end)
        if total <= self.limit:
            return end + 1
        count = -(-total // self.limit)
        target = total / count
        base = self.sums[start - 1]
        latest = max(bisect_right(self.sums, base + self.limit, lo=start, hi=end + 1), start + 1)
        earliest = bisect_right(self.sums, base + target / 2, lo=start, hi=latest - 1) + 1
        candidates = range(max(min(earliest, latest), start + 1), latest + 1)
        return min(
            candidates,
            key=lambda line: self._cost(line, (self.weight(start, line - 1) - target) / target),
        )

    def _cost(self, line: int, imbalance: float) -> float:
        """Return what it costs to begin a unit at a line."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        above = self.lines[line - 2]
        cost = _indent(text) / _TAB_COLUMNS + abs(imbalance) * _BALANCE_COST
        if above.strip():
            cost += _DENSE_COST + (
                _LEAD_COST if _LEADS.match(above) and not _LEADS.match(text) else 0
            )
        if not text.strip():
            cost += _DENSE_COST
        return cost + (_CONTINUATION_COST if _CONTINUATIONS.match(text) else 0)


def _indent(line: str) -> int:
    wide = line.expandtabs(_TAB_COLUMNS)
    return len(wide) - len(wide.lstrip())
