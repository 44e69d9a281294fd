"""Open an index for a run: lock it, compare its manifest, make it anew where it must be."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from askcode import __version__
from askcode.absence import NoStore
from askcode.chunking import CHUNKING_VERSION
from askcode.clusters import MakeEngine, SharedCache, engine_maker, ray_cluster
from askcode.describing import Budget, Describer
from askcode.errors import IndexDamaged, IndexMismatch, IndexMissing, UsageError
from askcode.indexing import Indexer
from askcode.indexing_many import ManyIndexer, Member
from askcode.local_place import prepare_directory
from askcode.manifest import (
    MANIFEST_NAME,
    Manifest,
    check_chunking,
    check_embedder,
    load_manifest,
    save_manifest,
)
from askcode.metering import Meter
from askcode.protocols import DescriptionCache, Embedder, IndexPlace, Store
from askcode.records import IndexReport, Usage, digest_text
from askcode.repositories import REPOSITORIES_NAME, Repository, dump_repositories, merged
from askcode.run_parts import make_chunker, make_describer, make_rules
from askcode.settings import Settings
from askcode.wiring import (
    CACHE_NAME,
    load_repositories,
    make_database,
    make_embedder,
    make_embedder_of,
    make_place,
    make_prompts,
    reading_cache,
)

if TYPE_CHECKING:
    from askcode.adapters.lance_store import Database
    from askcode.adapters.ray_cluster import RayCluster
    from askcode.adapters.sqlite_cache import SqliteDescriptionCache
    from askcode.prompting import Prompts

AnyIndexer = Indexer | ManyIndexer

INDEX_PROMPTS = ("questions", "questions_prose", "summary", "title", "keywords")


@dataclass(frozen=True, slots=True)
class WantedRepository:
    """A repository of an index of several, with the settings that hold for it."""

    repository: Repository
    settings: Settings


@dataclass(frozen=True, slots=True)
class IndexWanted:
    """How one call of `index` wants to run."""

    use_llm: bool
    allow_secrets: bool
    budget: Budget
    rebuild: bool = False
    wait: bool = False
    members: tuple[WantedRepository, ...] = ()
    """The repositories to look at, of an index of several; empty for one code base alone."""
    engine: str = "local"
    """Who does the work: "local" or "ray"."""
    ray_address: str | None = None
    """The cluster to join; None starts Ray on this machine."""


@dataclass(frozen=True, slots=True)
class IndexSession:
    """A run that holds the lock of its index."""

    indexer: AnyIndexer
    spent: Callable[[], Usage]
    pays: bool
    """Whether calls to a language model may follow."""
    notes: tuple[str, ...]
    keep: Callable[[IndexReport], None]
    """Make a finished rebuild the index; an unfinished one leaves the old index in place."""


def without_llm() -> IndexWanted:
    """Return the wish to look at an index and spend nothing."""
    return IndexWanted(use_llm=False, allow_secrets=False, budget=Budget(None, None))


@dataclass(frozen=True, slots=True)
class Look:
    """An indexer that can survey and plan, and writes nothing; and what is to be told first."""

    indexer: AnyIndexer
    notes: tuple[str, ...] = ()


def look(settings: Settings, root: Path, wanted: IndexWanted, *, must_exist: bool) -> Look:
    """Open what is there as the next run would find it, without changing it.

    Raises:
        IndexUnusable: the index was made otherwise, or is missing or damaged where it must
            exist.
    """
    place = make_place(settings, root)
    embedder = _embedder(settings, place, wanted)
    store: Store = NoStore()
    notes: tuple[str, ...] = ()
    try:
        if not wanted.rebuild:
            store = _readable_store(settings, place, embedder)
    except IndexMissing:
        if must_exist:
            raise
    except IndexDamaged as error:
        if must_exist:
            raise
        notes = (_made_anew(error),)
    cache = reading_cache(settings.index_place(root))
    describer = _describer(settings, wanted, cache, Meter())
    return Look(_make_indexer(settings, root, wanted, (embedder, store, describer)), notes)


def _readable_store(settings: Settings, place: IndexPlace, embedder: Embedder) -> Store:
    manifest = load_manifest(place)
    _check(manifest, settings, embedder, make_prompts(settings))
    return _readable_table(make_database(settings, place), manifest)


def _readable_table(database: Database, manifest: Manifest) -> Store:
    from askcode.adapters.lance_store import open_store

    store = open_store(database, table=manifest.table, dim=manifest.embedder.dim)
    # a table whose files are cut opens well: only reading tells
    store.verify()
    return store


def _made_anew(error: IndexDamaged) -> str:
    return f"{error.message}; it is made anew"


@contextmanager
def indexing(settings: Settings, root: Path, wanted: IndexWanted) -> Iterator[IndexSession]:
    """Hold the index of a root and give what a run over it needs.

    Raises:
        IndexLocked: another run holds it.
        IndexMismatch: it was made otherwise, and no rebuild is wanted.
        StorageUnavailable: it lies in object storage that cannot be reached.
    """
    from askcode.adapters.sqlite_cache import SqliteDescriptionCache

    place = make_place(settings, root)
    embedder = _embedder(settings, place, wanted)
    prompts = make_prompts(settings)
    prompts.check()
    here = settings.index_place(root)
    if here.is_symlink() and not settings.index_dir:
        # the repository may be a stranger's, and the link lead anywhere
        raise UsageError(f"{here} is a link", hint="name its target with --index-dir")
    is_new = not here.exists()
    with _cluster(wanted) as cluster, place.hold(wait=wanted.wait) as still_held:
        prepare_directory(here)
        made = _Made(settings, wanted, embedder, prompts)
        target = made.target(place, make_database(settings, place, before_write=still_held))
        with closing(SqliteDescriptionCache(here / CACHE_NAME)) as cache:
            meter = Meter()
            describer = _describer(settings, wanted, cache, meter)
            notes = (
                *target.notes,
                *cache.warnings,
                *(_no_model_note(settings, wanted) if is_new else ()),
            )
            work = _work(settings, wanted, cluster, cache, meter)
            parts = (embedder, target.store, describer)
            yield IndexSession(
                _make_indexer(settings, root, wanted, parts, work),
                work.spent,
                pays=wanted.use_llm and settings.endpoint("questions") is not None,
                notes=notes,
                keep=target.keep,
            )


@dataclass(frozen=True, slots=True)
class _Work:
    """Who does the work of a run, and what it spent so far."""

    spent: Callable[[], Usage] = Usage
    make_engine: MakeEngine | None = None


_HERE = _Work()


def _cluster(wanted: IndexWanted) -> AbstractContextManager[RayCluster | None]:
    return ray_cluster(wanted.ray_address) if wanted.engine == "ray" else nullcontext()


def _work(
    settings: Settings,
    wanted: IndexWanted,
    cluster: RayCluster | None,
    cache: SqliteDescriptionCache,
    meter: Meter,
) -> _Work:
    if cluster is None:
        return _Work(meter.read)
    # the calls are made by another process: what they cost is read where it is kept
    shared = SharedCache(cache.path, before=cache.spent())
    spent = shared.reader(cache)
    make_engine = engine_maker(
        cluster,
        settings,
        shared,
        spent,
        use_llm=wanted.use_llm,
        allow_secrets=wanted.allow_secrets,
        budget=wanted.budget,
    )
    return _Work(spent, make_engine)


def _embedder(settings: Settings, place: IndexPlace, wanted: IndexWanted) -> Embedder:
    if wanted.rebuild:
        return make_embedder(settings)
    return make_embedder_of(settings, place)


@dataclass(frozen=True, slots=True)
class _Target:
    """The store a run writes to, and how it becomes the index."""

    store: Store
    keep: Callable[[IndexReport], None]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Made:
    """How a run makes its index, to be compared with how the one that is there was made."""

    settings: Settings
    wanted: IndexWanted
    embedder: Embedder
    prompts: Prompts

    def target(self, place: IndexPlace, database: Database) -> _Target:
        """Return the store to write to: the one that is there, or a new one."""
        from askcode.adapters.lance_store import create_store, drop_other_tables

        old, notes = self._usable_manifest(place)
        if old is not None and not self.wanted.rebuild:
            try:
                opened = _readable_table(database, old)
            except IndexDamaged as error:
                notes = (_made_anew(error),)
                old = None
            else:
                # a rebuild that was killed left its half table behind
                drop_other_tables(database, keep=old.table)
                return _Target(opened, _keep_nothing)
        manifest = _new_manifest(self.settings, self.embedder, self.prompts)
        store = create_store(database, table=manifest.table, dim=manifest.embedder.dim)

        def keep(report: IndexReport) -> None:
            if not report.stopped:
                database.before_write()
                save_manifest(place, manifest)
                drop_other_tables(database, keep=manifest.table)

        if old is None and not (self.wanted.rebuild and place.read(MANIFEST_NAME) is not None):
            # nothing can be lost: what is stored so far may be searched at once
            save_manifest(place, manifest)
        return _Target(store, keep, notes)

    def _usable_manifest(self, place: IndexPlace) -> tuple[Manifest | None, tuple[str, ...]]:
        try:
            manifest = load_manifest(place)
        except IndexMissing:
            return None, ()
        except IndexDamaged as error:
            return None, (_made_anew(error),)
        except IndexMismatch:
            if self.wanted.rebuild:
                return None, ()
            raise
        if not self.wanted.rebuild:
            _check(manifest, self.settings, self.embedder, self.prompts)
        return manifest, ()


def _check(manifest: Manifest, settings: Settings, embedder: Embedder, prompts: Prompts) -> None:
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


def _describer(
    settings: Settings, wanted: IndexWanted, cache: DescriptionCache, meter: Meter
) -> Describer:
    return make_describer(settings, cache, meter, use_llm=wanted.use_llm, budget=wanted.budget)


def _make_indexer(
    settings: Settings,
    root: Path,
    wanted: IndexWanted,
    parts: tuple[Embedder, Store, Describer],
    work: _Work = _HERE,
) -> AnyIndexer:
    if not wanted.members:
        return _make_one_indexer(settings, root, wanted, parts, work)
    embedder, store, describer = parts
    place = make_place(settings, root)

    def maker(member: WantedRepository) -> Callable[[Store], Indexer]:
        def make(own: Store) -> Indexer:
            left = replace(describer, budget=replace(wanted.budget, spent=work.spent()))
            own_root = Path(member.repository.root)
            own_parts = (embedder, own, left)
            return _make_one_indexer(member.settings, own_root, wanted, own_parts, work)

        return make

    def remember(repositories: Sequence[Repository]) -> None:
        known = load_repositories(place)
        place.write(REPOSITORIES_NAME, dump_repositories(merged(known, repositories)))

    members = [
        Member(each.repository, maker(each), each.settings.chunk_tokens) for each in wanted.members
    ]
    return ManyIndexer(members, store, remember)


def _make_one_indexer(
    settings: Settings,
    root: Path,
    wanted: IndexWanted,
    parts: tuple[Embedder, Store, Describer],
    work: _Work,
) -> Indexer:
    embedder, store, describer = parts
    return Indexer(
        root,
        make_rules(settings, allow_secrets=wanted.allow_secrets),
        settings.index_place(root),
        make_chunker(settings, embedder),
        describer,
        embedder,
        store,
        work.spent,
        work.make_engine(settings, root) if work.make_engine else None,
    )


def _no_model_note(settings: Settings, wanted: IndexWanted) -> tuple[str, ...]:
    if not wanted.use_llm or settings.endpoint("questions") is not None:
        return ()
    return (
        "no language model is configured, so no questions are generated; "
        "set OPENAI_API_KEY, OPENAI_BASE_URL or ASKCODE_PROVIDER and index again to add them",
    )
