"""Embed texts on this machine through fastembed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from askcode.adapters.embedding_pieces import (
    Array,
    batches,
    clean_text,
    cut_texts,
    joined,
    unit_rows,
)
from askcode.adapters.fastembed_files import ModelFolder, broken_model, read_model_folder
from askcode.adapters.fastembed_loading import (
    LoadedModel,
    load_folder,
    load_named,
    load_tokenizer,
)
from askcode.embedding_prefixes import prefixes_for
from askcode.records import EmbedderIdentity, Vectors, digest_text

BUNDLED_NAME = "askcode-bundled"
BUNDLED_FOLDER = Path(__file__).resolve().parent.parent / "embedding_model"
# Bump when the same files give other vectors: pieces cut or put together in another way.
EMBEDDING_VERSION = "1"


class FastembedEmbedder:
    """An Embedder over one fastembed model, loaded when it is first needed."""

    def __init__(
        self,
        name: str,
        *,
        load: Callable[[], LoadedModel],
        folder: ModelFolder | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        self._name = name
        self._load = load
        self._known_folder = folder
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Return which model this is: its files, its prefixes and how pieces are joined."""
        digest = digest_text(
            self._folder.digest(), self._query_prefix, self._passage_prefix, EMBEDDING_VERSION
        )
        dim = self._folder.dim or self._run(["a"]).shape[1]
        return EmbedderIdentity(self._name, digest, dim)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens of each text, special tokens left out."""
        clean = [clean_text(text) for text in texts]
        encodings = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found, each whole, however long.

        A text of which the model knows no part gets a row of zeros.

        Raises:
            EmbedderError: the model cannot be loaded.
        """
        return self._embed(texts, self._passage_prefix)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with.

        Raises:
            EmbedderError: the model cannot be loaded.
        """
        return self._embed(texts, self._query_prefix)

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        pieces = cut_texts(texts, self._tokenizer, self._room(prefix))
        rows: Array | None = None
        for batch in batches(pieces):
            found = self._run([prefix + pieces[place].text for place in batch])
            if rows is None:
                rows = np.zeros((len(pieces), found.shape[1]), np.float32)
            rows[batch] = found
        if rows is None:
            return np.zeros((0, self.identity.dim), np.float32)
        if not self._folder.is_static:
            rows = unit_rows(rows)
        return unit_rows(joined(pieces, rows, len(texts)))

    def _run(self, texts: list[str]) -> Array:
        rows = np.asarray(list(self._loaded.model.embed(texts, batch_size=len(texts))), np.float32)
        if rows.shape[1] != (self._folder.dim or rows.shape[1]):
            raise broken_model(
                self._folder.path,
                f"its vectors have {rows.shape[1]} numbers, its config.json says "
                f"{self._folder.dim}",
            )
        return rows

    def _room(self, prefix: str) -> int:
        """Return how many tokens of a piece fit beside the prefix and special tokens."""
        special: int = self._tokenizer.num_special_tokens_to_add(False)
        return max(self._folder.window - special - sum(self.count_tokens([prefix])), 1)

    @cached_property
    def _loaded(self) -> LoadedModel:
        return self._load()

    @cached_property
    def _folder(self) -> ModelFolder:
        return self._known_folder or self._loaded.folder

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(self._folder.path)


def bundled_embedder() -> FastembedEmbedder:
    """Return the embedder that comes with askcode."""
    return folder_embedder(BUNDLED_FOLDER, name=BUNDLED_NAME)


def folder_embedder(
    path: Path,
    *,
    name: str | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
) -> FastembedEmbedder:
    """Return an embedder over a folder with an ONNX model and its tokenizer.

    Raises:
        EmbedderError: a file is missing or cannot be read.
    """
    folder = read_model_folder(path.expanduser().absolute())
    known = prefixes_for(folder.path.name)
    return FastembedEmbedder(
        name or str(folder.path),
        load=lambda: load_folder(folder),
        folder=folder,
        query_prefix=known.query if query_prefix is None else query_prefix,
        passage_prefix=known.passage if passage_prefix is None else passage_prefix,
    )


def named_embedder(
    name: str,
    cache_dir: Path,
    *,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
) -> FastembedEmbedder:
    """Return an embedder over a model that fastembed knows by name.

    It is downloaded into the cache directory when it is first needed and not there.
    """
    known = prefixes_for(name)
    return FastembedEmbedder(
        name,
        load=lambda: load_named(name, cache_dir),
        query_prefix=known.query if query_prefix is None else query_prefix,
        passage_prefix=known.passage if passage_prefix is None else passage_prefix,
    )
