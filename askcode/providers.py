"""Who can answer: the presets, each only a base URL, a key variable and a default model."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

# Shown in place of a URL that cannot be taken apart: it may hold a password.
UNREADABLE_URL = "(unreadable)"


@dataclass(frozen=True, slots=True)
class Preset:
    """A provider that speaks the OpenAI chat protocol."""

    name: str
    base_url: str
    key_variables: tuple[str, ...]
    """Environment variables that may hold its key; the first one set wins."""
    default_model: str
    needs_key: bool = True


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            Preset("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "gpt-5.4-mini"),
            Preset(
                "openrouter",
                "https://openrouter.ai/api/v1",
                ("OPENROUTER_API_KEY",),
                "openai/gpt-5.4-mini",
            ),
            Preset(
                "fireworks",
                "https://api.fireworks.ai/inference/v1",
                ("FIREWORKS_API_KEY",),
                "accounts/fireworks/models/gpt-oss-120b",
            ),
            Preset(
                "gemini",
                "https://generativelanguage.googleapis.com/v1beta/openai",
                ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
                "gemini-2.5-flash",
            ),
            Preset(
                "ollama",
                "http://127.0.0.1:11434/v1",
                ("OLLAMA_API_KEY",),
                "qwen2.5-coder:7b",
                needs_key=False,
            ),
            # a llama.cpp server answers with the model it was started with, whatever the name
            Preset(
                "llamacpp",
                "http://127.0.0.1:8080/v1",
                ("LLAMA_API_KEY",),
                "default",
                needs_key=False,
            ),
        )
    }
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where prompts go, and to which model."""

    base_url: str
    api_key: str = field(repr=False)
    model: str
    provider: str = "openai"

    @property
    def is_local(self) -> bool:
        """Return whether the host is this machine by its literal name, without a look-up."""
        try:
            host = (urlsplit(self.base_url).hostname or "").rstrip(".")
        except ValueError:
            return False
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            address = ipaddress.ip_address(host.split("%")[0])
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return bool((mapped or address).is_loopback)

    @property
    def shown_url(self) -> str:
        """Return the base URL without user, password, query and fragment: fit for messages."""
        try:
            parts = urlsplit(self.base_url)
            host, port = parts.hostname, parts.port
        except ValueError:
            return UNREADABLE_URL
        if not parts.scheme or not host:
            return UNREADABLE_URL if "@" in self.base_url else self.base_url.split("?")[0]
        name = f"[{host}]" if ":" in host else host
        return f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path}"
