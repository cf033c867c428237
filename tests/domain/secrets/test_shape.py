"""What comes back: the markers, the kinds, and everything else untouched."""

from __future__ import annotations

from random import Random

import pytest

from holdfast.domain.secrets import Redacted, redact
from tests.domain.secrets.generators import ALNUM, BASE64, chars
from tests.requirements_ledger import requirement

GITHUB = "ghp" + "_" + chars(Random(1), ALNUM, 36)
DASHES = "-" * 5


@requirement("trust.secrets")
def test_a_secret_is_replaced_by_its_kind_and_all_else_stays() -> None:
    result = redact(f"é\x00 before {GITHUB} after\r\n")

    assert result == Redacted("é\x00 before [redacted:github-token] after\r\n", ("github-token",))


def test_kinds_come_in_order_of_appearance() -> None:
    result = redact(f"password=hunter2 then {GITHUB} then <private>x</private> then postgres://a:hunter3@h/d")

    assert result.found == ("password", "github-token", "private", "url-password")


def test_a_result_cannot_be_changed() -> None:
    result = redact("x")

    with pytest.raises(AttributeError):
        result.text = "y"  # type: ignore[misc]


def test_only_the_password_of_a_url_goes() -> None:
    result = redact("psql postgresql://app:s3cr3t@db.internal:5432/app?sslmode=require")

    assert result.text == "psql postgresql://app:[redacted:url-password]@db.internal:5432/app?sslmode=require"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b", "a [private]"),
        ("a <private>b<private>c</private>d</private> e", "a [private] e"),
        ('{"a": "\\u003cprivate\\u003eb\\u003c/private\\u003e"}', '{"a": "[private]"}'),
        ("a <private why='x'>b\n\nc</ private > d", "a [private] d"),
        ("<PrivateAssets>all</PrivateAssets>", "<PrivateAssets>all</PrivateAssets>"),
        ("write `<private>` around it", "write `<private>` around it"),
        ("private <b>c</b> </private>", "private <b>c</b> </private>"),
    ],
)
def test_private_regions_go_whole(text: str, shown: str) -> None:
    assert redact(text).text == shown


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\\\\n", "\\r\\n"])
@pytest.mark.parametrize("cut", ["none", "end", "begin"])
def test_key_blocks_go_whole_even_when_cut(newline: str, cut: str) -> None:
    body = newline.join(chars(Random(3), BASE64, 64) for _ in range(5))
    begin = "" if cut == "begin" else f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}{newline}"
    end = "" if cut == "end" else f"{newline}{DASHES}END RSA PRIVATE KEY{DASHES}"

    result = redact(f'{{"k": "{begin}{body}{end}", "n": 1}}')

    assert result.text == '{"k": "[redacted:private-key]", "n": 1}'


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "' + GITHUB.replace("_", "\\u005f") + '"}',
        '{"a": "{\\"password\\": \\"hunter2\\"}"}',
        '{"a": "{\\\\\\"password\\\\\\": \\\\\\"hunter2\\\\\\"}"}',
        '{"log": "one\\npassword=hunter2\\ntwo"}',
        "\\u002d" * 5 + "BEGIN PRIVATE KEY" + "\\u002d" * 5 + "\\n" + chars(Random(3), ALNUM, 64) + "\\n",
    ],
)
def test_escapes_of_json_hide_nothing(text: str) -> None:
    result = redact(text)

    assert result.found
    for secret in (GITHUB[8:], "hunter2", chars(Random(3), ALNUM, 64)):
        assert secret not in result.text


@pytest.mark.parametrize("written", ["4242 4242 4242 4242", "4242-4242-4242-4242", "4242424242424242"])
@pytest.mark.parametrize("around", ["{}", "card {} 12/29 123", "pan={}, ok", "({})."])
def test_card_numbers_go_with_or_without_gaps(written: str, around: str) -> None:
    assert redact(around.format(written)).text == around.format("[redacted:card-number]")


@pytest.mark.parametrize(
    "text", ["4242 4242 4242 4243", "6900 6901 6902 6903 6904 6905", "0.4242424242424242"]
)
def test_other_long_numbers_stay(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "Password: hunter2", "**Password:** hunter2", "- Password: `hunter2`", "| password | hunter2 |",
        "password -> hunter2", "password\thunter2", "PASSWORD=hunter2 psql", "-Dpassword=hunter2",
        "mysqldump -phunter2 x", "pass: hunter2", "secret=hunter2", "password: >-\n  hunter2\n",
        "<db:password>hunter2</db:password>", '<add key="Password" value="hunter2"/>', "token=hunter2",
        'String password = "hunter2";', "$password='hunter2';",
        "jdbc:postgresql://h/d?user=u&password=hunter2", "-p hunter2", "Das Passwort ist hunter2",
        "пароль: hunter2", "password is: hunter2", "my password is 'hunter2'", "set password hunter2",
        "ftp://bob:hunter2@ftp.example.org", "postgresql://u:#hunter2@h/db",
        "os.environ['DB_PASSWORD'] = 'hunter2'",
    ],
)  # fmt: skip
def test_a_password_goes_however_it_is_written(text: str) -> None:
    result = redact(text)

    assert "hunter2" not in result.text
    assert len(result.found) == 1


def test_the_secret_half_of_an_aws_pair_goes_without_a_key() -> None:
    secret = chars(Random(6), ALNUM, 40)

    assert redact("AKIA" + "ABCDEFGH" * 2 + f",{secret},").found == ("aws-access-key-id", "aws-secret-key")


def test_a_secret_longer_than_is_read_for_judging_goes_whole() -> None:
    secret = chars(Random(5), ALNUM, 5_000)

    assert redact(f"api_key={secret} x").text == "api_key=[redacted:key] x"
