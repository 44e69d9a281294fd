"""Tell permissive licences from others, by their names and by their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

PERMISSIVE = ("MIT", "BSD", "Apache-2.0", "ISC", "PSF", "zlib", "Unlicense", "MPL-2.0")
"""What training data may be under."""

_NAMES = re.compile(
    r"\b(?:(?P<MIT>mit|expat|mit-0|x11|ncsa|hpnd)|(?P<BSD>[0n]?bsd(?:-\d-clause)?)"
    r"|(?P<Apache>apache(?:[- ]?(?:software )?(?:license,? )?(?:version )?2(?:\.0)?)?)"
    r"|(?P<ISC>isc|iscl)|(?P<PSF>psf|python-2\.0|python software foundation)"
    r"|(?P<zlib>zlib|libpng)|(?P<Unlicense>unlicense)|(?P<MPL>mpl|mozilla public license))",
    re.IGNORECASE,
)
_BY_GROUP = {"Apache": "Apache-2.0", "MPL": "MPL-2.0"}

# One phrase that each text has and no other.
_TEXTS = (
    ("MIT", re.compile(r"permission is hereby granted, free of charge, to any person obtaining")),
    ("BSD", re.compile(r"redistribution and use in source and binary forms")),
    ("Apache-2.0", re.compile(r"apache license,? version 2\.0|licensed under the apache license")),
    ("ISC", re.compile(r"permission to use, copy, modify, and/?(?:or)? distribute this software")),
    ("PSF", re.compile(r"python software foundation license|a\. history of the software")),
    ("zlib", re.compile(r"altered source versions must be plainly marked")),
    ("Unlicense", re.compile(r"released into the public domain")),
    ("MPL-2.0", re.compile(r"mozilla public license,?(?: version| v\.?) ?2\.0")),
)
_COPYLEFT = re.compile(
    r"gnu (?:lesser |library |affero )?general public license|creative commons|eclipse public"
    r"|common development and distribution|\ba?l?gpl(?:-?v?[23])?\b|business source license"
    r"|server side public|commons clause|elastic license|source available",
    re.IGNORECASE,
)
_LICENCE_FILE = re.compile(
    r"(?:un)?(?:licen[sc]e|copying|copyright)[\w.-]*|mit-licen[sc]e.*", re.IGNORECASE
)
_HEAD_CHARS = 3000


def permissive_name(stated: str) -> str:
    """Return the permissive licence that metadata names, or "" when it names none or another.

    A choice counts as its permissive side: `MIT OR GPL-2.0` is MIT; `MIT AND GPL-2.0` is none.
    """
    choices = re.split(r"\s+or\s+|/|\|\|?", stated, flags=re.IGNORECASE)
    for choice in choices:
        if _COPYLEFT.search(choice):
            continue
        found = _NAMES.search(choice)
        if found and found.lastgroup:
            return _BY_GROUP.get(found.lastgroup, found.lastgroup)
    return ""


def licence_of_text(text: str) -> str:
    """Return the permissive licence of a licence file's text, "" for others."""
    flat = " ".join(text.lower().split())
    head = flat[:_HEAD_CHARS]
    if _COPYLEFT.search(head[:600]) and not any(mark.search(head) for _, mark in _TEXTS):
        return ""
    found = [(place.start(), name) for name, mark in _TEXTS if (place := mark.search(flat))]
    return min(found, default=(0, ""))[1]  # later ones are of what is bundled


def is_licence_file(path: str) -> bool:
    """Return whether a file's name says that it holds a licence."""
    return _LICENCE_FILE.fullmatch(PurePosixPath(path).name) is not None


def is_copyleft_file(text: str) -> bool:
    """Return whether a source file's head puts it under a licence that is not permissive."""
    head = " ".join(text[:_HEAD_CHARS].lower().split())
    return bool(_COPYLEFT.search(head)) and not any(mark.search(head) for _, mark in _TEXTS)


class NearestLicence:
    """Decide by the licence files in the folders above a file, the nearest first."""

    def __init__(self, files: Iterable[tuple[str, str]], stated: str) -> None:
        """Take a package's licence files and the licence that its metadata states."""
        self._stated = stated
        self._by_folder: dict[str, str] = {}
        for path, text in files:
            folder = str(PurePosixPath(path).parent)
            # of several files in one folder, a permissive one is the choice that is taken
            self._by_folder[folder] = self._by_folder.get(folder) or licence_of_text(text)
        # a text that is not known, at the top, is what the metadata puts a name to
        self._top = min(self._by_folder, key=lambda folder: folder.count("/"), default="")
        if "." in self._by_folder:
            self._top = "."

    def of(self, path: str) -> str:
        """Return the permissive licence that a file is under, or ""."""
        for folder in map(str, PurePosixPath(path).parents):
            if self._by_folder.get(folder) or (folder in self._by_folder and folder != self._top):
                return self._by_folder[folder]
        return self._stated
