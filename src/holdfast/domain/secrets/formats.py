"""Tokens with a vendor's format: one row of a table per format.

A row is found by a plain search for its literal, which costs nearly nothing in a text without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from holdfast.domain.secrets.spans import PIECE, Found, Span, lazy, matches
from holdfast.domain.secrets.values import looks_mixed, looks_random

# How a row is read:
#   kind, literal, pattern           the pattern starts with the literal; a letter may stand before it
#   "=" before the kind              no letter or digit may stand before it (short ones occur in words)
#   "~" before the kind              as "=", and what is matched must also look random
#   "<" before the kind              the literal stands inside, so the pattern is looked for in the whole text
# Every repeat is bounded or last in its pattern, so that no text can make a match slow. A look behind stands
# after the first character, for the engine finds a first character faster than a place between two.
_W = r"[A-Za-z0-9_-]"
_A = r"[A-Za-z0-9]"
_H = r"[0-9a-f]"
_END = r"(?![A-Za-z0-9])"
_AWS = "aws-access-key-id"

ROWS: tuple[tuple[str, str, str], ...] = (
    # Clouds and hosting
    *((f"={_AWS}", p, rf"{p}[A-Z0-9]{{16}}{_END}") for p in ("AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA")),
    ("aws-bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    ("google-api-key", "AIza", rf"AIza{_W}{{35,}}"),
    ("google-oauth-secret", "GOCSPX-", rf"GOCSPX-{_W}{{20,}}"),
    ("=google-access-token", "ya29.", rf"ya29\.{_W}{{20,}}(?:\.{_W}+)*"),
    ("=google-refresh-token", "1//0", rf"1//0{_W}{{30,}}"),
    ("<azure-client-secret", "Q~", rf"{_W}(?<!{_W}{_W}){_W}{{2}}[0-9]Q~[A-Za-z0-9_.~-]{{31,34}}"),
    ("digitalocean-token", "do", rf"do[opr]_v1_{_H}{{64}}"),
    ("heroku-key", "HRKU-", rf"HRKU-{_W}{{30,}}"),
    ("fly-token", "FlyV1 ", r"FlyV1 fm[12][a-z]?_[A-Za-z0-9+/=_,-]{20,}"),
    ("fly-token", "fo1_", rf"fo1_{_W}{{40,}}"),
    ("=fly-token", "fm2_", r"fm2_[A-Za-z0-9+/=_-]{60,}"),
    ("netlify-token", "nfp_", rf"nfp_{_A}{{36,}}"),
    ("=render-key", "rnd_", rf"rnd_{_A}{{24,}}"),
    ("tailscale-key", "tskey-", rf"tskey-[a-z]{{3,10}}-{_W}{{16,}}"),
    ("alibaba-key-id", "LTAI", rf"LTAI{_A}{{17,24}}{_END}"),
    # Code hosts, registries, build servers
    *(("github-token", f"gh{x}_", rf"gh{x}_{_A}{{30,}}") for x in "pousr"),
    ("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("gitlab-token", "glpat-", rf"glpat-{_W}{{16,}}(?:\.{_W}+)*"),
    (
        "=gitlab-token",
        "gl",
        rf"gl(?:oas|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|wt)-(?=[a-z_-]{{0,40}}[A-Z0-9]){_W}{{16,}}(?:\.{_W}+)*",
    ),
    ("~gitlab-token", "GR1348941", rf"GR1348941{_W}{{16,}}"),
    ("bitbucket-token", "ATBB", rf"ATBB{_A}{{24,}}"),
    ("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{40,}"),
    ("~npm-token", "npm_", rf"npm_{_A}{{36,}}"),
    ("pypi-token", "pypi-", rf"pypi-AgE[A-Za-z]{_W}{{40,}}"),
    ("rubygems-key", "rubygems_", rf"rubygems_{_H}{{48}}"),
    ("~crates-token", "cio", rf"cio{_A}{{32}}{_END}"),
    ("~nuget-key", "oy2", rf"oy2[a-z0-9]{{43}}{_END}"),
    ("docker-token", "dckr_", rf"dckr_(?:pat|oat)_{_W}{{20,}}"),
    ("circleci-token", "CCIP", rf"CCIP(?:AT|RJ)_{_A}{{16,}}_{_H}{{32,}}"),
    ("buildkite-token", "bkua_", rf"bkua_{_H}{{40}}"),
    ("artifactory-key", "AKCp", rf"AKCp{_A}{{60,}}"),
    ("sonar-token", "sq", rf"sq[pua]_{_H}{{40}}"),
    # Chat and mail
    ("slack-token", "xox", r"xox[abeoprs](?:\.xox[bp])?-(?:[0-9A-Za-z]-)?[A-Za-z0-9-]{10,}"),
    ("slack-token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    (
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
    ),
    ("discord-webhook", "/api/webhooks/", rf"/api/webhooks/[0-9]{{15,22}}/{_W}{{30,}}"),
    ("<discord-token", ".", rf"[MNO](?<!{_W}[MNO]){_W}{{22,27}}\.{_W}{{6}}\.{_W}{{27,60}}"),
    ("teams-webhook", ".webhook.office.com/", r"\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{36,}"),
    ("<telegram-token", ":A", rf"[0-9](?<!{_A}[0-9])[0-9]{{6,10}}:A[A-Za-z]{_W}{{32,35}}"),
    ("=twilio-key", "SK", rf"SK{_H}{{32}}{_END}"),
    ("=twilio-sid", "AC", rf"AC{_H}{{32}}{_END}"),
    ("=sendgrid-key", "SG.", rf"SG\.{_W}{{16,40}}\.{_W}{{30,}}"),
    ("=mailgun-key", "key-", rf"key-{_H}{{32}}{_END}"),
    ("<mailchimp-key", "-us", rf"{_H}(?<!{_A}{_H}){_H}{{31}}-us[0-9]{{1,2}}{_END}"),
    ("brevo-key", "xkeysib-", rf"xkeysib-{_H}{{64}}-{_A}{{16}}"),
    ("~resend-key", "re_", rf"re_{_A}{{6,12}}_{_A}{{16,}}"),
    # Money and shops
    *(
        ("stripe-key", f"{p}_{m}_", rf"{p}_{m}_{_A}{{16,}}")
        for p in ("sk", "rk")
        for m in ("live", "test", "prod")
    ),
    ("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    ("shopify-token", "shp", rf"shp(?:at|ca|pa|ss|tka|ua)_{_A}{{32,}}"),
    ("square-token", "sq0", rf"sq0(?:atp|csp|idp)-{_W}{{22,}}"),
    ("~square-token", "EAAA", rf"EAAA{_W}{{56,}}"),
    ("~facebook-token", "EAA", rf"EAA{_A}{{80,}}"),
    ("braintree-token", "access_token$", rf"access_token\$(?:production|sandbox)\${_A}{{16}}\${_H}{{32}}"),
    ("easypost-key", "EZ", rf"EZ[AT]K{_A}{{54}}"),
    ("flutterwave-key", "FLWSECK", rf"FLWSECK(?:_TEST)?-{_A}{{12,}}(?:-X)?"),
    # Models
    ("anthropic-key", "sk-ant-", rf"sk-ant-{_W}{{20,}}"),
    ("openai-key", "sk-proj-", rf"sk-proj-{_W}{{20,}}"),
    ("openai-key", "sk-svcacct-", rf"sk-svcacct-{_W}{{20,}}"),
    ("openrouter-key", "sk-or-", rf"sk-or-v1-{_H}{{48,}}"),
    ("~openai-key", "sk-", rf"sk-{_W}{{20,}}"),
    ("~elevenlabs-key", "sk_", rf"sk_{_H}{{48}}{_END}"),
    ("~huggingface-token", "hf_", rf"hf_{_A}{{30,}}"),
    ("~huggingface-token", "api_org_", rf"api_org_{_A}{{30,}}"),
    ("~groq-key", "gsk_", rf"gsk_{_A}{{40,}}"),
    ("~replicate-token", "r8_", rf"r8_{_A}{{30,}}"),
    ("~perplexity-key", "pplx-", rf"pplx-{_A}{{40,}}"),
    ("~xai-key", "xai-", rf"xai-{_A}{{60,}}"),
    ("~cerebras-key", "csk-", r"csk-[a-z0-9]{40,}"),
    ("~fireworks-key", "fw_", rf"fw_{_A}{{20,}}"),
    ("~voyage-key", "pa-", rf"pa-{_W}{{40,}}"),
    ("~pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,}"),
    ("~tavily-key", "tvly-", rf"tvly-{_W}{{20,}}"),
    ("~firecrawl-key", "fc-", rf"fc-{_H}{{32}}{_END}"),
    ("langsmith-key", "lsv2_", rf"lsv2_[a-z]{{2}}_{_H}{{32}}_{_H}{{8,}}"),
    # Work tools and data
    ("linear-key", "lin_", rf"lin_(?:api|oauth)_{_A}{{32,}}"),
    ("~notion-token", "ntn_", rf"ntn_{_A}{{40,}}"),
    ("~notion-token", "secret_", rf"secret_{_A}{{40,}}"),
    ("~figma-token", "fig", rf"fig[dour]_{_W}{{36,}}"),
    ("postman-key", "PMAK-", rf"PMAK-{_H}{{24}}-{_H}{{34}}"),
    ("=airtable-token", "pat", rf"pat{_A}{{14}}\.{_H}{{64}}"),
    ("contentful-token", "CFPAT-", rf"CFPAT-{_W}{{40,}}"),
    ("typeform-token", "tfp_", rf"tfp_{_W}{{40,}}"),
    ("databricks-token", "dapi", rf"dapi{_H}{{32}}(?:-[0-9])?{_END}"),
    ("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}"),
    ("supabase-key", "sbp_", rf"sbp_(?:v0_)?{_H}{{40}}"),
    ("supabase-key", "sb_secret_", rf"sb_secret_{_W}{{20,}}"),
    ("~dropbox-token", "sl.", rf"sl\.(?:u\.)?{_W}{{100,}}"),
    # Watching
    ("grafana-token", "glsa_", rf"glsa_{_A}{{32}}_{_H}{{8}}"),
    ("grafana-token", "glc_", r"glc_[A-Za-z0-9+/=]{32,}"),
    ("~grafana-key", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/=]{40,}"),
    ("newrelic-key", "NR", rf"NR(?:AK|II|JS|AA|RA|BR)-{_A}{{19,}}"),
    ("sentry-token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_-]{30,}"),
    ("<sentry-dsn", "@o", rf"{_H}(?<=://{_H}){_H}{{31}}(?::{_H}{{32}})?(?=@o[0-9]{{1,20}}\.ingest\.)"),
    ("dynatrace-token", "dt0", rf"dt0[a-z][0-9]{{2}}\.{_A}{{24}}\.{_A}{{60,}}"),
    # Vaults and infrastructure
    ("=vault-token", "hv", rf"hv[sbr]\.{_W}{{24,}}"),
    ("~vault-token", "s.", rf"s\.{_A}{{24}}(?![A-Za-z0-9_(.])"),
    ("<terraform-token", ".atlasv1.", rf"{_A}(?<!{_A}{_A}){_A}{{13}}\.atlasv1\.[A-Za-z0-9_=-]{{40,}}"),
    ("doppler-token", "dp.", rf"dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_A}{{40,}}"),
    ("pulumi-token", "pul-", rf"pul-{_H}{{40}}"),
    ("prefect-key", "pnu_", rf"pnu_{_A}{{36}}"),
    ("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/=_-]{100,}"),
    ("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Za-z0-9]{50,}"),
    (
        "jwt",
        "eyJ",
        rf"(?:(?<!{_W})|(?<=%[0-9A-F][0-9A-F]))eyJ{_W}{{8,}}\.{_W}{{8,}}(?:\.{_W}*)?(?:\.{_W}*){{0,2}}",
    ),
)


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def find_formats(text: str) -> Found:
    """Every token in a known provider's format."""
    aws: list[Span] = []
    long = len(text) > PIECE
    for row, literal, expression in ROWS:
        if long:
            yield None
        for span in _matched(text, row, literal, expression) if literal in text else ():
            yield span
            if span is not None and span[2] == _AWS:
                aws.append(span)
    yield from _aws_secrets(text, aws)


