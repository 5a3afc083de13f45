"""What may be written down."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_secrets import SECRETS

from agent_hooks import RegistrationError, ToolCall
from agent_hooks_guards.guards.redaction import DEFAULT_FIELDS, Redaction
from agent_hooks_guards.guards.secret_scan import REDACTED, without_secrets

LONG = 100_000
BODY = ["MIIE" + "a1B2c3D4e5" * 6, "b2C3d4E5f6" * 6 + "Q9/+", "c3D4e5F6g7" * 4 + "w="]
PEM = "\n".join((f"-----BEGIN {'PRIVATE KEY'}-----", *BODY, f"-----END {'PRIVATE KEY'}-----\n"))


def redacted(value, fields=("password",), max_length=LONG):
    redaction = Redaction(fields, max_length)
    return redaction.value(value, redaction.secrets_in(value))


def test_the_value_of_a_named_key_is_left_out_at_any_depth():
    value = {"user": "u", "a": [{"b": {"password": {"old": "hunter1", "new": "hunter2"}}}]}
    assert redacted(value) == {"user": "u", "a": [{"b": {"password": REDACTED}}]}


@pytest.mark.parametrize("key", ["api_key", "apiKey", "API-KEY", "ApiKey", "API_KEY", "apikey"])
def test_case_and_joints_of_a_key_make_no_difference(key):
    assert redacted({key: "x"}, fields=DEFAULT_FIELDS) == {key: REDACTED}


@pytest.mark.parametrize(
    "key",
    ["db_password", "X-Auth-Token", "AWS_SECRET_ACCESS_KEY", "tokens", "Proxy-Authorization", "api.keys", "Set-Cookie"],
)
def test_a_key_that_ends_in_a_name_is_meant_by_it(key):
    assert redacted({key: "x"}, fields=DEFAULT_FIELDS) == {key: REDACTED}


@pytest.mark.parametrize("key", ["token_type", "keyboard", "path", "command", "secretary", ""])
def test_a_key_that_ends_otherwise_is_not(key):
    assert redacted({key: "x"}, fields=DEFAULT_FIELDS) == {key: "x"}


def test_a_name_without_letters_which_would_mean_every_key_is_refused():
    with pytest.raises(RegistrationError, match="a letter or a digit"):
        Redaction(["password", "_"], LONG)


def test_what_stood_there_is_left_out_of_all_other_texts_too():
    value = {"password": "hunter2", "command": "login --with hunter2", "hunter2": 1, "n": [["hunter2!"]]}
    assert redacted(value) == {
        "password": REDACTED,
        "command": f"login --with {REDACTED}",
        REDACTED: 1,
        "n": [[f"{REDACTED}!"]],
    }


def test_a_number_may_be_secret_too():
    assert redacted({"password": 123456, "n": 123456, "t": "no 123456", "m": 7}) == {
        "password": REDACTED,
        "n": REDACTED,
        "t": f"no {REDACTED}",
        "m": 7,
    }


def test_a_very_short_secret_is_left_out_under_its_key_only():
    assert redacted({"password": "abc", "text": "abc"}) == {"password": REDACTED, "text": "abc"}


def test_a_secret_is_left_out_before_a_text_is_cut():
    """Cutting first could leave the half of it that nobody looks for any more."""
    assert redacted({"password": "hunter2", "text": "12345hunter2"}, max_length=9) == {
        "password": REDACTED,
        "text": "12345[red... (15 characters)",
    }


def test_objects_are_named_and_not_described():
    class Client:
        def __repr__(self) -> str:
            return "Client(password=hunter2)"

    assert redacted({"client": Client(), "raw": b"hunter2"}) == {"client": "<Client>", "raw": "<bytes>"}


def test_values_of_agent_hooks_are_read_like_tables():
    assert redacted(ToolCall("login", {"password": "hunter2"})) == {"name": "login", "args": {"password": REDACTED}}


def test_deep_nesting_is_cut_and_still_searched_for_secrets():
    deep: dict[str, Any] = {"password": "hunter2"}
    for _ in range(200):
        deep = {"x": [deep]}
    written = json.dumps(redacted({"deep": deep, "text": "hunter2"}))
    assert "hunter2" not in written
    assert "nested too deeply" in written


secrets = st.text(max_size=20).map("s3cr3t-{}".format)  # no other word of what is written


@given(
    secret=secrets,
    path=st.lists(st.sampled_from(["key", None]), max_size=6),
    inside=st.lists(st.sampled_from(["key", None]), max_size=3),
    name=st.sampled_from(["password", "Password", "PASS-WORD", "pass_word"]),
    said=st.sampled_from(["{}", "it is {}, really", "{}{}", "'{}'"]),
    quote=st.sampled_from([str, repr, json.dumps]),
)
def test_a_secret_under_a_redacted_key_never_appears_at_any_depth_in_any_spelling(
    secret, path, inside, name, said, quote
):
    value = secret
    for step in inside:
        value = {"key": value} if step else [value]
    value = {name: value}
    for step in path:
        value = {"key": value} if step else [value]
    whole = {"key": value, "said": said.format(quote(secret), quote(secret))}
    written = redacted(whole)
    assert secret not in str(written["said"])
    assert json.dumps(secret)[1:-1] not in json.dumps(written)


KEY_FORMS = {
    "raw": PEM,
    "one line": PEM.replace("\n", ""),
    "carriage returns": PEM.replace("\n", "\r\n"),
    "escaped": PEM.replace("\n", "\\n"),
    "a service account": json.dumps({"type": "service_account", "private_key": PEM}),
    "the same in a text": json.dumps(json.dumps({"private_key": PEM})),
    "the same in a text of a text": json.dumps(json.dumps(json.dumps({"private_key": PEM}))),
    "Gson": json.dumps({"private_key": PEM}).replace("=", "\\u003d"),
    "PHP": json.dumps({"private_key": PEM.replace("A", "/")}).replace("/", "\\/"),
    "a dict": str({"private_key": PEM}),
    "without an end": json.dumps({"private_key": PEM.partition("-----END")[0]}),
}


@pytest.mark.parametrize("form", KEY_FORMS)
@pytest.mark.parametrize("around", ["{}", "TOKEN={}", "API_TOKEN={} rm -rf /", "KEY: {}", "password='{}' run", "-p{}"])
def test_a_private_key_goes_whole_wherever_it_stands(form, around):
    text = around.format(KEY_FORMS[form])
    written = json.dumps(redacted({"command": text, "said": KEY_FORMS[form]}, fields=DEFAULT_FIELDS))
    assert not [line for line in BODY if line[:20] in written or line[-20:] in written]


def test_a_value_in_quotes_goes_whole():
    text = """{"password": "correct horse", 'secret': 'battery staple', \\"token\\": \\"a b\\", "user": "ada"}"""
    left = """{"password": "[redacted]", 'secret': '[redacted]', \\"token\\": \\"[redacted]\\", "user": "ada"}"""
    assert redacted(text) == left


def test_the_mark_of_a_secret_is_no_place_for_another():
    assert redacted({"password": ["redacted", "private-key"], "text": f"redacted {PEM}"}) == {
        "password": REDACTED,
        "text": f"{REDACTED} [redacted: private-key]\n",
    }


pieces = st.sampled_from(
    (
        *(secret for _, secret in SECRETS),
        *KEY_FORMS.values(),
        *("[redacted]", "[redacted: jwt]", "[redacted: private-key]", "redacted", "private-key", "hunter2x"),
        *("TOKEN=", "password: ", '"private_key":"', '"secret": "', "--token ", "curl -u ada:", "https://u:", "@h/"),
        *("Authorization: Bearer ", "mysql -p", "Cookie: a=", '"', "'", "\\", " ", "\n", "=", ":", "-", "&", "x"),
    )
)


@given(texts=st.lists(st.lists(pieces, max_size=6).map("".join), max_size=3), field=pieces)
def test_redacting_twice_changes_nothing(texts, field):
    once = redacted({"texts": texts, "password": field}, fields=DEFAULT_FIELDS)
    assert redacted(once, fields=DEFAULT_FIELDS) == once
    for text in texts:
        assert without_secrets(without_secrets(text)) == without_secrets(text)
