"""Look up what is known of the chunks of a file, and what is to be asked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from askcode.calling import Value
from askcode.planning_calls import CallPlanner, Want, latest_key, says_something
from askcode.protocols import DescriptionCache
from askcode.records import Chunk, SourceFile


@dataclass(frozen=True, slots=True)
class ChunkedFile:
    """A file with its chunks."""

    file: SourceFile
    chunks: tuple[Chunk, ...]


@dataclass(slots=True)
class Looked:
    """What the chunks of a file need, and what is known of it."""

    file: ChunkedFile
    needs: dict[tuple[int, str], str]
    """Cache keys by chunk (its place in the file) and kind."""
    known: dict[str, Value]
    wants: list[Want]
    """What to ask for: neither known nor planned already, each key once."""

    def reused(self, *, asks: bool) -> int:
        """Count the chunks that need no call of their own."""
        wanted = {want.key for want in self.wants}
        paid: set[int] = set()
        for (place, _), key in self.needs.items():
            if key in wanted or (not asks and key not in self.known):
                paid.add(place)
                wanted.discard(key)
        return len({place for place, _ in self.needs} - paid)


@dataclass(frozen=True, slots=True)
class Lookup:
    """The cache as one planner sees it."""

    planner: CallPlanner
    cache: DescriptionCache
    asks: bool
    """Whether there is a model to ask; without one, what any model said is good enough."""

    def look_up(self, file: ChunkedFile, planned: Collection[str]) -> Looked:
        """Sort what the chunks of a file need into known, planned already, and wanted."""
        needs = {
            (place, kind): self.planner.key(chunk, kind) if self.asks else latest_key(chunk, kind)
            for place, chunk in enumerate(file.chunks)
            if says_something(chunk)
            for kind in self.planner.kinds
        }
        known = self.cache.get([key for key in needs.values() if key not in planned])
        wants: dict[str, Want] = {}
        if self.asks:
            for (place, kind), key in needs.items():
                if key not in known and key not in planned:
                    wants.setdefault(key, Want(file.chunks[place], kind, key))
        return Looked(file, needs, known, list(wants.values()))
