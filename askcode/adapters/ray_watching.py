"""Notice that a Ray cluster is gone: Ray's own answer is to end this process without a word."""

from __future__ import annotations

import signal
import socket
import threading
import time

# Ray itself waits for a minute, as long as a head may take to start again.
LOST_AFTER_S = 40.0
EVERY_S = 4.0
ANSWER_S = 4.0


class Watch:
    """Try an address now and then; interrupt the main thread when it is silent for too long."""

    def __init__(
        self, address: str, *, lost_after_s: float = LOST_AFTER_S, every_s: float = EVERY_S
    ) -> None:
        host, _, port = address.rpartition(":")
        self._place = (host.strip("[]"), int(port))
        self._lost_after_s = lost_after_s
        self._every_s = every_s
        self._is_over = threading.Event()
        self._is_lost = False
        self._thread = threading.Thread(target=self._go, name="askcode-watch", daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """Return whether the address was silent for too long; the interrupt was for that."""
        return self._is_lost

    def stop(self) -> None:
        """Watch no more; afterwards no interrupt comes from here."""
        self._is_over.set()
        self._thread.join()

    def _go(self) -> None:
        answered = time.monotonic()
        while not self._is_over.wait(self._every_s):
            if self._answers():
                answered = time.monotonic()
            elif time.monotonic() - answered >= self._lost_after_s:
                self._is_lost = True
                # a real signal: nothing else wakes a thread that waits for a lock
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                return

    def _answers(self) -> bool:
        try:
            socket.create_connection(self._place, timeout=ANSWER_S).close()
        except OSError:
            return False
        return True
