"""Choose the adapters that the settings ask for, and put the pipelines together.

Adapters are imported where they are made: `askcode --help` loads none of them.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from askcode import __version__
from askcode.errors import IndexDamaged, IndexMismatch, IndexMissing, UsageError
from askcode.manifest import (
    Manifest,
    check_chunking,
    check_embedder,
    load_manifest,
    prepare_directory,
    save_manifest,
)
from askcode.metering import Meter, MeteredModel
from askcode.protocols import DescriptionCache, Embedder, LanguageModel, Store
from askcode.records import (
    Candidate,
    Filters,
    IndexedFile,
    IndexReport,
    Question,
    QuestionAnswer,
    Retrieved,
    Row,
    Usage,
    Vectors,
    digest_text,
)
from askcode.settings import BUNDLED_MODEL, INDEX_DIRECTORY, Settings

if TYPE_CHECKING:
    from askcode.answering import Answerer
    from askcode.describing import Budget, Describer
    from askcode.history import History
    from askcode.indexing import Indexer
    from askcode.prompting import Prompts
    from askcode.retrieving import Retriever

ENDPOINT_PREFIX = "openai:"
CACHE_NAME = "descriptions.sqlite"
HISTORY_NAME = "history"
INDEX_PROMPTS = ("questions", "questions_prose", "summary", "title", "keywords")


@dataclass(frozen=True, slots=True)
class IndexWanted:
    """How one call of `index` wants to run."""

    use_llm: bool
    allow_secrets: bool
    budget: Budget
    rebuild: bool = False
    wait: bool = False


@dataclass(frozen=True, slots=True)
class IndexSession:
    """A run that holds the lock of its index."""

    indexer: Indexer
    spent: Callable[[], Usage]
    pays: bool
    """Whether calls to a language model may follow."""
    notes: tuple[str, ...]
    keep: Callable[[IndexReport], None]
    """Make a finished rebuild the index; an unfinished one leaves the old index in place."""


class NoStore:
    """An index that was not made yet: it holds nothing, and nothing can be put in."""

    def files(self) -> dict[str, IndexedFile]:
        """Return nothing."""
        return {}

    def replace(self, rows: Mapping[str, Sequence[Row]], *, removed: Collection[str] = ()) -> None:
        """Refuse to keep anything."""
        raise UsageError("there is no index to write to")

    def nearest(self, query: Vectors, *, k: int, filters: Filters) -> list[Candidate]:
        """Return nothing."""
        return []

    def matching(self, tokens: Sequence[str], *, k: int, filters: Filters) -> list[Candidate]:
        """Return nothing."""
        return []

    def finish(self) -> list[str]:
        """Do nothing."""
        return []


class NoCache:
    """A cache of descriptions in a place that was not made yet."""

    def get(self, keys: Collection[str]) -> dict[str, tuple[QuestionAnswer, ...] | str]:
        """Return nothing."""
        return {}

    def put(self, key: str, value: tuple[QuestionAnswer, ...] | str, *, usage: Usage) -> None:
        """Keep nothing: without an index there is no run that pays."""

    def spent(self) -> Usage:
        """Return that nothing was spent."""
        return Usage()


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An index as it is, opened for reading."""

    root: Path
    place: Path
    manifest: Manifest
    embedder: Embedder
    store: Store = field(repr=False)


def find_root(path: Path, settings: Settings) -> Path:
    """Return the nearest folder at or above path that has an index, else path itself."""
    if settings.index_dir:
        return path
    for folder in (path, *path.parents):
        if (folder / INDEX_DIRECTORY).is_dir():
            return folder
        if (folder / ".git").exists():
            break
    return path


