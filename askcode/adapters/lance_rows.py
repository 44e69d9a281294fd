"""Lay rows out as Arrow columns, and read candidates and files back from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from askcode.path_codec import decode_path, encode_path
from askcode.records import (
    Candidate,
    Chunk,
    Description,
    IndexedFile,
    Note,
    QuestionAnswer,
    Row,
    Vectors,
    digest_text,
)

# Bump when the columns change: the manifest keeps it, and another number is refused.
SCHEMA_VERSION = 1

FILE_COLUMNS = ("path", "file_digest", "language", "kinds", "question_count")
CHUNK_COLUMNS = (
    "path",
    "start_line",
    "end_line",
    "language",
    "kind",
    "symbol",
    "signature",
    "definitions",
    "text",
    "file_digest",
    "questions",
    "notes",
)

_SURROGATE = re.compile("[\ud800-\udfff]")


def table_schema(dim: int) -> pa.Schema:
    """Return the columns of an index whose vectors have `dim` numbers."""
    text, texts = pa.string(), pa.list_(pa.string())
    # Half precision halves the table at the same speed (10,000 chunks with two vectors:
    # 16.6 MB against 26.8 MB) and moves a cosine by less than 0.001.
    vectors = pa.list_(pa.list_(pa.float16(), dim))
    return pa.schema(
        [
            ("id", text),
            ("path", text),
            ("start_line", pa.int32()),
            ("end_line", pa.int32()),
            ("language", text),
            ("kind", text),
            ("symbol", text),
            ("signature", text),
            ("definitions", texts),
            ("text", text),
            ("file_digest", text),
            ("content_digest", text),
            ("questions", pa.list_(pa.struct([("question", text), ("answer", text)]))),
            ("notes", pa.list_(pa.struct([("kind", text), ("text", text)]))),
            ("kinds", text),
            ("question_count", pa.int32()),
            ("search_text", text),
            ("vectors", vectors),
        ]
    )


def to_table(rows: Mapping[str, Sequence[Row]], dim: int) -> pa.Table:
    """Return the rows of some files as one table."""
    flat = [(place, row) for of_file in rows.values() for place, row in enumerate(of_file)]
    schema = table_schema(dim)
    records = [_record(place, row) for place, row in flat]
    columns = [
        pa.array([record[field.name] for record in records], field.type)
        for field in schema
        if field.name != "vectors"
    ]
    return pa.table([*columns, _vector_column([row.vectors for _, row in flat], dim)], schema)


def to_candidates(table: pa.Table, scores: Iterable[float]) -> list[Candidate]:
    """Return candidates, best first; equal scores in the order of path and line."""
    records = table.select(CHUNK_COLUMNS).to_pylist()
    found = [
        _candidate(record, float(score)) for record, score in zip(records, scores, strict=True)
    ]
    return sorted(found, key=lambda one: (-one.score, one.chunk.path, one.chunk.start_line))


def to_files(table: pa.Table) -> dict[str, IndexedFile]:
    """Sum the rows of each file up."""
    groups = table.group_by(["path", "file_digest", "language", "kinds"]).aggregate(
        [("question_count", "sum"), ("question_count", "count")]
    )
    files: dict[str, IndexedFile] = {}
    for group in groups.to_pylist():
        path = decode_path(group["path"])
        kinds = some_kinds = set(filter(None, group["kinds"].split(",")))
        chunks, questions = group["question_count_count"], group["question_count_sum"]
        if known := files.get(path):
            kinds = kinds & set(known.kinds)
            some_kinds = some_kinds | set(known.some_kinds)
            chunks, questions = chunks + known.chunks, questions + known.questions
        files[path] = IndexedFile(
            path,
            group["file_digest"],
            group["language"],
            chunks,
            tuple(sorted(kinds)),
            questions,
            tuple(sorted(some_kinds)),
        )
    return files


def clean_text(text: str) -> str:
    """Replace what Arrow strings cannot hold."""
    return _SURROGATE.sub("\ufffd", text)


def _record(place: int, row: Row) -> dict[str, Any]:
    chunk, description = row.chunk, row.description
    return {
        "id": digest_text(chunk.path, str(place)),
        "path": encode_path(chunk.path),
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "language": chunk.language,
        "kind": chunk.kind,
        "symbol": _optional(chunk.symbol),
        "signature": _optional(chunk.signature),
        "definitions": [clean_text(name) for name in chunk.definitions],
        "text": clean_text(chunk.text),
        "file_digest": row.file_digest,
        "content_digest": chunk.digest,
        "questions": [
            {"question": clean_text(pair.question), "answer": clean_text(pair.answer)}
            for pair in description.questions
        ],
        "notes": [{"kind": note.kind, "text": clean_text(note.text)} for note in description.notes],
        "kinds": ",".join(description.kinds),
        "question_count": len(description.questions),
        "search_text": clean_text(row.search_text),
    }


def _optional(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


def _vector_column(vectors: Sequence[Vectors], dim: int) -> pa.Array:
    usable = [_usable(of_row, dim) for of_row in vectors]
    ends = np.cumsum([0, *(len(of_row) for of_row in usable)], dtype=np.int32)
    flat = np.concatenate([np.zeros((0, dim), np.float16), *usable]).ravel()
    items = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float16()), dim)
    return pa.ListArray.from_arrays(pa.array(ends), items)


def _usable(vectors: Vectors, dim: int) -> np.ndarray[Any, np.dtype[np.float16]]:
    """Leave zero rows out: their cosine is NaN, and one of them hides the whole chunk.

    A chunk of which the model knows no part gets a vector that stands for nothing, the
    same in every direction, and is found by its words.
    """
    known = vectors[np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)]
    if not len(known):
        known = np.full((1, dim), 1 / np.sqrt(dim), np.float32)
    return known.astype(np.float16)


def _candidate(record: Mapping[str, Any], score: float) -> Candidate:
    chunk = Chunk(
        path=decode_path(record["path"]),
        start_line=record["start_line"],
        end_line=record["end_line"],
        text=record["text"],
        language=record["language"],
        kind=record["kind"],
        symbol=record["symbol"],
        signature=record["signature"],
        definitions=tuple(record["definitions"]),
    )
    description = Description(
        tuple(QuestionAnswer(one["question"], one["answer"]) for one in record["questions"]),
        tuple(Note(one["kind"], one["text"]) for one in record["notes"]),
    )
    return Candidate(chunk, description, record["file_digest"], score)
