"""Http hooks, against real servers on loopback, most of them bad ones."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import struct
import sys
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_hooks import HookManager, HookPolicy
from agent_hooks.errors import HandlerError, InvalidOutcomeError, RegistrationError
from agent_hooks.formats.entry import HookEntry, Permits
from agent_hooks.handlers.http_config import HttpConfig
from agent_hooks.handlers.registering import register_entries
from handlers.servers import DENY, answering, entry_of, hook_of, over_tls, sending, silent, to, tool_call
from tables import tables

TABLES = tables(__file__)

SECRET = "s3cr3t-t0k3n"

pytestmark = [pytest.mark.interpreter, pytest.mark.usefixtures("nothing_left")]


# -- the request -------------------------------------------------------------------------------------------------------


def test_the_event_is_posted_as_json(serve, ask):
    server = serve()
    ask(to(server, "/check?strict=1&note=%C3%A4"))
    line, headers, body = server.requests[0]
    payload = json.loads(body)
    assert line == "POST /check?strict=1&note=%C3%A4 HTTP/1.1"
    assert headers["host"] == f"127.0.0.1:{server.port}"
    assert headers["content-type"] == headers["accept"] == "application/json"
    assert (payload["hook_event_name"], payload["tool_name"]) == ("PreToolUse", "Bash")
    assert payload["tool_input"] == {"command": "git push"}


@pytest.mark.parametrize("text", ["echo 'ä€😀\0\n\"\\ud800'", "x" * 5_000_000], ids=["of any kind", "long"])
def test_a_text_arrives_as_it_is(serve, text):
    server = serve()
    to(server)(tool_call(command=text))
    assert json.loads(server.requests[0][2])["tool_input"]["command"] == text


def test_a_host_that_is_an_ipv6_address_keeps_its_brackets(serve):
    server = serve(address="::1")
    hook_of(f"http://[::1]:{server.port}/")(tool_call())
    assert server.requests[0][1]["host"] == f"[::1]:{server.port}"


def test_proxies_of_the_environment_are_not_used(serve, ask, monkeypatch):
    server, proxy = serve(), serve()
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    ask(to(server))
    assert (server.connections, proxy.connections) == (1, 0)


# -- its answer --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["toml", "claude", "skill"])
def test_a_deny_denies(serve, ask, form):
    outcome = ask(to(serve(answering(DENY)), form=form))
    assert (outcome.decision, outcome.reason) == ("deny", "Not on a Friday.")


@pytest.mark.parametrize("form", ["toml", "claude", "skill"])
@pytest.mark.parametrize("status", ["200 OK", "201 Created", "204 No Content"])
def test_an_empty_answer_is_no_opinion(serve, form, status):
    body_less = sending(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
    assert to(serve(body_less), form=form)(tool_call()) is None


@pytest.mark.parametrize("status", ["301 Moved", "400 Bad Request", "403 Forbidden", "500 Oops", "503 Busy"])
def test_another_status_is_a_failure_whatever_the_body_says_and_a_deny_for_a_skill(serve, status):
    server = serve(answering(b'{"decision": "allow"}', status))
    for form in ("toml", "claude"):
        with pytest.raises(HandlerError, match=status[:3]):
            to(server, form=form)(tool_call())
    outcome = to(server, form="skill")(tool_call())
    assert (outcome.decision, outcome.reason) == ("deny", f"HTTP hook returned status {status[:3]}")


def test_a_status_that_denies_does_so_without_waiting_for_its_body(serve, ask):
    def behave(connection):
        connection.request()
        connection.send(b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.forever(b"4\r\nwait\r\n", pause=0.01)

    assert ask(to(serve(behave), form="skill", timeout=20.0)).reason == "HTTP hook returned status 403"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_redirects_are_not_followed(serve, ask, status):
    elsewhere = serve(answering(b'{"decision": "allow"}'))
    server = serve(answering(b"", status, f"Location: http://127.0.0.1:{elsewhere.port}/"))
    with pytest.raises(HandlerError, match=status[:3]):
        ask(to(server))
    assert elsewhere.connections == 0


# -- bad servers -------------------------------------------------------------------------------------------------------


def slow_headers(connection):
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\n")
    connection.forever(b"X-Slow: 1\r\n", pause=0.02)


def slow_body(connection):
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    connection.forever(b" ", pause=0.02)


def never_reads(connection):
    connection.server.reading.wait(30)
    connection.wait_for_end()


def slow_informational(connection):
    connection.request()
    connection.forever(b"HTTP/1.1 102 Processing\r\n\r\n", pause=0.02)


def endless_informational(connection):
    connection.request()
    connection.forever(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


@pytest.mark.parametrize(
    "behave", [slow_headers, slow_body, silent, never_reads, slow_informational, endless_informational]
)
def test_the_deadline_is_one_for_the_whole_exchange(serve, ask, behave):
    server = serve(behave)
    started = time.monotonic()
    with pytest.raises(HandlerError, match=r"127\.0\.0\.1: no answer within 0\.3 s"):
        ask(to(server, timeout=0.3))
    assert 0.3 <= time.monotonic() - started < 15
    server.reading.set()  # only now would a server that never reads see that the client is gone
    assert server.gone.acquire(timeout=30)


def test_a_request_that_nobody_reads_ends_at_the_deadline_too(serve):
    server = serve(never_reads)
    with pytest.raises(HandlerError, match="no answer within"):
        to(server, timeout=0.3)(tool_call(command="x" * 20_000_000))


def test_a_resolver_that_hangs_is_in_the_deadline(monkeypatch, ask):
    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: never.wait(30))
    with pytest.raises(HandlerError, match=r"slow\.example: no answer within 0\.2 s"):
        ask(hook_of("https://slow.example/", timeout=0.2))
    never.set()


def test_tls_that_hangs_is_in_the_deadline(serve, ask):
    with pytest.raises(HandlerError, match="no answer within"):
        ask(hook_of(f"https://127.0.0.1:{serve(silent_tls).port}/", timeout=0.2))


def silent_tls(connection):
    connection.wait_for_end()


def endless_body(connection):
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    connection.forever(b"10000\r\n" + b"x" * 65536 + b"\r\n")


def endless_header(connection):
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nX-Long: ")
    connection.forever(b"x" * 65536)


def huge_length(connection):
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
    connection.forever(b"x" * 65536)


def test_an_answer_may_be_nearly_as_long_as_the_limit_each_time(serve):
    hook = to(serve(answering(b" " * 900_000 + DENY)))
    assert [hook(tool_call()).decision for _ in range(3)] == ["deny"] * 3


def test_a_compressed_answer_is_not_unpacked(serve, ask):
    bomb = gzip.compress(b" " * 100_000_000)
    server = serve(answering(bomb, "200 OK", "Content-Encoding: gzip"))
    with pytest.raises(HandlerError, match="compressed"):
        ask(to(server))
    assert server.requests[0][1]["accept-encoding"] == "identity"


def reset_in_the_middle(connection):
    connection.request()
    connection.send(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"decision": "allow"}')
    connection.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_at_once(connection):
    connection.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


BROKEN = {
    "an endless body": endless_body,
    "an endless header": endless_header,
    "a huge length": huge_length,
    "reset in the middle": reset_in_the_middle,
    "reset at once": reset_at_once,
    "binary": sending(bytes(range(256))),
    **{kind: sending(text.encode()) for kind, text in TABLES["broken"].items()},
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_answer_is_a_failure(serve, ask, kind):
    server = serve(BROKEN[kind])
    with pytest.raises(HandlerError) as caught:
        ask(to(server, timeout=20.0))
    assert "no answer within" not in str(caught.value)
    assert server.gone.acquire(timeout=30)


def test_a_closed_port_is_a_failure_that_says_so(ask):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(HandlerError, match=r"(?i)127\.0\.0\.1: .*(refused|connect)"):
        ask(hook_of(f"http://127.0.0.1:{port}/"))


HEADERS = st.sampled_from([b"Content-Length", b"Transfer-Encoding", b"Connection", b"Content-Encoding", b"X", b""])
VALUES = st.sampled_from([b"chunked", b"close", b"identity", b"gzip", b"-1", b"2", b"9" * 5000, b"\xff"]) | st.binary()
ANSWERS = st.builds(
    lambda status, headers, body: b"HTTP/1.%s\r\n%s\r\n%s" % (status, b"".join(headers), body),
    st.sampled_from([b"1 200 OK", b"0 200 OK", b"1 204 No", b"1 100 Go", b"9 200 OK", b"1 999 X", b"1 2e2 OK"]),
    st.lists(st.builds(b"%s: %s\r\n".__mod__, st.tuples(HEADERS, VALUES)), max_size=4),
    st.sampled_from([b"{}", b"2\r\n{}\r\n0\r\n\r\n", b"-1\r\n", b"f" * 40 + b"\r\n"]) | st.binary(),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(ANSWERS | st.binary())
def test_whatever_a_server_sends_is_an_answer_or_a_failure_and_quickly(scripted, answer):
    hook, answers = scripted
    answers[:] = [answer]
    outcome, problem = None, ""
    try:
        outcome = hook(tool_call())
    except (HandlerError, InvalidOutcomeError) as error:
        problem = str(error)
    assert outcome is None
    assert "no answer within" not in problem


@pytest.fixture
def scripted(serve):
    """A hook, and the list of which its server sends the first."""
    answers = [b""]

    def behave(connection):
        sending(answers[0])(connection)

    return to(serve(behave), timeout=5.0), answers


def test_messages_never_have_the_path_which_may_be_a_secret(serve):
    for behave in (sending(b""), answering(b"x"), answering(b"", "500 Oops"), endless_header):
        with pytest.raises(HandlerError) as caught:
            to(serve(behave), f"/services/{SECRET}?key={SECRET}")(tool_call())
        assert SECRET not in str(caught.value)


def test_failures_in_a_row_leave_no_descriptor_open(serve):
    hook = to(serve(reset_in_the_middle))

    def failing():
        for _ in range(20):
            with pytest.raises(HandlerError):
                hook(tool_call())

    failing()
    before = len(os.listdir("/dev/fd"))
    failing()
    assert len(os.listdir("/dev/fd")) <= before + 1  # the server may be closing its last one


@pytest.mark.parametrize(("url", "options", "says"), TABLES["refused"])
def test_what_cannot_be_asked_is_refused_at_load(url, options, says):
    with pytest.raises(RegistrationError, match=says):
        hook_of(url, **options)


# -- addresses ---------------------------------------------------------------------------------------------------------

PRIVATE_URLS = """
    https://10.0.0.1/ https://192.168.0.1/ https://172.16.5.4/ https://169.254.169.254/latest https://100.64.0.1/
    https://0.0.0.0/ https://[::]/ https://[::ffff:10.0.0.1]/ https://[::ffff:169.254.169.254]/ https://[fd00::1]/
    https://[fe80::1]/ https://0x0a000001/ https://167772161/ https://012.0.0.1/ https://10.1/ https://[64:ff9b::a00:1]/
    http://10.0.0.1/ http://0.0.0.0/
