"""Keep an index open for many questions, and see what other processes make of it meanwhile."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from askcode.choosing_repositories import check_names
from askcode.errors import AskcodeError, UsageError
from askcode.manifest import load_manifest
from askcode.records import Filters, Question, Retrieved
from askcode.settings import Settings
from askcode.wiring import (
    OpenIndex,
    load_repositories,
    make_answerer,
    make_own_searches,
    make_place,
    make_retriever,
    open_index,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from askcode.answered import Answered
    from askcode.retrieving import Retriever


@dataclass(frozen=True, slots=True)
class _Opened:
    """What is made once for each state of the manifest."""

    index: OpenIndex
    retriever: Retriever
    own_searches: Callable[[str], tuple[str, ...]]


@dataclass
class ServedIndex:
    """The index of a root, opened at its first use and again when it was made anew."""

    root: Path
    settings: Settings
    _opened: _Opened | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def warm_up(self) -> None:
        """Load what the first search would wait for; an index that cannot be used is told then."""
        with suppress(AskcodeError, OSError):
            self.search("warm up", k=1)

    def search(
        self, text: str, *, k: int, filters: Filters | None = None, mode: str = "hybrid"
    ) -> Retrieved:
        """Return the k best chunks as the index is at this moment.

        Raises:
            IndexUnusable: there is none, or it was made otherwise.
            UsageError: the filters name no repository of the index.
            EmbedderError: the embedding model cannot be used.
            StepError: an own step fails.
        """
        opened = self._current()
        wanted = _checked(filters or Filters(), opened.index)
        asked = Question(text, (text, *opened.own_searches(text)), wanted)
        return opened.retriever.retrieve(asked, k=k, mode=mode)

    def ask(
        self, text: str, *, k: int, filters: Filters | None = None, use_llm: bool = True
    ) -> Answered:
        """Answer a question with what the index holds at this moment.

        Raises:
            IndexUnusable: there is none, or it was made otherwise.
            UsageError: the filters name no repository of the index.
            ModelUnavailable: a model cannot be used.
            StepError: an own step fails.
        """
        index = self._current().index
        wanted = _checked(filters or Filters(), index)
        answerer = make_answerer(
            index,
            self.settings,
            use_llm=use_llm,
            subquestions=self.settings.subquestions,
            k=k,
        )
        return answerer.answer(Question(text, (text,), wanted))

    def _current(self) -> _Opened:
        """Return the index as it is: opened anew with another manifest, else at its last state."""
        with self._lock:
            opened, self._opened = self._opened, None
            place = make_place(self.settings, self.root)
            made = (load_manifest(place), load_repositories(place))
            if opened is None or made != (opened.index.manifest, opened.index.repositories):
                index = open_index(self.settings, self.root)
                opened = _Opened(index, make_retriever(index, self.settings), make_own_searches())
            else:
                _refresh(opened.index)
            self._opened = opened
            return opened


def relative_filters(
    globs: Sequence[str], languages: Sequence[str], repositories: Sequence[str] = ()
) -> Filters:
    """Return the filters of a search that must stay below its root.

    Raises:
        UsageError: a glob is absolute or climbs out of the root.
    """
    for glob in globs:
        rule = glob.lstrip("!")
        is_drive = rule[1:2] == ":"
        parts = rule.replace("\\", "/").split("/")
        if not rule or is_drive or parts[0] in ("", "~") or ".." in parts:
            raise UsageError(
                f"the path filter {glob!r} leaves the root of the code base",
                hint="paths are relative to the root, such as src/**",
            )
    return Filters(tuple(globs), tuple(languages), tuple(repositories))


def _checked(filters: Filters, index: OpenIndex) -> Filters:
    if filters.repositories:
        check_names(filters.repositories, index.repositories)
    return filters


def _refresh(index: OpenIndex) -> None:
    from askcode.adapters.lance_store import LanceStore

    if isinstance(index.store, LanceStore):
        index.store.refresh()
