"""Load models through fastembed: from a folder, or by name with one download if need be."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askcode.adapters.fastembed_files import ModelFolder, broken_model, read_model_folder
from askcode.errors import AskcodeError, EmbedderError, UsageError

# Asking whether the hub can be reached must not hang behind a firewall.
REACH_TIMEOUT_S = 8.0


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of model that fastembed loads."""

    noun: str
    option: str
    """The option that names one."""
    suggested: tuple[str, ...]
    vendor: Callable[[], Any]
    """Import and return fastembed's class for it."""


def _text_embedding() -> Any:
    from fastembed import TextEmbedding

    return TextEmbedding


def _text_cross_encoder() -> Any:
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextCrossEncoder


EMBEDDING = Family(
    "embedding model",
    "--embed-model",
    (
        "BAAI/bge-small-en-v1.5",
        "sentence-transformers/all-MiniLM-L6-v2",
        "jinaai/jina-embeddings-v2-base-code",
    ),
    _text_embedding,
)
RERANKING = Family(
    "reranking model",
    "--rerank",
    ("Xenova/ms-marco-MiniLM-L-6-v2", "jinaai/jina-reranker-v1-tiny-en"),
    _text_cross_encoder,
)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A fastembed model that is ready, and where its files are."""

    model: Any
    folder: ModelFolder


def load_folder(folder: ModelFolder) -> LoadedModel:
    """Load an embedding model from its folder; nothing is downloaded.

    Raises:
        EmbedderError: its files cannot be used.
    """
    with _faults_named(folder.path):
        model = _open_folder(folder, folder.pooling)
        if folder.pooling == "mean" and len(model.model.model.get_outputs()[0].shape) == 2:
            model = _open_folder(folder, "none")
    return LoadedModel(model, folder)


def load_reranker_folder(folder: ModelFolder) -> LoadedModel:
    """Load a reranking model from its folder; nothing is downloaded.

    Raises:
        EmbedderError: its files cannot be used.
    """
    from fastembed.common.model_description import ModelSource

    vendor = RERANKING.vendor()
    name = f"askcode/{folder.path}:{folder.model_file}"
    with _faults_named(folder.path):
        with contextlib.suppress(ValueError):  # known since an earlier load in this process
            vendor.add_custom_model(
                model=name,
                sources=ModelSource(url="http://localhost"),
                model_file=folder.model_file,
            )
        model = vendor(name, **_from_folder(folder))
    return LoadedModel(model, folder)


def load_named(name: str, cache_dir: Path, family: Family = EMBEDDING) -> LoadedModel:
    """Load a model fastembed knows; what the cache holds whole is used without the network.

    A model whose files are damaged is downloaded once more.

    Raises:
        UsageError: fastembed knows no model of this name.
        EmbedderError: it is not in the cache and cannot be downloaded, or stays damaged.
    """
    described = _described(name, family)
    try:
        return _open_named(described, cache_dir, family, only_local=True)
    except EmbedderError as error:
        problem = error
    if why := _why_unreachable(described):
        if isinstance(problem, _Damaged):
            raise problem
        raise _unreachable(described["model"], cache_dir, family, why) from problem
    _discard(problem)
    return _open_named(described, cache_dir, family, only_local=False)


class _Damaged(EmbedderError):
    """Remember which entry of the cache holds a damaged model."""

    entry: Path | None = None


def thread_count() -> int:
    """Return how many processors this process may use, not how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load_tokenizer(path: Path) -> Any:
    """Load a folder's own tokenizer, which neither cuts nor pads.

    Raises:
        EmbedderError: it cannot be read.
    """
    from tokenizers import Tokenizer

    with _faults_named(path):
        tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _open_folder(folder: ModelFolder, pooling: str) -> Any:
    from fastembed.common.model_description import ModelSource, PoolingType

    vendor = EMBEDDING.vendor()
    kinds = {
        "mean": PoolingType.MEAN,
        "cls": PoolingType.CLS,
        "last": PoolingType.LAST_TOKEN,
        "none": PoolingType.DISABLED,
    }
    name = f"askcode/{folder.path}:{folder.model_file}:{pooling}"
    with contextlib.suppress(ValueError):  # known since an earlier load in this process
        vendor.add_custom_model(
            model=name,
            pooling=kinds[pooling],
            normalization=False,
            sources=ModelSource(url="http://localhost"),
            dim=1,
            model_file=folder.model_file,
        )
    return vendor(name, **_from_folder(folder))


