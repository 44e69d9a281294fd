"""Secrets are masked in place; what only looks like one stays."""

import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askcode.masking import MASK, Masked, mask

# Put together here, so that no scanner takes this file for one with secrets.
LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"
LIVE = {
    "aws id": "AKIA" + "IOSFODNN7QWERTYU",
    "github": "ghp_" + LETTERS[:36],
    "github, fine-grained": "github_pat_" + LETTERS[:22] + "_" + LETTERS,
    "gitlab": "glpat-" + LETTERS[:20],
    "slack": "xoxb-" + "123456789012-1234567890123-abcDEF123".lower(),
    "slack hook": "https://hooks.slack.com/services/" + "T0123ABCD/B0123ABCD/" + LETTERS[:24],
    "stripe": "sk_live_" + LETTERS[:24],
    "sendgrid": "SG." + LETTERS[:22] + "." + (LETTERS * 2)[:43],
    "openai": "sk-" + LETTERS[:20] + "T3BlbkFJ" + LETTERS[:20],
    "openai, project": "sk-proj-" + LETTERS,
    "anthropic": "sk-ant-api03-" + LETTERS,
    "google": "AIza" + LETTERS[:35],
    "npm": "npm_" + LETTERS[:36],
    "pypi": "pypi-AgEIcHlwaS5vcmc" + (LETTERS * 3)[:80],
    "telegram": "123456789:" + LETTERS[:35],
    "twilio": "AC" + "0123456789abcdef" * 2,
    "mailchimp": "0123456789abcdef" * 2 + "-us12",
    "web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + LETTERS,
}


@pytest.mark.parametrize("kind", sorted(LIVE))
def test_tokens_of_a_known_form_are_masked(kind: str) -> None:
    for line in (f'VALUE = "{LIVE[kind]}"', f"send({LIVE[kind]!r})  # done", f"x: {LIVE[kind]}"):
        masked = mask(f"before\n{line}\nafter")

        assert LIVE[kind] not in masked.text
        assert LIVE[kind][-12:] not in masked.text
        assert masked.count == 1
        assert masked.text.split("\n")[::2] == ["before", "after"]
        assert MASK in masked.text.split("\n")[1]


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ('password = "hunter2x!"', f'password = "{MASK}"'),
        ("db_password: 'Tr0ub4dor&3'", f"db_password: '{MASK}'"),
        ('{"api_key": "q8Zr-41kx"}', f'{{"api_key": "{MASK}"}}'),
        ('const clientSecret = "9f8a7b6c5d4e";', f'const clientSecret = "{MASK}";'),
        ("url = 'postgres://app:Sup3rS3cret@db/x'", f"url = 'postgres://app:{MASK}@db/x'"),
        (
            'aws_secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY"',
            f'aws_secret_key = "{MASK}"',
        ),
    ],
)
def test_assigned_secrets_are_masked_and_the_rest_of_the_line_stays(line: str, masked: str) -> None:
    assert mask(line) == Masked(masked, 1)


@pytest.mark.parametrize(
    "line",
    [
        'password = "password"',
        'password = ""',
        'password = "your-password-1"',
        'password = "<password1>"',
        'password = "${DB_PASSWORD_1}"',
        'password = "{{ vault_pw1 }}"',
        'password = "%s1234567"',
        'PASSWORD_FIELD = "user_password"',
        'raise Error("the password must have 8 characters")',
        "password = os.environ['DB_PASSWORD_1']",
        'password = get_secret("db/password1")',
        'secret_key = "xxxxxxxxxxx1"',
        'api_key_header: "X-API-Key"',
        'token_url = "https://example.org/oauth2/token1"',
        'key = "abcdefghijkl"',
        'digest = "d41d8cd98f00b204e9800998ecf8427e"',
        'commit = "9fceb02d0ae598e95dc970b74767f19372d61af8"',
        'id = "123e4567-e89b-12d3-a456-426614174000"',
        "postgres://user:password@localhost/db",
        "postgres://postgres:postgres@localhost/db",
        "http://{user}:{password1}@host",
        "APPLICATION APACHE12 SKIPPED",
        "def check_password(self, password: str) -> bool:",
        "sk-learn and a risk-free task",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
    ],
)
def test_what_only_looks_like_a_secret_stays(line: str) -> None:
    assert mask(line) == Masked(line, 0)


@pytest.mark.parametrize("language", ["yaml", "ini", "toml", "properties"])
def test_unquoted_passwords_count_in_configuration_languages_only(language: str) -> None:
    line = "  db_password: hunter2x!"

    assert mask(line, language=language) == Masked(f"  db_password: {MASK}", 1)
    assert mask(line, language="python") == Masked(line, 0)
    assert mask("password: ${PASSWORD_1}", language=language).count == 0


BODY = textwrap.wrap("MIIEpAIBAAKCAQEA7bq8" + LETTERS * 8, 64)


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "])
def test_a_private_key_is_masked_with_as_many_lines(kind: str) -> None:
    begin, end = f"-----BEGIN {kind}PRIVATE KEY-----", f"-----END {kind}PRIVATE KEY-----"
    text = "\n".join(["KEY = '''", begin, *BODY, end, "'''", "print(KEY)"])

    masked = mask(text)

    rest = ["[masked]"] * (len(BODY) - 1)
    assert masked.text.split("\n") == ["KEY = '''", begin, MASK, *rest, end, "'''", "print(KEY)"]
    assert masked.count == 1


def test_a_private_key_in_one_line_or_in_string_literals_is_masked() -> None:
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"

    one = mask(f'key = "{begin}\\n{BODY[0]}\\n{end}\\n"')
    many = mask("\n".join(["k = (", f'    "{begin}\\n"', *[f'    "{x}\\n"' for x in BODY], ")"]))

    assert one == Masked(f'key = "{begin}{MASK}{end}\\n"', 1)
    assert all(line not in many.text for line in BODY)
    assert many.text.split("\n")[-1] == ")"
    assert many.count == 1


@pytest.mark.parametrize("part", [slice(0, 4), slice(3, None)])
def test_a_part_of_a_private_key_is_masked(part: slice) -> None:
    block = ["-----BEGIN RSA PRIVATE KEY-----", *BODY, "-----END RSA PRIVATE KEY-----"]

    masked = mask("\n".join(block[part]))

    assert all(line not in masked.text for line in BODY)
    assert masked.text.count("\n") == len(block[part]) - 1


@given(st.text())
def test_the_number_of_lines_never_changes(text: str) -> None:
    for prefix in ("", "password = 'hunter2x!'\n-----BEGIN PRIVATE KEY-----\n"):
        assert mask(prefix + text).text.count("\n") == (prefix + text).count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "password = '" * 4_000,
        "password=" + "a" * 50_000,
        "//" * 20_000 + "auth",
        "://a:b" * 8_000,
        "\n".join(["-----BEGIN PRIVATE KEY-----"] * 5_000),
        "\n".join(["-----END PRIVATE KEY-----"] * 5_000),
        ("A" * 64 + "\n") * 5_000 + "-----END PRIVATE KEY-----",
    ],
)
def test_no_text_takes_long(text: str) -> None:
    start = time.perf_counter()

    mask(text, language="yaml")

    assert time.perf_counter() - start < 5
