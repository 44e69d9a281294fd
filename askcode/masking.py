"""Take live secrets out of text before it leaves the machine.

What counts as one: tokens and keys of a known form (cloud providers, code hosts, chat and
payment services, package registries, language models), JSON web tokens, private key blocks,
passwords in URLs, and passwords, secrets and keys assigned as literals. Mere randomness does
not count: hashes and test data would be masked all over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin, RegexBasedDetector

MASK = "[masked secret]"
KEY_BODY_MASK = "[masked]"

# Lines without any of these can hold nothing that a detector knows: most lines of code.
_HINT = re.compile(
    r"pass|pwd|pw[\"'\]\s:=]|secret|token|key|contrase|auth|://[^/\s]*:[^/\s]*@"
    r"|A3T|AKIA|ABIA|ACCA|ASIA|AKC|\bAP[0-9A-F]|[MNO][\w-]{23,25}\.|gh[pousr]_|github_pat_|gl[a-z]{3,6}-"
    r"|GR1348941|eyJ|-us\d|npm_|T3BlbkFJ|sk-|pypi-|SG\.|xox|hooks\.slack|sq0csp|[rs]k_live|\d{8}:"
    r"|\b(?:AC|SK)[a-z0-9]{32}|AIza|hf_|GOCSPX|softlayer|cloudant|PRIVATE KEY|PuTTY-User-Key",
    re.IGNORECASE,
)
# Forms younger than the detectors.
_MORE_TOKENS = re.compile(
    r"github_pat_\w{22,}|\bAIza[\w-]{35}|\bsk-ant-[\w-]{20,}|\bsk-(?:proj-|svcacct-|or-v1-)[\w-]{20,}"
    r"|\bhf_[A-Za-z0-9]{30,}|\bnpm_[A-Za-z0-9]{36}|\bGOCSPX-[\w-]{28}|\bxapp-\d-[\w-]{20,}"
)
# The detector's own pattern leaves the signature out.
_WEB_TOKEN = re.compile(r"eyJ[\w=-]+\.[\w=-]+(?:\.[\w.+/=-]*)?")
_BEGIN_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d")
_END_KEY = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|Private-MAC:")
_KEY_LINE = re.compile(r"^[\s\"'`#*/+]*[A-Za-z0-9+/=]{16,}[\s\"'`,;+\\n]*$")
# a longest plausible key: 16,384 bits of RSA in lines of 64 characters
_MAX_KEY_LINES = 250

# a line longer than this is looked at in pieces, since some detectors take time in its square
_MAX_LINE_CHARS = 2_000
_OVERLAP_CHARS = 200
_MIN_GROUP_CHARS = 16
"""Shorter groups of a detector's pattern are its prefix ("ghp"), not the secret."""
_MIN_PASSWORD_CHARS = 6

_PLACEHOLDER = re.compile(
    r"x{3,}|\*{3,}|\.{3}|<.*>|\{.*\}|%[sdr(]|\$[({\w]|example|sample|dummy|placeholder|change.?me"
    r"|your|replace|insert|redacted|masked|foobar|todo|fixme|lorem|^(?:my|the|some|a|test|fake)[-_]",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Za-z]+(?:[-_.:/ ][A-Za-z]+)*\d?")
