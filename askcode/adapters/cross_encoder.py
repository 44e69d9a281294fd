"""Judge query and text together with a cross-encoder, through fastembed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from askcode.adapters.embedding_pieces import clean_text
from askcode.adapters.fastembed_files import read_model_folder
from askcode.adapters.fastembed_loading import (
    RERANKING,
    LoadedModel,
    load_named,
    load_reranker_folder,
)

# Pairs are padded to the longest: more at once is more memory and no faster on a processor.
BATCH_SIZE = 16


class FastembedReranker:
    """A Reranker, loaded when it is first needed; what is over its window is not read."""

    def __init__(self, model: Path | str, cache_dir: Path) -> None:
        self._model = model
        self._cache_dir = cache_dir

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers the query, in [0, 1], higher is better.

        Raises:
            UsageError: fastembed knows no model of this name.
            EmbedderError: the model cannot be loaded.
        """
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        by_length = [clean_text(texts[place]) for place in order]
        found = self._loaded.model.rerank(clean_text(query), by_length, batch_size=BATCH_SIZE)
        scores = np.zeros(len(texts))
        scores[order] = np.fromiter(found, np.float64, len(texts))
        # clipped, for e to the power of 1,000 has no number
        scores = np.clip(np.nan_to_num(scores, nan=-60), -60, 60)
        return [float(score) for score in 1 / (1 + np.exp(-scores))]

    @cached_property
    def _loaded(self) -> LoadedModel:
        path = Path(self._model).expanduser()
        if path.is_dir():
            return load_reranker_folder(read_model_folder(path.absolute()))
        return load_named(str(self._model), self._cache_dir, RERANKING)