def _from_folder(folder: ModelFolder) -> dict[str, Any]:
    return {
        "specific_model_path": str(folder.path),
        # not used, but made if it is missing: the default would be in a shared /tmp
        "cache_dir": str(folder.path),
        "threads": thread_count(),
        "local_files_only": True,
    }


def _described(name: str, family: Family) -> dict[str, Any]:
    for described in family.vendor().list_supported_models():
        if described["model"].lower() == name.lower():
            return dict(described)
    raise UsageError(
        f"there is no {family.noun} called {name}",
        hint=f"give {family.option} a folder or a name such as {', '.join(family.suggested)}",
    )


def _open_named(
    described: dict[str, Any], cache_dir: Path, family: Family, *, only_local: bool
) -> LoadedModel:
    name = described["model"]
    with _faults_named(cache_dir / name.replace("/", "--")):
        model = family.vendor()(
            name,
            cache_dir=str(cache_dir),
            threads=thread_count(),
            local_files_only=only_local,
            lazy_load=True,
        )
    path = Path(model.model._model_dir)
    try:
        folder = read_model_folder(path, model_file=described["model_file"])
        with _faults_named(path):
            model.model.load_onnx_model()
    except EmbedderError as error:
        # the whole entry: a snapshot only links to files that would be taken again
        entry = _cache_entry(path, cache_dir)
        damaged = _Damaged(error.message, hint=f"remove it, then run again: rm -r {entry}")
        damaged.entry = entry
        raise damaged from error
    return LoadedModel(model, folder)


def _why_unreachable(described: dict[str, Any]) -> str:
    """Ask the hub for the model once, for fastembed would try for 40 seconds; "" is success."""
    from huggingface_hub import constants, model_info

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    source = described["sources"].get("hf")
    if not source:
        return ""
    try:
        with _faults_named(Path(source)):
            model_info(source, timeout=REACH_TIMEOUT_S)
    except EmbedderError as error:
        said = str(error.__cause__).partition("\nFor more information")[0]
        return " ".join(said.split())[:200]
    return ""


def _unreachable(name: str, cache_dir: Path, family: Family, why: str) -> EmbedderError:
    return EmbedderError(
        f"the {family.noun} {name} is not in {cache_dir} and cannot be downloaded ({why})",
        hint=f"connect once, copy {cache_dir} from a machine that has it, "
        f"give its folder as {family.option}, or leave {family.option} out",
    )


def _cache_entry(folder: Path, cache_dir: Path) -> Path | None:
    """Return the part of the cache a folder belongs to, or None for one elsewhere."""
    if cache_dir.resolve() not in folder.resolve().parents:
        return None
    return cache_dir / folder.resolve().relative_to(cache_dir.resolve()).parts[0]


def _discard(problem: EmbedderError) -> None:
    """Remove a damaged model from the cache, so that it is downloaded whole."""
    if isinstance(problem, _Damaged) and problem.entry:
        shutil.rmtree(problem.entry, ignore_errors=True)


@contextlib.contextmanager
def _faults_named(path: Path) -> Iterator[None]:
    """Keep the vendors quiet and raise what they raise as ours."""
    try:
        with _quiet():
            yield
    except AskcodeError:
        raise
    except BaseException as error:
        # tokenizers raises a bare Exception and onnxruntime classes of its own
        if not isinstance(error, Exception):
            raise
        raise broken_model(path, error) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hold back log lines, warnings and progress bars that are not for the user."""
    from huggingface_hub.utils.tqdm import disable_progress_bars
    from loguru import logger

    logger.disable("fastembed")
    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
