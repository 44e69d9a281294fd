"""Keep every test away from the real home, environment and network."""

import os

import pytest


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path_factory):
    """Give each test an empty home and no settings from outside."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(
            ("ASKCODE_", "AWS_", "OPENAI_", "GIT_", "XDG_", "HF_", "RAY_")
        ) or name.endswith(("_API_KEY", "_proxy", "_PROXY")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
