"""Embed texts through any OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from askcode.adapters.bpe_tokens import count_llm_tokens
from askcode.adapters.embedding_pieces import Array, clean_text, unit_rows
from askcode.adapters.openai_errors import Failure, Kind
from askcode.adapters.openai_requests import OpenAIRequests, RequestFailed
from askcode.embedding_prefixes import prefixes_for
from askcode.errors import EmbedderError, RunError
from askcode.providers import Endpoint
from askcode.records import EmbedderIdentity, Vectors, digest_text

# Providers refuse more than some hundred texts or some 300,000 tokens at once.
MAX_BATCH_TEXTS = 64
MAX_BATCH_CHARACTERS = 100_000
MAX_TRIES = 5
TRIES_OF_UNREACHABLE = 2
FIRST_BACKOFF_S = 0.5
# A text cut this short that is still too long has another fault.
SHORTEST_HALF = 16

_PASSING = (Kind.TRANSIENT, Kind.RATE, Kind.SILENT, Kind.UNREACHABLE)


class OpenAIEmbeddings:
    """An Embedder behind an endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout_s: float = 60.0,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        known = prefixes_for(endpoint.model)
        self._endpoint = endpoint
        self._requests = OpenAIRequests(endpoint, timeout_s=timeout_s)
        self._query_prefix = known.query if query_prefix is None else query_prefix
        self._passage_prefix = known.passage if passage_prefix is None else passage_prefix
        self._sleep = sleep

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Return which model this is; its dimension is learnt by asking once.

        Raises:
            EmbedderError: the endpoint cannot be used.
        """
        url, model = self._endpoint.shown_url, self._endpoint.model
        dim = self._send(["dimension"]).shape[1]
        digest = digest_text(url, model, self._query_prefix, self._passage_prefix)
        return EmbedderIdentity(f"openai:{model}", digest, dim)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count tokens by a common vocabulary: the model's own is not known here."""
        return [count_llm_tokens(text) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; one that is too long for the model goes in halves.

        Raises:
            EmbedderError: the endpoint cannot be used.
        """
        return self._embed(texts, self._passage_prefix)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with.

        Raises:
            EmbedderError: the endpoint cannot be used.
        """
        return self._embed(texts, self._query_prefix)

    def close(self) -> None:
        """Close the connections."""
        self._requests.close()

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        rows = np.zeros((len(texts), self.identity.dim), np.float32)
        # servers refuse an empty text, and it would mean nothing
        filled = [place for place, text in enumerate(texts) if text.strip()]
        for batch in _batches(filled, texts):
            rows[batch] = self._whole([clean_text(texts[place]) for place in batch], prefix)
        return unit_rows(rows)

    def _whole(self, texts: list[str], prefix: str) -> Array:
        """Embed a batch; where it is too large, in halves."""
        try:
            found = self._send([prefix + text for text in texts])
        except _TooLong as error:
            if len(texts) > 1:
                middle = len(texts) // 2
                parts = [self._whole(half, prefix) for half in (texts[:middle], texts[middle:])]
                return np.concatenate(parts)
            text, middle = texts[0], len(texts[0]) // 2
            if middle < SHORTEST_HALF:
                raise self._failed(error.failure) from error
            halves = [self._whole([half], prefix) for half in (text[:middle], text[middle:])]
            return unit_rows(np.mean([unit_rows(half) for half in halves], axis=0))
        if found.shape[1] != self.identity.dim:
            raise EmbedderError(
                f"{self._endpoint.shown_url} sent vectors of {found.shape[1]} numbers "
                f"after some of {self.identity.dim}"
            )
        return found

    def _send(self, texts: list[str]) -> Array:
        tries = 0
        while True:
            tries += 1
            try:
                return self._read(self._requests.embedded(texts), len(texts))
            except RunError as error:
                raise EmbedderError(error.message, hint=error.hint) from error
            except RequestFailed as failed:
                if failed.failure.kind is Kind.CONTEXT or failed.status == 413:
                    raise _TooLong(failed.failure) from failed
                if not _may_pass(failed.failure, tries):
                    raise self._failed(failed.failure) from failed
                wait_s = FIRST_BACKOFF_S * 2.0 ** (tries - 1) * (0.5 + random.random() / 2)
                self._sleep(max(wait_s, failed.failure.wait_s or 0.0))

    def _read(self, body: str, count: int) -> Array:
        """Return the vectors of a reply in the order the texts were sent in."""
        try:
            items = json.loads(body)["data"]
            placed = {item.get("index", place): item for place, item in enumerate(items)}
            rows = np.array([_numbers(placed[place]["embedding"]) for place in range(count)])
            if len(items) != count or rows.ndim != 2 or not rows.shape[1]:
                raise ValueError(f"{len(items)} vectors for {count} texts")
            if not np.isfinite(rows).all():
                raise ValueError("numbers that are none")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise EmbedderError(
                f"{self._endpoint.shown_url} sent a reply that holds no embeddings ({error})",
                hint="is it an embeddings endpoint, and the model an embedding model?",
            ) from error
        return rows

    def _failed(self, failure: Failure) -> EmbedderError:
        return EmbedderError(failure.message, hint=failure.hint)


class _TooLong(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _may_pass(failure: Failure, tries: int) -> bool:
    most = TRIES_OF_UNREACHABLE if failure.kind is Kind.UNREACHABLE else MAX_TRIES
    return failure.kind in _PASSING and tries < most


def _numbers(value: Any) -> Array:
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value), "<f4").astype(np.float32)
    return np.asarray(value, np.float32)


def _batches(places: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
    batch: list[int] = []
    size = 0
    for place in places:
        length = len(texts[place])
        if batch and (len(batch) == MAX_BATCH_TEXTS or size + length > MAX_BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(place)
        size += length
    if batch:
        yield batch
