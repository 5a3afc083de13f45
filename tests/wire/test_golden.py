"""Each payload is read into the context, and each outcome written as the answer, that the golden files show."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft7Validator

from agent_hooks.model.context import HookContext
from agent_hooks.wire import HOSTS
from wire.clients import GOLDEN, codex_schema, leaves
from wire.golden_files import build, payloads, text_of


@pytest.mark.parametrize("host", HOSTS)
def test_every_context_and_answer_is_the_golden_one(host):
    """If the difference is meant: `python tests/wire/golden_files.py`, then read it."""
    assert build(host) == json.loads((GOLDEN / f"{host}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("host", HOSTS)
def test_the_golden_file_is_as_its_program_writes_it(host):
    written = (GOLDEN / f"{host}.json").read_text(encoding="utf-8")
    assert written == text_of(json.loads(written))


@pytest.mark.parametrize("host", HOSTS)
def test_every_context_survives_serialisation(host):
    for file, payload in payloads(host).items():
        ctx = HOSTS[host].read(payload)
        again = HookContext.from_dict(json.loads(json.dumps(ctx.as_dict())))
        assert again.as_dict() == ctx.as_dict(), file


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_of_a_payload_is_dropped(host):
    """Every leaf of the payload is somewhere in the context."""
    for file, payload in payloads(host).items():
        ctx = HOSTS[host].read(payload)
        shown = json.dumps(ctx.as_dict())
        for key, value in payload.items():
            if key in ("duration_ms", "duration") and ctx.tool_execution is not None:
                value /= 1000
            if (host, key) == ("agent-hooks-0.1", "tool_result"):  # the rest is told by the event
                value = value["value"]
            if key in ("tool_input", "tool_output", "result_json") and isinstance(value, str) and value[0] == "{":
                value = json.loads(value)
            for leaf in leaves(value):
                # Cursor has names for MCP tools with a prefix and without.
                written = json.dumps(leaf)
                assert written in shown or f":{written[1:]}" in shown or written[1:-1] in shown, f"{file}: {key}"


def test_every_documented_codex_payload_fits_its_schema():
    for file, payload in payloads("codex").items():
        name = "".join("-" + c.lower() if c.isupper() else c for c in payload["hook_event_name"]).lstrip("-")
        path = GOLDEN / "codex" / "schemas" / f"{name}.command.input.schema.json"
        if path.exists():
            Draft7Validator(json.loads(path.read_text(encoding="utf-8"))).validate(payload)
        else:
            assert payload["hook_event_name"].endswith("ModelRequest"), file


def test_every_golden_codex_answer_fits_the_published_schema():
    golden = json.loads((GOLDEN / "codex.json").read_text(encoding="utf-8"))
    seen = 0
    for event, answers in golden["answers"].items():
        schema = codex_schema(event.split()[0])
        for name, answer in answers.items():
            if "stdout" in answer:
                assert schema is not None, (event, name)
                schema.validate(answer["stdout"])
                seen += 1
    assert seen > 50
