"""The fakes keep the contracts that the real adapters keep."""

import pytest

from tests.contracts.store_contract import StoreContract
from tests.fakes import MemoryStore


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()
