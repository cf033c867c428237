"""Secrets of every known format, drawn from a seed, in the places where secrets turn up.

Each is put together from pieces at run time, so that no file holds anything that
looks like a live one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from random import Random

LOWER = "abcdefghijklmnopqrstuvwxyz"
UPPER = LOWER.upper()
DIGITS = "0123456789"
HEX = DIGITS + "abcdef"
ALNUM = UPPER + LOWER + DIGITS
WORD = ALNUM + "_-"
BASE64 = ALNUM + "+/"

Draw = Callable[[Random], str]


def chars(rng: Random, alphabet: str, count: int) -> str:
    return "".join(rng.choices(alphabet, k=count))


def after(prefix: str, alphabet: str, count: int, end: str = "") -> Draw:
    return lambda rng: "".join((prefix, chars(rng, alphabet, count), end))


def any_of(*draws: Draw) -> Draw:
    return lambda rng: rng.choice(draws)(rng)


def joined(*parts: Draw | str) -> Draw:
    return lambda rng: "".join(part if isinstance(part, str) else part(rng) for part in parts)


def some(alphabet: str, count: int) -> Draw:
    return lambda rng: chars(rng, alphabet, count)


def jwt(rng: Random) -> str:
    def part(fields: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    head = part({"alg": rng.choice(["HS256", "RS256"]), "typ": "JWT"})
    return ".".join(
        (head, part({"sub": chars(rng, DIGITS, 8), "iat": rng.randrange(10**9)}), chars(rng, WORD, 43))
    )


def card(rng: Random) -> str:
    prefix, size = rng.choice(
        [("4", 16), ("4", 13), ("51", 16), ("55", 16), ("2223", 16), ("34", 15), ("37", 15), ("6011", 16)]
    )
    digits = prefix + chars(rng, DIGITS, size - len(prefix) - 1)
    total = 0
    for place, digit in enumerate(reversed(digits)):
        worth = int(digit) * (1 if place % 2 else 2)
        total += worth - 9 if worth > 9 else worth
    digits += str(-total % 10)
    mark = rng.choice(["", " ", "-"])
    if size == 15 and mark:
        return mark.join((digits[:4], digits[4:10], digits[10:]))
    return mark.join(digits[at : at + 4] for at in range(0, size, 4))


# Tokens that are known by their own look, wherever they stand.
TOKENS: dict[str, Draw] = {
    "aws-access-key-id": any_of(after("AKIA", UPPER + "234567", 16), after("ASIA", UPPER + "234567", 16)),
    **{f"github-{p}": after(f"gh{p}_", ALNUM, 36) for p in "pousr"},
    "github-pat": joined("github_" + "pat_", some(ALNUM, 22), "_", some(ALNUM, 59)),
    "gitlab-pat": after("glpat-", WORD, 20),
    "gitlab-other": any_of(
        *(after(f"gl{p}-", WORD, 20) for p in ("dt", "rt", "cbt", "ptt", "ft", "soat", "agent"))
    ),
    "slack-bot": joined("xox" + "b-", some(DIGITS, 12), "-", some(DIGITS, 12), "-", some(ALNUM, 24)),
    "slack-user": joined("xox" + "p-", some(DIGITS, 12), "-", some(DIGITS, 12), "-", some(HEX, 32)),
    "slack-app": joined("xap" + "p-1-A", some(UPPER + DIGITS, 10), "-", some(DIGITS, 13), "-", some(HEX, 64)),
    "slack-webhook": joined(
        "https://hooks.slack" + ".com/services/T",
        some(UPPER + DIGITS, 9),
        "/B",
        some(UPPER + DIGITS, 9),
        "/",
        some(ALNUM, 24),
    ),
    "stripe-secret": any_of(after("sk_" + "live_", ALNUM, 24), after("sk_" + "test_", ALNUM, 99)),
    "stripe-restricted": after("rk_" + "live_", ALNUM, 24),
    "stripe-webhook": after("whsec" + "_", ALNUM, 32),
    "openai": any_of(
        after("sk-", ALNUM, 48), joined("sk-", some(ALNUM, 20), "T3Blbk" + "FJ", some(ALNUM, 20))
    ),
    "openai-project": after("sk-" + "proj-", WORD, 120),
    "anthropic": after("sk-" + "ant-api03-", WORD, 93, "AA"),
    "openrouter": after("sk-" + "or-v1-", HEX, 64),
    "google-api-key": after("AI" + "za", WORD, 35),
    "google-oauth-secret": after("GOC" + "SPX-", WORD, 28),
    "google-access": after("ya" + "29.", WORD, 120),
    "npm": after("npm" + "_", ALNUM, 36),
    "pypi": after("pypi-" + "AgEIcHlwaS5vcmc", WORD, 150),
    "docker": after("dckr_" + "pat_", WORD, 27),
    "huggingface": after("hf" + "_", ALNUM, 34),
    "telegram": joined(some("123456789", 1), some(DIGITS, 9), ":AA", some(WORD, 33)),
    "discord-bot": joined(some("MNO", 1), some(ALNUM, 23), ".", some(WORD, 6), ".", some(WORD, 38)),
    "discord-webhook": joined(
        "https://discord" + ".com/api/webhooks/", some("123456789", 18), "/", some(WORD, 68)
    ),
    "twilio-key": after("SK", HEX, 32),
    "twilio-sid": after("AC", HEX, 32),
    "sendgrid": joined("SG" + ".", some(WORD, 22), ".", some(WORD, 43)),
    "mailgun": after("key" + "-", HEX, 32),
    "mailchimp": joined(some(HEX, 32), "-us", some("123456789", 1)),
    "shopify": any_of(*(after(f"shp{p}_", HEX, 32) for p in ("at", "ca", "pa", "ss"))),
    "square": any_of(
        after("sq0" + "atp-", WORD, 22), after("sq0" + "csp-", WORD, 43), after("EAA" + "A", WORD, 60)
    ),
    "databricks": after("da" + "pi", HEX, 32),
    "digitalocean": any_of(after("dop" + "_v1_", HEX, 64), after("doo" + "_v1_", HEX, 64)),
    "heroku": after("HRKU" + "-AA", WORD, 58),
    "linear": after("lin_" + "api_", ALNUM, 40),
    "notion": any_of(after("ntn" + "_", ALNUM, 46), after("secret" + "_", ALNUM, 43)),
    "figma": after("fig" + "d_", WORD, 40),
    "postman": joined("PMA" + "K-", some(HEX, 24), "-", some(HEX, 34)),
    "grafana-service": joined("gls" + "a_", some(ALNUM, 32), "_", some(HEX, 8)),
    "grafana-cloud": after("gl" + "c_eyJ", BASE64, 80),
    "newrelic": after("NRA" + "K-", UPPER + DIGITS, 27),
    "sentry": any_of(after("sntry" + "s_eyJ", BASE64, 90), after("sntry" + "u_", HEX, 64)),
    "vault": any_of(after("hv" + "s.", WORD, 90), after("hv" + "b.", WORD, 130), after("s.", ALNUM, 24)),
    "terraform": joined(some(ALNUM, 14), ".atlas" + "v1.", some(WORD, 67)),
    "doppler": any_of(after("dp." + "pt.", ALNUM, 43), after("dp." + "st.dev.", ALNUM, 43)),
    "fly": after("FlyV1 " + "fm2_", BASE64, 120),
    "supabase": after("sb" + "p_", HEX, 40),
    "planetscale": any_of(after("pscale_" + "tkn_", WORD, 43), after("pscale_" + "pw_", WORD, 43)),
    "groq": after("gs" + "k_", ALNUM, 52),
    "replicate": after("r8" + "_", ALNUM, 37),
    "perplexity": after("pp" + "lx-", ALNUM, 48),
    "xai": after("xa" + "i-", ALNUM, 80),
    "age": after("AGE-SECRET" + "-KEY-1", UPPER + DIGITS, 58),
    "jwt": jwt,
    "card": card,
    "azure-client-secret": joined(some(ALNUM, 3), "8Q" + "~", some(ALNUM + "_.~-", 33), some(ALNUM, 1)),
    "tailscale": joined("tskey" + "-auth-", some(ALNUM, 12), "-", some(ALNUM, 32)),
    "atlassian": after("ATATT" + "3xFfGF0", WORD, 180),
    "rubygems": after("rubygems" + "_", HEX, 48),
    "pulumi": after("pul" + "-", HEX, 40),
}

# Where any token may stand; the braces are the token.
PLACES = (
    "Use {} for the nightly run, please.",
    "I pasted the key {}, it should work now",
    "the deploy failed because ({}) was revoked",
    'client = Client("{}")',
    "const client = connect('{}', {{ retries: 3 }});",
    '{{"name": "prod", "value": "{}", "ttl": 30}}',
    '{{"log": "{{\\"v\\": \\"{}\\"}}"}}',
    '{{"text": "first line\\n{}\\nlast line"}}',
    "value: {}\nregion: eu-west-1\n",
    "  - '{}'",
    "export SERVICE_X={}",
    "deploy --with {} --verbose",
    "2024-05-01T10:00:00Z INFO worker[12] using {} (attempt 1)",
    "https://api.example.com/v1/items?k={}&page=2",
    "GET /callback?state=x&code={} HTTP/1.1",
    "| prod | `{}` | active |",
    "<value>{}</value>",
    "line one\n\t{}\nline three",
)


def random_password(rng: Random) -> str:
    word = rng.choice(
        ["hunter", "sunshine", "Winter", "dragon", "trust", "Blue", "monkey", "correct", "Zebra"]
    )
    return rng.choice(
        [
            word + chars(rng, DIGITS, rng.randint(1, 4)),
            word + rng.choice("!@#$%^*") + chars(rng, DIGITS, 2),
            chars(rng, ALNUM, 10) + rng.choice(DIGITS),
            chars(rng, ALNUM, 6) + rng.choice("!@#%^*+") + chars(rng, ALNUM, 5) + "7",
        ]
    )


def random_key(rng: Random) -> str:
    return rng.choice([some(HEX, 32), some(ALNUM, 40), some(ALNUM, 24), some(BASE64, 44), some(WORD, 36)])(
        rng
    )


def pem(rng: Random, newline: str) -> tuple[str, str]:
    """A private key block, and the part of it that must not be seen again."""
    name = rng.choice(["RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED ", "DSA "])
    lines = [chars(rng, BASE64, 64) for _ in range(rng.randint(3, 20))] + [chars(rng, BASE64, 30) + "=="]
    dashes = "-" * 5
    block = newline.join(
        [f"{dashes}BEGIN {name}PRIVATE KEY{dashes}", *lines, f"{dashes}END {name}PRIVATE KEY{dashes}"]
    )
    return block, lines[rng.randrange(len(lines))]


PASSWORD_PLACES = (
    "password={}", "password: {}", "DB_PASSWORD={}", 'export PGPASSWORD="{}"', '"password": "{}"',
    "passwd = '{}'", "the password is {}", "The password for the staging db is {}.", "my pwd: {}",
    "router pw: {}", "mysql --password {} -h db", "tool login --password={} --quiet",
    "sshpass -p {} ssh root@host",
    "docker login -u bob -p {}", "curl -u bob:{} https://example.com/",
    "Server=db;User Id=sa;Password={};Database=x", "host=db user=app password={} dbname=x",
    "<password>{}</password>", 'config["password"] = "{}"', "- name: DB_PASSWORD\n  value: {}\n",
    '{{\\"password\\": \\"{}\\"}}', "\tuserPassword: '{}',", "ALTER USER app WITH PASSWORD '{}';",
    "machine example.com login bob password {}", ":password => '{}'",
    "POST /login user=bob&password={}&next=/", 'password: str = "{}"', "spring.datasource.password={}",
    "ERROR login failed user=bob password={} ip=10.0.0.1", "$env:DB_PASSWORD = '{}'",
    "ENV MYSQL_ROOT_PASSWORD {}",
)  # fmt: skip

KEY_PLACES = (
    "api_key={}", "API_KEY={}", '"api_key": "{}"', "apiKey: '{}',", "X-Api-Key: {}",
    'client_secret = "{}"', "export STRIPE_SECRET_KEY={}", "access_token={}",
    "https://example.com/x?access_token={}&page=1", "--api-key {}", "aws_secret_access_key = {}",
    "DD_API_KEY={}", "CLOUDFLARE_API_TOKEN={}", "auth_token: {}", "secret: {}", "private_key={}",
    "//registry.npmjs.org/:_authToken={}", "AccountName=x;AccountKey={};EndpointSuffix=y",
    '{{"token": "{}"}}', "token: {}", "the token is {}", "TF_VAR_db_secret={}", "set_api_key('{}')",
    'secretKey: "{}"', "sv=2022-11-02&sig={}", "SharedAccessKeyName=root;SharedAccessKey={}",
    "signing_key: {}", "refreshToken = '{}'", "ENCRYPTION_KEY={}",
)  # fmt: skip

HEADER_PLACES = (
    "Authorization: Bearer {}", "curl -H 'Authorization: Bearer {}' https://x.io",
    '"Authorization": "token {}"', "Authorization: {}", "Cookie: theme=dark; sessionid={}; lang=en",
    "Set-Cookie: session={}; Path=/; HttpOnly", "headers={{'Authorization': 'Bearer {}'}}",
    "Proxy-Authorization: Bearer {}", "X-Auth-Token: {}",
)  # fmt: skip

URL_PLACES = (
    "postgresql://app:{}@db.internal:5432/app", "https://bob:{}@example.com/x.git",
    "redis://:{}@cache:6379/0", "mongodb+srv://svc:{}@cluster0.example.net/?w=majority",
    "DATABASE_URL=mysql://root:{}@127.0.0.1/x", 'amqp = "amqps://u:{}@mq:5671/%2f"',
)  # fmt: skip


def url_password(rng: Random) -> str:
    return chars(rng, ALNUM, rng.randint(8, 20)) + rng.choice(["", "%21", "-_", "~1"])


def basic(rng: Random) -> str:
    return base64.b64encode(f"{chars(rng, LOWER, 5)}:{chars(rng, ALNUM, 12)}".encode()).decode()


def embedded_in(place: str, secret: str) -> str:
    return place.format(secret)


def planted(seed: int, count: int) -> Iterator[tuple[str, str, str]]:
    """`count` times: the format's name, a text, and what must no longer stand in it."""
    rng = Random(seed)
    keyed: tuple[tuple[str, tuple[str, ...], Draw], ...] = (
        ("keyed-password", PASSWORD_PLACES, random_password),
        ("keyed-key", KEY_PLACES, random_key),
        ("header", HEADER_PLACES, some(ALNUM, 40)),
        (
            "basic-auth",
            ("Authorization: Basic {}", "curl -H 'authorization: basic {}'", "sent Basic {} to it"),
            basic,
        ),
        ("url-userinfo", URL_PLACES, url_password),
    )
    names = [*TOKENS, *(name for name, _, _ in keyed for _ in range(6)), "pem", "pem-cut", "private"]
    by_name = {name: (places, draw) for name, places, draw in keyed}
    for at in range(count):
        name = names[at % len(names)]
        if name in ("pem", "pem-cut"):
            block, line = pem(rng, rng.choice(["\n", "\\n", "\r\n", "\\\\n"]))
            text = block if name == "pem" else block[: block.index(line) + len(line)]
            yield name, rng.choice(["key: |\n{}", '{{"private_key": "{}"}}', "{}"]).format(text), line
        elif name == "private":
            said = "the cat is called " + chars(rng, LOWER, 9)
            close = rng.choice(["</private>", "</PRIVATE >", "", "</Private>"])
            yield (
                name,
                f"before {rng.choice(['<private>', '<PRIVATE>', '<private why=x>'])}{said}{close}",
                said,
            )
        else:
            places, draw = by_name.get(name, (PLACES, TOKENS.get(name, card)))
            secret = draw(rng)
            yield name, embedded_in(rng.choice(places), secret), secret
