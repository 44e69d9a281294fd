"""Hold a place in object storage for one run, across machines, until it ends or dies.

The lock is one object, written only on condition that it is still the one last seen, so of
two runs one wins whatever their clocks say. Its holder writes it anew every quarter of the
lease. One that was not renewed for a whole lease, by the clock of the storage itself, is of a
dead or cut off machine and may be taken over; its holder, should it wake up, notices before
its next write. The lock of a dead process on this machine is taken over at once.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError, PreconditionError

from askcode.errors import IndexLocked

if TYPE_CHECKING:
    from obstore import ObjectMeta, UpdateVersion
    from obstore.store import ObjectStore

LOCK_NAME = "lock.json"
CLOCK_NAME = "clock"
LEASE_S = 60.0
RENEWALS_PER_LEASE = 4
# The holder stops before others may begin: requests under way take their time, too.
SAFE_PART_OF_LEASE = 0.75
POLL_S = 1.0
TAKE_TRIES = 5


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock, as it is written in it."""

    token: str = ""
    """Of one run; empty when the lock is free."""
    host: str = ""
    pid: int = 0
    processes: str = ""
    """Which machine, boot and container the process number means something in, or empty."""
    renewals: int = 0
    """Makes each writing another one: some storage names a version by its content."""

    @property
    def is_dead(self) -> bool:
        """Return whether this is surely a process of this machine that ended."""
        if not self.processes or self.processes != _processes():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False


@dataclass(frozen=True, slots=True)
class _Found:
    holder: Holder
    meta: ObjectMeta

    @property
    def version(self) -> UpdateVersion:
        return _version(self.meta["e_tag"], self.meta["version"])


class Lease:
    """The right to write to one place; a thread renews it while it is held."""

    def __init__(self, store: ObjectStore, *, uri: str, seconds: float = LEASE_S) -> None:
        self._store = store
        self._uri = uri
        self._seconds = seconds
        self._holder = Holder(secrets.token_hex(8), socket.gethostname(), os.getpid(), _processes())
        self._version: UpdateVersion = {}
        self._renewed = _Moment.now()
        self._is_lost = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_renewing, daemon=True)

    def take(self, *, wait: bool) -> None:
        """Take the lock and begin to renew it.

        Raises:
            IndexLocked: another run holds it, and `wait` is off.
        """
        while (other := self._try_to_take()) is not None:
            if not wait:
                raise IndexLocked(
                    f"another askcode index ({other.host}, pid {other.pid}) "
                    f"is running on {self._uri}",
                    hint="wait for it to end, or use --wait; "
                    f"the lock of a dead machine ends after {self._seconds:.0f} s",
                )
            time.sleep(min(POLL_S, self._seconds / 4))
        self._thread.start()

    def check(self) -> None:
        """Do nothing while the lock is surely held.

        Raises:
            IndexLocked: another run may have taken it over.
        """
        if self._is_lost or self._renewed.age_s() > self._seconds * SAFE_PART_OF_LEASE:
            raise IndexLocked(
                f"the lock on {self._uri} was lost: it could not be renewed in time",
                hint="what was stored is kept; run again to continue",
            )

    def give_back(self) -> None:
        """Free the lock, if it is still this run's; where that fails it ends by itself."""
        self._stop.set()
        self._thread.join()
        try:
            self._put(Holder(renewals=self._holder.renewals + 1), self._version)
        except (BaseError, FileNotFoundError, PermissionError):
            return

    def _try_to_take(self) -> Holder | None:
        """Take the lock, or return who holds it."""
        found: _Found | None = None
        for _ in range(TAKE_TRIES):
            sent = _Moment.now()
            try:
                self._version = self._put(self._holder, found.version if found else None)
            except (AlreadyExistsError, PreconditionError):
                pass
            except GenericError as error:
                # two conditional writes at the same moment
                if "409" not in str(error):
                    raise
            else:
                self._renewed = sent
                return None
            found = self._find()
            if found is None:
                continue
            if found.holder.token == self._holder.token:
                # the write went through, and its reply was lost
                self._version, self._renewed = found.version, sent
                return None
            if not self._is_free(found):
                return found.holder
        return found.holder if found else Holder(host="unknown")

    def _is_free(self, found: _Found) -> bool:
        if not found.holder.token or found.holder.is_dead:
            return True
        # the storage's own clock tells the age: those of machines differ
        obstore.put(self._store, CLOCK_NAME, self._holder.token.encode())
        now = obstore.head(self._store, CLOCK_NAME)["last_modified"]
        return (now - found.meta["last_modified"]).total_seconds() > self._seconds

    def _keep_renewing(self) -> None:
        while not self._stop.wait(self._seconds / RENEWALS_PER_LEASE):
            try:
                self._renew()
            except (BaseError, FileNotFoundError, PermissionError):
                # the next try may reach it; until then `check` counts the seconds
                continue
            if self._is_lost:
                return

    def _renew(self) -> None:
        renewals = self._holder.renewals + 1
        self._holder = Holder(**{**asdict(self._holder), "renewals": renewals})
        sent = _Moment.now()
        try:
            self._version = self._put(self._holder, self._version)
        except PreconditionError:
            found = self._find()
            if found is None or found.holder.token != self._holder.token:
                self._is_lost = True
                return
            self._version = found.version
        self._renewed = sent

    def _put(self, holder: Holder, version: UpdateVersion | None) -> UpdateVersion:
        data = json.dumps(asdict(holder)).encode()
        made = obstore.put(self._store, LOCK_NAME, data, mode=version or "create")
        return _version(made["e_tag"], made["version"])

    def _find(self) -> _Found | None:
        try:
            found = obstore.get(self._store, LOCK_NAME)
        except FileNotFoundError:
            return None
        return _Found(_parsed(bytes(found.bytes())), found.meta)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A moment by two clocks: one stops while the machine sleeps, one can be set."""

    monotonic: float
    wall: float

    @classmethod
    def now(cls) -> _Moment:
        return cls(time.monotonic(), time.time())

    def age_s(self) -> float:
        now = _Moment.now()
        return max(now.monotonic - self.monotonic, now.wall - self.wall)


def _version(e_tag: str | None, version: str | None) -> UpdateVersion:
    """Return what a condition names; storage has one of the two, or both."""
    found: UpdateVersion = {}
    if e_tag is not None:
        found["e_tag"] = e_tag
    if version is not None:
        found["version"] = version
    return found


def _parsed(data: bytes) -> Holder:
    """Return who holds a lock; what cannot be read is of a holder that nobody knows."""
    try:
        return Holder(**json.loads(data))
    except (ValueError, TypeError):
        return Holder(token="unknown", host="unknown")


def _processes() -> str:
    """Return what tells the process numbers of this machine from others', or nothing."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""
