"""Start Ray on this machine or join a cluster, without a word from it, and leave nothing behind."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import ExitStack, chdir, contextmanager, redirect_stdout
from pathlib import Path

import ray
import ray.data
from ray.exceptions import RayError

from askcode.adapters.ray_watching import Watch
from askcode.errors import UsageError

CONNECT_TIMEOUT_S = 5.0

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
            # what Ray starts is killed when the thread that started it ends
            beside = opening.enter_context(ThreadPoolExecutor(1))
            # what the cluster reports of its workers is printed there, between lines of JSON
            nowhere = opening.enter_context(open(os.devnull, "w", encoding="utf-8"))
            opening.enter_context(redirect_stdout(nowhere))
            opening.callback(self._leave)
            self._start(beside, folder)
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

    def _leave(self) -> None:
        if self._watch:
            self._watch.stop()
        # Ray would wait for a cluster that is gone, and end this process before a word is said
        if not self.is_lost:
            ray.shutdown(wait_for_processes=True)

    def _start(self, beside: Executor, folder: str | None) -> None:
        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            with _hushed() as heard, chdir(_importable()):
                # In this thread, Ray would put its own handler of SIGTERM in the place of ours. And
                # it forks: Python drops what a handler raises amid that, and locks stay locked.
                begun = beside.submit(self._init, folder)
                try:
                    begun.result()
                finally:
                    wait([begun])
        except (ConnectionError, RuntimeError, ValueError, RayError) as error:
            if TOKEN_REFUSED in heard:
                raise _token_missing(self._address) from error
            first = str(error).strip().partition("\n")[0]
            place = f"at {self._address}" if self._address else "on this machine"
            raise UsageError(f"Ray cannot be used {place}: {first}") from error

    def _init(self, folder: str | None) -> None:
        ray.init(
            self._address or "local",
            include_dashboard=None if self._address else False,
            log_to_driver=False,
            logging_level=logging.CRITICAL,
            _temp_dir=folder,
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


def _token_missing(address: str | None) -> UsageError:
    return UsageError(
        f"the Ray cluster at {address} asks for its token",
        hint="set RAY_AUTH_MODE=token, with the cluster's token in RAY_AUTH_TOKEN "
        "or ~/.ray/auth_token; on the cluster's head, --ray-address auto does so",
    )


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
def _hushed() -> Iterator[bytearray]:
    """Take what is written to stderr while Ray starts: its C++ part writes there, come what may.

    Failures to start are raised, too, so that nothing is lost.
    """
    kept = os.dup(2)
    heard = bytearray()
    try:
        with tempfile.TemporaryFile() as written, warnings.catch_warnings():
            os.dup2(written.fileno(), 2)
            # lancedb warns of any child of this process; Ray's become other programs at once
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                yield heard
            finally:
                os.dup2(kept, 2)
                written.seek(0)
                heard += written.read()
    finally:
        os.close(kept)
