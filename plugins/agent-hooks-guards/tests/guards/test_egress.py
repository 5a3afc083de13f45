"""Which hosts tools may reach, however their addresses are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import about

from agent_hooks import RegistrationError
from agent_hooks_guards.guards.egress import EgressGuard
from agent_hooks_guards.model.values import UNKNOWN
from tables import tables

TABLES = tables(__file__)


def rule_of(guard, url):
    found = guard.objection(url)
    return None if found is None else found.rule


def decision_of(guard, url):
    found = guard.objection(url)
    return None if found is None else found.decision


@pytest.mark.parametrize("url", TABLES["metadata"])
def test_a_metadata_service_is_denied_however_it_is_written(url):
    objection = EgressGuard().objection(url)
    assert objection is not None
    assert (objection.decision, objection.rule) == ("deny", "egress-metadata")


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://169.254.1.1/", "egress-link-local"),
        ("http://[fe80::1]/", "egress-link-local"),
        ("http://[fe80::1%25eth0]/", "egress-link-local"),
        ("http://10.0.0.1/", "egress-private"),
        ("http://012.1/", "egress-private"),
        ("http://172.16.5.4:9200/", "egress-private"),
        ("http://192.168.1.1", "egress-private"),
        ("http://192.168.257", "egress-private"),
        ("http://3232235777/", "egress-private"),
        ("http://100.64.0.1/", "egress-private"),
        ("http://[fc00::1]/", "egress-private"),
        ("http://[::ffff:10.0.0.1]/", "egress-private"),
        ("http://10.0.0.1.nip.io/", "egress-private"),
        ("http://printer.local/", "egress-private"),
        ("http://vault.corp./", "egress-private"),
        ("http://db.internal:5432", "egress-private"),
        ("gopher://example.com/_x", "egress-scheme"),
        ("dict://localhost:11211/stats", "egress-scheme"),
        ("http://" + "a" * 20_000, "egress-unreadable"),
    ],
)
def test_other_addresses_that_are_not_public_are_told(url, rule):
    objection = EgressGuard().objection(url)
    assert objection is not None
    assert objection.rule == rule


@pytest.mark.parametrize("url", TABLES["public_hosts_and_this_machine_are_left_alone"])
def test_public_hosts_and_this_machine_are_left_alone(url):
    assert EgressGuard().objection(url) is None


@pytest.mark.parametrize("url", TABLES["a_host_that_programs_read_differently_is_asked_about"])
def test_a_host_that_programs_read_differently_is_asked_about(url):
    objection = EgressGuard().objection(url)
    assert objection is not None
    assert (objection.decision, objection.rule) == ("ask", "egress-unreadable")
    assert decision_of(EgressGuard("relaxed"), url) == "ask"
    assert EgressGuard("off").objection(url) is None


def test_what_is_known_of_a_host_counts_for_those_that_are_denied():
    guard = EgressGuard(deny=["*.evil.com", "evil.org"], others="allow")
    assert rule_of(guard, f"https://{UNKNOWN}.evil.com/") == "egress-denied"
    assert rule_of(guard, f"https://evil.org{UNKNOWN}") == "egress-denied"
    assert guard.objection(f"https://{UNKNOWN}/evil.com") is None


def test_a_host_can_be_allowed_or_denied():
    guard = EgressGuard(
        allow=["*.example.com", "10.0.0.5", "192.168.1.*:8080"], deny=["evil.com", "*.evil.com"], others="deny"
    )
    assert guard.objection("https://api.example.com/x") is None
    assert rule_of(guard, "https://example.com/") == "egress-host"
    assert rule_of(guard, "https://api.example.com.evil.com/") == "egress-denied"
    assert rule_of(guard, "https://EVIL.com./") == "egress-denied"
    assert rule_of(guard, "https://user@evil.com:444/") == "egress-denied"
    assert guard.objection("http://10.0.0.5/") is None
    assert rule_of(guard, "http://0xa000005/") == "egress-private"  # it is the address as written that is allowed
    assert guard.objection("http://192.168.1.9:8080/") is None
    assert rule_of(guard, "http://192.168.1.9/") == "egress-private"
    assert decision_of(guard, "https://other.org/") == "deny"
    assert guard.objection("http://localhost/") is None


def test_a_port_can_be_the_usual_one_of_the_scheme():
    guard = EgressGuard(allow=["a.org:443"], others="deny")
    assert guard.objection("https://a.org/") is None
    assert guard.objection("https://a.org:443/") is None
    assert guard.objection("http://a.org/") is not None
    assert guard.objection("https://a.org:8443/") is not None


def test_an_ipv6_address_can_be_allowed():
    guard = EgressGuard(allow=["[fc00::1]:80", "fc00::2"])
    assert guard.objection("http://[fc00::1]/") is None
    assert guard.objection("http://[fc00::1]:81/") is not None
    assert guard.objection("http://[fc00::2]:81/") is None


def test_names_in_other_letters_are_the_same_name():
    guard = EgressGuard(deny=["münchen.de"])
    assert rule_of(guard, "https://xn--mnchen-3ya.de/") == "egress-denied"
    assert rule_of(guard, "https://MÜNCHEN.de/") == "egress-denied"


def test_a_metadata_service_is_allowed_by_its_whole_name_only():
    assert rule_of(EgressGuard(allow=["*"]), "http://169.254.169.254/") == "egress-metadata"
    assert rule_of(EgressGuard(allow=["169.254.*"]), "http://169.254.169.254/") == "egress-metadata"
    assert EgressGuard(allow=["169.254.169.254"]).objection("http://169.254.169.254/") is None


def test_levels():
    assert EgressGuard("relaxed").objection("http://10.0.0.1/") is None
    assert decision_of(EgressGuard("relaxed"), "http://169.254.169.254/") == "deny"
    assert decision_of(EgressGuard("strict"), "https://example.com/") == "ask"
    assert EgressGuard("strict").objection("http://localhost/") is None
    assert decision_of(EgressGuard("strict", private="deny"), "http://10.0.0.1/") == "deny"


@pytest.mark.parametrize(
    "settings", [{"level": "x"}, {"private": "x"}, {"others": "x"}, {"allow": ["https://x/"]}, {"deny": [" "]}]
)
def test_settings_that_are_none_are_refused(settings):
    with pytest.raises(RegistrationError):
        EgressGuard(**settings)


def judged(kind, args, guard=None):
    outcome = (guard or EgressGuard()).execute(about("Tool", kind=kind, args=args))
    return None if outcome is None else str(outcome.decision)


def test_every_address_of_a_call_counts():
    assert judged("fetch", {"url": "http://169.254.169.254/"}) == "deny"
    assert judged("fetch", {"uri": "10.0.0.1:8080"}) == "ask"
    assert judged("mcp", {"request": {"endpoints": ["https://example.com", "http://10.0.0.1"]}}) == "ask"
    assert judged("mcp", {"target": "  http://2852039166/"}) == "deny"
    assert (
        judged("fetch", {"url": "https://example.com", "link": ["http://10.0.0.1", "http://169.254.169.254"]}) == "deny"
    )
    assert judged("fetch", {"url": "https://example.com", "prompt": "What is 169.254.169.254?"}) is None
    assert judged("mcp", {"urls": [f"https://example.com/{at}" for at in range(2000)]}) == "deny"


def test_what_names_a_host_without_an_address_counts_for_metadata_services_alone():
    assert judged("mcp", {"host": "169.254.169.254", "path": "/latest"}) == "deny"
    assert judged("fetch", {"hostname": "2852039166"}) == "deny"
    assert judged("mcp", {"host": "db.internal", "port": 5432}) is None
    assert judged("mcp", {"host": ["a"], "server": "my server"}) is None


def test_prose_that_begins_with_an_address_is_no_address():
    assert judged("web_search", {"query": "http://[ error in python"}) is None
    assert judged("mcp", {"text": "http://a b/ is broken"}) is None
    assert judged("fetch", {"url": "http://a b/"}) == "ask"


def test_tools_that_reach_nothing_are_left_alone():
    assert judged("write", {"content": "http://169.254.169.254/", "file_path": "x"}) is None
    assert judged("shell", {"command": "curl http://169.254.169.254/"}) is None
    assert judged("fetch", {"url": "http://10.0.0.1"}, EgressGuard(match="mcp")) is None


def test_a_reason_names_host_rule_and_way_out():
    outcome = EgressGuard().execute(about("WebFetch", kind="fetch", args={"url": "http://u:pw@10.0.0.1/secret"}))
    assert outcome is not None
    assert outcome.reason == (
        "10.0.0.1 is in a private network. A person can allow the host with allow of the egress guard. [egress-private]"
    )


@given(st.text())
def test_no_address_is_too_odd(url):
    objection = EgressGuard().objection(url)
    assert objection is None or objection.decision in ("deny", "ask")
    EgressGuard().objection(f"http://{url}")
