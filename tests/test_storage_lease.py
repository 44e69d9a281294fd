"""The lock of a place in object storage: one holder, whatever dies and whatever clocks say."""

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict

import obstore
import pytest
from obstore.store import from_url

from askcode.adapters.storage_lease import LOCK_NAME, Holder, Lease
from askcode.errors import IndexLocked
from tests.bucket_server import BUCKET, CREDENTIALS, bucket_server


@pytest.fixture(scope="module")
def endpoint():
    with bucket_server() as url:
        yield url


@pytest.fixture
def store(endpoint, monkeypatch, tmp_path):
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    return from_url(f"s3://{BUCKET}/{tmp_path.name}", client_options={"allow_http": True})


def lease(store, seconds=60.0):
    return Lease(store, uri="s3://bucket/index", seconds=seconds)


def write_lock(store, **changes):
    """Put a lock there, as a run on another machine would have."""
    holder = {**asdict(Holder("t0", "elsewhere", 7, "other-boot pid:[1]")), **changes}
    obstore.put(store, LOCK_NAME, json.dumps(holder).encode())


def test_a_second_run_is_told_who_holds_the_place(store):
    first = lease(store)
    first.take(wait=False)

    with pytest.raises(IndexLocked) as caught:
        lease(store).take(wait=False)

    first.give_back()
    assert f"pid {os.getpid()}) is running on s3://bucket/index" in caught.value.message
    assert "the lock of a dead machine ends after 60 s" in caught.value.hint


def test_a_lock_that_was_given_back_is_free(store):
    for _ in range(3):
        held = lease(store)
        held.take(wait=False)
        held.check()
        held.give_back()


def test_of_many_runs_at_the_same_moment_one_wins(store):
    start = threading.Barrier(8)
    won, refused = [], []

    def run():
        mine = lease(store)
        start.wait()
        try:
            mine.take(wait=False)
        except IndexLocked:
            refused.append(mine)
        else:
            won.append(mine)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    won[0].give_back()
    assert (len(won), len(refused)) == (1, 7)


def test_the_lock_of_a_dead_process_of_this_machine_is_taken_over_at_once(store):
    code = (
        "import os, sys\n"
        "from obstore.store import from_url\n"
        "from askcode.adapters.storage_lease import Lease\n"
        "store = from_url(sys.argv[1], client_options={'allow_http': True})\n"
        "Lease(store, uri='x').take(wait=False)\n"
        "os._exit(9)\n"
    )
    url = f"s3://{BUCKET}/{store.prefix}"
    done = subprocess.run([sys.executable, "-c", code, url], check=False)

    held = lease(store)
    held.take(wait=False)
    held.give_back()

    assert done.returncode == 9


@pytest.mark.slow
def test_the_lock_of_a_dead_machine_ends_with_its_lease(store):
    write_lock(store)

    with pytest.raises(IndexLocked, match=r"elsewhere, pid 7"):
        lease(store, seconds=2).take(wait=False)
    waiting = lease(store, seconds=2)
    started = time.monotonic()
    waiting.take(wait=True)
    took_s = time.monotonic() - started
    waiting.give_back()

    assert 1 < took_s < 6


@pytest.mark.slow
def test_a_lock_that_is_renewed_outlives_its_lease(store):
    held = lease(store, seconds=3)
    held.take(wait=False)
    time.sleep(4.5)

    with pytest.raises(IndexLocked):
        lease(store, seconds=3).take(wait=False)
    held.check()
    held.give_back()


def test_a_process_number_of_another_machine_says_nothing(store):
    write_lock(store, pid=2**22 + 1)

    with pytest.raises(IndexLocked):
        lease(store).take(wait=False)


@pytest.mark.slow
def test_a_holder_whose_lock_was_taken_over_notices_and_leaves_it_alone(store):
    held = lease(store, seconds=2)
    held.take(wait=False)
    write_lock(store, token="t1")
    time.sleep(1.2)

    with pytest.raises(IndexLocked, match="was lost"):
        held.check()
    held.give_back()

    assert json.loads(bytes(obstore.get(store, LOCK_NAME).bytes()))["token"] == "t1"


@pytest.mark.parametrize("data", [b"", b"\x00\xff", b"[]", b'{"other": 1}'])
def test_a_lock_that_cannot_be_read_is_held_by_somebody(store, data):
    obstore.put(store, LOCK_NAME, data)

    with pytest.raises(IndexLocked, match="unknown"):
        lease(store).take(wait=False)
