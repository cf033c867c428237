"""Lines that hold no secret: code, settings, prose and logs, many of them about secrets."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.domain.secrets.generators import BASE64, DIGITS, HEX, LOWER, chars

# Each of these must pass unchanged, one by one.
NAMED = (
    "password = getpass()", "token = next(tokens)", 'api_key=os.environ["API_KEY"]', "secret: str",
    'password: "${{DB_PASSWORD}}"', "PASSWORD=$(cat file)", "token=<your-token>", "password=xxxxx",
    "password=****", "password=changeme", "tokens: 4096", "max_tokens=1024",
    "the password is rotated every 90 days", "Secret Santa", "token budget is 2000", "key: value",
    "The admin password expires every 90 days", "auth: enabled",
    "def login(user: str, password: str, *, token: str | None = None) -> Session:", "password: required",
    "self._token = token or self._next_token()", "const apiKey = process.env.API_KEY;",
    "if (!token) return null;", "password = request.form['password']", "token: Token = self.peek()",
    "secretKeyRef:", "secretName: db-credentials",
    "The token is base64-encoded and expires after 15 minutes.", "API key rotation is due on 2024-05-01.",
    "password_hash = hash_password(password)", "tokenizer = AutoTokenizer.from_pretrained(name)",
    "token_count: 512", "PasswordAuthentication no", "auth required pam_unix.so", "Enter your password:",
    '"password": "Passwort eingeben"', '<input type="password" name="password" id="password">',
    "passwords must have at least 12 characters", "password=password, token=token",
    "pass  # nothing to do", "bypass: true", "keyboard=us", 'type: "secret"',
    'apiKey: "{{{{ .Values.apiKey }}}}"', "token = f'{{prefix}}-{{index}}'", "password=%s",
    "secret = secrets.token_hex(16)", "the secret is to keep it simple", "password: !vault |",
    "SECRET_KEY = env('SECRET_KEY')", "private_key: /etc/ssl/x.pem",
    "client_secret: op://vault/item/field", "public_key=ssh-ed25519", "author: Jane Doe",
    "authored 3 files", "assert token == expected_token", "case Token.STRING:", "token: ','",
    "return password.encode('utf-8')", "Bearer tokens are sent in the Authorization header.",
    "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Basic authentication is disabled",
    "Set-Cookie is ignored", "Cookie: lang=en; theme=dark", "session: closed",
    "postgresql://user:password@localhost/db", "https://example.com/path?page=2&sort=name",
    "redis://localhost:6379/0", "git@github.com:org/repo.git", "mkdir -p build/out",
    "docker run -p 8080:80 nginx", "cp -p a b", "ssh -p 2222 host", "mysql -u root -p db",
    "curl -u $USER:$PASS https://x", "token=None, password=None", "password?: string;",
    "auth: {{ type: 'oauth2', flow: 'implicit' }}", "primary_key=True", "sort_key: created_at",
    "foreign_key = user_id", "key-value stores", "the api key is stored in the keychain",
    "password was changed by admin", "pwd: /home/me/project", "pass `--yes` to skip the question",
    "always pass `retries=3` to the client", "pass 'force', then try again", "we pass `a` and `b` along",
    "sig = inspect.signature(f)",
    "signature = sign(body)", "credentials: include", "credentials = load_credentials(path)",
)  # fmt: skip

TEMPLATES = (
    "commit {sha1}", "Merge {sha1} into main", "index {sha7}..{sha7} 100644", "sha256:{sha256}",
    "image: app@sha256:{sha256}", '"integrity": "sha512-{b64}=="', "integrity sha512-{b64}==",
    "id: {uuid}", '{{"id": "{uuid}", "ok": true}}', 'ETag: "{md5}"',
    "request_id={uuid} status=200 time={n}ms", "{ts} INFO {word}: handled {n} requests in {n}ms",
    "checksum: {sha256}", "{ts} WARN token bucket for {word} is at {n}",
    '{ip} - - [{ts}] "GET /{word}/{n} HTTP/1.1" 200 {n}', "v{n}.{n}.{n}-rc{d}",
    "{word}=={n}.{n}.{n} --hash=sha256:{sha256}", "see https://example.com/{word}/{n}?q={word}#s{n}",
    "mail {word}@example.com", "+49 30 {n}{n}", "call (555) 555-{d}{d}{d}{d}",
    "/usr/lib/{word}/{word}-{n}.so", "C:\\Users\\{word}\\{word}.txt",
    "data:image/png;base64,iVBORw0KGgo is how a PNG starts",
    "def {word}(self, {word}: int = {n}) -> None:", "x = {word}[{n}]", "{word}_token_count = {n}",
    "max_{word}_tokens: {n}", "token = {word}.token", "password = {word}.get('password')",
    "The {word} password policy asks for {n} characters.", "our {word} token lasts {n} minutes",
    "# TODO({word}): rotate keys", "for token in {word}: yield token.{word}",
    "api_key = settings.{word}_api_key", "{word}_password: ${{{word}}}", "password=get_{word}_password()",
    "const {word} = ({word}) => {word}.map(t=>t.id);", "var a=1;function {word}(e,t){{return e+t}}",
    "- [x] {word} the secret {word}", "## Tokens and {word}", "| {word} | {n} | {word} |",
    "secret/{word}/config", "key {word}: {n}", "auth: {word}", "timeout={n} retries={d}",
    '{word}.key = "{word}"', "{ts} DEBUG auth={word} user={word} took {n}ms", "{n} tokens",
    'cache_key = f"{word}:{{user.id}}"', "etag={md5}", "sha1: {sha1}", "order {n}{n}{n} shipped",
    "epoch {epoch}", "{epoch} {word}", "{word}: {{ password: true, token: {n} }}",
    "SELECT {word}, password FROM users WHERE id = {n};", "token {word} expected at {n}",
    "class {Word}Token({Word}):", "from {word}.auth import {Word}Token, get_token",
    "raise {Word}Error(f'bad token {{token!r}}')", "The secret of {word} is {word}.",
    "{word} said the key to {word} is {word}", "password reset mail sent to {word}@example.org",
    "token={word}", "tokens_used={n}", "auth_method={word}", "secret_version: {d}", "key_id: {uuid}",
    "public_id={uuid}", "MAC {mac}", "lat {d}.{n} lon {d}.{n}", "color: #{hex6}; width: {n}px",
    "0x{hex6}{hex6}", "{word}-{hex6}-{word}", "pod/{word}-{hex6}",
)  # fmt: skip

_WORDS = (
    "server cache worker parser jellyfin backup docker stream budget router schema memory kitchen garden "
    "music invoice login release session planner harbor forest window signal render filter bridge castle "
    "marble ticket handler request response"
).split()


def _filled(template: str, rng: Random) -> str:
    word = rng.choice(_WORDS)
    clock = f"{rng.randint(10, 23)}:{rng.randint(10, 59)}:{rng.randint(10, 59)}"
    fields = {
        "sha1": chars(rng, HEX, 40),
        "sha7": chars(rng, HEX, 7),
        "sha256": chars(rng, HEX, 64),
        "md5": chars(rng, HEX, 32),
        "b64": chars(rng, BASE64, 86),
        "uuid": "-".join(chars(rng, HEX, size) for size in (8, 4, 4, 4, 12)),
        "ts": f"2024-{rng.randint(10, 12)}-{rng.randint(10, 28)}T{clock}.{rng.randint(100, 999)}Z",
        "ip": ".".join(str(rng.randint(1, 254)) for _ in range(4)),
        "mac": ":".join(chars(rng, HEX, 2) for _ in range(6)),
        "n": str(rng.randint(1, 9999)),
        "d": rng.choice(DIGITS),
        "epoch": str(rng.randint(1_600_000_000_000, 1_800_000_000_000)),
        "hex6": chars(rng, HEX, 6),
        "word": word,
        "Word": word.title(),
    }
    return template.format(**fields)


def library_lines(rng: Random, count: int) -> list[str]:
    """Lines of the standard library's own source, half of them with a word that could trigger."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    folders = ("email", "http", "urllib", "json", "asyncio", "logging", "importlib", "xml/sax", "test")
    for folder in folders:
        files += sorted(Path(sysconfig.get_paths()["stdlib"], folder).glob("*.py"))[:60]
    plain: list[str] = []
    near: list[str] = []
    for file in files:
        for line in file.read_text("utf-8", "replace").splitlines():
            if line.strip():
                about = any(
                    word in line.lower()
                    for word in ("pass", "token", "secret", "key", "auth", "pwd", "cookie")
                )
                (near if about else plain).append(line)
    return rng.sample(plain, count - count // 2) + rng.sample(near, count // 2)


def benign_lines(seed: int, count: int) -> Iterator[str]:
    """`count` lines: half of them real source, the rest from templates, and every named one."""
    rng = Random(seed)
    named = [line.replace("{{", "{").replace("}}", "}") for line in NAMED]
    yield from named
    yield from library_lines(rng, count // 2)
    for at in range(count - count // 2 - len(named)):
        yield _filled(TEMPLATES[at % len(TEMPLATES)], rng)


def without_trigger(rng: Random) -> str:
    """A text of plain words, which no rule has any business with."""
    return " ".join(chars(rng, LOWER, rng.randint(1, 9)) for _ in range(rng.randint(0, 40)))
