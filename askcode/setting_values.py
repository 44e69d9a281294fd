"""Parse the values of settings; each parser raises ValueError with what the value must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from askcode.errors import UsageError
from askcode.providers import PRESETS

METADATA_KINDS = ("questions", "summary", "title", "keywords", "outline")

STORAGE_SCHEMES = ("s3", "gs", "az")

Parser = Callable[[object], object]


def parse_text(value: object) -> str:
    """Take a text and nothing else."""
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def at_least(smallest: float, convert: Callable[[Any], Any]) -> Parser:
    """Return a parser of numbers from a smallest one on."""

    def parse(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError("must be a number")
        try:
            number = convert(value)
        except ValueError as error:
            raise ValueError("must be a number") from error
        if not number >= smallest:
            raise ValueError(f"must be at least {smallest:g}")
        return number

    return parse


def parse_place(value: object) -> str:
    """Parse a folder or the URL of a prefix in object storage.

    Raises:
        UsageError: the URL carries a password, which must not be shown as a wrong value is.
    """
    text = parse_text(value)
    if "://" not in text:
        return text
    parts = urlsplit(text)
    if "@" in parts.netloc or parts.query:
        raise UsageError(
            "index_dir must not carry credentials",
            hint="set them in the environment, such as AWS_ACCESS_KEY_ID",
        )
    if parts.scheme not in STORAGE_SCHEMES or not parts.netloc:
        raise ValueError("must be a folder, or s3://, gs:// or az:// with a bucket")
    return text.rstrip("/")


def parse_size(value: object) -> int:
    """Parse a size in bytes, or with a unit: `500k`, `2MB`, `1 MiB` (1,024 to the step).

    Raises:
        ValueError: it is not a size.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = parse_text(value).strip().lower().removesuffix("b").removesuffix("i").strip()
    step = {"k": 1, "m": 2, "g": 3}.get(text[-1:], 0)
    number = text[:-1] if step else text
    try:
        size = int(float(number) * 1024**step)
    except (ValueError, OverflowError) as error:
        raise ValueError("must be a size such as 500k or 2MB") from error
    if size <= 0:
        raise ValueError("must be more than 0")
    return size


def parse_texts(value: object) -> tuple[str, ...]:
    """Parse a list, or a text with commas between its parts."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, (list, tuple)):
        return tuple(parse_text(part) for part in value)
    raise ValueError("must be a list of texts")


def parse_kinds(value: object) -> tuple[str, ...]:
    """Parse metadata kinds, put into the order in which they are stored."""
    kinds = parse_texts(value)
    unknown = [kind for kind in kinds if kind not in METADATA_KINDS]
    if unknown:
        raise ValueError(f"knows {', '.join(METADATA_KINDS)}, not {unknown[0]}")
    return tuple(kind for kind in METADATA_KINDS if kind in kinds)


def parse_switch(value: object) -> bool:
    """Parse true or false, also as the texts that a variable holds."""
    named = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    found = value if isinstance(value, bool) else named.get(str(value).strip().lower())
    if found is None:
        raise ValueError("must be true or false")
    return found


def parse_provider(value: object) -> str:
    """Parse the name of a preset."""
    name = parse_text(value).lower()
    if name not in PRESETS:
        raise ValueError(f"must be one of {', '.join(PRESETS)}")
    return name
