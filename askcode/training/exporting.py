"""Write vectors and tokenizer as a folder that fastembed loads: int8 rows with a scale each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt

from askcode.training.word_pieces import PAD, UNKNOWN

Floats = npt.NDArray[np.float32]

# fastembed cuts texts there; askcode cuts them before into pieces and joins the vectors. It also
# bounds the square that counts equal tokens.
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
            "pooling": "none",
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
    """Return an ONNX model from `input_ids` to one vector a text.

    A token that a text has n times counts as the square root of n. The vector is the sum over
    the number of tokens, so that those of a long text's pieces can be joined by their tokens;
    [PAD], token 0, is none. It is summed in float64: how the runtime orders a sum depends on the
    batch, and a text's vector must be the same, to the bit, in whatever batch it comes.
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    table, scales = quantised(vectors)
    constants = {
        "table": table,
        "scales": scales[:, 0],
        "along": np.array([1], np.int64),
        "across": np.array([2], np.int64),
        "least": np.array([1], np.float32),
    }
    made = helper.make_graph(
        [helper.make_node(name, inputs, [output], **how) for name, inputs, output, how in _NODES],
        "static",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, ["batch", vectors.shape[1]])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="askcode"
    )
    model.ir_version = IR_VERSION
    checker.check_model(model)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


_FLOAT, _BOOL, _DOUBLE = 1, 9, 11
"""Numbers of ONNX's types."""
_NODES: tuple[tuple[str, list[str], str, dict[str, int]], ...] = (
    ("Gather", ["table", "input_ids"], "rows", {}),
    ("Cast", ["rows"], "numbers", {"to": _DOUBLE}),
    ("Gather", ["scales", "input_ids"], "row_scales", {}),
    # how often a token stands in its text: compared with each other one
    ("Unsqueeze", ["input_ids", "across"], "column", {}),
    ("Unsqueeze", ["input_ids", "along"], "row", {}),
    ("Equal", ["column", "row"], "is_same", {}),
    ("Cast", ["is_same"], "same", {"to": _FLOAT}),
    ("ReduceSum", ["same", "across"], "counts", {"keepdims": 0}),
    ("Sqrt", ["counts"], "roots", {}),
    ("Div", ["row_scales", "roots"], "weights", {}),
    ("Cast", ["weights"], "exact_weights", {"to": _DOUBLE}),
    ("Unsqueeze", ["exact_weights", "along"], "weights_row", {}),
    ("MatMul", ["weights_row", "numbers"], "sums", {}),
    ("Squeeze", ["sums", "along"], "exact_sum", {}),
    ("Cast", ["exact_sum"], "sum", {"to": _FLOAT}),
    ("Cast", ["input_ids"], "is_token", {"to": _BOOL}),
    ("Cast", ["is_token"], "ones", {"to": _FLOAT}),
    ("ReduceSum", ["ones", "along"], "length", {"keepdims": 1}),
    ("Max", ["length", "least"], "divisor", {}),
    ("Div", ["sum", "divisor"], "vector", {}),
)


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