def make_embedder(settings: Settings) -> Embedder:
    """Return the embedding model that the settings name; it is loaded at its first use.

    Raises:
        EmbedderError: there is no such model, or it cannot be had.
    """
    name = settings.embed_model
    prefixes = {"query_prefix": settings.query_prefix, "passage_prefix": settings.passage_prefix}
    if name.startswith(ENDPOINT_PREFIX):
        from askcode.adapters.openai_embeddings import OpenAIEmbeddings

        endpoint = settings.embedding_endpoint(name.removeprefix(ENDPOINT_PREFIX))
        return OpenAIEmbeddings(endpoint, timeout_s=settings.timeout_s, **prefixes)
    from askcode.adapters import fastembed_models

    if name == BUNDLED_MODEL:
        return fastembed_models.bundled_embedder()
    if Path(name).expanduser().is_dir():
        return fastembed_models.folder_embedder(Path(name).expanduser(), **prefixes)
    return fastembed_models.named_embedder(name, settings.models_place(), **prefixes)


def make_model(settings: Settings, stage: str, meter: Meter) -> LanguageModel | None:
    """Return the language model of a stage, or None when none is configured."""
    endpoint = settings.endpoint(stage)
    if endpoint is None:
        return None
    from askcode.adapters.openai_chat import OpenAIChat

    model = OpenAIChat(
        endpoint,
        timeout_s=settings.timeout_s,
        concurrency=settings.concurrency,
        requests_per_minute=settings.requests_per_minute,
    )
    return MeteredModel(model, meter)


def make_prompts(settings: Settings) -> Prompts:
    """Return the prompts, the user's own in place of the built-in ones."""
    from askcode.prompting import Prompts

    return Prompts(settings.prompts_place())


def open_index(settings: Settings, root: Path) -> OpenIndex:
    """Open the index of a root for reading.

    Raises:
        IndexUnusable: there is none, or it was made otherwise, or it is damaged.
    """
    place = settings.index_place(root)
    manifest = load_manifest(place)
    embedder = make_embedder(settings)
    check_embedder(manifest, embedder.identity)
    return OpenIndex(root, place, manifest, embedder, _opened(place, manifest))


def make_retriever(index: OpenIndex, settings: Settings) -> Retriever:
    """Return the search over an index."""
    from askcode.retrieving import Retriever

    return Retriever(
        root=index.root,
        store=index.store,
        embedder=index.embedder,
        max_file_bytes=settings.max_file_size,
    )


def make_answerer(
    index: OpenIndex, settings: Settings, *, use_llm: bool, subquestions: int, k: int
) -> Answerer:
    """Return the pipeline that answers questions about an index."""
    from askcode.adapters.bpe_tokens import count_llm_tokens
    from askcode.answering import Answerer
    from askcode.masking import mask
    from askcode.reading import read_source
    from askcode.records import SourceFile
    from askcode.widening import Widened, widen

    meter = Meter()
    model = make_model(settings, "answer", meter) if use_llm else None
    widening = make_model(settings, "subquestions", meter) if use_llm and subquestions else None
    prompts = make_prompts(settings)
    if model:
        prompts.check()
    retriever = make_retriever(index, settings)

    def retrieve(question: Question) -> Retrieved:
        return retriever.retrieve(question, k=k)

    def read_lines(path: str) -> list[str] | None:
        source = read_source(index.root, path, max_bytes=settings.max_file_size)
        return source.text.split("\n") if isinstance(source, SourceFile) else None

    def widened(text: str) -> Widened:
        return widen(text, model=widening, prompts=prompts, count=subquestions)

    return Answerer(
        retrieve=retrieve,
        read_lines=read_lines,
        prompts=prompts,
        count_tokens=count_llm_tokens,
        context_tokens=settings.context_tokens,
        model=model,
        widen=widened if widening else None,
        mask=lambda text: mask(text).text,
        root=str(index.root),
    )


