"""Packages come from the clients of the machine: pip for real, npm and apt-get from scripts."""

import os
import zipfile

import pytest

from askcode.training.fetching import FetchError, fetch
from askcode.training.sources import Source, read_sources

NPM = """#!/bin/sh
echo "$@" >> "$CALLS"
mkdir -p node_modules/doors node_modules/@house/locks node_modules/.bin
echo '{"version": "1.2.3"}' > node_modules/doors/package.json
echo '{"version": "4.5.6"}' > node_modules/@house/locks/package.json
"""
APT_GET = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$*" in
  *=9.9*) echo "E: Version '9.9' was not found" >&2; exit 100 ;;
  *source*) touch doors_1.0.orig.tar.gz doors_1.0.orig-more.tar.gz ;;
  *download*) touch locks_2.0_all.deb ;;
esac
"""


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The file in which the scripts note how they are called."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    for name, text in (("npm", NPM), ("apt-get", APT_GET)):
        (scripts / name).write_text(text)
        (scripts / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{scripts}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


def write_wheel(folder, name, version):
    folder.mkdir()
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "def turn(): ...\n")
        info = f"{name}-{version}.dist-info"
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def test_a_wheel_comes_from_pip(tmp_path, monkeypatch):
    write_wheel(tmp_path / "index", "front_doors", "1.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))

    (package,) = fetch([Source("pypi", "front-doors", "1.0")], tmp_path / "packages")

    assert (package.name, package.version) == ("front-doors", "1.0")
    assert package.place.name == "front_doors-1.0-py3-none-any.whl"


def test_a_wheel_that_is_not_to_be_had_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")

    with pytest.raises(FetchError, match=r"doors==1\.0"):
        fetch([Source("pypi", "doors", "1.0")], tmp_path)


def test_npm_brings_dependencies_and_runs_no_scripts(tmp_path, calls):
    found = fetch([Source("npm", "doors", "1.2.3", most=7)], tmp_path / "packages")

    assert [(one.name, one.version, one.most) for one in found] == [
        ("@house/locks", "4.5.6", 24_000),
        ("doors", "1.2.3", 7),
    ]
    assert "--ignore-scripts" in calls.read_text()


def test_what_is_there_is_not_fetched_again(tmp_path, calls):
    sources = [Source("npm", "doors", "1.2.3"), Source("debian", "locks", "2.0")]
    once = fetch(sources, tmp_path / "packages")
    before = calls.read_text()

    assert fetch(sources, tmp_path / "packages") == once
    assert calls.read_text() == before


def test_a_source_package_may_have_several_archives(tmp_path, calls):
    found = fetch([Source("debian-source", "doors", "1.0", "MIT")], tmp_path / "packages")

    assert [one.place.name for one in found] == [
        "doors_1.0.orig-more.tar.gz",
        "doors_1.0.orig.tar.gz",
    ]
    assert {one.licence for one in found} == {"MIT"}
    assert "source --download-only --tar-only doors=1.0" in calls.read_text()


def test_a_version_that_is_gone_is_replaced_and_said(tmp_path, calls, caplog):
    (found,) = fetch([Source("debian", "locks", "9.9")], tmp_path / "packages")

    assert found.place.name == "locks_2.0_all.deb"
    assert "taking the version that the release has" in caplog.text


def test_a_client_that_is_missing_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))

    with pytest.raises(FetchError, match="npm is not installed"):
        fetch([Source("npm", "doors", "1.0")], tmp_path / "packages")


def test_a_kind_that_is_not_known_is_an_error(tmp_path):
    (tmp_path / "sources.toml").write_text('[gem]\n"doors" = "1.0"\n')

    with pytest.raises(ValueError, match="no such kind of package: gem"):
        read_sources(tmp_path / "sources.toml")
