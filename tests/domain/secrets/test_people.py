"""Secrets of people: chosen passwords in six languages, accounts, PINs, seeds; and what is none."""

from __future__ import annotations

import pytest

from holdfast.domain.secrets import redact
from tests.requirements_ledger import requirement

TWELVE = "abandon ability able about above absent absorb abstract absurd abuse access accident".split()
# The part in double angle brackets must go, and nothing else.
SECRETS = (
    "password=<<my-dog-rex>>",
    "DB_PASSWORD=<<the-blue-whale>>",
    "password: <<test-Winter24>>",
    "api_key=<<test-8f3kd92jfk3l>>",
    "secret: <<my-s3cr3t-value9>>",
    "token=<<the-9fj3k2l1m4>>",
    "Das Passwort ist <<Sommer2024>>",
    "Das Passwort lautet <<Sommer2024>>!",
    "Das Kennwort ist <<hunter22>>",
    "Mein Passwort: <<Geheim123>>",
    "Le mot de passe est <<Soleil75>>",
    "mot de passe : <<Soleil75>>",
    "La contraseña es <<Verano2024>>",
    "Mi clave es <<Verano2024>>",
    "La password è <<Estate2024>>",
    "La password e' <<Estate2024>>",
    "la parola d'ordine è <<Estate2024>>",
    "A senha é <<Verao2024>>",
    "A palavra-passe é <<Verao2024>>",
    "Das Passwort vom NAS ist <<Winter2025>>",
    "Le mot de passe du wifi est <<Soleil75>>",
    "Mi contraseña de Netflix es <<Verano$88>>",
    "La password di casa è <<Estate2024>>",
    "A senha do wifi é <<Verao2024>>",
    "the db password is <<kJh88_aaPQ>>",
    'password: "<<correct horse battery staple>>"',
    'The passphrase is "<<correct horse battery staple>>"',
    "passphrase is '<<purple monkey dishwasher lamp>>'",
    "db.example.com:5432:shop:app:<<hunter2secret>>",
    "localhost:5432:*:postgres:<<s3cretpw>>",
    "*:*:*:postgres:<<plainwordpass>>",
    "https://bob:<<letmein>>@example.com/x",
    "postgres://app:<<sommer>>@db/x",
    "https://admin:<<my-dog-rex>>@host/",
    "card <<4111 1111 1111 1111>> exp 12/27 CVC <<123>>",
    "<<4111-1111-1111-1111>>, cvv: <<737>>",
    "CVV <<123>> for the Visa card",
    "The CVC is <<4242>>",
    "IBAN <<DE89 3704 0044 0532 0130 00>>",
    "<<GB82WEST12345698765432>>",
    "my account is <<FR14 2004 1010 0505 0001 3M02 606>>",
    "seed phrase: <<abandon ability able about above absent absorb abstract absurd abuse access accident>>",
    "recovery phrase is <<legal winner thank year wave sausage worth useful legal winner thank yellow>>",
    'mnemonic = "<<letter advice cage absurd amount doctor acoustic avoid letter advice cage above>>"',
    "Seed words:\n<<" + "\n".join(f"{n}. {word}" for n, word in enumerate(TWELVE, start=1)) + ">>",
    "my PIN is <<4821>>",
    "PIN: <<0042>>",
    "Die PIN lautet <<4821>>",
    "the door pin code is <<90210>>",
    "card pin <<7391>>",
    "The alarm pin of the shop is <<0815>>",
    "Die PIN von der Karte lautet <<4821>>",
    "meine iban ist <<de89 3704 0044 0532 0130 00>>",
)
INNOCENT = (
    "password: my-password",
    "password=the-password",
    "token=test-token",
    "api_key: my-api-key",
    "password=your-password-here",
    "secret: the-secret-name",
    "secret_name=my-app-secret",
    "PASSWORD=test",
    "Das Passwort ist falsch",
    "Das Passwort ist abgelaufen",
    "Le mot de passe est obligatoire",
    "La contraseña es incorrecta",
    "La password è scaduta",
    "A senha é obrigatória",
    "Das Passwort wird alle 90 Tage geändert",
    'password: "Enter your new password here"',
    '"password": "must be at least eight characters"',
    'The passphrase is "too short"',
    'the password is "required and must not be empty"',
    "2026-01-01 10:00:00 a:b:c:d:e",
    "src/app.py:12:5:error:unused",
    "foo:1:bar:2:baz",
    "10:20:30:40:50",
    "https://example.com:8080/path@2x.png",
    "http://user:password@host/",
    "CVC is the code on the back of a card",
    "Ask for the CVV 3 times",
    "card number has 16 digits and a cvc of 3",
    "IBAN DE00 3704 0044 0532 0130 00",
    "DE89 is the prefix of German numbers",
    "the seed phrase is twelve words long and must be written down on paper by every user",
    "seed: 42",
    "random seed 1234",
    "the mnemonic for the planets is my very educated mother just served us nine",
    "recovery phrase is shown once",
    "pin 13 is connected to the LED",
    "PIN: 5 on the Arduino",
    "pin the version to 2024",
    "pinned at 1234",
    "set GPIO pin 1234 high",
    "the pin is bent",
    "Pin: 27",
    "PIN entry is required",
    "spinning 4821",
)


@requirement("trust.secrets")
@pytest.mark.parametrize("marked", SECRETS)
def test_a_secret_of_a_person_is_gone_and_the_rest_stays(marked: str) -> None:
    outside = [part.rpartition(">>")[2] for part in marked.split("<<")]

    redacted = redact(marked.replace("<<", "").replace(">>", ""))

    at = 0
    for part in outside:
        assert part in redacted.text[at:]
        at = redacted.text.index(part, at) + len(part)
    assert len(redacted.found) == len(outside) - 1
    assert not [part for part in marked.split("<<")[1:] if part.partition(">>")[0] in redacted.text]


@pytest.mark.parametrize("line", INNOCENT)
def test_what_only_looks_like_one_stays(line: str) -> None:
    assert redact(line).text == line