def looking_indexer(
    settings: Settings, root: Path, wanted: IndexWanted, *, must_exist: bool
) -> Indexer:
    """Return an indexer that can survey and plan, and writes nothing.

    Raises:
        IndexUnusable: the index was made otherwise, or is missing where it must exist.
    """
    embedder = make_embedder(settings)
    place = settings.index_place(root)
    store: Store = NoStore()
    try:
        manifest = load_manifest(place)
    except IndexMissing:
        if must_exist:
            raise
    except (IndexDamaged, IndexMismatch):
        if must_exist or not wanted.rebuild:
            raise
    else:
        if not wanted.rebuild:
            _check(manifest, settings, embedder, make_prompts(settings))
            store = _opened(place, manifest)
    cache = _reading_cache(place)
    describer = _make_describer(settings, wanted, cache, Meter())
    return _make_indexer(settings, root, wanted, (embedder, store, describer))


def make_history(settings: Settings, root: Path) -> History:
    """Return the questions asked of the index of a root."""
    from askcode.history import History

    return History(settings.index_place(root) / HISTORY_NAME)


def without_llm() -> IndexWanted:
    """Return the wish to look at an index and spend nothing."""
    from askcode.describing import Budget

    return IndexWanted(use_llm=False, allow_secrets=False, budget=Budget(None, None))


@contextmanager
def indexing(settings: Settings, root: Path, wanted: IndexWanted) -> Iterator[IndexSession]:
    """Hold the index of a root and give what a run over it needs.

    Raises:
        IndexLocked: another run holds it.
        IndexMismatch: it was made otherwise, and no rebuild is wanted.
    """
    from askcode.adapters.sqlite_cache import SqliteDescriptionCache
    from askcode.locking import index_lock

    embedder = make_embedder(settings)
    prompts = make_prompts(settings)
    prompts.check()
    place = settings.index_place(root)
    is_new = not place.exists()
    prepare_directory(place)
    with index_lock(place, wait=wanted.wait):
        target = _target(settings, place, wanted, embedder, prompts)
        cache = SqliteDescriptionCache(place / CACHE_NAME)
        meter = Meter()
        describer = _make_describer(settings, wanted, cache, meter)
        notes = (*target.notes, *(_no_model_note(settings, wanted) if is_new else ()))
        yield IndexSession(
            _make_indexer(
                settings, root, wanted, (embedder, target.store, describer), spent=meter.read
            ),
            meter.read,
            pays=wanted.use_llm and settings.endpoint("questions") is not None,
            notes=notes,
            keep=target.keep,
        )


def index_bytes(place: Path) -> int:
    """Return the bytes that an index takes on disk."""
    return sum(
        (Path(folder) / name).lstat().st_size
        for folder, _, names in os.walk(place)
        for name in names
        if (Path(folder) / name).exists()
    )


def spent_in(place: Path) -> Usage:
    """Return what was ever paid into the index at a place."""
    return _reading_cache(place).spent()


@dataclass(frozen=True, slots=True)
class _Target:
    """The store a run writes to, and how it becomes the index."""

    store: Store
    keep: Callable[[IndexReport], None]
    notes: tuple[str, ...] = ()


def _target(
    settings: Settings, place: Path, wanted: IndexWanted, embedder: Embedder, prompts: Prompts
) -> _Target:
    old, notes = _usable_manifest(settings, place, wanted, embedder, prompts)
    if old is not None and not wanted.rebuild:
        try:
            return _Target(_opened(place, old), _keep_nothing)
        except IndexDamaged as error:
            notes = (f"{error.message}; it is made anew",)
            old = None
    from askcode.adapters.lance_store import create_store, drop_other_tables

    manifest = _new_manifest(settings, embedder, prompts)
    store = create_store(place, table=manifest.table, dim=manifest.embedder.dim)

    def keep(report: IndexReport) -> None:
        if not report.stopped:
            save_manifest(place, manifest)
            drop_other_tables(place, keep=manifest.table)

    if old is None:
        # nothing can be lost: what is stored so far may be searched at once
        save_manifest(place, manifest)
    return _Target(store, keep, notes)


