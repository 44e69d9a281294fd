"""Start Ray on this machine or join a cluster, without a word from it, and leave nothing behind."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import ExitStack, chdir, contextmanager, redirect_stdout
from functools import partial
from pathlib import Path

import ray
import ray.data
from ray.exceptions import RayError

from askcode.adapters.ray_watching import Watch
from askcode.errors import UsageError

CONNECT_TIMEOUT_S = 5.0
JOIN_TIMEOUT_S = 30.0
POLL_S = 0.5
MAX_HEARD_BYTES = 2**20

# Ray's sockets lie some 60 characters deeper, and the path of a socket ends at 107.
MAX_TEMPORARY_PATH = 40

# What Ray's C++ part says of a connection that lacks the token of the cluster.
TOKEN_REFUSED = b"Unauthenticated"


class RayCluster:
    """A connection to a Ray cluster, made when it is first needed."""

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._open = ExitStack()
        self._is_connected = False
        self._watch: Watch | None = None

    def connect(self) -> None:
        """Start Ray on this machine, or join the cluster at the address.

        Raises:
            UsageError: no cluster answers there, or it cannot be used from here.
        """
        if self._is_connected:
            return
        if self._address:
            _check_answers(self._address)
        # whatever ends the start, a signal too, ends what was started
        with ExitStack() as opening:
            folder = None if self._address else opening.enter_context(_temporary_folder())
            # what the cluster reports of its workers is printed there, between lines of JSON
            nowhere = opening.enter_context(open(os.devnull, "w", encoding="utf-8"))
            opening.enter_context(redirect_stdout(nowhere))
            begun = _Begun(partial(_init, self._address, folder))
            opening.callback(self._leave, begun)
            self._start(begun)
            self._watch = Watch(ray.get_runtime_context().gcs_address)
            self._open = opening.pop_all()
        self._is_connected = True
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        # a language model may take its time over a partition
        context.execution_no_progress_timeout_s = -1

    def close(self) -> None:
        """Leave the cluster; what runs for this process is ended."""
        self._is_connected = False
        self._open.close()

    @property
    def is_lost(self) -> bool:
        """Return whether the cluster ended before the run, which was interrupted for that."""
        return self._watch is not None and self._watch.is_lost

    def _leave(self, begun: _Begun) -> None:
        if self._watch:
            self._watch.stop()
        # Ray would wait for a cluster that is gone, and end this process before a word is said
        if begun.is_done and not self.is_lost:
            ray.shutdown(wait_for_processes=True)
        begun.release()

    def _start(self, begun: _Begun) -> None:
        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        with _hushed() as heard, chdir(_importable()):
            try:
                begun.go()
                if self._address:
                    _wait_for_join(self._address, begun, heard)
                begun.result()
            except (ConnectionError, RuntimeError, ValueError, RayError) as error:
                first = str(error).strip().partition("\n")[0]
                place = f"at {self._address}" if self._address else "on this machine"
                raise UsageError(f"Ray cannot be used {place}: {first}") from error


class _Begun:
    """The start of Ray, in a thread beside the main one.

    In the main thread, Ray would put its own handler of SIGTERM in the place of ours. And it forks:
    Python drops what a handler raises amid that, and locks stay locked.
    """

    def __init__(self, start: Callable[[], None]) -> None:
        self._start = start
        self._future: Future[None] = Future()
        self._is_released = threading.Event()
        # a daemon: what nobody answers must not hold up the end of the process
        self._thread = threading.Thread(target=self._work, name="askcode-ray", daemon=True)

    def go(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Return whether Ray was started, or could not be."""
        return self._future.done()

    def wait(self, timeout_s: float) -> None:
        """Return when it is done, or after the time."""
        wait([self._future], timeout_s)

    def result(self) -> None:
        """Return when Ray is there, or raise what it raised; a signal waits for that, too."""
        try:
            self._future.result()
        finally:
            wait([self._future])

    def release(self) -> None:
        """Let the thread end."""
        self._is_released.set()

    def _work(self) -> None:
        try:
            self._start()
        except BaseException as error:  # noqa: BLE001 - raised again by the main thread
            self._future.set_exception(error)
        else:
            self._future.set_result(None)
        # what Ray started is killed when the thread that started it ends
        self._is_released.wait()


def _init(address: str | None, folder: str | None) -> None:
    ray.init(
        address or "local",
        include_dashboard=None if address else False,
        log_to_driver=False,
        logging_level=logging.CRITICAL,
        _temp_dir=folder,
    )


def _wait_for_join(address: str, begun: _Begun, heard: Callable[[], bytes]) -> None:
    """Wait for a cluster, not as long as Ray would: it tries for many minutes, whatever it hears.

    Raises:
        UsageError: it refuses, or does not answer.
    """
    end = time.monotonic() + JOIN_TIMEOUT_S
    while not begun.is_done:
        begun.wait(POLL_S)
        if TOKEN_REFUSED in heard():
            raise UsageError(
                f"the Ray cluster at {address} asks for its token",
                hint="set RAY_AUTH_MODE=token, with the cluster's token in RAY_AUTH_TOKEN "
                "or ~/.ray/auth_token; on the cluster's head, --ray-address auto does so",
            )
        if time.monotonic() > end:
            raise UsageError(
                f"no Ray cluster answers at {address} within {JOIN_TIMEOUT_S:.0f} s",
                hint="start one: ray start --head",
            )


def _check_answers(address: str) -> None:
    """Say at once that nobody listens at an address: Ray would try for many minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_TIMEOUT_S).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no Ray cluster answers at {address}: {error}", hint="start one: ray start --head"
        ) from error


def _importable() -> Path:
    """Return a folder that workers may import from.

    Ray lets them import from the folder in which it is started. In the code base, which may be
    a stranger's, a file named like a package of ours would be run.
    """
    return Path(ray.__file__).parent.parent


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for Ray's sockets and logs, which it would leave behind for each run."""
    usual = tempfile.gettempdir()
    return tempfile.TemporaryDirectory(
        prefix="askcode-ray-",
        dir=usual if len(usual) <= MAX_TEMPORARY_PATH else "/tmp",
        ignore_cleanup_errors=True,
    )


@contextmanager
def _hushed() -> Iterator[Callable[[], bytes]]:
    """Take what is written to stderr while Ray starts, and give what reads it.

    Ray's C++ part writes there, come what may. Failures to start are raised, too, so that nothing
    is lost.
    """
    kept = os.dup(2)
    try:
        with tempfile.TemporaryFile() as written, warnings.catch_warnings():
            os.dup2(written.fileno(), 2)
            # lancedb warns of any child of this process; Ray's become other programs at once
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                yield partial(os.pread, written.fileno(), MAX_HEARD_BYTES, 0)
            finally:
                os.dup2(kept, 2)
    finally:
        os.close(kept)
