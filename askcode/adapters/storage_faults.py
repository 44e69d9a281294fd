"""Tell why object storage cannot be used, in words that hold no key, token or signed URL."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """Why object storage cannot be used, and what to do about it."""

    text: str
    hint: str = ""


_CREDENTIALS = (
    "set the credentials, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; "
    'AWS profiles are read after pip install "askcode[s3]"'
)
_ENDPOINT = "check the network and the endpoint, such as AWS_ENDPOINT_URL"

# Tried in order: the text of the vendors names the whole chain of causes.
_REASONS = (
    (
        r"NoSuchBucket|bucket does not exist|ContainerNotFound|container does not exist",
        Reason("there is no such bucket", "make the bucket, or correct --index-dir"),
    ),
    (
        r"169\.254\.169\.254|169\.254\.170\.2|metadata\.google|TokenRequest|token request"
        r"|MissingAccount|Account must be specified|no storage account|AWS credentials"
        r"|CredentialsNotLoaded|MissingAccessKey|no providers in chain",
        Reason("no credentials were found", _CREDENTIALS),
    ),
    (
        r"status(?: code)?: 401|Unauthenticated|InvalidAccessKeyId|SignatureDoesNotMatch"
        r"|ExpiredToken|InvalidToken|AuthenticationFailed|AuthFailure",
        Reason("the credentials are wrong or expired", _CREDENTIALS),
    ),
    (
        r"status(?: code)?: 403|AccessDenied|PermissionDenied|AllAccessDisabled",
        Reason("access is denied", "the credentials must be allowed to list, read and write there"),
    ),
    (
        r"incorrectly configured region|PermanentRedirect|AuthorizationHeaderMalformed",
        Reason("the bucket lies in another region", "set AWS_REGION"),
    ),
    (r"BadScheme|builder error", Reason("the endpoint has no usable URL", _ENDPOINT)),
    (r"dns error|failed to lookup", Reason("the endpoint's name cannot be resolved", _ENDPOINT)),
    (r"ConnectionRefused|Connection refused", Reason("the connection is refused", _ENDPOINT)),
    (
        r"certificate|InvalidCertificate|UnknownIssuer",
        Reason("the endpoint's certificate is not trusted", _ENDPOINT),
    ),
    (r"timed out|TimedOut|\btimeout\b(?!:)", Reason("it does not answer in time", _ENDPOINT)),
    (
        r"status(?: code)?: 501|NotImplemented|NotSupported",
        Reason("it does not take conditional writes", "use storage that has them"),
    ),
    (r"status(?: code)?: (429|503)|SlowDown|TooManyRequests", Reason("it asks for fewer requests")),
    (r"status(?: code)?: 5\d\d", Reason("the server reports an error of its own")),
    (r"error sending request|HttpError|Connect", Reason("it cannot be reached", _ENDPOINT)),
)
_STATUS = re.compile(r"status(?: code)?: (\d{3})")


def why_unavailable(message: str) -> Reason | None:
    """Return what a vendor's message says of the storage; None when it says nothing of it."""
    for pattern, reason in _REASONS:
        if re.search(pattern, message):
            return reason
    status = _STATUS.search(message)
    if status and status[1] != "404":
        return Reason(f"the server answered with status {status[1]}", _ENDPOINT)
    return None
