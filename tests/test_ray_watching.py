"""A cluster that is gone interrupts the run, and nothing else does."""

import socket
import threading
import time

import pytest

from askcode.adapters.ray_watching import Watch


@pytest.fixture
def listening():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def address_of(server):
    return "{}:{}".format(*server.getsockname())


def test_an_address_that_falls_silent_interrupts_what_the_main_thread_waits_for(listening):
    watch = Watch(address_of(listening), lost_after_s=0.05, every_s=0.01)
    listening.close()

    with pytest.raises(KeyboardInterrupt):
        threading.Event().wait(20)

    assert watch.is_lost
    watch.stop()


def test_an_address_that_answers_interrupts_nothing(listening):
    watch = Watch(address_of(listening), lost_after_s=0.05, every_s=0.01)
    time.sleep(0.2)

    watch.stop()

    assert not watch.is_lost


def test_a_short_silence_interrupts_nothing(listening):
    address = address_of(listening)
    watch = Watch(address, lost_after_s=20, every_s=0.01)
    listening.close()
    time.sleep(0.1)

    watch.stop()

    assert not watch.is_lost