""".split()


@pytest.mark.parametrize("source", ["managed", "user", "code", "plugin", "project", "skill"])
@pytest.mark.parametrize("url", PRIVATE_URLS)
def test_an_address_that_is_not_public_is_refused_at_load(url, source):
    with pytest.raises(RegistrationError, match=r"url: .* is not a public address.*`hosts` under \[permits\]"):
        hook_of(url, source=source)


def test_a_name_and_password_in_the_url_are_refused_and_not_told():
    with pytest.raises(RegistrationError) as caught:
        hook_of(f"https://me:{SECRET}@hooks.example/")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("address", ["10.0.0.5", "169.254.169.254", "127.0.0.1", "100.64.0.9", "0.0.0.0"])
def test_a_name_that_leads_to_an_address_that_is_not_public_is_not_asked(resolver, serve, ask, address):
    server = serve()
    resolver["inside.example"] = [address]
    with pytest.raises(HandlerError, match=r"inside\.example leads to .*not a public one"):
        ask(hook_of(f"https://inside.example:{server.port}/"))
    assert server.connections == 0


def test_localhost_that_leads_to_another_machine_is_not_asked(resolver, ask):
    resolver["localhost"] = ["93.184.216.34"]
    with pytest.raises(HandlerError, match=r"localhost leads to .*, which is not one of this machine"):
        ask(hook_of("http://localhost:9/"))


@pytest.fixture
def only_this_is_public(monkeypatch):
    """127.0.0.1 stands for the open internet."""
    monkeypatch.setattr("agent_hooks.handlers.http.is_public", lambda address: address == "127.0.0.1")


def test_a_name_that_leads_elsewhere_the_second_time_is_not_asked_twice(
    only_this_is_public, resolver, serve_tls, certificate, ask, monkeypatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
    resolver["hooks.test"] = ["127.0.0.1", "169.254.169.254"]
    server = serve_tls(answering(DENY, "200 OK", "Connection: close"))
    hook = hook_of(f"https://hooks.test:{server.port}/")
    assert ask(hook).reason == "Not on a Friday."
    assert resolver["asked"] == ["hooks.test"]  # what was checked is what was connected to
    assert server.gone.acquire(timeout=5)
    with pytest.raises(HandlerError, match=r"leads to 169\.254\.169\.254"):  # a new connection is checked anew
        ask(hook)
    assert resolver["asked"] == ["hooks.test", "hooks.test"]
    assert server.connections == 1


@pytest.mark.parametrize("permitted", ["inside.example", "INSIDE.example", "inside.example."])
@pytest.mark.parametrize("host", ["inside.example", "Inside.Example", "inside.example."])
def test_a_permitted_host_is_asked_by_http_and_wherever_it_is(resolver, serve, permitted, host):
    server = serve(answering(DENY))
    resolver["inside.example"] = resolver["inside.example."] = ["127.0.0.1"]
    hook = hook_of(f"http://{host}:{server.port}/", source="project", permits=Permits(hosts=(permitted,)))
    assert hook(tool_call()).decision == "deny"


def test_a_permitted_host_permits_none_that_is_only_like_it():
    permits = Permits(hosts=("inside.example",))
    for host in ("x.inside.example", "inside.example.org", "inside-example", "example"):
        with pytest.raises(RegistrationError):
            hook_of(f"http://{host}/", permits=permits)


def test_a_permitted_address_may_be_written_with_or_without_brackets(serve):
    server = serve(address="::1")
    for permitted in ("::1", "[::1]"):
        hook = hook_of(f"http://[::1]:{server.port}/", source="project", permits=Permits(hosts=(permitted,)))
        hook(tool_call())
    assert len(server.requests) == 2


def test_an_address_that_does_not_answer_gives_way_to_the_next(serve, monkeypatch, ask):
    server = serve(answering(DENY))
    found = [(2, 1, 6, "", (address, server.port)) for address in ("127.0.0.3", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert ask(hook_of(f"http://localhost:{server.port}/")).decision == "deny"


# -- TLS ---------------------------------------------------------------------------------------------------------------


def test_the_name_is_kept_for_tls_and_for_host(serve_tls, certificate, resolver, monkeypatch, ask):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
    resolver["hooks.test"] = ["127.0.0.1"]
    server = serve_tls(answering(DENY))
    assert ask(over_tls(server, "hooks.test")).decision == "deny"
    assert server.names == ["hooks.test"]
    assert server.requests[0][1]["host"] == f"hooks.test:{server.port}"


def test_a_certificate_for_another_name_is_refused_before_anything_is_sent(
    serve_tls, certificate, resolver, monkeypatch, ask
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
    resolver["other.test"] = ["127.0.0.1"]
    server = serve_tls()
    with pytest.raises(HandlerError, match=r"other\.test: .*certificate is not valid for 'other\.test'"):
        ask(over_tls(server, "other.test"))
    assert server.requests == []


def test_a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_sent(serve_tls, ask):
    server = serve_tls()
    with pytest.raises(HandlerError, match="CERTIFICATE_VERIFY_FAILED"):
        ask(over_tls(server, "127.0.0.1"))
    assert server.requests == []


def test_a_server_without_tls_is_no_https_server(serve, ask):
    server = serve(sending_at_once)
    with pytest.raises(HandlerError, match=r"127\.0\.0\.1: "):
        ask(over_tls(server, "127.0.0.1"))
    assert server.requests == []


def sending_at_once(connection):
    connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    connection.wait_for_end()


# -- headers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "headers", "allowed", "sent"), TABLES["headers"])
def test_a_header_is_sent_as_its_format_has_it(serve, ask, monkeypatch, form, headers, allowed, sent):
    for name, value in (("TOKEN", SECRET), ("OTHER", "other"), ("BLANK", "\t blank ")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("UNSET", raising=False)
    server = serve()
    ask(to(server, form=form, headers=headers, allowedEnvVars=allowed))
    found = server.requests[0][1]
    assert {name: found[name] for name in sent} == sent


def test_variables_of_a_skill_are_those_that_the_user_permits():
    config = {"form": "skill", "source": "skill", "headers": {"X-Token": "$TOKEN"}, "allowedEnvVars": ["TOKEN"]}
    assert callable(hook_of("https://hooks.example/", permits=Permits(header_env=("TOKEN",)), **config))
    with pytest.raises(RegistrationError, match="the user has not permitted \\$TOKEN"):
        hook_of("https://hooks.example/", **config)


def test_a_variable_is_read_at_each_request(serve, monkeypatch):
    server = serve()
    hook = to(server, headers={"X-Token": "$TOKEN"}, allowed_env_vars=["TOKEN"])
    for value in ("old", "new"):
        monkeypatch.setenv("TOKEN", value)
        hook(tool_call())
    assert [headers["x-token"] for _, headers, _ in server.requests] == ["old", "new"]


def test_a_variable_that_is_not_set_is_a_failure(serve, monkeypatch, ask):
    monkeypatch.delenv("TOKEN", raising=False)
    server = serve()
    with pytest.raises(HandlerError, match="TOKEN, which a header uses, is not set"):
        ask(to(server, headers={"X-Token": "$TOKEN"}, allowed_env_vars=["TOKEN"]))
    assert server.connections == 0


@pytest.mark.parametrize("form", ["toml", "claude"])
@pytest.mark.parametrize("source", ["plugin", "project", "skill"])
def test_a_project_gets_no_variable_that_the_user_has_not_permitted(form, source, monkeypatch):
    monkeypatch.setenv("TOKEN", SECRET)
    config = {"form": form, "source": source, "headers": {"X-Token": "$TOKEN"}, "allowedEnvVars": ["TOKEN"]}
    with pytest.raises(RegistrationError, match=r"'TOKEN' to `header_env` under \[permits\]"):
        hook_of("https://hooks.example/", **config)
    assert callable(hook_of("https://hooks.example/", permits=Permits(header_env=("TOKEN",)), **config))


def test_a_variable_with_a_line_break_is_refused_and_not_told(serve, monkeypatch, ask):
    server = serve()
    for value in (f"{SECRET}\r\nX-Evil: 1", f"{SECRET}\nX-Evil: 1", f"{SECRET}\n", f"{SECRET}\r", f"{SECRET}€"):
        monkeypatch.setenv("TOKEN", value)
        with pytest.raises(HandlerError, match="TOKEN, which a header uses, is not one line") as caught:
            ask(to(server, form="claude", headers={"X-Token": "$TOKEN"}, allowedEnvVars=["TOKEN"]))
        assert SECRET not in str(caught.value)
    assert server.connections == 0


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])))
def test_whatever_a_variable_holds_it_is_sent_as_one_header_or_not_at_all(serve_once, monkeypatch, value):
    server, hook = serve_once
    monkeypatch.setenv("TOKEN", value)
    server.requests.clear()
    problem = ""
    try:
        hook(tool_call())
    except HandlerError as error:
        problem = str(error)
    if problem:
        assert "TOKEN" in problem
        assert server.requests == []
    else:
        ((_, headers, _),) = server.requests
        names = {"host", "accept-encoding", "content-type", "accept", "user-agent", "x-token", "content-length"}
        assert set(headers) == names
        assert headers["x-token"] == value.strip(" \t")


@pytest.fixture
def serve_once(serve):
    server = serve()
    return server, to(server, headers={"X-Token": "$TOKEN"}, allowed_env_vars=["TOKEN"])


@pytest.mark.parametrize("name", ["Host", "Content-Length", "transfer-encoding", "Connection", "Accept-Encoding"])
def test_a_file_does_not_say_how_the_request_is_sent(serve, name):
    with pytest.raises(RegistrationError, match="leave it out"):
        hook_of("https://hooks.example/", headers={name: "1"})
    server = serve(answering(DENY))
    assert to(server, form="claude", headers={name: "1"})(tool_call()).decision == "deny"
    assert server.requests[0][1].get(name.lower()) != "1"


def test_cookies_are_not_kept(serve):
    server = serve(answering(b"{}", "200 OK", "Set-Cookie: a=b"))
    hook = to(server)
    hook(tool_call())
    hook(tool_call())
    assert "cookie" not in server.requests[1][1]


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", TABLES["wrong"])
def test_a_wrong_field_is_refused_and_no_key_turns_the_rules_off(config):
    with pytest.raises(ValidationError):
        HttpConfig.model_validate({"url": "https://hooks.example/", **config})


def test_the_timeout_is_30_seconds_unless_the_file_says_otherwise():
    assert HttpConfig.model_validate({"url": "https://hooks.example/"}).timeout == 30.0


def test_both_spellings_of_a_key_are_read():
    config = {"url": "https://hooks.example/", "allowedEnvVars": ["A"], "statusMessage": "Asking"}
    own = {"url": "https://hooks.example/", "allowed_env_vars": ["A"], "status_message": "Asking"}
    assert HttpConfig.model_validate(config) == HttpConfig.model_validate(own)


def test_without_httpcore_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpcore", None)
    monkeypatch.delitem(sys.modules, "agent_hooks.handlers.connections")
    monkeypatch.delattr("agent_hooks.handlers.connections")
    with pytest.raises(RegistrationError, match=r"pip install 'agent-hooks-core\[http\]'"):
        hook_of("https://hooks.example/")


# -- in a dispatch -----------------------------------------------------------------------------------------------------


def hooks_of(entry: HookEntry):
    manager = HookManager(load_plugins=False, policy=HookPolicy())
    assert register_entries(manager, "file", [entry]) == []
    return manager.hooks()


@pytest.mark.parametrize(
    ("form", "decision"),
    [("toml", "deny"), ("claude", "proceed"), ("skill", "proceed")],
    ids=["toml", "claude", "skill"],
)
def test_a_lost_connection_means_what_the_format_says(serve, form, decision):
    server = serve(reset_at_once)
    hooks = hooks_of(entry_of(f"http://127.0.0.1:{server.port}/", form=form))
    assert hooks.dispatch_sync(tool_call()).decision == decision
    assert asyncio.run(hooks.dispatch(tool_call())).decision == decision


def test_a_sync_dispatch_in_an_event_loop_says_what_to_do_and_sends_nothing(serve):
    server = serve(answering(b"{}"))
    hooks = hooks_of(entry_of(f"http://127.0.0.1:{server.port}/"))

    async def dispatch():
        return hooks.dispatch_sync(tool_call())

    outcome = asyncio.run(dispatch())
    assert outcome.decision == "deny"
    assert "await hooks.dispatch(ctx)" in outcome.reason
    asyncio.run(hooks.dispatch(tool_call()))
    assert server.connections == len(server.requests) == 1
