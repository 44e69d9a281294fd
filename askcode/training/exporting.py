"""Write vectors and tokenizer as a folder that fastembed loads: int8 rows with a scale each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt

from askcode.training.word_pieces import PAD, UNKNOWN

Floats = npt.NDArray[np.float32]

# fastembed cuts texts there; askcode cuts them before into pieces and joins the vectors.
PIECE_TOKENS = 512
OPSET = 13
IR_VERSION = 8


def quantised(vectors: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return int8 rows and the scale of each, shape (n, 1); a row of zeros stays one."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scales = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    return np.round(vectors / scales).astype(np.int8), scales


def export(vectors: Floats, tokenizer_file: Path, folder: Path) -> None:
    """Write the model folder: graph, tokenizer and what fastembed reads beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(graph(vectors))
    shutil.copyfile(tokenizer_file, folder / "tokenizer.json")
    _write(
        folder / "config.json",
        {
            "model_type": "static",
            "architectures": ["StaticEmbedding"],
            "hidden_size": vectors.shape[1],
            "vocab_size": vectors.shape[0],
            "pad_token_id": 0,
            "max_position_embeddings": PIECE_TOKENS,
        },
    )
    marks = {"pad_token": PAD, "unk_token": UNKNOWN}
    _write(
        folder / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": PIECE_TOKENS, **marks},
    )
    _write(folder / "special_tokens_map.json", marks)


def graph(vectors: Floats) -> bytes:
    """Return an ONNX model from `input_ids` to `last_hidden_state`: a row for each token."""
    from onnx import TensorProto, checker, helper, numpy_helper

    table, scales = quantised(vectors)
    dim = vectors.shape[1]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["rows"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["scales", "input_ids"], ["own_scales"]),
        helper.make_node("Mul", ["numbers", "own_scales"], ["last_hidden_state"]),
    ]
    made = helper.make_graph(
        nodes,
        "static",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", dim]
            )
        ],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(scales, "scales")],
    )
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="askcode"
    )
    model.ir_version = IR_VERSION
    checker.check_model(model)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
