"""Read what the files of an embedding model say about it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askcode.errors import EmbedderError

# A static model reads texts of any length; its pieces only bound the memory of one call.
STATIC_WINDOW = 8192
# Longer windows cost memory by their square, and the mean of pieces serves retrieval.
MAX_WINDOW = 512

_MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "onnx/model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model_int8.onnx",
)
_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
}


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """What is known of a model in a folder before it is loaded."""

    path: Path
    model_file: str
    is_static: bool
    pooling: str
    """"mean", "cls", "last", or "none": the graph pools by itself."""
    window: int
    """How many tokens are embedded in one piece, special ones counted."""
    dim: int | None = None
    """The length of its vectors, where the folder says it for sure."""

    def digest(self) -> str:
        """Return the digest of every file that has a say in the vectors."""
        state = hashlib.blake2b(digest_size=16)
        for path in self._files():
            state.update(f"{path.relative_to(self.path).as_posix()}\n".encode())
            with path.open("rb") as file:
                state.update(hashlib.file_digest(file, "blake2b").digest())
        return state.hexdigest()

    def _files(self) -> list[Path]:
        model = self.path / self.model_file
        beside = model.parent.glob("*.onnx[._]data*")
        named = [
            self.path / name
            for name in ("config.json", "tokenizer.json", "tokenizer_config.json",
                         "special_tokens_map.json", "1_Pooling/config.json")
        ]  # fmt: skip
        return sorted({path for path in (model, *beside, *named) if path.is_file()})


def read_model_folder(path: Path, *, model_file: str = "") -> ModelFolder:
    """Look at a folder with an ONNX model and its tokenizer.

    Raises:
        EmbedderError: a file is missing or cannot be read.
    """
    if not path.is_dir():
        raise EmbedderError(f"the model folder {path} does not exist", hint="check the name")
    config = _read_json(path / "config.json", default={})
    tokenizer = _read_json(path / "tokenizer_config.json")
    if not (path / "tokenizer.json").is_file():
        raise broken_model(path, "tokenizer.json is missing")
    is_static = config.get("model_type") == "static"
    return ModelFolder(
        path,
        model_file or _find_model_file(path),
        is_static,
        str(config.get("pooling") or _pooling(path)),
        _window(tokenizer, is_static),
        _dim(config) if is_static else None,
    )


def broken_model(path: Path, why: object, *, hint: str = "") -> EmbedderError:
    """Return the error for a model whose files cannot be used."""
    detail = " ".join(str(why).split())[:200]
    return EmbedderError(
        f"the model in {path} cannot be used: {detail}",
        hint=hint or "put its files there again, or choose another model",
    )


def _dim(config: dict[str, Any]) -> int | None:
    """Return what spares the load of a model that is only asked who it is."""
    size = config.get("hidden_size")
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else None


def _window(tokenizer: dict[str, Any], is_static: bool) -> int:
    limits = [STATIC_WINDOW if is_static else MAX_WINDOW]
    for name in ("model_max_length", "max_length"):
        value = tokenizer.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            limits.append(value)
    return min(limits)


def _pooling(path: Path) -> str:
    settings = _read_json(path / "1_Pooling" / "config.json", default={})
    return next((name for key, name in _POOLINGS.items() if settings.get(key) is True), "mean")


def _find_model_file(path: Path) -> str:
    found = [name for name in _MODEL_FILES if (path / name).is_file()]
    others = sorted(file.relative_to(path).as_posix() for file in path.rglob("*.onnx"))
    if not found and len(others) != 1:
        raise broken_model(path, f"it holds {len(others)} .onnx files, none called model.onnx")
    return (found or others)[0]


def _read_json(path: Path, default: dict[str, Any] | None = None) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        if default is not None:
            return default
        raise broken_model(path.parent, f"{path.name} is missing") from error
    except (OSError, ValueError, RecursionError) as error:
        raise broken_model(path.parent, f"{path.name}: {error}") from error
    if not isinstance(data, dict):
        raise broken_model(path.parent, f"{path.name} is not an object")
    return data
