"""Count what a language model is used for, whoever calls it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from askcode.protocols import LanguageModel
from askcode.records import Prompt, Reply, Usage


class Meter:
    """A sum of usage that several threads add to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = Usage()

    def add(self, usage: Usage) -> None:
        """Add usage to the sum."""
        with self._lock:
            self._usage += usage

    def read(self) -> Usage:
        """Return the sum so far."""
        with self._lock:
            return self._usage


class MeteredModel:
    """A language model that adds the usage of each reply to a meter."""

    def __init__(self, model: LanguageModel, meter: Meter) -> None:
        self._model = model
        self._meter = meter

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def is_local(self) -> bool:
        """Return whether prompts stay on this machine."""
        return self._model.is_local

    def complete(self, prompt: Prompt) -> Reply:
        """Return the model's reply, counted."""
        return self._counted(self._model.complete(prompt))

    def stream(self, prompt: Prompt, *, on_text: Callable[[str], None]) -> Reply:
        """Return the model's streamed reply, counted."""
        return self._counted(self._model.stream(prompt, on_text=on_text))

    def _counted(self, reply: Reply) -> Reply:
        self._meter.add(reply.usage)
        return reply
