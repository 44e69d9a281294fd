"""Read every setting once: flag, environment, project file, user file, default.

The only module that reads the environment or a configuration file. "Not given" is
absence: an empty variable is an unset one, and a flag that equals the default still wins.
The indexed repository may be a stranger's, so its `askcode.toml` can set only what is
indexed and how it is chunked; anything else in it is passed over with a warning.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from platformdirs import user_cache_path, user_config_path

from askcode.errors import UsageError
from askcode.providers import PRESETS, Endpoint
from askcode.setting_specs import SPECS, Spec

PROJECT_FILE = "askcode.toml"
INDEX_DIRECTORY = ".askcode"
STAGES = ("questions", "subquestions", "answer")
_ENDPOINT_VARIABLES = (
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_ENDPOINT",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, resolved; `origins` tells where each one came from."""

    index_dir: str | None
    cache_dir: str | None
    prompts_dir: str | None
    provider: str | None
    base_url: str | None
    api_key: str | None = field(repr=False)
    llm_model: str | None
    questions_model: str | None
    subquestions_model: str | None
    answer_model: str | None
    timeout_s: float
    concurrency: int
    requests_per_minute: int | None
    input_price: float | None
    """Money per million input tokens, in whatever currency the user thinks in."""
    output_price: float | None
    embed_model: str
    """"bundled", a fastembed name, a folder, or `openai:NAME` for an endpoint."""
    embed_base_url: str | None
    embed_api_key: str | None = field(repr=False)
    query_prefix: str | None
    passage_prefix: str | None
    questions_per_chunk: int
    metadata: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    submodules: bool
    max_file_size: int
    chunk_tokens: int
    top_k: int
    subquestions: int
    context_tokens: int
    rerank_model: str | None
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    allow_http: bool = False
    """Whether object storage may be reached without TLS, as an http:// endpoint asks for."""

    @property
    def storage_uri(self) -> str | None:
        """Return where in object storage the index lies, or None for a folder."""
        return self.index_dir if self.index_dir and "://" in self.index_dir else None

    def endpoint(self, stage: str) -> Endpoint | None:
        """Return where a stage's prompts go, or None when no language model is configured.

        Raises:
            UsageError: the chosen provider needs a key that is not set.
        """
        if not (self.provider or self.base_url or self.api_key):
            return None
        preset = PRESETS[self.provider or "openai"]
        if preset.needs_key and not self.api_key and not self.base_url:
            raise UsageError(
                f"the provider {preset.name} needs a key",
                hint=f"set {preset.key_variables[0]}, or use --no-llm",
            )
        by_stage = {
            "questions": self.questions_model,
            "subquestions": self.subquestions_model,
            "answer": self.answer_model,
        }
        return Endpoint(
            base_url=self.base_url or preset.base_url,
            api_key=self.api_key or "",
            model=by_stage[stage] or self.llm_model or preset.default_model,
            provider=preset.name,
        )

    def embedding_endpoint(self, model: str) -> Endpoint:
        """Return where texts go to be embedded by a model behind an endpoint.

        Raises:
            UsageError: no URL and no key is set.
        """
        base_url = self.embed_base_url or self.base_url
        api_key = self.embed_api_key or ("" if self.embed_base_url else self.api_key or "")
        if not base_url and not api_key:
            raise UsageError(
                "embedding through an endpoint needs a URL or a key",
                hint="set ASKCODE_EMBED_BASE_URL or OPENAI_API_KEY",
            )
        return Endpoint(
            base_url=base_url or PRESETS["openai"].base_url, api_key=api_key, model=model
        )

    def index_place(self, root: Path) -> Path:
        """Return the directory of an index: all of it, or what an index elsewhere keeps here."""
        if self.storage_uri:
            name = hashlib.sha256(self.storage_uri.encode()).hexdigest()[:16]
            return self._cache_place() / "indexes" / name
        if self.index_dir:
            return Path(self.index_dir).expanduser().absolute()
        return root / INDEX_DIRECTORY

    def models_place(self) -> Path:
        """Return the directory that downloaded embedding models are kept in."""
        return self._cache_place() / "models"

    def _cache_place(self) -> Path:
        return Path(self.cache_dir).expanduser() if self.cache_dir else user_cache_path("askcode")

    def prompts_place(self) -> Path | None:
        """Return the folder of the user's own prompts, or None when there is none.

        Raises:
            UsageError: a folder was named that does not exist.
        """
        if self.prompts_dir is None:
            default = user_config_path("askcode") / "prompts"
            return default if default.is_dir() else None
        place = Path(self.prompts_dir).expanduser()
        if not place.is_dir():
            raise UsageError(
                f"the prompts folder {place} does not exist",
                hint="make it with: askcode prompts export DIR",
            )
        return place


def forbid_telemetry() -> None:
    """Keep the ONNX runtime from reporting its use; it begins as soon as it is imported."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def silence_ray() -> None:
    """Keep Ray from reporting its use and from writing to the terminal; before its import."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    # what Ray's own processes and its C++ part would say of restarts that it takes care of
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # asked for, or Ray warns at every start that this will change
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")


