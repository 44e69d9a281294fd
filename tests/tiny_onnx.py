"""Write model folders small enough to compute by hand: one vector per word.

An ONNX file is a protocol buffer; the few messages these graphs need are encoded here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

FLOAT, INT64 = 1, 7
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def write_embedding_model(
    folder: Path, words: Sequence[str], table: np.ndarray, *, window: int = 512, **more
) -> Path:
    """Write a model that gives each token its row: `table` has SPECIAL's rows first.

    With `pooled`, the graph itself returns the mean over all tokens of a text.
    """
    pooled = more.pop("pooled", False)
    nodes = [node("Gather", ["table", "input_ids"], ["hidden" if pooled else "out"])]
    shape: list[int | str] = ["batch", "words", table.shape[1]]
    if pooled:
        nodes.append(node("ReduceMean", ["hidden"], ["out"], axes=[1], keepdims=0))
        shape.pop(1)
    write_tokenizer(folder, words, window=window, **more)
    (folder / "model.onnx").write_bytes(model(nodes, table, shape))
    return folder


def write_reranking_model(folder: Path, words: Sequence[str], weights: Sequence[float]) -> Path:
    """Write a model whose score of a pair is the sum of its words' weights."""
    table = np.array([[0]] * len(SPECIAL) + [[weight] for weight in weights], np.float32)
    nodes = [
        node("Gather", ["table", "input_ids"], ["hidden"]),
        node("ReduceMean", ["hidden"], ["out"], axes=[1], keepdims=0),
    ]
    write_tokenizer(folder, words, window=512, pairs=True)
    (folder / "model.onnx").write_bytes(model(nodes, table, ["batch", 1]))
    return folder


def write_tokenizer(
    folder: Path, words: Sequence[str], *, window: int, static: bool = False, pairs: bool = False
) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: place for place, word in enumerate([*SPECIAL, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if pairs or not static:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B [SEP]",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": window, "pad_token": "[PAD]", "unk_token": "[UNK]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    kind = {"model_type": "static" if static else "bert", "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps(kind))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}))


def model(nodes: Sequence[bytes], table: np.ndarray, shape: Sequence[int | str]) -> bytes:
    """Return a model from `input_ids` to `out`."""
    graph = b"".join(field(1, one) for one in nodes)
    graph += field(2, b"tiny")
    graph += field(5, tensor("table", table.astype(np.float32)))
    graph += field(11, value("input_ids", INT64, ["batch", "words"]))
    graph += field(12, value("out", FLOAT, shape))
    return number(1, 8) + field(7, graph) + field(8, field(1, b"") + number(2, 13))


def node(kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes) -> bytes:
    data = b"".join(field(1, name.encode()) for name in inputs)
    data += b"".join(field(2, name.encode()) for name in outputs)
    data += field(4, kind.encode())
    for name, setting in attributes.items():
        many = isinstance(setting, list)
        numbers = b"".join(
            number(8 if many else 3, one) for one in (setting if many else [setting])
        )
        data += field(5, field(1, name.encode()) + numbers + number(20, 7 if many else 2))
    return data


def tensor(name: str, array: np.ndarray) -> bytes:
    dims = b"".join(number(1, size) for size in array.shape)
    return dims + number(2, FLOAT) + field(8, name.encode()) + field(9, array.tobytes())


def value(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(
        field(1, number(1, one) if isinstance(one, int) else field(2, one.encode()))
        for one in shape
    )
    return field(1, name.encode()) + field(2, field(1, number(1, kind) + field(2, dims)))


def number(tag: int, amount: int) -> bytes:
    return varint(tag << 3) + varint(amount)


def field(tag: int, data: bytes) -> bytes:
    return varint(tag << 3 | 2) + varint(len(data)) + data


def varint(amount: int) -> bytes:
    out = b""
    while amount > 127:
        out += bytes([amount & 127 | 128])
        amount >>= 7
    return out + bytes([amount])
