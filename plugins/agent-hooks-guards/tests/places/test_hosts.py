"""What a host is, in every spelling of its address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.places.credentials import host_of
from agent_hooks_guards.places.hosts import address_kinds, host_kind


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://169.254.169.254/", {"metadata"}),
        ("http://localhost:3000/x", {"loopback"}),
        ("localhost:9200", {"loopback"}),
        (":8080", {"loopback"}),
        ("http://localhost.example.com/", {"public"}),
        ("http://localhost@example.com/", {"public"}),
        ("http://localhost#@example.com/", {"loopback", "public"}),
        (f"http://{UNKNOWN}/", {"unknown"}),
        ("", {"unknown"}),
        ("http://" + "a" * 20_000, {"unknown"}),
    ],
)
def test_an_address_is_what_its_host_is_by_every_way_of_reading_it(address, expected):
    assert address_kinds(address) == expected


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "{0:#x}", "0{0:o}"]))
def test_an_address_is_the_same_as_one_number(number, form):
    dotted = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    assert host_kind(form.format(number)) == host_kind(dotted) == host_kind(f"::ffff:{dotted}")


@pytest.mark.parametrize(
    ("address", "host"),
    [("https://ada:pw@A.test:8443/x?y#z", "a.test"), ("a.test:22", "a.test"), ("http://[::1]:80/", "::1"), ("", "")],
)
def test_the_host_of_an_address_has_no_user_port_or_path(address, host):
    assert host_of(address) == host
