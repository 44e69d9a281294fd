"""Read the text files of a package, however it is packed, without unpacking it to disk."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

# Longer files are generated, or data.
MAX_BYTES = 400_000

_ZIPS = (".whl", ".zip")


def texts_of(package: Path) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file of a package: a folder, wheel, tarball or Debian package.

    Files that are long, not UTF-8 or links are left out.
    """
    for path, data in _files(package):
        try:
            yield path, data.decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError:
            continue


def _files(package: Path) -> Iterator[tuple[str, bytes]]:
    if package.is_dir():
        yield from _of_folder(package)
    elif package.suffix in _ZIPS:
        yield from _of_zip(package)
    elif package.suffix == ".deb":
        yield from _of_deb(package)
    else:
        with package.open("rb") as file:
            yield from _of_tar(file)


def _of_folder(package: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(package.rglob("*")):
        inner = path.relative_to(package)
        if "node_modules" in inner.parts or path.is_symlink() or not path.is_file():
            continue
        if path.stat().st_size <= MAX_BYTES:
            yield inner.as_posix(), path.read_bytes()


def _of_zip(package: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(package) as archive:
        for entry in archive.infolist():
            if not entry.is_dir() and entry.file_size <= MAX_BYTES:
                yield entry.filename, archive.read(entry)


def _of_tar(file: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for entry in archive:
            if entry.isfile() and entry.size <= MAX_BYTES:
                found = archive.extractfile(entry)
                if found is not None:
                    yield entry.name.removeprefix("./"), found.read()


def _of_deb(package: Path) -> Iterator[tuple[str, bytes]]:
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE
    ) as unpacking:
        assert unpacking.stdout is not None
        yield from _of_tar(unpacking.stdout)
