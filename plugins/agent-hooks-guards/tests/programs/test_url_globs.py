"""The hosts that curl makes of one URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.programs.url_globs import expanded


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://{a,b}/x", ["http://a/x", "http://b/x"]),
        ("http://a[1-3].example/", ["http://a1.example/", "http://a2.example/", "http://a3.example/"]),
        ("http://a[08-10]/", ["http://a08/", "http://a09/", "http://a10/"]),
        ("http://a[0-4:2]/", ["http://a0/", "http://a2/", "http://a4/"]),
        ("http://[a-c]/", ["http://a/", "http://b/", "http://c/"]),
        ("http://{a,b}[1-2]/", ["http://a1/", "http://a2/", "http://b1/", "http://b2/"]),
        ("http{,s}://a/", ["http://a/", "https://a/"]),
        ("{http://a/x,http://b/y}", ["http://a/x", "http://b/y"]),
        ("http://a:{80,81}/", ["http://a:80/", "http://a:81/"]),
        ("http://a/{x,y}[1-9]", ["http://a/{x,y}[1-9]"]),
        ("http://a?x[]={}", ["http://a?x[]={}"]),
        ("http://[::1]:80/", ["http://[::1]:80/"]),
        ("file:///etc/{a,b}", ["file:///etc/a", "file:///etc/b"]),
        ("http://a/", ["http://a/"]),
        ("http://{a/", ["http://{a/"]),
        ("http://[a/", ["http://[a/"]),
        ("http://1.2.[0-255].[0-255]/", [f"http://1.2.{at}.{UNKNOWN}/" for at in range(256)]),
        ("http://[1-999999999]/", [f"http://{UNKNOWN}/"]),
        ("", [""]),
    ],
)
def test_a_url_stands_for_these(url, expected):
    assert expanded([url]) == expected


@given(st.text("ht:/{}[],-19az"))
def test_any_text_stands_for_something(url):
    assert expanded([url])


def test_many_globs_together_are_no_more_than_one():
    urls = expanded([f"http://10.{at}.0.[1-200]/" for at in range(300)])
    assert len(urls) == 200 + 299
    assert urls[-1] == f"http://10.299.0.{UNKNOWN}/"
