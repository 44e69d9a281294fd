from pathlib import Path

import pytest

from askcode.errors import UsageError
from askcode.setting_values import parse_size
from askcode.settings import load_settings, shown_settings


def load(tmp_path, *, flags=None, environment=None, user="", project=""):
    user_file = tmp_path / "config.toml"
    user_file.write_text(user, encoding="utf-8")
    root = tmp_path / "root"
    root.mkdir(exist_ok=True)
    (root / "askcode.toml").write_text(project, encoding="utf-8")
    return load_settings(root, flags, environment=environment or {}, user_file=user_file)


def test_a_flag_wins_over_environment_project_and_user_file(tmp_path):
    settings = load(
        tmp_path,
        flags={"chunk_tokens": 100},
        environment={"ASKCODE_CHUNK_TOKENS": "200"},
        project="chunk_tokens = 300",
        user="chunk_tokens = 400",
    )

    assert (settings.chunk_tokens, settings.origins["chunk_tokens"]) == (100, "flag")


def test_each_origin_is_next_in_line(tmp_path):
    environment = {"ASKCODE_CHUNK_TOKENS": "200"}
    project, user = "chunk_tokens = 300", "chunk_tokens = 400"

    origins = [
        load(tmp_path, environment=environment, project=project, user=user),
        load(tmp_path, project=project, user=user),
        load(tmp_path, user=user),
        load(tmp_path),
    ]

    assert [one.chunk_tokens for one in origins] == [200, 300, 400, 256]
    assert [one.origins["chunk_tokens"] for one in origins] == [
        "ASKCODE_CHUNK_TOKENS",
        "askcode.toml",
        "user file",
        "default",
    ]


def test_an_empty_variable_is_an_unset_one(tmp_path):
    settings = load(tmp_path, environment={"OPENAI_MODEL": "", "OPENAI_API_KEY": "  "})

    assert settings.llm_model is None
    assert settings.endpoint("answer") is None


def test_a_flag_that_equals_the_default_still_wins(tmp_path):
    settings = load(tmp_path, flags={"top_k": 20}, user="top_k = 5")

    assert settings.top_k == 20


def test_the_repository_cannot_choose_model_url_key_prompts_or_index_place(tmp_path):
    project = """
    base_url = "http://evil.example"
    api_key = "x"
    llm_model = "m"
    prompts_dir = "p"
    index_dir = "/tmp/x"
    exclude = ["*.md"]
    """

    settings = load(tmp_path, project=project)

    assert settings.endpoint("answer") is None
    assert (settings.prompts_dir, settings.index_dir) == (None, None)
    assert settings.exclude == ("*.md",)
    assert len(settings.warnings) == 5


def test_a_key_alone_means_openai_and_its_default_model(tmp_path):
    endpoint = load(tmp_path, environment={"OPENAI_API_KEY": "k"}).endpoint("answer")

    assert (endpoint.provider, endpoint.model) == ("openai", "gpt-5.4-mini")


def test_a_base_url_alone_is_enough(tmp_path):
    endpoint = load(
        tmp_path, environment={"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}
    ).endpoint("questions")

    assert (endpoint.base_url, endpoint.model) == ("http://127.0.0.1:1/v1", "m")


def test_a_model_per_stage_wins_over_the_general_one(tmp_path):
    settings = load(
        tmp_path,
        environment={
            "OPENAI_API_KEY": "k",
            "OPENAI_MODEL": "general",
            "ASKCODE_ANSWER_MODEL": "best",
        },
    )

    assert settings.endpoint("answer").model == "best"
    assert settings.endpoint("questions").model == "general"


def test_a_provider_takes_its_own_key_and_never_the_one_for_openai(tmp_path):
    environment = {"ASKCODE_PROVIDER": "openrouter", "OPENAI_API_KEY": "for-openai"}

    with pytest.raises(UsageError, match="openrouter needs a key"):
        load(tmp_path, environment=environment).endpoint("answer")

    environment["OPENROUTER_API_KEY"] = "own"
    assert load(tmp_path, environment=environment).endpoint("answer").api_key == "own"


def test_keys_are_never_shown(tmp_path):
    settings = load(tmp_path, environment={"OPENAI_API_KEY": "sk-secret"})

    assert "sk-secret" not in repr(settings)
    assert "sk-secret" not in repr(settings.endpoint("answer"))
    assert shown_settings(settings)["api_key"] == ("set", "OPENAI_API_KEY")


@pytest.mark.parametrize(
    ("user", "complaint"),
    [
        ("tpo_k = 3", "there is no setting 'tpo_k'"),
        ("top_k = 'many'", "top_k must be a number"),
        ("top_k = 0", "top_k must be at least 1"),
        ("metadata = ['poem']", "not poem"),
        ("provider = 'acme'", "provider must be one of"),
        ("top_k = ", "is not a TOML file"),
    ],
)
def test_a_wrong_value_is_named_with_its_origin(tmp_path, user, complaint):
    with pytest.raises(UsageError, match=complaint):
        load(tmp_path, user=user)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1000", 1000),
        ("500k", 512000),
        ("2MB", 2 * 1024**2),
        ("1 MiB", 1024**2),
        ("1.5g", 1610612736),
    ],
)
def test_sizes_are_parsed(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "big", "-1", "0", "1x", "1e999"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match=r"size|more than 0"):
        parse_size(text)


def test_the_index_lies_in_the_root_unless_told_otherwise(tmp_path):
    settings = load(tmp_path)
    elsewhere = load(tmp_path, flags={"index_dir": str(tmp_path / "x")})

    assert settings.index_place(Path("/r")) == Path("/r/.askcode")
    assert elsewhere.index_place(Path("/r")) == tmp_path / "x"
