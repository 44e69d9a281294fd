"""Make the parts of an indexing run from the settings, in this process or in another one."""

from __future__ import annotations

from askcode.chunking import Chunker
from askcode.describing import Budget, Describer
from askcode.metering import Meter
from askcode.own_steps import FILES, METADATA, load_steps
from askcode.protocols import DescriptionCache, Embedder
from askcode.scanning import ScanRules
from askcode.settings import Settings
from askcode.wiring import make_model, make_prompts


def make_rules(settings: Settings, *, allow_secrets: bool) -> ScanRules:
    """Return which files are indexed."""
    return ScanRules(
        include=settings.include,
        exclude=settings.exclude,
        max_file_bytes=settings.max_file_size,
        allow_secrets=allow_secrets,
        submodules=settings.submodules,
        steps=load_steps(FILES),
    )


def make_chunker(settings: Settings, embedder: Embedder) -> Chunker:
    """Return what cuts files to the size that is set, in tokens of the embedding model."""
    return Chunker(count_tokens=embedder.count_tokens, max_tokens=settings.chunk_tokens)


def make_describer(
    settings: Settings, cache: DescriptionCache, meter: Meter, *, use_llm: bool, budget: Budget
) -> Describer:
    """Return what describes chunks, with a language model where one is wanted and configured."""
    from askcode.adapters.bpe_tokens import count_llm_tokens

    return Describer(
        model=make_model(settings, "questions", meter) if use_llm else None,
        cache=cache,
        prompts=make_prompts(settings),
        count_tokens=count_llm_tokens,
        kinds=settings.metadata,
        questions_per_chunk=settings.questions_per_chunk,
        concurrency=settings.concurrency,
        budget=budget,
        own_steps=load_steps(METADATA),
    )
