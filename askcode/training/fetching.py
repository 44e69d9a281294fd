"""Fetch packages with the clients that the machine has: pip, npm and apt-get.

Nothing of a package is run: wheels are not built, npm's scripts are off, and Debian's packages
are downloaded, not installed.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from askcode.training.packages import MAX_PAIRS, Package
from askcode.training.sources import DEBIAN, DEBIAN_SOURCE, NPM, PYPI, Source

# Wheels of this Python are taken, whichever runs the pipeline: the same files everywhere.
PYTHON_VERSION = "3.12"
APT_FOLDER = Path("/etc/apt")

_log = logging.getLogger(__name__)


class FetchError(Exception):
    """A package cannot be had."""


def fetch(sources: Iterable[Source], folder: Path) -> list[Package]:
    """Download what is not there yet; return all packages, npm's dependencies included.

    Raises:
        FetchError: a client is missing, or a package is not to be had.
    """
    by_kind: dict[str, list[Source]] = {}
    for source in sources:
        by_kind.setdefault(source.kind, []).append(source)
    packages: list[Package] = []
    if PYPI in by_kind:
        packages += _fetch_wheels(by_kind[PYPI], folder / PYPI)
    if NPM in by_kind:
        packages += _fetch_npm(by_kind[NPM], folder / NPM)
    for kind in (DEBIAN_SOURCE, DEBIAN):
        if kind in by_kind:
            packages += _fetch_debian(by_kind[kind], folder)
    return packages


def _fetch_wheels(sources: Sequence[Source], folder: Path) -> list[Package]:
    folder.mkdir(parents=True, exist_ok=True)
    packages = []
    for source in sources:
        stem = f"{source.name.lower().replace('-', '_')}-{source.version}-"
        if not _named_like(folder, stem):
            _run(
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                 "--disable-pip-version-check", "--only-binary", ":all:", "--python-version",
                 PYTHON_VERSION, "--dest", str(folder), f"{source.name}=={source.version}"],
                folder,
            )  # fmt: skip
        found = _named_like(folder, stem)
        if not found:
            raise FetchError(f"pip downloaded no wheel of {source.name} {source.version}")
        packages.append(_package(source, source.version, found[0]))
    return packages


def _named_like(folder: Path, stem: str) -> list[Path]:
    return sorted(
        path for path in folder.iterdir() if path.name.lower().replace(".", "_").startswith(
            stem.replace(".", "_")
        )
    )  # fmt: skip


def _fetch_npm(sources: Sequence[Source], folder: Path) -> list[Package]:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {source.name: source.version for source in sources}
    manifest = json.dumps({"private": True, "dependencies": wanted}, indent=1)
    done = folder / "installed.json"
    if not done.exists() or done.read_text("utf-8") != manifest:
        (folder / "package.json").write_text(manifest, "utf-8")
        _run(
            ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
             "--legacy-peer-deps", "--loglevel=error"],
            folder,
        )  # fmt: skip
        done.write_text(manifest, "utf-8")
    limits = {source.name: source.most for source in sources}
    modules = folder / "node_modules"
    return [
        Package(name, _npm_version(path), path, most=limits.get(name, MAX_PAIRS))
        for name, path in _npm_folders(modules)
    ]


def _npm_folders(modules: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(modules.iterdir()):
        inner = sorted(path.iterdir()) if path.name.startswith("@") else [path]
        for one in inner:
            if not one.name.startswith(".") and (one / "package.json").is_file():
                yield one.relative_to(modules).as_posix(), one


def _npm_version(path: Path) -> str:
    try:
        return str(json.loads((path / "package.json").read_text("utf-8")).get("version", ""))
    except (ValueError, AttributeError):
        return ""


def _fetch_debian(sources: Sequence[Source], folder: Path) -> list[Package]:
    lists = _apt_lists(folder / "apt")
    packages = []
    for source in sources:
        place = folder / source.kind / source.name
        if not place.is_dir():
            unfinished = place.with_name(f"{place.name}.part")
            unfinished.mkdir(parents=True, exist_ok=True)
            _download_debian(source, unfinished, lists)
            unfinished.rename(place)
        files = sorted(
            path for path in place.iterdir() if ".orig" in path.name or path.suffix == ".deb"
        )
        if not files:
            raise FetchError(f"apt-get downloaded nothing of {source.name}")
        packages += [_package(source, source.version, path) for path in files]
    return packages


def _download_debian(source: Source, place: Path, lists: Path) -> None:
    """Download one package; when its version is no longer served, the one that is."""
    words = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root"]
    words += ["download"] if source.kind == DEBIAN else ["source", "--download-only", "--tar-only"]
    try:
        _run([*words, f"{source.name}={source.version}"], place, APT_CONFIG=str(lists))
    except FetchError as error:
        _log.warning("%s; taking the version that the release has", error)
        _run([*words, source.name], place, APT_CONFIG=str(lists))


def _apt_lists(folder: Path) -> Path:
    """Return a configuration, apart from the machine's own, that knows source packages."""
    settings = folder / "apt.conf"
    if settings.exists():
        return settings
    for name in ("lists/partial", "archives/partial", "sources"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for path in [APT_FOLDER / "sources.list", *(APT_FOLDER / "sources.list.d").glob("debian*")]:
        if path.is_file():
            (folder / "sources" / path.name).write_text(_with_sources(path.read_text("utf-8")))
    unfinished = folder / "apt.conf.part"
    unfinished.write_text(
        f'Dir::State::Lists "{folder}/lists";\nDir::Etc::SourceParts "{folder}/sources";\n'
        f'Dir::Etc::SourceList "/dev/null";\nDir::Cache "{folder}";\n'
    )
    _run(["apt-get", "-qq", "update"], folder, APT_CONFIG=str(unfinished))
    unfinished.rename(settings)
    return settings


def _with_sources(listing: str) -> str:
    lines = []
    for line in listing.split("\n"):
        lines.append("Types: deb deb-src" if line.startswith("Types:") else line)
        if line.startswith("deb "):
            lines.append(f"deb-src {line[4:]}")
    return "\n".join(lines)


def _package(source: Source, version: str, place: Path) -> Package:
    return Package(source.name, version, place, source.licence, source.most)


def _run(words: Sequence[str], folder: Path, **environment: str) -> None:
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise FetchError(f"{words[0]} is not installed") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[-300:]
        raise FetchError(f"{' '.join(words)}: {said}")
