"""Start `askcode index`, and kill it at a chosen moment of its work."""

import os
import signal
import subprocess
import sys
import time

from tests.command_line import PROJECT


def start_index(folder, server=None, *arguments, environment=None):
    """Start a run in a process of its own."""
    endpoint = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"} if server else {}
    return subprocess.Popen(
        [sys.executable, "-m", "askcode", "index", "--yes", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **(environment or {}), **endpoint},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lock(folder, process):
    """Return when the process holds the index: before that it writes nothing of weight."""
    owner = folder / ".askcode" / "lock.pid"
    wait_until(lambda: process.poll() is not None or read(owner) == str(process.pid))


def kill_after(folder, process, delay_s):
    """Kill a run so long after it took the lock; return its exit code."""
    wait_for_lock(folder, process)
    time.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    return process.returncode


def wait_until(is_true, timeout_s=60):
    end = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def read(path):
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def stored_rows(folder):
    """Return all rows of the index by path and place, without what only layout decides."""
    import lancedb

    from askcode.local_place import LocalPlace
    from askcode.manifest import load_manifest

    place = folder / ".askcode"
    table = lancedb.connect(str(place)).open_table(load_manifest(LocalPlace(place)).table)
    rows = table.search().limit(None).to_list()
    return sorted(rows, key=lambda row: (row["path"], row["start_line"]))
