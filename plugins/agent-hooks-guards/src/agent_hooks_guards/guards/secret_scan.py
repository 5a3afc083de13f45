"""Finds keys, tokens and passwords in a text by the forms that their issuers gave them.

Only what looks like nothing else is found: a prefix that one issuer uses, followed by as many characters as it issues;
private keys; passwords in addresses. Never a text for its randomness alone: hashes, identifiers and images are as
random. A placeholder (``ghp_xxxx…``, ``AKIAIOSFODNN7EXAMPLE``, ``user:${PASSWORD}@``) is none. The forms are those that
the issuers document.

They are written out here because the maintained detectors were not good enough for a hook: detect-secrets 1.5 takes
0.16 s to import, six times as long for a text, did not know the keys of six current issuers, and takes their documented
examples for keys.
"""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern
    from typing import Any

# Kind, what every one of them contains, and the whole of it: from that mark on, with `<` what may stand before it.
# Repeats have an end, so that no text takes longer than its length asks for.
_FORMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"A[KSBC][IC]A[A-Z2-7]{16}(?![A-Z0-9])"),
    (
        "aws-secret-key",
        ("ecret_access_key", "ecretAccessKey", "ECRET_ACCESS_KEY", "ecret_key", "ECRET_KEY"),
        r"(?i:ecret_?(?:access_?)?key)[\"']?\s{0,4}(?:[:=]|=>)\s{0,4}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    ("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{50,70}"),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
        r"gl[a-z]{2,6}-[\w-]{20,300}",
    ),
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[a-z]{2,10}\d{2}-[\w-]{32,200}"),
    ("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), r"sk-[a-z]{4,8}-[\w-]{32,300}"),
    ("openai-key", ("sk-",), r"sk-(?:[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})(?![\w-])"),
    ("openrouter-key", ("sk-or-v1-",), r"sk-or-v1-[a-f0-9]{64}"),
    ("google-api-key", ("AIza",), r"AIza[\w-]{35}(?![\w-])"),
    ("google-oauth-secret", ("GOCSPX-",), r"GOCSPX-[\w-]{28}"),
    ("google-oauth-token", ("ya29.",), r"ya29\.[\w-]{30,2000}"),
    ("huggingface-token", ("hf_",), r"hf_[A-Za-z]{34}(?![\w])"),
    ("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{52}"),
    ("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{80}"),
    ("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{48}"),
    ("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{37}(?!\w)"),
    ("langsmith-key", ("lsv2_",), r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    ("slack-token", ("xox",), r"xox[abeoprs](?:\.xox[bp])?-(?:\d-)?[A-Za-z0-9]{8,}[\w-]{10,300}"),
    ("slack-token", ("xapp-",), r"xapp-\d-[A-Z0-9]{8,20}-\d{8,20}-[a-f0-9]{32,80}"),
    (
        "slack-webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{6,20}/[A-Za-z0-9]{6,40}/[A-Za-z0-9]{16,80}",
    ),
    ("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/\d{15,21}/[\w-]{60,80}"),
    ("telegram-token", (":AA",), r"<\d{8,10}>:AA[\w-]{33}(?![\w-])"),
    ("stripe-key", ("sk_live_", "rk_live_"), r"[sr]k_live_[A-Za-z0-9]{16,247}"),
    ("stripe-webhook-secret", ("whsec_",), r"whsec_[A-Za-z0-9+/]{32,64}"),
    ("square-token", ("sq0atp-", "sq0csp-"), r"sq0(?:atp|csp)-[\w-]{22,43}"),
    ("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("sendgrid-key", ("SG.",), r"SG\.[\w-]{22}\.[\w-]{43}"),
    ("mailgun-key", ("key-",), r"key-[a-f0-9]{32}(?!\w)"),
    ("brevo-key", ("xkeysib-",), r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("twilio-key", ("SK",), r"SK[a-f0-9]{32}(?!\w)"),
    ("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36}(?!\w)"),
    ("npm-token", ("_authToken=",), r"_authToken=(?P<secret>[A-Za-z0-9][\w.=+/-]{19,500})"),
    ("pypi-token", ("pypi-AgE",), r"pypi-AgE[\w-]{50,1000}"),
    ("rubygems-key", ("rubygems_",), r"rubygems_[a-f0-9]{48}"),
    ("crates-token", ("cio",), r"cio[A-Za-z0-9]{32}(?!\w)"),
    ("docker-token", ("dckr_pat_", "dckr_oat_"), r"dckr_[op]at_[\w-]{27,40}"),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[a-f0-9]{64}"),
    ("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[\w-]{24,300}"),
    ("terraform-token", (".atlasv1.",), r"<[A-Za-z0-9]{14}>\.atlasv1\.[\w-]{60,80}"),
    ("pulumi-token", ("pul-",), r"pul-[a-f0-9]{40}"),
    ("databricks-token", ("dapi",), r"dapi[a-f0-9]{32}(?:-\d)?(?!\w)"),
    ("doppler-token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    ("linear-key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}"),
    ("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{40,60}"),
    ("figma-token", ("figd_",), r"figd_[\w-]{40}"),
    ("postman-key", ("PMAK-",), r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("newrelic-key", ("NRAK-",), r"NRAK-[A-Z0-9]{27}"),
    ("grafana-token", ("glsa_",), r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}"),
    ("grafana-token", ("glc_eyJ",), r"glc_eyJ[A-Za-z0-9+/=]{32,400}"),
    ("sentry-token", ("sntrys_eyJ",), r"sntrys_eyJ[A-Za-z0-9+/=_]{80,1000}"),
    ("sentry-token", ("sntryu_",), r"sntryu_[a-f0-9]{64}"),
    ("planetscale-token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,64}"),
    ("supabase-key", ("sbp_",), r"sbp_[a-f0-9]{40}"),
    ("supabase-key", ("sb_secret_",), r"sb_secret_[\w-]{20,80}"),
    ("fly-token", ("FlyV1 fm", "fo1_"), r"(?:FlyV1 fm\d[ar]?_[A-Za-z0-9+/=,_]{80,2000}|fo1_[\w-]{43})"),
    ("netlify-token", ("nfp_",), r"nfp_[A-Za-z0-9]{36}"),
    ("render-key", ("rnd_",), r"rnd_[A-Za-z0-9]{32}(?!\w)"),
    ("buildkite-token", ("bkua_",), r"bkua_[a-f0-9]{40}"),
    ("airtable-token", ("pat",), r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("tailscale-key", ("tskey-",), r"tskey-[a-z]{3,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,48}"),
    ("atlassian-token", ("ATATT3",), r"ATATT3[\w=-]{100,300}"),
    ("azure-client-secret", ("7Q~", "8Q~"), r"<[A-Za-z0-9_~.]{3}>[78]Q~[\w~.-]{31,34}(?![\w~.-])"),
    (
        "azure-storage-key",
        ("AccountKey=", "SharedAccessKey="),
        r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/]{43,86}={1,2})",
    ),
    ("alibaba-key", ("LTAI",), r"LTAI[A-Za-z0-9]{20}(?!\w)"),
    ("onepassword-token", ("ops_eyJ",), r"ops_eyJ[\w-]{200,2000}"),
    ("age-key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("jwt", ("eyJ",), r"eyJ[\w-]{10,1000}\.eyJ[\w-]{10,4000}\.[\w-]{20,1000}"),
)

# What somebody wrote so that no one takes it for a secret.
# The last one is the subject "1234567890" of the JWT that every text about them shows.
_PLACEHOLDERS = ("example", "placeholder", "redacted", "....", "****", "eyjzdwiioiixmjm0nty3odkwi")
_SHORT_PLACEHOLDERS = (*_PLACEHOLDERS, "xxxx", "your", "dummy", "changeme", "replace", "insert")
_FEWEST_CHARACTERS = 5  # different ones, in what an issuer made
_LONGEST_LEAD = 24  # characters that belong to a token before its mark, or to an address before "://"

_URL = r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<user>[^\s:/@\"'<>`]{0,128}):(?P<secret>[^\s/@\"'<>`]{3,256})@(?P<host>[\w.-]{1,255})"
_LONGEST_LOGIN = 400  # characters
_LONGEST_SAID = 256  # characters of a text that only its key tells for a secret
_PLAIN_PASSWORDS = frozenset(
    (
        *(
            "password",
            "passwd",
            "pass",
            "pwd",
            "pw",
            "secret",
            "user",
            "username",
            "postgres",
            "root",
            "admin",
            "guest",
        ),
        *(
            "test",
            "token",
            "mysql",
            "redis",
            "rabbitmq",
            "mongo",
            "default",
            "apikey",
            "api_key",
            "api-key",
            "x-oauth-basic",
        ),
    )
)
_MARKS = frozenset("${}[]()*")
_OWN_HOSTS = ("localhost", "127.", "0.0.0.0", "example.", "host.docker.internal")  # noqa: S104
_EXAMPLE_HOSTS = (".example.com", ".example.org", ".example.net", ".example", ".test", ".invalid", ".localhost")

_KEY_MARK = "PRIVATE KEY"
_PUTTY_MARK = "Private-Lines:"
_LONGEST_KEY = 32 * 1024  # characters
_LONGEST_HEAD = 40
_KEY_LETTERS = r"(?:[A-Za-z0-9+/=:,\s\"'-]|\\[nrt])*"
_KEY_PIECE = "[A-Za-z0-9+/]{20}"


class Found:
    """A secret in a text: its ``kind``, and from where to where it goes."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Found({self.kind!r}, {self.start}, {self.end})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Found) and (self.kind, self.start, self.end) == (other.kind, other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.kind, self.start, self.end))


def find(text: str) -> list[Found]:
    """Return the secrets in ``text``, in order, none inside another. The time is in proportion to the text's length."""
    found: list[Found] = []
    for number, (_, marks, _) in enumerate(_FORMS):
        for mark in marks:
            if mark in text:
                found.extend(_of_form(text, number, mark))
    if _KEY_MARK in text or _PUTTY_MARK in text:
        found += _private_keys(text)
    if "://" in text:
        found += _passwords(text)
    if len(found) > 1:
        found.sort(key=lambda each: (each.start, -each.end))
        kept = found[:1]
        for each in found[1:]:
            if each.start >= kept[-1].end:
                kept.append(each)
            elif each.end > kept[-1].end:  # they overlap: the whole of both goes
                kept[-1] = Found(kept[-1].kind, kept[-1].start, each.end)
        return kept
    return found


def redacted(text: str, found: list[Found]) -> str:
    """Return ``text`` with ``[redacted: kind]`` for what was found in it."""
    parts: list[str] = []
    at = 0
    for each in found:
        parts += (text[at : each.start], f"[redacted: {each.kind}]")
        at = each.end
    return "".join((*parts, text[at:]))


def without_secrets(text: str) -> str:
    """Return ``text`` with ``[redacted: kind]`` for each secret in it."""
    return redacted(text, find(text))


def as_setting(key: Any, text: Any) -> str:
    """Return key and text as one setting, if the text may be a secret only by what its key says; or ""."""
    if not isinstance(key, str) or not isinstance(text, str) or len(text) > _LONGEST_SAID or "key" not in key.lower():
        return ""
    return f'{key}: "{text}"'


@lru_cache(maxsize=len(_FORMS))
def _compiled(at: int) -> tuple[Pattern[str], Pattern[str] | None]:
    """The pattern from the mark on, and the one for what stands before the mark."""
    import re

    pattern = _FORMS[at][2]
    if pattern[0] != "<":
        return re.compile(pattern), None
    before, _, pattern = pattern[1:].partition(">")
    return re.compile(pattern), re.compile(rf"(?:(?<!\w)|(?<=\\[nrt]))(?:{before})\Z")


def _of_form(text: str, number: int, mark: str) -> Iterator[Found]:
    kind = _FORMS[number][0]
    pattern, before = _compiled(number)
    # The name of a setting may be a part of a longer one.
    is_name = "secret" in pattern.groupindex
    at = text.find(mark)
    while at != -1:
        start, match = at, None
        if before is not None:
            lead = before.search(text[max(0, at - _LONGEST_LEAD) : at])
            if lead is not None:
                start -= len(lead[0])
                match = pattern.match(text, at)
        elif is_name or at == 0 or not _continues(text, at):
            match = pattern.match(text, at)
        if match is None:
            at = text.find(mark, at + 1)
            continue
        group: str | int = "secret" if is_name else 0
        if not _is_placeholder(match[group], _SHORT_PLACEHOLDERS):
            yield Found(kind, match.start(group) if is_name else start, match.end(group))
        at = text.find(mark, match.end())


def _continues(text: str, at: int) -> bool:
    """Whether a word goes on at ``at``: then this is no beginning of a token."""
    letter = text[at - 1]
    if not (letter.isalnum() or letter == "_" or (letter == "-" and text[at - 2 : at - 1].isalnum())):
        return False
    # Of a text inside of another, `\n` and the like end a word.
    return not (letter in "nrt" and text[at - 2 : at - 1] == "\\")


def _is_placeholder(secret: str, parts: tuple[str, ...]) -> bool:
    lower = secret.lower()
    return any(part in lower for part in parts) or len(set(lower[4:])) < _FEWEST_CHARACTERS


def _private_keys(text: str) -> Iterator[Found]:
    at = text.find(_KEY_MARK)
    while at != -1:
        head = text.rfind("-----BEGIN ", max(0, at - _LONGEST_HEAD), at)
        start = text.find("-----", at, at + _LONGEST_HEAD) + 5
        if head != -1 and start > 4:
            inner = _key_at(text, start, "-----", len(text))
            if inner:
                end = start + len(inner)
                tail = text.find("-----", end + 5, end + _LONGEST_HEAD) if text.startswith("-----END", end) else -1
                yield Found("private-key", head, tail + 5 if tail != -1 else end)
        at = text.find(_KEY_MARK, at + 1)
    at = text.find(_PUTTY_MARK)
    while at != -1:
        start = at + len(_PUTTY_MARK)
        at = text.find(_PUTTY_MARK, start)
        inner = _key_at(text, start, "Private-MAC", at if at != -1 else len(text))
        if inner:
            yield Found("private-key", start, start + len(inner))


def _key_at(text: str, start: int, ending: str, until: int) -> str:
    """Return the key that begins at ``start``, up to ``ending`` or, where it was cut off, as far as it goes; or "".
    What is behind ``until`` or too far away is not looked at.
    """
    import re

    until = min(until, start + _LONGEST_KEY)
    end = text.find(ending, start, until)
    inner = text[start : end if end != -1 else until]
    match = re.match(_KEY_LETTERS, inner)
    length = match.end() if match is not None else 0
    if end != -1 and length < len(inner):
        return ""  # a text about keys
    inner = inner[:length]
    return inner if re.search(_KEY_PIECE, inner) and not _is_placeholder(inner, _PLACEHOLDERS) else ""


@lru_cache(maxsize=1)
def _url_pattern() -> Pattern[str]:
    import re

    return re.compile(_URL)


def _passwords(text: str) -> Iterator[Found]:
    """Passwords in addresses of other machines."""
    at = text.find("://")
    while at != -1:
        if text.find("@", at, at + _LONGEST_LOGIN) != -1:
            start = at
            while start > max(0, at - _LONGEST_LEAD) and (text[start - 1].isalnum() or text[start - 1] in "+.-"):
                start -= 1
            match = _url_pattern().match(text, start)
            if match is not None and not _is_plain_password(match["user"], match["secret"], match["host"]):
                yield Found("url-password", match.start("secret"), match.end("secret"))
        at = text.find("://", at + 3)


def _is_plain_password(user: str, secret: str, host: str) -> bool:
    """Whether it is no secret, or one that is none outside of this machine."""
    lower, host = secret.lower(), host.lower()
    if lower == user.lower() or host.startswith(_OWN_HOSTS) or host.endswith(_EXAMPLE_HOSTS):
        return True
    if secret[0] == "%" or not _MARKS.isdisjoint(secret):  # to be filled in
        return True
    if lower in _PLAIN_PASSWORDS or any(part in lower for part in _SHORT_PLACEHOLDERS):
        return True
    return len(set(secret)) < _FEWEST_CHARACTERS
