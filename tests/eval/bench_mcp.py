"""Measure a search through the MCP server, as an agent's client sees it.

python -m tests.eval.bench_mcp [--chunks N]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters, stdio_client

from tests.eval.bench import settings_for
from tests.eval.bench_speed import fresh_tree
from tests.eval.generating import questions
from tests.eval.questions import work_folder
from tests.eval.scoring import percentile

QUESTIONS = 200
LINES_PER_CHUNK = 14
LIMIT_MS = 50


def indexed_tree(chunks: int) -> Path:
    """Return a tree that was indexed into at least so many chunks."""
    from askcode.sessions import indexing, without_llm

    root = fresh_tree("mcp", lines=chunks * LINES_PER_CHUNK)
    place = work_folder() / "speed" / "mcp" / ".askcode"
    with indexing(settings_for(root, place), root, without_llm()) as session:
        report = session.indexer.run(session.indexer.survey())
        session.keep(report)
    print(f"{report.chunks_total} chunks indexed")
    return root


async def measure(root: Path, wanted: list[str]) -> list[float]:
    """Return the milliseconds of each question, and print those of the start."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "askcode", "mcp", str(root)])
    times = []
    started = time.perf_counter()
    async with Client(stdio_client(server)) as client:
        print(f"connected after {time.perf_counter() - started:.2f} s")
        for text in wanted:
            started = time.perf_counter()
            found = await client.call_tool("search", {"query": text})
            times.append((time.perf_counter() - started) * 1000)
            if found.is_error:
                raise SystemExit(str(found.content))
    return times


def main() -> None:
    """Print how long a search takes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chunks", type=int, default=5_000)
    root = indexed_tree(parser.parse_args().chunks)
    files = int(
        subprocess.run(
            ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
            check=True,
            capture_output=True,
        ).stdout.count(b"\n")
    )
    first, *times = anyio.run(measure, root, list(questions(QUESTIONS, files=files)))
    print(f"first search {first:.0f} ms, with what the start left to load")
    print(
        f"search p50 {percentile(times, 0.5):.1f} ms (at most {LIMIT_MS}), "
        f"p95 {percentile(times, 0.95):.1f} ms"
    )


if __name__ == "__main__":
    main()