def load_settings(
    root: Path,
    flags: Mapping[str, object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    user_file: Path | None = None,
) -> Settings:
    """Resolve every setting for a root; flags that are None were not given.

    Raises:
        UsageError: a value cannot be used, or a file cannot be read; both are named.
    """
    environment = os.environ if environment is None else environment
    user_file = user_file or _user_file(environment)
    user = _read_toml(user_file)
    _reject_unknown(user, user_file)
    project, warnings = _project_values(root / PROJECT_FILE)
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    provider = _first_provider(given, environment, user)
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for spec in SPECS:
        found = _find(spec, given, _from_environment(spec, environment, provider), project, user)
        values[spec.name], origins[spec.name] = _parsed(spec, found)
    return Settings(
        **cast(Any, values),
        origins=origins,
        warnings=tuple(warnings),
        allow_http=_allows_http(environment),
    )


def shown_settings(settings: Settings) -> dict[str, tuple[str, str]]:
    """Return each setting's value and origin as texts, keys and passwords left out."""
    shown = {}
    for spec in SPECS:
        value = getattr(settings, spec.name)
        if spec.secret:
            text = "set" if value else "not set"
        elif isinstance(value, tuple):
            text = ", ".join(value)
        else:
            text = "not set" if value is None else str(value)
        shown[spec.name] = (text, settings.origins[spec.name])
    return shown


@dataclass(frozen=True, slots=True)
class _Found:
    value: object
    origin: str


def _allows_http(environment: Mapping[str, str]) -> bool:
    """Return whether the endpoint of object storage is a plain http:// one.

    Raises:
        UsageError: an endpoint is no URL.
    """
    for variable in _ENDPOINT_VARIABLES:
        endpoint = environment.get(variable, "").strip()
        if endpoint and urlsplit(endpoint).scheme not in ("http", "https"):
            raise UsageError(f"{variable} must begin with http:// or https://")
        if endpoint.startswith("http://"):
            return True
    given = (environment.get(name, "") for name in ("AWS_ALLOW_HTTP", "ALLOW_HTTP"))
    return any(value.strip().lower() in ("1", "true", "yes", "on") for value in given)


def _user_file(environment: Mapping[str, str]) -> Path:
    named = environment.get("ASKCODE_CONFIG")
    if not named:
        return user_config_path("askcode") / "config.toml"
    path = Path(named).expanduser()
    if not path.is_file():
        raise UsageError(f"the file {path} named by ASKCODE_CONFIG does not exist")
    return path


def _find(
    spec: Spec,
    given: Mapping[str, object],
    from_environment: _Found | None,
    project: Mapping[str, object],
    user: Mapping[str, object],
) -> _Found | None:
    if spec.name in given:
        return _Found(given[spec.name], "flag")
    if from_environment:
        return from_environment
    if spec.name in project:
        return _Found(project[spec.name], PROJECT_FILE)
    if spec.name in user:
        return _Found(user[spec.name], "user file")
    return None


def _from_environment(
    spec: Spec, environment: Mapping[str, str], provider: str | None
) -> _Found | None:
    variables = spec.variables
    if provider and provider != "openai":
        # a key or URL meant for OpenAI must not go to another provider
        variables = {"api_key": PRESETS[provider].key_variables, "base_url": ()}.get(
            spec.name, variables
        )
    for variable in variables:
        value = environment.get(variable, "").strip()
        if value:
            return _Found(value, variable)
    return None


def _first_provider(
    given: Mapping[str, object], environment: Mapping[str, str], user: Mapping[str, object]
) -> str | None:
    spec = next(spec for spec in SPECS if spec.name == "provider")
    found = _find(spec, given, _from_environment(spec, environment, None), {}, user)
    value = _parsed(spec, found)[0]
    return None if value is None else str(value)


def _parsed(spec: Spec, found: _Found | None) -> tuple[object, str]:
    if found is None:
        return spec.default, "default"
    try:
        return spec.parse(found.value), found.origin
    except ValueError as error:
        shown = "" if spec.secret else f", not {found.value!r}"
        raise UsageError(
            f"{spec.name} {error}{shown} ({found.origin})", hint="see `askcode status`"
        ) from error


def _read_toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except PermissionError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, IsADirectoryError) as error:
        raise UsageError(f"{path} is not a TOML file: {error}") from error


def _reject_unknown(values: Mapping[str, object], path: Path) -> None:
    names = {spec.name for spec in SPECS}
    for name in values:
        if name not in names:
            raise UsageError(
                f"{path}: there is no setting {name!r}", hint=f"it knows {', '.join(sorted(names))}"
            )


def _project_values(path: Path) -> tuple[dict[str, object], list[str]]:
    """Return what a repository may say of itself, and a warning for all it may not."""
    if path.is_symlink():
        return {}, [f"{path.name} is a link and was not read"]
    allowed = {spec.name for spec in SPECS if spec.in_project}
    values = _read_toml(path)
    refused = sorted(set(values) - allowed)
    warnings = [
        f"{path.name} cannot set {name}; a repository may set only {', '.join(sorted(allowed))}"
        for name in refused
    ]
    return {name: value for name, value in values.items() if name in allowed}, warnings
