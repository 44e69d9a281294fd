"""Read credentials of S3 from AWS profiles, as the `aws` command does, when botocore is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from askcode.errors import StorageUnavailable

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from botocore.session import Session


class AwsProfile:
    """The profile that the environment names, or the default one, for one bucket.

    Keys in the environment come first. Where botocore or the profiles are missing, nothing is
    known, and what reads the storage looks for credentials by itself.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._session = _session() if uri.startswith("s3://") else None
        self._credentials: Credentials | None = None

    def options(self) -> dict[str, str]:
        """Return what is known of keys and region, as obstore and LanceDB name them.

        Keys that last for a while only are renewed when they run out.

        Raises:
            StorageUnavailable: the profile does not exist, or its keys cannot be had.
        """
        if self._session is None:
            return {}
        from botocore.exceptions import BotoCoreError

        try:
            if not self._session.available_profiles:
                return {}
            self._credentials = self._credentials or self._session.get_credentials()
            if self._credentials is None:
                return {}
            keys = self._credentials.get_frozen_credentials()
            region = self._session.get_config_variable("region")
        except BotoCoreError as error:
            raise StorageUnavailable(
                f"cannot use {self._uri}: {error}", hint="check AWS_PROFILE and ~/.aws"
            ) from error
        known = {
            "aws_access_key_id": keys.access_key,
            "aws_secret_access_key": keys.secret_key,
            "aws_session_token": keys.token,
            "aws_region": region,
        }
        return {name: value for name, value in known.items() if value}


def _session() -> Session | None:
    try:
        from botocore.session import Session
    except ModuleNotFoundError:
        return None
    return Session()
