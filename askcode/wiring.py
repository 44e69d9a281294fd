"""Choose the adapters that the settings ask for, and put the pipelines together.

Adapters are imported where they are made: `askcode --help` loads none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from askcode.absence import NoCache
from askcode.errors import EmbedderError, IndexDamaged, IndexEmpty, IndexMismatch, IndexMissing
from askcode.local_place import LocalPlace
from askcode.manifest import (
    Manifest,
    check_embedder,
    check_embedder_name,
    load_manifest,
)
from askcode.metering import Meter, MeteredModel
from askcode.protocols import (
    DescriptionCache,
    Embedder,
    IndexPlace,
    LanguageModel,
    Reranker,
    Store,
)
from askcode.records import (
    Question,
    Retrieved,
    Usage,
)
from askcode.repositories import (
    REPOSITORIES_NAME,
    Repository,
    Roots,
    parse_repositories,
)
from askcode.setting_specs import BUNDLED_MODEL
from askcode.settings import INDEX_DIRECTORY, Settings, forbid_telemetry

if TYPE_CHECKING:
    from askcode.adapters.lance_store import Database
    from askcode.answering import Answerer
    from askcode.history import History
    from askcode.prompting import Prompts
    from askcode.retrieving import Retriever

ENDPOINT_PREFIX = "openai:"
CACHE_NAME = "descriptions.sqlite"
HISTORY_NAME = "history"
# Each repository has a limit of its own; what grew beyond it is changed, not gone.
ANY_SIZE = 1 << 30


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """An index as it is, opened for reading."""

    root: Path
    place: IndexPlace
    manifest: Manifest
    embedder: Embedder
    store: Store = field(repr=False)
    repositories: Sequence[Repository] = ()
    """Those of an index of several; empty where it is of one code base alone."""

    @property
    def roots(self) -> Roots:
        """Return where the files of the index lie."""
        return Roots(self.root, {each.name: Path(each.root) for each in self.repositories})


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
        return OpenAIEmbeddings(
            endpoint,
            timeout_s=settings.timeout_s,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
        )
    forbid_telemetry()
    from askcode.adapters import fastembed_models

    if name == BUNDLED_MODEL:
        return fastembed_models.bundled_embedder()
    if Path(name).expanduser().is_dir():
        return fastembed_models.folder_embedder(Path(name).expanduser(), **prefixes)
    return fastembed_models.named_embedder(name, settings.models_place(), **prefixes)


def make_place(settings: Settings, root: Path) -> IndexPlace:
    """Return where the index of a root lies, whether it is there yet or not."""
    if settings.storage_uri is None:
        return LocalPlace(settings.index_place(root))
    from askcode.adapters.object_place import ObjectPlace

    return ObjectPlace(settings.storage_uri, allow_http=settings.allow_http)


def make_database(
    settings: Settings, place: IndexPlace, *, before_write: Callable[[], None] | None = None
) -> Database:
    """Return what opens the tables of a place; `before_write` may refuse a write."""
    from askcode.adapters.lance_store import Database

    options: dict[str, str] = {}
    if settings.storage_uri is not None:
        from askcode.adapters.object_place import table_options

        options = table_options(settings.storage_uri, allow_http=settings.allow_http)
    if before_write is None:
        return Database(place.uri, options)
    return Database(place.uri, options, before_write)


def make_embedder_of(settings: Settings, place: IndexPlace) -> Embedder:
    """Return the embedding model for the index at a place, if there is one.

    Raises:
        IndexMismatch: the model cannot be had, and the index was made with another one.
        EmbedderError: there is no such model, or it cannot be had.
    """
    try:
        embedder = make_embedder(settings)
        _ = embedder.identity
    except EmbedderError:
        with suppress(IndexMissing, IndexDamaged):
            check_embedder_name(load_manifest(place), settings.embed_model)
        raise
    return embedder


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
    place = make_place(settings, root)
    manifest = load_manifest(place)
    embedder = make_embedder_of(settings, place)
    check_embedder(manifest, embedder.identity)
    table = open_table(settings, place, manifest)
    return OpenIndex(root, place, manifest, embedder, table, load_repositories(place))


def load_repositories(place: IndexPlace) -> list[Repository]:
    """Return the repositories of an index of several, none of any other.

    Raises:
        IndexDamaged: their list cannot be read.
    """
    try:
        data = place.read(REPOSITORIES_NAME)
    except OSError as error:
        raise IndexDamaged(
            f"the index is damaged or incomplete ({place.uri}/{REPOSITORIES_NAME}: {error})",
            hint="run: askcode index --rebuild PATH PATH...",
        ) from error
    return parse_repositories(data, place=place.uri)


def make_retriever(index: OpenIndex, settings: Settings) -> Retriever:
    """Return the search over an index."""
    from askcode.retrieving import Retriever

    return Retriever(
        root=index.root,
        store=index.store,
        embedder=index.embedder,
        max_file_bytes=size_limit_of(index, settings),
        reranker=make_reranker(settings),
        repositories=index.roots.named,
    )


def make_reranker(settings: Settings) -> Reranker | None:
    """Return the cross-encoder that the settings name, if any; it is loaded at its first use."""
    if settings.rerank_model is None:
        return None
    from askcode.adapters.cross_encoder import FastembedReranker

    return FastembedReranker(settings.rerank_model, settings.models_place())


def make_own_searches() -> Callable[[str], tuple[str, ...]]:
    """Return what installed packages would search for beside a question.

    Raises:
        StepError: a step cannot be loaded.
    """
    from askcode.own_steps import QUERIES, load_steps
    from askcode.running_steps import searches_of

    return partial(searches_of, load_steps(QUERIES))


def make_answerer(
    index: OpenIndex, settings: Settings, *, use_llm: bool, subquestions: int | None, k: int
) -> Answerer:
    """Return the pipeline that answers questions about an index.

    Without a number of subquestions the question is searched with alone, own steps left out.
    """
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
        if not index.store.files():
            # said before the first call is paid, not after it
            raise IndexEmpty("the index is empty", hint="run: askcode index")
    retriever = make_retriever(index, settings)

    def retrieve(question: Question) -> Retrieved:
        return retriever.retrieve_relevant(question, k=k)

    roots = index.roots

    def read_lines(path: str) -> list[str] | None:
        place = roots.locate(path)
        source = read_source(place.root, place.path, max_bytes=size_limit_of(index, settings))
        return source.text.split("\n") if isinstance(source, SourceFile) else None

    def widened(text: str) -> Widened:
        return widen(text, model=widening, prompts=prompts, count=subquestions or 0)

    answerer = Answerer(
        retrieve=retrieve,
        read_lines=read_lines,
        prompts=prompts,
        count_tokens=count_llm_tokens,
        context_tokens=settings.context_tokens,
        model=model,
        widen=widened if widening else None,
        mask=lambda text: mask(text).text,
        root="" if index.repositories else str(index.root),
        has_repositories=bool(index.repositories),
    )
    if subquestions is None:
        return answerer
    return replace(answerer, own_searches=make_own_searches())


def size_limit_of(index: OpenIndex, settings: Settings) -> int:
    """Return the most bytes of a file that is compared with the index."""
    return ANY_SIZE if index.repositories else settings.max_file_size


def make_history(settings: Settings, root: Path) -> History:
    """Return the questions asked of the index of a root."""
    from askcode.history import History

    return History(settings.index_place(root) / HISTORY_NAME)


def index_bytes(place: IndexPlace) -> int:
    """Return the bytes that an index takes where it lies."""
    return sum(place.sizes().values())


def spent_in(place: Path) -> Usage:
    """Return what was ever paid into the index at a place."""
    return reading_cache(place).spent()


def open_table(settings: Settings, place: IndexPlace, manifest: Manifest) -> Store:
    """Open the table that a manifest names, or that of a rebuild that ends while it is open."""
    from askcode.adapters.lance_store import open_store

    def name_now() -> str:
        present = load_manifest(place)
        if present.embedder != manifest.embedder:
            raise IndexMismatch(
                "the index was made anew meanwhile, with another embedding model",
                hint="run it again",
            )
        return present.table

    return open_store(
        make_database(settings, place),
        table=manifest.table,
        dim=manifest.embedder.dim,
        name_now=name_now,
    )


def reading_cache(place: Path) -> DescriptionCache:
    """Return what was paid for at a place, to look at."""
    path = place / CACHE_NAME
    if not path.exists():
        return NoCache()
    from askcode.adapters.sqlite_cache import SqliteDescriptionCache

    return SqliteDescriptionCache(path)
