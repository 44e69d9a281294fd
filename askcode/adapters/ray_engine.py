"""Run the steps of indexing as stages of a Ray Data pipeline, on one machine or many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ray
import ray.data
from ray.exceptions import RayError

from askcode.adapters.ray_cluster import RayCluster
from askcode.adapters.ray_stages import (
    Chunking,
    Describing,
    Embedding,
    Partition,
    Recipe,
    packed,
    partitions,
    unpacked,
)
from askcode.describing import DescribedFile
from askcode.errors import AskcodeError, TransientError
from askcode.records import FilePlan, Row, Skipped, Usage

# A worker takes seconds to start, and less than one for a partition, but for the calls in it.
PARTITIONS_PER_WORKER = 4
# Two stages share each processor, and one processor is enough for both.
CPUS_PER_WORKER = 0.5
MAX_BLOCKS = 4096


class RayEngine:
    """An Engine over one root: its files go through the stages in partitions."""

    def __init__(self, cluster: RayCluster, recipe: Recipe, spent: Callable[[], Usage]) -> None:
        self._cluster = cluster
        self._recipe = recipe
        self._spent = spent
        self._rows: dict[str, list[Row]] = {}

    def describe(
        self, files: Sequence[FilePlan], on_skipped: Callable[[Skipped], None]
    ) -> Iterator[DescribedFile]:
        """Yield the files of each partition that comes out of the last stage, in any order.

        Raises:
            AskcodeError: a stage cannot go on, or Ray cannot.
        """
        if not files:
            return
        self._cluster.connect()
        transient: TransientError | None = None
        failure: AskcodeError | None = None
        try:
            for record in self._dataset(files).iter_rows():
                done = unpacked(record)
                self._check_missing(done)
                for left in done.skipped:
                    on_skipped(left)
                self._rows |= done.rows
                yield from done.described
                # what was done before may come out after it: partitions overtake each other
                failure = failure or done.failure
                transient = done.transient or transient
        except RayError as error:
            raise AskcodeError(
                f"Ray cannot go on: {_reason(error)}",
                hint="what was done is kept; run again to continue",
            ) from error
        if failure:
            raise failure
        if transient and not self._spent().calls:
            raise transient

    def rows(self, files: Sequence[DescribedFile]) -> dict[str, list[Row]]:
        """Return the rows of files that were yielded, by path; each can be had once."""
        return {file.file.path: self._rows.pop(file.file.path) for file in files}

    def _check_missing(self, done: Partition) -> None:
        """Refuse to take a file for a deleted one that only the worker cannot see."""
        if done.failure:
            return
        seen = {file.file.path for file in done.described} | {left.path for left in done.skipped}
        for path in done.paths:
            if path not in seen and (self._recipe.root / path).is_file():
                raise AskcodeError(
                    f"a worker cannot read {path}",
                    hint="the workers read the files themselves: share the folder with all",
                )

    def _dataset(self, files: Sequence[FilePlan]) -> ray.data.Dataset:
        items = [packed(partition) for partition in partitions(files)]
        processors = int(ray.cluster_resources().get("CPU", 1))
        workers = max(min(processors, len(items) // PARTITIONS_PER_WORKER), 1)
        embedders = min(workers, self._recipe.max_embedders or workers)
        here = ray.get_runtime_context().get_node_id()
        return (
            ray.data.from_items(items, override_num_blocks=min(len(items), MAX_BLOCKS))
            .map(Chunking, **self._pool(workers))
            .map(
                Describing,
                fn_constructor_args=(self._recipe,),
                compute=ray.data.ActorPoolStrategy(size=1),
                num_cpus=0,
                # beside the file that keeps what was paid for
                label_selector={"ray.io/node-id": here},
            )
            .map(Embedding, **self._pool(embedders))
        )

    def _pool(self, workers: int) -> dict[str, Any]:
        return {
            "fn_constructor_args": (self._recipe,),
            "compute": ray.data.ActorPoolStrategy(min_size=1, max_size=workers),
            "num_cpus": CPUS_PER_WORKER,
        }


def _reason(error: RayError) -> str:
    """Return the line that says what happened: the last one of a traceback, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1] if any("Traceback (" in line for line in lines) else lines[0]
