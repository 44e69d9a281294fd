"""Keep an index under a prefix in object storage: S3, Google Cloud Storage or Azure Blob."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import obstore
from obstore.exceptions import BaseError
from obstore.store import from_url

from askcode.adapters.aws_profiles import AwsProfile
from askcode.adapters.storage_faults import why_unavailable
from askcode.adapters.storage_lease import LEASE_S, Lease
from askcode.errors import StorageUnavailable

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig, S3Config

# A wrong endpoint has to be told within seconds; what is asked for here is small.
_CLIENT: ClientConfig = {
    "connect_timeout": timedelta(seconds=3),
    "timeout": timedelta(seconds=6),
}
_RETRY: RetryConfig = {"max_retries": 2, "retry_timeout": timedelta(seconds=10)}
# Data files may be large and lines slow; the small requests before these tell a wrong endpoint.
_TABLE_OPTIONS = {
    "connect_timeout": "5s",
    "timeout": "120s",
    "client_max_retries": "3",
    "client_retry_timeout": "60",
}


class ObjectPlace:
    """An IndexPlace in object storage; credentials come from the environment or an AWS profile."""

    def __init__(self, uri: str, *, allow_http: bool = False, lease_s: float = LEASE_S) -> None:
        self._uri = uri
        self._allow_http = allow_http
        self._lease_s = lease_s
        self._profile = AwsProfile(uri)

    @property
    def uri(self) -> str:
        """Return the URL of the prefix."""
        return self._uri

    def read(self, name: str) -> bytes | None:
        """Return an object's bytes, or None.

        Raises:
            StorageUnavailable: the storage cannot be reached, or refuses.
        """
        with faults_named(self._uri):
            try:
                return bytes(obstore.get(self._store(), name).bytes())
            except FileNotFoundError as error:
                if (reason := why_unavailable(str(error))) is None:
                    return None
                raise StorageUnavailable(
                    f"cannot use {self._uri}: {reason.text}", hint=reason.hint
                ) from error

    def write(self, name: str, data: bytes) -> None:
        """Write an object; readers see the old one or the new one.

        Raises:
            StorageUnavailable: the storage cannot be reached, or refuses.
        """
        with faults_named(self._uri):
            obstore.put(self._store(), name, data)

    def sizes(self) -> dict[str, int]:
        """Return the bytes below each name under the prefix, those of prefixes with a slash.

        Raises:
            StorageUnavailable: the storage cannot be reached, or refuses.
        """
        found: Counter[str] = Counter()
        with faults_named(self._uri):
            for batch in obstore.list(self._store()):
                for each in batch:
                    top, slash, _ = each["path"].partition("/")
                    found[top + slash] += each["size"]
        return dict(found)

    @contextmanager
    def hold(self, *, wait: bool) -> Iterator[Callable[[], None]]:
        """Hold a lease on the place, renewed until the block ends.

        Raises:
            IndexLocked: another run holds it, and `wait` is off.
            StorageUnavailable: the storage cannot be reached, or refuses.
        """
        with faults_named(self._uri):
            lease = Lease(self._store(), uri=self._uri, seconds=self._lease_s)
            lease.take(wait=wait)
        try:
            yield lease.check
        finally:
            lease.give_back()

    def _store(self) -> ObjectStore:
        options: ClientConfig = {**_CLIENT, "allow_http": self._allow_http}
        config = cast("S3Config", self._profile.options())
        return from_url(self._uri, config=config, client_options=options, retry_config=_RETRY)


def table_options(uri: str, *, allow_http: bool) -> dict[str, str]:
    """Return the options that LanceDB needs to reach tables in object storage.

    Raises:
        StorageUnavailable: an AWS profile is named that cannot be used.
    """
    known = AwsProfile(uri).options()
    return {**_TABLE_OPTIONS, **known, "allow_http": str(allow_http).lower()}


@contextmanager
def faults_named(uri: str) -> Iterator[None]:
    """Raise what the storage's client raises as ours.

    Raises:
        StorageUnavailable: the storage cannot be reached, or refuses.
    """
    try:
        yield
    except (BaseError, FileNotFoundError, PermissionError, ValueError, RuntimeError) as error:
        reason = why_unavailable(str(error))
        raise StorageUnavailable(
            f"cannot use {uri}: {reason.text if reason else type(error).__name__}",
            hint=reason.hint if reason else "",
        ) from error
