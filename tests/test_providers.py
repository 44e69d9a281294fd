"""The presets, and what an endpoint may tell of itself."""

import pytest

from askcode.providers import PRESETS, Endpoint


def endpoint(url):
    return Endpoint(base_url=url, api_key="sk-very-secret", model="m")


def test_presets_are_the_six_promised_ones():
    assert list(PRESETS) == ["openai", "openrouter", "fireworks", "gemini", "ollama", "llamacpp"]
    assert PRESETS["openai"].default_model == "gpt-5.4-mini"


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_a_preset_needs_a_key_unless_it_is_local(preset):
    place = endpoint(preset.base_url)

    assert preset.needs_key is not place.is_local
    assert preset.key_variables and preset.default_model
    assert preset.base_url == preset.base_url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080/v1",
        "http://LOCALHOST/v1",
        "http://api.localhost:1/v1",
        "http://127.0.0.1:1/v1",
        "http://127.8.9.10/v1",
        "http://[::1]:8080/v1",
        "http://[::ffff:127.0.0.1]/v1",
    ],
)
def test_loopback_hosts_are_local(url):
    assert endpoint(url).is_local


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1",
        "http://localhost.example.com/v1",
        "http://127.0.0.1.example.com/v1",
        "http://user:127.0.0.1@example.com/v1",
        "http://192.168.0.4:8080/v1",
        "http://[::2]/v1",
        "http://[broken/v1",
        "",
    ],
)
def test_other_hosts_are_not_local(url):
    assert not endpoint(url).is_local


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pw@example.com/v1?key=abc#x", "https://example.com/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
        ("me:pw@example.com", "(unreadable)"),
        ("http://pw@[broken", "(unreadable)"),
        ("example.com/v1", "example.com/v1"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url, shown):
    assert endpoint(url).shown_url == shown


def test_the_key_is_not_in_the_repr():
    assert "secret" not in repr(endpoint("http://localhost"))
