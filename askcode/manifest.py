"""Say beside the table what it was made with; the switch of a manifest commits a rebuild."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from askcode.errors import IndexDamaged, IndexMismatch, IndexMissing
from askcode.protocols import IndexPlace
from askcode.records import EmbedderIdentity

MANIFEST_NAME = "manifest.json"
# Bump when this file or the table's columns change in a way an older askcode cannot read.
SCHEMA_VERSION = 1
_REBUILD = "run: askcode index --rebuild"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index was made with."""

    table: str
    embedder: EmbedderIdentity
    chunking_version: int
    chunk_tokens: int
    prompts_digest: str
    askcode_version: str
    created: str
    """UTC, ISO 8601."""
    schema_version: int = SCHEMA_VERSION


def load_manifest(place: IndexPlace) -> Manifest:
    """Read the manifest of an index.

    Raises:
        IndexMissing: there is none.
        IndexDamaged: it cannot be read.
        IndexMismatch: another version of askcode wrote it in another form.
        StorageUnavailable: the storage it lies in cannot be reached.
    """
    where = f"{place.uri}/{MANIFEST_NAME}"
    try:
        text = place.read(MANIFEST_NAME)
        if text is None:
            raise _missing(place)
        data = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(where, error) from error
    if not isinstance(data, dict):
        raise _damaged(where, "it is not an object")
    _check_schema(where, data)
    return _parse(where, data)


def save_manifest(place: IndexPlace, manifest: Manifest) -> None:
    """Write the manifest in one step that a crash cannot divide.

    Raises:
        UsageError: the place cannot be written.
        AskcodeError: the disk is full, or the storage cannot be reached.
    """
    text = json.dumps(asdict(manifest), indent=2) + "\n"
    place.write(MANIFEST_NAME, text.encode())


def check_embedder(manifest: Manifest, configured: EmbedderIdentity) -> None:
    """Refuse an embedding model that the index was not made with.

    Raises:
        IndexMismatch: the model differs, in name, files or dimension.
    """
    built = manifest.embedder
    if built == configured:
        return
    if (built.name, built.dim) == (configured.name, configured.dim):
        raise IndexMismatch(
            f"index was built with other files of the model {built.name} "
            f"({built.digest[:12]}, not {configured.digest[:12]})",
            hint=_REBUILD,
        )
    raise IndexMismatch(
        f"index was built with {built.name} ({built.dim}), "
        f"configured is {configured.name} ({configured.dim})",
        hint=_REBUILD,
    )


def check_embedder_name(manifest: Manifest, name: str) -> None:
    """Refuse a model by its name alone, for one that cannot be loaded to compare more.

    Raises:
        IndexMismatch: the index was made with a model of another name.
    """
    built = manifest.embedder
    if built.name not in (name, Path(name).name):
        raise IndexMismatch(
            f"index was built with {built.name} ({built.dim}), configured is {name}",
            hint=_REBUILD,
        )


def check_chunking(manifest: Manifest, *, version: int, chunk_tokens: int) -> None:
    """Refuse to mix chunks that were cut by different rules.

    Raises:
        IndexMismatch: the rules or the size differ.
    """
    if manifest.chunking_version != version:
        raise IndexMismatch(
            f"index was built by askcode {manifest.askcode_version} with chunking version "
            f"{manifest.chunking_version}, this one has {version}",
            hint=_REBUILD,
        )
    if manifest.chunk_tokens != chunk_tokens:
        raise IndexMismatch(
            f"index was built with chunks of {manifest.chunk_tokens} tokens, "
            f"configured are {chunk_tokens}",
            hint=_REBUILD,
        )


def _missing(place: IndexPlace) -> IndexMissing | IndexDamaged:
    """Tell an index that lost its manifest from none at all."""
    if any(name.endswith(".lance/") for name in place.sizes()):
        return IndexDamaged(
            f"the index in {place.uri} is damaged or incomplete (it has no {MANIFEST_NAME})",
            hint="run: askcode index",
        )
    return IndexMissing(f"there is no index in {place.uri}", hint="make one with: askcode index")


def _damaged(where: str, why: object) -> IndexDamaged:
    return IndexDamaged(
        f"the index is damaged or incomplete ({where}: {why})", hint="run: askcode index"
    )


def _check_schema(where: str, data: dict[str, object]) -> None:
    version = data.get("schema_version")
    if not isinstance(version, int):
        raise _damaged(where, "it has no schema version")
    if version != SCHEMA_VERSION:
        age = "newer" if version > SCHEMA_VERSION else "older"
        raise IndexMismatch(
            f"index was built by askcode {data.get('askcode_version', '?')} in a {age} form "
            f"(schema {version}, this askcode reads {SCHEMA_VERSION})",
            hint=f"use that version, or {_REBUILD}",
        )


def _parse(where: str, data: dict[str, object]) -> Manifest:
    embedder = data.get("embedder")
    try:
        if not isinstance(embedder, dict):
            raise TypeError("embedder is missing")
        found = Manifest(**{**data, "embedder": EmbedderIdentity(**embedder)})  # type: ignore[arg-type]
    except TypeError as error:
        raise _damaged(where, error) from error
    texts = (found.table, found.embedder.name, found.embedder.digest, found.prompts_digest)
    numbers = (found.embedder.dim, found.chunking_version, found.chunk_tokens)
    if not all(isinstance(text, str) for text in texts) or not all(
        type(number) is int for number in numbers
    ):
        raise _damaged(where, "a value has the wrong type")
    return found
