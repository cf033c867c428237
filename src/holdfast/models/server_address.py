"""The address of a model's server as a user writes it. Sends nothing there."""

from urllib.parse import urlsplit

from holdfast.errors import Invalid


def server_address(url: str, *, of: str, key: str) -> str:
    """The address in its one spelling. What is refused is not repeated: it may hold a secret.

    `of` is what it is the server of, `key` the setting that takes the secret instead.
    Raises: Invalid.
    """
    wrong = f"invalid address of the {of}: use http://HOST:PORT or https://HOST/PATH"
    if any(character.isspace() or not character.isprintable() for character in url):
        raise Invalid(wrong, field=of)
    try:
        parts = urlsplit(url)
        secret = parts.username is not None or parts.password is not None or parts.query or parts.fragment
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets without an address, a port that is none
        raise Invalid(wrong, field=of) from None
    if secret:
        raise Invalid(
            f"the {of}'s address must not contain a password or query: put the key into {key}", field=of
        )
    if not usable:
        raise Invalid(wrong, field=of)
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
