"""An index in object storage, used from the command line against a real S3 API."""

import random
import re
import shutil
import signal
import socket
import sys
import time

import obstore
import pytest
from obstore.store import from_url

from askcode.adapters.aws_profiles import AwsProfile
from tests.bucket_server import BUCKET, CREDENTIALS, Road, bucket_server
from tests.command_line import CommandLine, write
from tests.killing import start_index, wait_until
from tests.scripted_server import ScriptedServer

FILES = {f"unit{n}.py": f"def first_{n}():\n    return {n}\n" for n in range(6)}


@pytest.fixture(scope="module")
def endpoint():
    with bucket_server() as url:
        yield url


@pytest.fixture
def askcode(endpoint, tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    folder.mkdir()
    write(folder, FILES)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("ASKCODE_INDEX_DIR", f"s3://{BUCKET}/{tmp_path.name}")
    monkeypatch.setenv("ASKCODE_CACHE", str(tmp_path / "cache"))
    return CommandLine(folder, capsys, monkeypatch)


def store_of(askcode):
    prefix = askcode.folder.parent.name
    return from_url(f"s3://{BUCKET}/{prefix}", client_options={"allow_http": True})


def names(askcode):
    return [each["path"] for batch in obstore.list(store_of(askcode)) for each in batch]


def tables(askcode):
    return {name.split("/")[0] for name in names(askcode) if ".lance/" in name}


def rows(uri):
    """Return all rows of an index, by path, without what only layout decides."""
    import lancedb

    from askcode.adapters.object_place import ObjectPlace, table_options
    from askcode.local_place import LocalPlace
    from askcode.manifest import load_manifest

    is_remote = str(uri).startswith("s3://")
    place = ObjectPlace(uri, allow_http=True) if is_remote else LocalPlace(uri)
    options = table_options(uri, allow_http=True) if is_remote else None
    table = lancedb.connect(str(uri), storage_options=options).open_table(
        load_manifest(place).table
    )
    found = table.search().limit(None).to_list()
    return sorted(
        ({key: value for key, value in row.items() if key != "_rowid"} for row in found),
        key=lambda row: (row["path"], row["start_line"]),
    )


def wait_for_lock(askcode, process):
    def is_held():
        try:
            text = bytes(obstore.get(store_of(askcode), "lock.json").bytes()).decode()
        except FileNotFoundError:
            text = ""
        return process.poll() is not None or f'"pid": {process.pid}' in text

    wait_until(is_held)


@pytest.mark.slow
def test_every_command_works_on_a_bucket(askcode):
    uri = f"s3://{BUCKET}/{askcode.folder.parent.name}"

    missing = askcode("search", "first_3")
    made = askcode("index", "--json")
    checked = askcode("index", "--check")
    found = askcode("search", "first_3", "--json")
    asked = askcode("ask", "what does first_3 return?", "--no-llm", "--json")
    status = askcode("status", "--json")
    write(askcode.folder, {"unit3.py": "def changed():\n    return 3\n"})
    stale = askcode("index", "--check")
    rebuilt = askcode("index", "--rebuild", "--json")
    after = askcode("search", "changed", "--json")

    assert (missing.code, missing.err.splitlines()[0]) == (
        3,
        f"askcode: there is no index in {uri}",
    )
    assert (made.code, made.json["chunks"]["written"]) == (0, 6)
    assert checked.code == 0
    assert found.json["hits"][0]["path"] == "unit3.py"
    assert asked.json["sources"][0] == "unit3.py"
    assert (status.json["index_dir"], status.json["chunks"]) == (uri, 6)
    assert stale.code == 7
    assert (rebuilt.code, rebuilt.json["files"]["indexed"]) == (0, 6)
    assert after.json["hits"][0]["path"] == "unit3.py"
    assert len(tables(askcode)) == 1
    assert not (askcode.folder / ".askcode").exists()


@pytest.fixture
def profiles(askcode, tmp_path, monkeypatch):
    """Give keys by a profile alone; return the profile's folder."""
    for name in CREDENTIALS:
        monkeypatch.delenv(name)
    keys = "aws_access_key_id = AKIDOFAPROFILE\naws_secret_access_key = secret-of-a-profile\n"
    write(tmp_path / "aws", {"credentials": f"[work]\n{keys}", "config": ""})
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "aws" / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws" / "config"))
    monkeypatch.setenv("AWS_PROFILE", "work")
    return tmp_path / "aws"


@pytest.mark.slow
def test_keys_and_region_of_an_aws_profile_are_used(askcode, profiles):
    write(profiles, {"config": "[profile work]\nregion = eu-west-1\n"})

    made = askcode("index", "--json")
    found = askcode("search", "first_3", "--json")

    assert made.json["chunks"]["written"] == 6
    assert found.json["hits"][0]["path"] == "unit3.py"
    assert AwsProfile(f"s3://{BUCKET}").options() == {
        "aws_access_key_id": "AKIDOFAPROFILE",
        "aws_secret_access_key": "secret-of-a-profile",
        "aws_region": "eu-west-1",
    }
    assert AwsProfile("gs://bucket").options() == {}


def test_keys_of_the_environment_come_before_the_profile(profiles, monkeypatch):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_PROFILE", "default")
    write(
        profiles, {"credentials": "[default]\naws_access_key_id = A\naws_secret_access_key = B\n"}
    )

    assert AwsProfile("s3://b").options()["aws_access_key_id"] == CREDENTIALS["AWS_ACCESS_KEY_ID"]


def test_a_profile_that_does_not_exist_is_told(askcode, profiles, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nope")

    run = askcode("search", "first_3")

    assert run.code == 1
    assert "(nope) could not be found" in run.err
    assert "hint: check AWS_PROFILE" in run.err


def test_without_botocore_profiles_are_not_read(profiles, monkeypatch):
    monkeypatch.setitem(sys.modules, "botocore.session", None)

    assert AwsProfile("s3://b").options() == {}


@pytest.mark.slow
def test_another_machine_goes_on_with_the_same_index(askcode, tmp_path, monkeypatch):
    askcode("index")
    shutil.rmtree(tmp_path / "cache")
    monkeypatch.setenv("ASKCODE_CACHE", str(tmp_path / "other"))

    again = askcode("index", "--json")
    found = askcode("search", "first_5", "--json")

    assert again.json["files"] == {"indexed": 0, "unchanged": 6, "removed": 0, "skipped": 0}
    assert found.json["hits"][0]["path"] == "unit5.py"


@pytest.mark.slow
def test_rows_are_those_of_an_index_in_a_folder(askcode, tmp_path):
    askcode("index")
    askcode("index", "--index-dir", str(tmp_path / "here"))

    assert rows(f"s3://{BUCKET}/{tmp_path.name}") == rows(tmp_path / "here")


@pytest.mark.slow
def test_a_second_run_waits_outside_and_one_that_was_killed_blocks_nobody(askcode):
    askcode("index")
    write(askcode.folder, {"later.py": "def later():\n    return 1\n"})
    with ScriptedServer("hang") as server:
        process = start_index(askcode.folder, server)
        wait_for_lock(askcode, process)
        second = askcode("index")
        found = askcode("search", "first_3", "--json")
        process.kill()
        process.communicate(timeout=30)
    third = askcode("index", "--json")

    assert second.code == 6
    assert f"pid {process.pid}" in second.err
    assert found.json["hits"][0]["path"] == "unit3.py"
    assert (third.code, third.json["files"]["indexed"]) == (0, 1)


@pytest.mark.slow
def test_killed_at_any_moment_the_last_state_is_readable(askcode, tmp_path):
    askcode("index")
    chance = random.Random(3)
    for version in range(6):
        write(
            askcode.folder,
            {f"more{n}.py": f"def more_{n}_v{version}():\n    return {n}\n" for n in range(40)},
        )
        rebuild = ["--rebuild"] if version % 2 else []
        process = start_index(askcode.folder, None, *rebuild)
        wait_for_lock(askcode, process)
        time.sleep(chance.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)

        found = askcode("search", "first_3", "--json")
        assert (found.code, found.json["hits"][0]["path"]) == (0, "unit3.py")
    last = askcode("index")
    askcode("index", "--index-dir", str(tmp_path / "fresh"))

    assert last.code == 0
    assert rows(f"s3://{BUCKET}/{tmp_path.name}") == rows(tmp_path / "fresh")
    assert len(tables(askcode)) == 1


@pytest.mark.slow
def test_searches_during_a_run_see_whole_files(askcode):
    askcode("index")
    for version in (2, 3):
        write(
            askcode.folder,
            {f"unit{n}.py": f"def unit_{n}_v{version}():\n    return {n}\n" for n in range(40)},
        )
        process = start_index(askcode.folder)
        while process.poll() is None:
            found = askcode("search", "return 3", "--json", "--top-k", "60")
            places = [(hit["path"], hit["start_line"]) for hit in found.json["hits"]]
            assert found.code == 0
            assert len(places) == len(set(places))
        process.communicate()

        assert process.returncode == 0


@pytest.mark.slow
def test_an_upload_that_is_cut_leaves_the_last_state(askcode, endpoint, monkeypatch):
    askcode("index")
    write(askcode.folder, {f"new{n}.py": f"def new_{n}():\n    return {n}\n" for n in range(9)})

    with Road(endpoint) as road:
        road.writes_left = 3
        monkeypatch.setenv("AWS_ENDPOINT_URL", road.url)
        cut = askcode("index")
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    found = askcode("search", "first_3", "--json")
    # its process lives on in this test, so only the lease would tell that the run is over
    obstore.delete(store_of(askcode), "lock.json")
    last = askcode("index", "--json")

    assert cut.code == 1
    assert cut.err.splitlines()[-1].startswith("askcode: cannot use s3://bucket/")
    assert found.json["hits"][0]["path"] == "unit3.py"
    assert last.code == 0
    assert askcode("search", "new_4", "--json").json["hits"][0]["path"] == "new4.py"


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


WRONG = {
    "no such bucket": ({"ASKCODE_INDEX_DIR": "s3://other-bucket/x"}, "there is no such bucket"),
    "nothing listens": (
        {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{closed_port()}"},
        "the connection is refused",
    ),
    "no such host": (
        {"AWS_ENDPOINT_URL": "http://storage.invalid"},
        "the endpoint's name cannot be resolved",
    ),
}


@pytest.mark.parametrize("command", ["index", "search", "status"])
@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_reached_is_told_in_one_line(askcode, monkeypatch, case, command):
    changes, told = WRONG[case]
    for name, value in changes.items():
        monkeypatch.setenv(name, value)

    started = time.monotonic()
    ran = askcode(command, *(["x"] if command == "search" else []))

    assert ran.code == 1
    assert ran.out == ""
    message, hint = ran.err.splitlines()
    assert re.fullmatch(rf"askcode: cannot use s3://\S+: {told}", message)
    assert hint.startswith("  hint: ")
    assert time.monotonic() - started < 10


REFUSALS = {
    401: "the credentials are wrong or expired",
    403: "access is denied",
    500: "the server reports an error of its own",
    301: "the bucket lies in another region",
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_is_told_without_any_secret(askcode, monkeypatch, status):
    with Road("http://127.0.0.1:1") as road:
        road.refuse_all(status, f"<Error><Key>{CREDENTIALS['AWS_ACCESS_KEY_ID']}</Key></Error>")
        monkeypatch.setenv("AWS_ENDPOINT_URL", road.url)
        ran = askcode("index")

    assert ran.code == 1
    assert ran.err.splitlines()[0].endswith(f": {REFUSALS[status]}")
    assert not any(secret in ran.err for secret in list(CREDENTIALS.values())[:2])


@pytest.mark.slow
def test_a_server_that_never_answers_does_not_hold_a_command_up(askcode, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        started = time.monotonic()
        ran = askcode("search", "x")
        took_s = time.monotonic() - started

    assert ran.code == 1
    assert "it does not answer in time" in ran.err
    assert took_s < 40


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("s3://AKID:hidden-word@bucket/x", "index_dir must not carry credentials"),
        ("s3://bucket/x?secret=hidden-word", "index_dir must not carry credentials"),
        ("ftp://bucket/x", "must be a folder, or s3://, gs:// or az:// with a bucket"),
        ("s3:///x", "must be a folder, or s3://, gs:// or az:// with a bucket"),
    ],
)
def test_a_place_that_cannot_be_used_is_wrong_use(askcode, place, told):
    ran = askcode("index", "--index-dir", place)

    assert ran.code == 2
    assert told in ran.err
    assert "hidden-word" not in ran.err


def test_an_endpoint_that_is_no_url_is_wrong_use(askcode, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "storage:9000")

    ran = askcode("index")

    assert ran.code == 2
    assert "AWS_ENDPOINT_URL must begin with http:// or https://" in ran.err
