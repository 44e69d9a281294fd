"""Open a cluster for an indexing run, and tell its workers how to make their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from askcode.adapters.sqlite_cache import SqliteDescriptionCache
from askcode.chunking import Chunker
from askcode.describing import Budget, Describer
from askcode.errors import AskcodeError, UsageError
from askcode.indexing import Engine
from askcode.metering import Meter
from askcode.protocols import DescriptionCache
from askcode.records import Usage
from askcode.run_parts import make_chunker, make_describer, make_rules
from askcode.setting_specs import BUNDLED_MODEL
from askcode.settings import Settings, silence_ray
from askcode.wiring import ENDPOINT_PREFIX, make_embedder

if TYPE_CHECKING:
    from askcode.adapters.ray_cluster import RayCluster

MakeEngine = Callable[[Settings, Path], Engine]


@dataclass(frozen=True, slots=True)
class SharedCache:
    """The cache of descriptions as any process on this machine opens it, and a mark in it."""

    path: Path
    before: Usage
    """What had been paid into it when the run began."""

    def opened(self) -> tuple[SqliteDescriptionCache, Callable[[], Usage]]:
        """Return the cache, and what tells what this run paid into it."""
        cache = SqliteDescriptionCache(self.path)
        return cache, self.reader(cache)

    def reader(self, cache: DescriptionCache) -> Callable[[], Usage]:
        """Return what tells, from the open cache, what this run paid into it."""
        return partial(_spent_since, cache, self.before)


def _spent_since(cache: DescriptionCache, before: Usage) -> Usage:
    now = cache.spent()
    if now.calls < before.calls:
        # it was damaged, set aside and begun anew
        return now
    return Usage(
        now.calls - before.calls,
        now.input_tokens - before.input_tokens,
        now.output_tokens - before.output_tokens,
    )


@contextmanager
def ray_cluster(address: str | None) -> Iterator[RayCluster]:
    """Give a cluster that is joined, or started on this machine, when there is work for it.

    Raises:
        UsageError: Ray is not installed, or the address cannot be used.
        AskcodeError: the cluster ended before the run.
    """
    if address and "://" in address:
        raise UsageError(
            f"a Ray client address cannot be used: {address}",
            hint="run askcode on a machine of the cluster, with --ray-address HOST:6379",
        )
    # Ray looks at its variables when it is imported
    silence_ray()
    try:
        from askcode.adapters.ray_cluster import RayCluster
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the engine ray needs an extra package: {error}",
            hint='pip install "askcode[ray]", or pip install ".[ray]" in a checkout',
        ) from error
    with closing(RayCluster(address)) as cluster:
        try:
            yield cluster
        except KeyboardInterrupt as error:
            if not cluster.is_lost:
                raise
            raise AskcodeError(
                "the Ray cluster is gone", hint="what was done is kept; run again to continue"
            ) from error


def engine_maker(
    cluster: RayCluster,
    settings: Settings,
    cache: SharedCache,
    spent: Callable[[], Usage],
    *,
    use_llm: bool,
    allow_secrets: bool,
    budget: Budget,
) -> MakeEngine:
    """Return what makes the engine of a root, by the settings of that root."""
    from askcode.adapters.ray_engine import RayEngine
    from askcode.adapters.ray_stages import Recipe

    settings = settled(settings)

    def make(own: Settings, root: Path) -> Engine:
        recipe = Recipe(
            root,
            make_rules=partial(make_rules, own, allow_secrets=allow_secrets),
            make_chunker=partial(_chunker, settings, own),
            make_describer=partial(_describer, settings, cache, use_llm=use_llm, budget=budget),
            make_embedder=partial(make_embedder, settings),
            # an endpoint has its limits whoever asks it
            max_embedders=1 if settings.embed_model.startswith(ENDPOINT_PREFIX) else None,
        )
        return RayEngine(cluster, recipe, spent)

    return make


def settled(settings: Settings) -> Settings:
    """Return settings whose folders mean the same in whatever folder a worker runs."""
    model = settings.embed_model
    is_folder = model != BUNDLED_MODEL and Path(model).expanduser().is_dir()
    return replace(
        settings,
        cache_dir=settings.cache_dir and _absolute(settings.cache_dir),
        prompts_dir=settings.prompts_dir and _absolute(settings.prompts_dir),
        embed_model=_absolute(model) if is_folder else model,
    )


def _absolute(place: str) -> str:
    return str(Path(place).expanduser().absolute())


def _chunker(settings: Settings, own: Settings) -> Chunker:
    return make_chunker(own, make_embedder(settings))


def _describer(
    settings: Settings, cache: SharedCache, *, use_llm: bool, budget: Budget
) -> tuple[Describer, Callable[[], Usage]]:
    opened, spent = cache.opened()
    return make_describer(settings, opened, Meter(), use_llm=use_llm, budget=budget), spent
