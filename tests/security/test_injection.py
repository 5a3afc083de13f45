"""Values of events, names and secrets: none becomes a command, a header or a line of a log."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, ToolCall
from tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Victim

SECRET = "s3cr3t-0123456789"
TABLES = tables(__file__)
PLACEHOLDERS = TABLES["placeholders"]


def call(victim: Victim, **arguments: Any) -> HookContext:
    return HookContext("before_tool_use", cwd=str(victim.repo), tool_call=ToolCall("Bash", arguments))


# -- commands ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bait", TABLES["bait"])
def test_no_value_of_an_event_becomes_a_part_of_a_command(victim: Victim, bait: str):
    bait = victim.filled(bait)
    words = " ".join(PLACEHOLDERS)
    shell = {"type": "command", "command": f"printf '%s' '{words}' > seen; cat > input"}
    unquoted = {"type": "command", "command": "echo $ARGUMENTS $tool_name; cat > /dev/null"}
    plain = {"type": "command", "command": "printf", "args": ["%s", *PLACEHOLDERS]}
    settings = {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [shell, unquoted, plain]}]}}
    victim.write(".claude/settings.json", settings)
    victim.write("agent-hooks.toml", victim.table("cat > /dev/null; true " + PLACEHOLDERS[1].replace("$", "")))
    victim.trust()
    payload = {
        "tool_name": "Bash",
        "tool_input": {"command": bait, bait: bait},
        "session_id": bait,
        "tool_use_id": bait,
    }
    assert victim.run(**payload).exit_code == 0  # type: ignore[arg-type]
    assert not victim.was_hit
    assert (victim.repo / "seen").read_text() == words
    assert json.loads((victim.repo / "input").read_text())["tool_input"]["command"] == bait


def test_no_value_of_an_event_becomes_a_variable(victim: Victim):
    victim.write("agent-hooks.toml", victim.table(f"env > {victim.canary}"))
    victim.trust()
    victim.run(tool_input={"command": "x", "env": {"LD_PRELOAD": "evil"}}, LD_PRELOAD="evil", PATH="evil")
    names = {line.partition("=")[0] for line in victim.canary.read_text().splitlines()}
    assert "LD_PRELOAD" not in names
    assert "PATH=evil" not in victim.canary.read_text()


# -- headers -----------------------------------------------------------------------------------------------------------


class Heard(BaseHTTPRequestHandler):
    requests: list[list[tuple[str, str]]]

    def do_POST(self) -> None:
        self.requests.append([*self.headers.items()])
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    Heard.requests = []
    with HTTPServer(("127.0.0.1", 0), Heard) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def settings_of(server: HTTPServer, **fields: Any) -> dict[str, Any]:
    hook = {"type": "http", "url": f"http://127.0.0.1:{server.server_port}/", **fields}
    return {"hooks": {"PreToolUse": [{"hooks": [{**hook, "onFailure": "block"}]}]}}


def permitted(victim: Victim, *variables: str) -> None:
    """Let the person permit this machine and these variables, and trust the repository."""
    permits = f"[permits]\nhosts = ['127.0.0.1']\nheader_env = {[*variables]}\n"
    victim.write_own(".config/agent-hooks/agent-hooks.toml", permits)
    victim.trust()


def test_the_server_is_reached_where_the_person_permits_it(victim: Victim, server: HTTPServer):
    victim.write(".claude/settings.json", settings_of(server, headers={"x-a": "$A"}, allowedEnvVars=["A"]))
    permitted(victim, "A")
    assert victim.run(env={"A": "given"}).exit_code == 0
    assert ("x-a", "given") in Heard.requests[0]


@pytest.mark.parametrize(("headers", "says"), TABLES["headers"].values(), ids=TABLES["headers"])
def test_no_header_carries_what_it_must_not(
    victim: Victim, server: HTTPServer, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], says: str
):
    victim.write(".claude/settings.json", settings_of(server, headers=headers, allowedEnvVars=["TOKEN"]))
    permitted(victim)
    monkeypatch.setenv("TOKEN", SECRET)
    outcome = victim.asked()
    assert outcome.decision == "deny"
    assert says in outcome.reason
    assert Heard.requests == []
    assert SECRET not in repr(outcome)


@pytest.mark.parametrize("value", ["a\r\nx-evil: 1", "a\nx-evil: 1", "a\0", "\u2028"])
def test_a_variable_of_more_than_one_line_is_not_sent(victim: Victim, server: HTTPServer, value: str, monkeypatch):
    victim.write(".claude/settings.json", settings_of(server, headers={"x-a": "$A"}, allowedEnvVars=["A"]))
    permitted(victim, "A")
    manager, _ = victim.load()
    monkeypatch.setattr("os.environ", {**victim.environment, "A": value})
    outcome = manager.hooks().dispatch_sync(call(victim, command="make"))
    assert outcome.decision == "deny"
    assert "The environment variable A, which a header uses, is not one line" in outcome.reason
    assert Heard.requests == []


@pytest.mark.parametrize("name", ["Host", "Content-Length", "Transfer-Encoding", "Connection"])
def test_no_header_that_says_how_it_is_sent_is_taken_from_a_file(victim: Victim, server: HTTPServer, name: str):
    victim.write(".claude/settings.json", settings_of(server, headers={name: "evil"}))
    permitted(victim)
    assert victim.asked().decision == "proceed"
    assert "evil" not in dict(Heard.requests[0]).values()


@pytest.mark.parametrize("url", TABLES["addresses"].splitlines())
def test_a_project_reaches_no_address_of_this_machine_in_any_spelling(victim: Victim, server: HTTPServer, url: str):
    victim.write(".claude/settings.json", settings_of(server, url=url.format(server.server_port, SECRET)))
    victim.trust()
    outcome = victim.asked()
    assert outcome.decision == "deny"
    assert "settings.json" in outcome.reason
    assert Heard.requests == []
    assert SECRET not in repr(outcome)


# -- secrets -----------------------------------------------------------------------------------------------------------

BROKEN = {name: (path, text.replace("SECRET", SECRET)) for name, (path, text) in TABLES["broken"].items()}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_said_of_a_broken_file_quotes_no_value_of_it(victim: Victim, name: str):
    path, content = BROKEN[name]
    victim.write(path, content)
    victim.trust()
    manager, loader = victim.load()
    outcome = manager.hooks().dispatch_sync(call(victim, command="make"))
    assert outcome.decision == "deny"
    assert path.rpartition("/")[2] in outcome.reason
    assert SECRET not in repr((outcome, loader.findings, manager.notes, manager.describe()))


def test_the_doctor_quotes_no_value_of_broken_files(victim: Victim):
    for path, content in BROKEN.values():
        victim.write(path, content)
    victim.trust()
    assert victim.run().denies
    assert SECRET not in victim.run().said + victim.command("doctor").said


@pytest.mark.parametrize("command", ["exit 7", "kill -9 $$", "printf '{'", "nosuchprogram", "raises"])
def test_a_failing_hook_tells_nobody_what_it_was_asked_about(
    victim: Victim, caplog: pytest.LogCaptureFixture, command: str
):
    if command == "raises":
        victim.write(
            "hookconf.py", "from agent_hooks import hookimpl\n@hookimpl\ndef before_tool_use(ctx):\n    1 / 0\n"
        )
    else:
        victim.write("agent-hooks.toml", victim.table(command))
    victim.trust()
    outcome = victim.asked(tool_input={"command": f"export KEY={SECRET}"}, session_id=SECRET)
    assert outcome.decision == "deny"
    assert "agent-hooks.toml:3" in outcome.reason or "hookconf.py" in outcome.reason
    assert SECRET not in repr(outcome)
    assert SECRET not in caplog.text


def test_no_secret_is_left_in_the_folders_of_the_person(victim: Victim):
    victim.write("agent-hooks.toml", victim.table("exit 7"))
    victim.trust()
    victim.run(tool_input={"command": f"export KEY={SECRET}"}, env={"API_KEY": SECRET})
    kept = [file for file in victim.home.rglob("*") if file.is_file()]
    assert kept
    assert not [file for file in kept if SECRET.encode() in file.read_bytes()]
