"""A Ray cluster on this machine, in processes of its own, that runs of the command line join."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.command_line import PROJECT

TOKEN = "0123456789abcdef0123456789abcdef"
JOINING = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}


@dataclass(frozen=True)
class Head:
    """A head node and the session of its processes."""

    address: str
    session: int

    def workers(self, stage):
        """Return the ids of the processes that do the work of a stage."""
        return [
            int(place.parent.name)
            for place in Path("/proc").glob("[0-9]*/cmdline")
            if f"Map({stage})" in shown(place) and session_of(place) == self.session
        ]


@contextmanager
def ray_head():
    """Run a head node of two processors; sockets need a short path."""
    with tempfile.TemporaryDirectory(prefix="head-", dir="/tmp", ignore_cleanup_errors=True) as own:
        port = free_port()
        log = Path(own, "log")
        process = start(own, port, log)
        try:
            wait_for(log, "Ray runtime started", process)
            yield Head(f"127.0.0.1:{port}", process.pid)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        wait_for_end(own)
        shutil.rmtree(own, ignore_errors=True)


def start(folder, port, log):
    program = Path(sys.executable).with_name("ray")
    options = ["--num-cpus=2", "--include-dashboard=false", f"--temp-dir={folder}"]
    with open(log, "w") as output:
        return subprocess.Popen(
            [program, "start", "--head", "--block", f"--port={port}", *options],
            env={
                **os.environ,
                **JOINING,
                "HOME": folder,
                "PYTHONPATH": str(PROJECT),
                "RAY_USAGE_STATS_ENABLED": "0",
                # workers are polite by default: beside other work they would hardly run
                "RAY_worker_niceness": "0",
            },
            cwd=folder,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def wait_for(log, words, process, timeout_s=60):
    end = time.monotonic() + timeout_s
    while words not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.05)


def wait_for_end(folder, timeout_s=20):
    """Return when no process speaks of a folder any more."""
    end = time.monotonic() + timeout_s
    while left := running_in(folder):
        assert time.monotonic() < end, left
        time.sleep(0.05)


def running_in(folder):
    """Return the command lines of the processes that were told of a folder."""
    lines = map(shown, Path("/proc").glob("[0-9]*/cmdline"))
    return [line for line in lines if str(folder) in line and "ray" in line]


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def session_of(place):
    try:
        return os.getsid(int(place.parent.name))
    except OSError:
        return 0


def shown(place):
    try:
        return place.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
