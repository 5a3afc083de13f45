"""Which addresses a request may go to."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.errors import HandlerError
from agent_hooks.handlers.addresses import as_literal, checked_addresses, is_any, is_loopback, is_public
from tables import tables

TABLES = tables(__file__)

PUBLIC = """
    1.1.1.1 8.8.8.8 93.184.216.34 172.15.255.255 172.32.0.0 100.63.255.255 100.128.0.0
    2606:4700:4700::1111 2a00:1450:4001:81b::200e ::ffff:8.8.8.8 64:ff9b::808:808
""".split()

# Each with what it is.
NOT_PUBLIC = TABLES["not_public"]


def addresses(host, is_allowed=is_public, port=443):
    return asyncio.run(checked_addresses(host, port, is_allowed))


@pytest.fixture
def resolver(monkeypatch):
    """Stands in for the system's resolver; records what it is asked."""
    names: dict[str, list[str]] = {}
    asked: list[str] = []

    def look_up(host, port, *_, **__):
        asked.append(host)
        if host not in names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in names[host]]

    names["asked"] = asked
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return names


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_open_internet_is_public(address):
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC, ids=[f"{key} ({what})" for key, what in NOT_PUBLIC.items()])
def test_an_address_of_this_machine_its_network_or_its_cloud_is_not_public(address):
    assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_an_ipv6_address_that_stands_for_an_ipv4_one_is_what_that_one_is(address: IPv4Address):
    mapped = IPv6Address(b"\0" * 10 + b"\xff\xff" + address.packed)
    behind_nat = IPv6Address(bytes.fromhex("0064ff9b") + b"\0" * 8 + address.packed)
    assert is_public(str(mapped)) == is_public(str(behind_nat)) == is_public(str(address))
    assert is_loopback(str(mapped)) == is_loopback(str(address))


@given(st.ip_addresses())
def test_no_address_is_both_public_and_loopback(address):
    assert not (is_public(str(address)) and is_loopback(str(address)))


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_this_machine(address):
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "1.1.1.1"])
def test_what_is_not_loopback_is_not_this_machine(address):
    assert not is_loopback(address)


def test_a_literal_is_an_address_and_no_name():
    assert [as_literal(host) for host in ("10.0.0.1", "::1", "localhost", "1.1.1.1.example")] == [
        "10.0.0.1",
        "::1",
        None,
        None,
    ]


def test_an_address_is_not_looked_up(resolver):
    assert addresses("1.1.1.1") == ["1.1.1.1"]
    assert resolver["asked"] == []


def test_a_name_leads_to_all_its_addresses_in_the_resolvers_order(resolver):
    resolver["two.example"] = ["93.184.216.34", "1.1.1.1", "93.184.216.34"]
    assert addresses("two.example") == ["93.184.216.34", "1.1.1.1"]
    assert resolver["asked"] == ["two.example"]


def test_one_address_that_is_not_public_refuses_the_whole_name(resolver):
    resolver["inside.example"] = ["93.184.216.34", "10.0.0.5"]
    with pytest.raises(HandlerError, match=r"inside.example leads to 10\.0\.0\.5.*`hosts` under \[permits\]"):
        addresses("inside.example")


def test_a_permitted_name_may_lead_anywhere(resolver):
    resolver["inside.example"] = ["10.0.0.5"]
    assert addresses("inside.example", is_any) == ["10.0.0.5"]


@pytest.mark.parametrize("host", ["nowhere.example", "a..b", "x" * 300])
def test_a_name_that_cannot_be_resolved_is_said(host, monkeypatch):
    def look_up(name, *_, **__):
        name.encode("idna")
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(HandlerError, match="cannot be resolved"):
        addresses(host)


def test_a_name_without_an_address_is_said(resolver):
    resolver["empty.example"] = []
    with pytest.raises(HandlerError, match="has no address"):
        addresses("empty.example")


def test_who_waits_for_a_resolver_that_hangs_can_give_up(monkeypatch):
    import threading

    never, finished = threading.Event(), threading.Event()

    def look_up(*_, **__):
        never.wait(5)
        finished.set()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    async def ask():
        async with asyncio.timeout(0.05):
            await checked_addresses("slow.example", 443, is_public)

    with pytest.raises(TimeoutError):
        asyncio.run(ask())
    never.set()
    assert finished.wait(5)
