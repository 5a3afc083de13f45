"""Words that clients of HTTP take from files, and from variables of curl."""

from __future__ import annotations

import shlex

import pytest

from agent_hooks_guards.model.actions import TooMuchError
from agent_hooks_guards.model.options import parse
from agent_hooks_guards.model.values import SECRET, UNKNOWN, Data
from agent_hooks_guards.programs.words_of_files import words_of_files


def words(text, **files):
    argv = shlex.split(text)
    found = words_of_files(argv[0], parse(argv[0], argv), files.get, {"KNOWN": Data("k")})
    return [each.text for each in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("url = http://a/", ["--url", "http://a/"]),
        ('url="http://a/"', ["--url", "http://a/"]),
        ("url: http://a/", ["--url", "http://a/"]),
        ("--url http://a/", ["--url", "http://a/"]),
        ("-x http://p:1", ["-x", "http://p:1"]),
        ('data = "a\\"b\\tc" rest', ["--data", 'a"b\tc']),
        ("  silent", ["--silent"]),
        ("# url = http://a/", []),
        ("", []),
        (UNKNOWN, []),
    ],
)
def test_a_line_of_a_configuration_is_an_option(line, expected):
    assert words("curl -K c", c=Data(line)) == expected


def test_a_configuration_that_is_named_again_is_read_once():
    assert words("curl -K c -K c --config c", c=Data("url=http://a")) == ["--url", "http://a"]


def test_more_lines_than_are_looked_at_are_too_much():
    with pytest.raises(TooMuchError):
        words("curl -K c", c=Data("silent\n" * 1001))


def test_all_configurations_count_and_the_persons_own():
    files = {"a": Data("url=http://a"), "b": Data("url=http://b"), "~/.curlrc": Data("proxy=p")}
    assert words("curl -K a --config b", **files) == ["--url", "http://a", "--url", "http://b", "--proxy", "p"]
    assert words("curl -q http://x", **files) == []
    assert words("curl -K unknown http://x") == []


def test_a_list_of_urls_is_given_line_by_line():
    urls = Data("http://a\n# no\n\nhttp://b\n")
    assert words("wget -i u", u=urls) == ["http://a", "http://b"]
    assert words("aria2c -i u", u=Data("http://a\thttp://b\n  all-proxy=p\n")) == [
        "http://a",
        "http://b",
        "--all-proxy=p",
    ]


def test_a_wgetrc_is_given_as_commands():
    assert words("wget --config=c x", c=Data("http_proxy = p\n# x\n")) == ["--execute=http_proxy = p"]
    assert words("wget --no-config x", **{"~/.wgetrc": Data("http_proxy = p")}) == []


def test_what_curl_calls_variables_is_put_in():
    assert words("curl --variable h=a --expand-url 'http://{{h}}/{{h:trim}}'") == ["--url", "http://a/a"]
    assert words("curl --variable h@f --expand-proxy '{{h:trim}}'", f=Data("p\n")) == ["--proxy", "p"]
    assert words("curl --variable %H --expand-url 'http://{{H}}/{{x}}'") == ["--url", f"http://{UNKNOWN}/{UNKNOWN}"]
    assert words("curl --variable %KNOWN --expand-url 'http://{{KNOWN}}/'") == ["--url", "http://k/"]
    assert words("curl --variable %H=a --expand-url 'http://{{H}}/'") == ["--url", "http://a/"]
    assert words("curl --variable h=a --expand-url 'http://{{h:b64}}/'") == ["--url", f"http://{UNKNOWN}/"]


def test_words_come_from_where_their_file_comes():
    secret = frozenset({SECRET})
    argv = ["curl", "-K", "c"]
    found = words_of_files("curl", parse("curl", argv), lambda _: Data("data = x", secret), {})
    assert [each.labels for each in found] == [secret, secret, secret, secret]