_forty = lazy(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")


def _aws_secrets(text: str, spans: list[Span]) -> Iterator[Span]:
    """The secret half of an AWS key pair, which has no prefix but follows the other half."""
    for _, end, _ in spans:
        near = _forty().search(text, end, end + 160)
        if near and looks_mixed(near[0]):
            yield *near.span(), "aws-secret-key"


def _matched(text: str, row: str, literal: str, expression: str) -> Found:
    kind = row.lstrip("=~<")
    if row[0] == "<":
        for inside in matches(_pattern(expression), text):
            yield inside and (*inside.span(), kind)
        return
    match = _pattern(expression).match
    at, pause = text.find(literal), PIECE
    while at >= 0:
        if at >= pause:
            pause = at + PIECE
            yield None
        resume = at + 1
        if (row[0] not in "=~" or _free_before(text, at)) and (found := match(text, at)):
            resume = found.end()
            if row[0] != "~" or _drawn(found[0]):
                yield *found.span(), kind
        at = text.find(literal, resume)


def _drawn(token: str) -> bool:
    return looks_mixed(token) or looks_random(token, at_least=20)


def _free_before(text: str, at: int) -> bool:
    """Whether no letter or digit comes before, except at the end of a percent escape."""
    if at == 0 or not (text[at - 1].isalnum() and text[at - 1].isascii()):
        return at == 0 or text[at - 1] not in "_"
    return at >= 3 and text[at - 3] == "%" and all(c in "0123456789abcdefABCDEF" for c in text[at - 2 : at])