_UNQUOTED_LANGUAGES = frozenset({"yaml", "toml", "ini", "properties", "dotenv", "hcl"})
_UNQUOTED = re.compile(
    r"^[\s-]*(?:export\s+)?[\w.-]*(?:password|passwd|pwd|secret|api_?key|token)[\w.-]*\s*[:=]\s*"
    r"([^\s\"'#{$<&*|>!\[][^\s\"'#]*)\s*(?:#.*)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with as many lines as before, and how many secrets were taken out of it."""

    text: str
    count: int


def mask(text: str, *, language: str | None = None) -> Masked:
    """Replace each live secret by a mask; in configuration languages unquoted ones too."""
    if not _HINT.search(text):
        return Masked(text, 0)
    lines = text.split("\n")
    count = _mask_private_keys(lines)
    for number, line in enumerate(lines):
        if _HINT.search(line):
            lines[number], found = _mask_line(line, language)
            count += found
    return Masked("\n".join(lines), count) if count else Masked(text, 0)


def _mask_line(line: str, language: str | None) -> tuple[str, int]:
    line, count = _mask_passwords_in_urls(line)
    # the longest first: one may be a part of another
    for secret in sorted(set(_secrets_in(line, language)), key=len, reverse=True):
        if secret in line:
            line = line.replace(secret, MASK)
            count += 1
    return line, count


def _mask_private_keys(lines: list[str]) -> int:
    """Mask the body of each key block in place, also of one whose begin or end is elsewhere."""
    count = 0
    for number, line in enumerate(lines):
        begin = _BEGIN_KEY.search(line)
        end = _END_KEY.search(line)
        if begin and end and begin.end() <= end.start():
            lines[number] = line[: begin.end()] + MASK + line[end.start() :]
            count += 1
        elif begin:
            count += _mask_key_lines(lines, range(number + 1, len(lines)))
        elif end and not _was_masked(lines, number - 1):
            count += _mask_key_lines(lines, range(number - 1, -1, -1))
    return count


def _mask_key_lines(lines: list[str], numbers: Sequence[int]) -> int:
    found = []
    for number in numbers[:_MAX_KEY_LINES]:
        is_header = re.match(r"^[\s\"'`#*/]*[A-Z][\w-]*: \S", lines[number])
        if _END_KEY.search(lines[number]) or not (
            _KEY_LINE.match(lines[number])
            or is_header
            or len(lines[number].strip(" \"'`\\n,+;")) < 16
        ):
            break
        found.append(number)
    found = [number for number in found if len(lines[number].strip()) >= 4]
    for number in found:
        lines[number] = KEY_BODY_MASK
    if found:
        lines[min(found)] = MASK
    return int(bool(found))


def _was_masked(lines: list[str], number: int) -> bool:
    return number >= 0 and lines[number] in (MASK, KEY_BODY_MASK)


def _secrets_in(line: str, language: str | None) -> Iterator[str]:
    for piece in _pieces(line):
        yield from (match.group() for match in _MORE_TOKENS.finditer(piece))
        yield from filter(_is_web_token, _WEB_TOKEN.findall(piece))
        for detector in _token_detectors():
            yield from _tokens(detector, piece)
        yield from _assigned(piece, language)


def _pieces(line: str) -> Iterator[str]:
    step = _MAX_LINE_CHARS - _OVERLAP_CHARS
    for start in range(0, max(len(line) - _OVERLAP_CHARS, 1), step):
        yield line[start : start + _MAX_LINE_CHARS]


def _tokens(detector: RegexBasedDetector, line: str) -> Iterator[str]:
    for pattern in detector.denylist:
        for match in pattern.finditer(line):
            groups = [group for group in match.groups() if group and len(group) >= _MIN_GROUP_CHARS]
            token = max(groups, key=len) if groups else match.group().strip(" \t:=\"'")
            # "APPLICATION" has the form of some key, and no digit
            if any(character.isdigit() for character in token):
                yield token


def _is_web_token(token: str) -> bool:
    from detect_secrets.plugins.jwt import JwtTokenDetector

    return bool(JwtTokenDetector.is_formally_valid(token))


def _mask_passwords_in_urls(line: str) -> tuple[str, int]:
    """Mask in place, lest the letters of a short password be masked all over the line."""
    count = 0
    for match in reversed(list(_basic_auth().finditer(line[:_MAX_LINE_CHARS]))):
        password = match.group(1)
        user = match.group().split("://", 1)[1].split(":", 1)[0]
        is_stand_in = password.casefold() in _COMMON or password == user
        if not is_stand_in and not _PLACEHOLDER.search(password):
            line = line[: match.start(1)] + MASK + line[match.end(1) :]
            count += 1
    return line, count


_COMMON = frozenset({"pass", "password", "passwd", "pwd", "pw", "secret", "token", "key", "port"})
"""Words that stand for a password in URLs of documentation."""


def _assigned(line: str, language: str | None) -> Iterator[str]:
    from detect_secrets.filters import heuristic

    if heuristic.is_indirect_reference(line):
        return
    for value in _keyword_detector().analyze_string(line):
        if _is_password(value):
            yield value
    if language in _UNQUOTED_LANGUAGES:
        match = _UNQUOTED.match(line)
        if match and _is_password(match.group(1)):
            yield match.group(1)


def _is_password(value: str) -> bool:
    """Return whether a literal looks like a real password and not like a name or a message."""
    from detect_secrets.filters import heuristic

    return not (
        len(value) < _MIN_PASSWORD_CHARS
        or re.search(r"\s|://", value)
        or _WORDS.fullmatch(value)
        or _PLACEHOLDER.search(value)
        or heuristic.is_templated_secret(value)
        or heuristic.is_prefixed_with_dollar_sign(value)
        or heuristic.is_sequential_string(value)
        or heuristic.is_not_alphanumeric_string(value)
        or heuristic.is_potential_uuid(value)
    )


@lru_cache(maxsize=1)
def _token_detectors() -> tuple[RegexBasedDetector, ...]:
    """Return the detectors of known forms; imported late, since they load an HTTP client."""
    from detect_secrets.plugins import (
        artifactory,
        aws,
        azure_storage_key,
        cloudant,
        discord,
        github_token,
        gitlab_token,
        ibm_cloud_iam,
        ibm_cos_hmac,
        mailchimp,
        npm,
        openai,
        pypi_token,
        sendgrid,
        slack,
        softlayer,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )

    return (
        artifactory.ArtifactoryDetector(),
        aws.AWSKeyDetector(),
        azure_storage_key.AzureStorageKeyDetector(),
        cloudant.CloudantDetector(),
        discord.DiscordBotTokenDetector(),
        github_token.GitHubTokenDetector(),
        gitlab_token.GitLabTokenDetector(),
        ibm_cloud_iam.IbmCloudIamDetector(),
        ibm_cos_hmac.IbmCosHmacDetector(),
        mailchimp.MailchimpDetector(),
        npm.NpmDetector(),
        openai.OpenAIDetector(),
        pypi_token.PypiTokenDetector(),
        sendgrid.SendGridDetector(),
        slack.SlackDetector(),
        softlayer.SoftlayerDetector(),
        square_oauth.SquareOAuthDetector(),
        stripe.StripeDetector(),
        telegram_token.TelegramBotTokenDetector(),
        twilio.TwilioKeyDetector(),
    )


@lru_cache(maxsize=1)
def _basic_auth() -> re.Pattern[str]:
    from detect_secrets.plugins.basic_auth import BasicAuthDetector

    (pattern,) = BasicAuthDetector.denylist
    return re.compile(pattern)


@lru_cache(maxsize=1)
def _keyword_detector() -> BasePlugin:
    from detect_secrets.plugins.keyword import KeywordDetector

    return KeywordDetector()
