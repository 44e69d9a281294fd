"""The stages of a run over many machines: each builds its part once and works on partitions.

The steps are those of a run in one process; here they are only carried from stage to stage.
"""

from __future__ import annotations

import pickle
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from askcode import __version__
from askcode.chunking import Chunker
from askcode.describing import ChunkedFile, DescribedFile, Describer
from askcode.errors import AskcodeError, TransientError
from askcode.indexing import chunked_files, make_rows
from askcode.protocols import Embedder
from askcode.records import FilePlan, Row, Skipped, Usage
from askcode.scanning import ScanRules

# One partition is one task of each stage. Small ones are stored, and lost, a few at a time;
# large ones let the calls of a partition run side by side for longer.
MAX_FILES = 32
MAX_BYTES = 512 * 1024

COLUMN = "partition"
Record = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the workers make their parts; it is pickled, so its functions are module-level ones."""

    root: Path
    make_rules: Callable[[], ScanRules]
    make_chunker: Callable[[], Chunker]
    make_describer: Callable[[], tuple[Describer, Callable[[], Usage]]]
    """With what the whole run has spent so far, whichever process spent it."""
    make_embedder: Callable[[], Embedder]
    max_embedders: int | None = None
    version: str = __version__

    def check(self) -> None:
        """Refuse to work beside another version, whose chunks may be others.

        Raises:
            AskcodeError: this worker has another version than the run.
        """
        if self.version != __version__:
            raise AskcodeError(
                f"{platform.node()} has askcode {__version__}, and this run {self.version}",
                hint="install the same version everywhere",
            )


@dataclass(frozen=True, slots=True)
class Partition:
    """Some files on their way through the stages."""

    paths: tuple[str, ...]
    chunked: tuple[ChunkedFile, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    described: tuple[DescribedFile, ...] = ()
    rows: Mapping[str, list[Row]] = field(default_factory=dict)
    transient: TransientError | None = None
    """Given when no call for these files worked."""
    failure: AskcodeError | None = None
    """What ended the run; only what is in `described` was done before."""


def partitions(files: Sequence[FilePlan]) -> Iterator[Partition]:
    """Yield partitions of files, in order, each of about the same work at most."""
    paths: list[str] = []
    size = 0
    for file in files:
        if paths and (len(paths) >= MAX_FILES or size + file.bytes > MAX_BYTES):
            yield Partition(tuple(paths))
            paths, size = [], 0
        paths.append(file.path)
        size += file.bytes
    if paths:
        yield Partition(tuple(paths))


def packed(partition: Partition) -> Record:
    """Return a partition as a record of a data set; paths need not be valid Unicode."""
    return {COLUMN: pickle.dumps(partition, protocol=pickle.HIGHEST_PROTOCOL)}


def unpacked(record: Mapping[str, bytes]) -> Partition:
    """Return the partition of a record."""
    partition: Partition = pickle.loads(record[COLUMN])
    return partition


class Chunking:
    """Read files and cut them into chunks."""

    def __init__(self, recipe: Recipe) -> None:
        recipe.check()
        self._root = recipe.root
        self._rules = recipe.make_rules()
        self._chunker = recipe.make_chunker()

    def __call__(self, record: Record) -> Record:
        """Return the partition with its chunks."""
        partition = unpacked(record)
        skipped: list[Skipped] = []
        try:
            self._check_root()
            chunked = tuple(
                chunked_files(
                    self._root, self._rules, self._chunker, partition.paths, skipped.append
                )
            )
        except AskcodeError as error:
            return packed(replace(partition, failure=error))
        return packed(replace(partition, chunked=chunked, skipped=tuple(skipped)))

    def _check_root(self) -> None:
        # else every file would pass for a deleted one
        if not self._root.is_dir():
            raise AskcodeError(
                f"{self._root} is not there on {platform.node()}",
                hint="the workers read the files themselves: share the folder with all of them",
            )


class Describing:
    """Describe chunks; there is one of it, so that limits and the budget hold for all workers."""

    def __init__(self, recipe: Recipe) -> None:
        recipe.check()
        describer, spent = recipe.make_describer()
        # one that takes the place of a worker that died has what that one left of the budget
        left = replace(describer.budget, spent=spent())
        self._run = replace(describer, budget=left).start()
        self._failure: AskcodeError | None = None

    def __call__(self, record: Record) -> Record:
        """Return the partition described; after a failure, nothing is begun any more."""
        partition = unpacked(record)
        self._failure = self._failure or partition.failure
        if self._failure:
            return packed(replace(partition, chunked=(), failure=self._failure))
        done: list[DescribedFile] = []
        transient: TransientError | None = None
        try:
            done.extend(self._run.describe(partition.chunked))
        except TransientError as error:
            # raised after all files: whether the whole run fared so is known at its end
            transient = error
        except AskcodeError as error:
            self._failure = error
        return packed(
            replace(
                partition,
                chunked=(),
                described=tuple(done),
                transient=transient,
                failure=self._failure,
            )
        )


class Embedding:
    """Embed what was described."""

    def __init__(self, recipe: Recipe) -> None:
        recipe.check()
        self._embedder = recipe.make_embedder()

    def __call__(self, record: Record) -> Record:
        """Return the partition with the rows of its described files."""
        partition = unpacked(record)
        try:
            rows = make_rows(partition.described, self._embedder)
        except AskcodeError as error:
            return packed(replace(partition, described=(), failure=error))
        return packed(replace(partition, rows=rows))
