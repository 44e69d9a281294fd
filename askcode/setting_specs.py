"""Every setting there is: how it is named, parsed and where it may be set."""

from __future__ import annotations

from dataclasses import dataclass

from askcode.setting_values import (
    Parser,
    at_least,
    parse_kinds,
    parse_place,
    parse_provider,
    parse_size,
    parse_switch,
    parse_text,
    parse_texts,
)

BUNDLED_MODEL = "bundled"


@dataclass(frozen=True, slots=True)
class Spec:
    """How one setting is named, parsed and found."""

    name: str
    parse: Parser
    default: object = None
    variables: tuple[str, ...] = ()
    """Environment variables, first one set wins."""
    in_project: bool = False
    """Whether the repository's own file may set it."""
    secret: bool = False


def _variable(name: str) -> tuple[str, ...]:
    return (f"ASKCODE_{name.upper()}",)


_COUNT, _SECONDS = at_least(1, int), at_least(0.1, float)

SPECS = (
    Spec("index_dir", parse_place, None, _variable("index_dir")),
    Spec("cache_dir", parse_text, None, ("ASKCODE_CACHE",)),
    Spec("prompts_dir", parse_text, None, _variable("prompts_dir")),
    Spec("provider", parse_provider, None, _variable("provider")),
    Spec("base_url", parse_text, None, ("OPENAI_BASE_URL",)),
    Spec("api_key", parse_text, None, ("OPENAI_API_KEY",), secret=True),
    Spec("llm_model", parse_text, None, ("ASKCODE_LLM_MODEL", "OPENAI_MODEL")),
    Spec("questions_model", parse_text, None, _variable("questions_model")),
    Spec("subquestions_model", parse_text, None, _variable("subquestions_model")),
    Spec("answer_model", parse_text, None, _variable("answer_model")),
    Spec("timeout_s", _SECONDS, 60.0, ("ASKCODE_TIMEOUT",)),
    Spec("concurrency", _COUNT, 8, _variable("concurrency")),
    Spec("requests_per_minute", _COUNT, None, _variable("requests_per_minute")),
    Spec("input_price", at_least(0, float), None, _variable("input_price")),
    Spec("output_price", at_least(0, float), None, _variable("output_price")),
    Spec("embed_model", parse_text, BUNDLED_MODEL, _variable("embed_model")),
    Spec("embed_base_url", parse_text, None, _variable("embed_base_url")),
    Spec("embed_api_key", parse_text, None, _variable("embed_api_key"), secret=True),
    Spec("query_prefix", parse_text, None, _variable("query_prefix")),
    Spec("passage_prefix", parse_text, None, _variable("passage_prefix")),
    Spec("questions_per_chunk", _COUNT, 3, ("ASKCODE_QUESTIONS",)),
    Spec("metadata", parse_kinds, ("questions",), _variable("metadata")),
    Spec("include", parse_texts, (), _variable("include"), in_project=True),
    Spec("exclude", parse_texts, (), _variable("exclude"), in_project=True),
    Spec("submodules", parse_switch, False, _variable("submodules"), in_project=True),
    Spec("max_file_size", parse_size, 1024**2, _variable("max_file_size"), in_project=True),
    Spec("chunk_tokens", at_least(32, int), 256, _variable("chunk_tokens"), in_project=True),
    Spec("top_k", _COUNT, 20, _variable("top_k")),
    Spec("subquestions", at_least(0, int), 5, _variable("subquestions")),
    Spec("context_tokens", at_least(200, int), 12000, _variable("context_tokens")),
    Spec("rerank_model", parse_text, None, _variable("rerank_model")),
)
