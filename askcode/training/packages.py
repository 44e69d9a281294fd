"""Mine a whole package: what is permissive, of its own, and in a language that is wanted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from askcode.languages import language_of
from askcode.placing import Part, part_of
from askcode.training.archives import texts_of
from askcode.training.excluding import Exclusion, is_copy
from askcode.training.licences import (
    NearestLicence,
    is_copyleft_file,
    is_licence_file,
    licence_of_text,
    permissive_name,
)
from askcode.training.mining import LANGUAGES, mine_source
from askcode.training.mining_prose import (
    CHANGELOG,
    mine_changes,
    mine_guide,
    unique_definitions,
)
from askcode.training.pairs import DOC, Pair

# One package must not teach its own habits more than any other's.
MAX_PAIRS = 24_000

_PROSE = frozenset({"markdown", "rst"})
_METADATA = re.compile(r"(?:.*/)?(?:package\.json|METADATA|PKG-INFO)")
_DEBIAN_COPYRIGHT = re.compile(r"usr/share/doc/[^/]+/copyright")
_DEBIAN_LICENCE = re.compile(r"^Files: *\*\s*$(?:\n.*?)*?\nLicen[sc]e: *(.+)", re.MULTILINE)
# Generated code, whose docs repeat a few phrases.
_GENERATED = re.compile(
    r"(?:^|/)(?:generated|zz_generated|\.pb\.|_pb2|__generated__|fixtures?|testdata|locales?|i18n)"
    r"|\.(?:pb|min|generated|designer|g|gen)\.\w+$|_generated\.\w+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Package:
    """A package as it was fetched."""

    name: str
    version: str
    place: Path
    licence: str = ""
    """What the list of sources states, where the package itself does not say it plainly."""
    most: int = MAX_PAIRS


@dataclass(slots=True)
class Mined:
    """What a package gave, and what was left out."""

    pairs: list[Pair] = field(default_factory=list)
    licences: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


def mine_package(package: Package, exclusion: Exclusion) -> Mined:
    """Return the pairs of a package; none when it is excluded or not permissive."""
    mined = Mined()
    if exclusion.refuses_package(package.name):
        mined.left_out["excluded package"] += 1
        return mined
    files = list(_wanted(texts_of(package.place)))
    stated = _stated_licence(package, files)
    nearest = NearestLicence(
        [(path, text) for path, language, text in files if language == "licence"], stated
    )
    for path, language, text in files:
        if language in LANGUAGES or language in _PROSE:
            _mine_file(package, (path, language, text), exclusion, nearest, mined)
    definitions = unique_definitions(mined.pairs)
    for path, language, text in files:
        if language == "changelog" and nearest.of(path):
            mined.pairs += mine_changes(package.name, text, path, definitions)
    mined.pairs = [pair for pair in mined.pairs if not exclusion.knows_doc(pair.text)]
    mined.pairs = spread_thin(mined.pairs, package.most)
    return mined


def spread_thin(pairs: list[Pair], most: int) -> list[Pair]:
    """Return at most so many pairs, evenly from the whole, those with docs first."""
    if len(pairs) <= most:
        return pairs
    documented = [pair for pair in pairs if pair.kind != "name"]
    named = [pair for pair in pairs if pair.kind == "name"]
    if len(documented) >= most:
        return _evenly(documented, most)
    return documented + _evenly(named, most - len(documented))


def _evenly(pairs: list[Pair], most: int) -> list[Pair]:
    return [pairs[i * len(pairs) // most] for i in range(most)]


def _wanted(files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    for path, text in files:
        if is_licence_file(path):
            yield path, "licence", text
        elif _METADATA.fullmatch(path):
            yield path, "metadata", text
        elif CHANGELOG.fullmatch(path.rsplit("/", 1)[-1].lower()):
            yield path, "changelog", text
        else:
            language = language_of(path, text[:200].split("\n")[0]) or ""
            if language in LANGUAGES or language in _PROSE:
                yield path, language, text


def _stated_licence(package: Package, files: Iterable[tuple[str, str, str]]) -> str:
    if package.licence:
        return permissive_name(package.licence)
    for path, kind, text in files:
        if kind == "licence" and _DEBIAN_COPYRIGHT.fullmatch(path):
            named = _DEBIAN_LICENCE.search(text)
            return permissive_name(named[1]) if named else licence_of_text(text)
    metadata = [(path, text) for path, kind, text in files if kind == "metadata"]
    for path, text in sorted(metadata, key=lambda one: one[0].count("/")):
        if path.endswith("package.json"):
            try:
                stated = json.loads(text).get("license", "")
            except (ValueError, AttributeError):
                continue
            stated = stated.get("type", "") if isinstance(stated, dict) else stated
            return permissive_name(str(stated))
        for mark in (r"License-Expression: (.+)", r"Classifier: License :: (.+)", r"License: (.+)"):
            found = [name for one in re.findall(mark, text) if (name := permissive_name(one))]
            if found:
                return found[0]
    return ""


def _mine_file(
    package: Package,
    file: tuple[str, str, str],
    exclusion: Exclusion,
    nearest: NearestLicence,
    mined: Mined,
) -> None:
    path, language, text = file
    why = _why_not(path, language, text, exclusion, nearest)
    if why:
        mined.left_out[why] += 1
        return
    if language in _PROSE:
        pairs = list(mine_guide(package.name, path, text))
    else:
        pairs = list(mine_source(package.name, path, language, text))
    if is_copy([pair.text for pair in pairs if pair.kind == DOC], exclusion):
        mined.left_out["copy of an excluded project"] += 1
        return
    mined.licences[nearest.of(path)] += len(pairs)
    mined.pairs += pairs


def _why_not(
    path: str, language: str, text: str, exclusion: Exclusion, nearest: NearestLicence
) -> str:
    """Return why a file is left out, or ""."""
    if exclusion.refuses_path(path, language):
        return "excluded path"
    if _GENERATED.search(path) or (language not in _PROSE and part_of(path) is Part.TEST):
        return "generated, or a test"
    if not nearest.of(path) or is_copyleft_file(text):
        return "licence"
    return ""