def _usable_manifest(
    settings: Settings, place: Path, wanted: IndexWanted, embedder: Embedder, prompts: Prompts
) -> tuple[Manifest | None, tuple[str, ...]]:
    try:
        manifest = load_manifest(place)
    except IndexMissing:
        return None, ()
    except IndexDamaged as error:
        return None, (f"{error.message}; it is made anew",)
    except IndexMismatch:
        if wanted.rebuild:
            return None, ()
        raise
    if not wanted.rebuild:
        _check(manifest, settings, embedder, prompts)
    return manifest, ()


def _check(
    manifest: Manifest, settings: Settings, embedder: Embedder, prompts: Prompts
) -> None:
    from askcode.chunking import CHUNKING_VERSION

    check_embedder(manifest, embedder.identity)
    check_chunking(manifest, version=CHUNKING_VERSION, chunk_tokens=settings.chunk_tokens)
    if manifest.prompts_digest != prompts_digest(prompts):
        raise IndexMismatch(
            "the index was made with other prompts",
            hint="run: askcode index --rebuild (only what the new prompts change is asked again)",
        )


def prompts_digest(prompts: Prompts) -> str:
    """Return one digest of all prompts that an index is made with."""
    return digest_text(*(prompts.digest(name) for name in INDEX_PROMPTS))


def _new_manifest(settings: Settings, embedder: Embedder, prompts: Prompts) -> Manifest:
    from askcode.chunking import CHUNKING_VERSION

    now = datetime.datetime.now(datetime.UTC)
    return Manifest(
        table=f"chunks-{now:%Y%m%dT%H%M%S%f}",
        embedder=embedder.identity,
        chunking_version=CHUNKING_VERSION,
        chunk_tokens=settings.chunk_tokens,
        prompts_digest=prompts_digest(prompts),
        askcode_version=__version__,
        created=now.isoformat(timespec="seconds"),
    )


def _keep_nothing(report: IndexReport) -> None:
    """Leave the manifest as it is: the run wrote to the index itself."""


def _opened(place: Path, manifest: Manifest) -> Store:
    from askcode.adapters.lance_store import open_store

    return open_store(place, table=manifest.table, dim=manifest.embedder.dim)


def _reading_cache(place: Path) -> DescriptionCache:
    path = place / CACHE_NAME
    if not path.exists():
        return NoCache()
    from askcode.adapters.sqlite_cache import SqliteDescriptionCache

    return SqliteDescriptionCache(path)


def _make_describer(
    settings: Settings, wanted: IndexWanted, cache: DescriptionCache, meter: Meter
) -> Describer:
    from askcode.adapters.bpe_tokens import count_llm_tokens
    from askcode.describing import Describer

    return Describer(
        model=make_model(settings, "questions", meter) if wanted.use_llm else None,
        cache=cache,
        prompts=make_prompts(settings),
        count_tokens=count_llm_tokens,
        kinds=settings.metadata,
        questions_per_chunk=settings.questions_per_chunk,
        concurrency=settings.concurrency,
        budget=wanted.budget,
    )


def _make_indexer(
    settings: Settings,
    root: Path,
    wanted: IndexWanted,
    parts: tuple[Embedder, Store, Describer],
    *,
    spent: Callable[[], Usage] = Usage,
) -> Indexer:
    from askcode.chunking import Chunker
    from askcode.indexing import Indexer
    from askcode.scanning import ScanRules

    embedder, store, describer = parts
    rules = ScanRules(
        include=settings.include,
        exclude=settings.exclude,
        max_file_bytes=settings.max_file_size,
        allow_secrets=wanted.allow_secrets,
    )
    chunker = Chunker(count_tokens=embedder.count_tokens, max_tokens=settings.chunk_tokens)
    place = settings.index_place(root)
    return Indexer(root, rules, place, chunker, describer, embedder, store, spent)


def _no_model_note(settings: Settings, wanted: IndexWanted) -> tuple[str, ...]:
    if not wanted.use_llm or settings.endpoint("questions") is not None:
        return ()
    return (
        "no language model is configured, so no questions are generated; "
        "set OPENAI_API_KEY, OPENAI_BASE_URL or ASKCODE_PROVIDER and index again to add them",
    )
