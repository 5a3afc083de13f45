"""The golden files: what is read from each payload and written for each outcome. Run this file to make them anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.state import Message
from agent_hooks.wire import HOSTS, Answer

GOLDEN = Path(__file__).parent / "golden"

REWRITE = {"command": "echo safe"}
OUTCOMES: dict[str, HookOutcome] = {
    "proceed": HookOutcome.proceed(),
    "allow": HookOutcome.allow("fine by me"),
    "deny": HookOutcome.deny("not here", context="read the rules"),
    "ask": HookOutcome.ask("really?"),
    "stop": HookOutcome.stop("enough"),
    "suspend": HookOutcome.suspend("a person looks at it"),
    "context": HookOutcome.proceed(context="mind the gap"),
    "force_continue": HookOutcome.force_continue("the tests are red"),
    "rewrite": HookOutcome.proceed(tool_args=REWRITE),
    "rewrite+allow": HookOutcome.allow(tool_args=REWRITE),
    "new prompt": HookOutcome.proceed(prompt="something harmless"),
    "new result": HookOutcome.proceed(result="a shorter result"),
    "new request": HookOutcome.proceed(
        request=ModelRequest(model="small", messages=(Message(role="user", content="less"),))
    ),
    "new response": HookOutcome.proceed(response=ModelResponse(content="a milder one", finish_reason="stop")),
    "new output": HookOutcome.proceed(output="a shorter answer"),
}
# Outcomes that bring a new subject, by the event that has it.
ONLY_AT = {
    "rewrite": {"before_tool_use"},
    "rewrite+allow": {"before_tool_use"},
    "new prompt": {"user_input"},
    "new result": {"after_tool_use", "after_subagent"},
    "new request": {"before_inference"},
    "new response": {"after_inference"},
    "new output": {"before_output"},
}
NOTES = ("a plugin is switched off",)


def payloads(host: str) -> dict[str, dict[str, Any]]:
    """Every recorded and documented payload of ``host``, by file."""
    folder = GOLDEN / host
    files = [*folder.glob("*.json"), *folder.glob("documented/*.json")]
    return {str(path.relative_to(folder)): json.loads(path.read_text(encoding="utf-8")) for path in sorted(files)}


def unnamed(host: str) -> dict[str, tuple[dict[str, Any], str]]:
    """Every recorded payload that does not name its event, with the event, by file."""
    files = sorted((GOLDEN / host).glob("unnamed/*.json"))
    read = {f"unnamed/{path.name}": json.loads(path.read_text(encoding="utf-8")) for path in files}
    return {file: (payload, file.split("/")[1].split(".")[0]) for file, payload in read.items()}


def shown(answer: Answer) -> dict[str, Any]:
    """An answer as a golden file has it: stdout parsed, empty parts left out."""
    stdout = json.loads(answer.stdout) if answer.stdout else None
    parts = {"stdout": stdout, "stderr": answer.stderr, "exit_code": answer.exit_code}
    return {name: value for name, value in parts.items() if value}


def build(host_name: str) -> dict[str, Any]:
    """The golden file of one host."""
    host = HOSTS[host_name]
    contexts: dict[str, object] = {}
    answers: dict[str, object] = {}
    named = {file: (payload, None) for file, payload in payloads(host_name).items()}
    for file, (payload, event) in {**named, **unnamed(host_name)}.items():
        ctx = host.read(payload, event)
        contexts[file] = {key: value for key, value in ctx.as_dict().items() if key not in ("created_at", "updated_at")}
        made = {
            name: shown(host.write(outcome, ctx))
            for name, outcome in OUTCOMES.items()
            if str(ctx.event) in ONLY_AT.get(name, {str(ctx.event)})
        }
        if ctx.event == "before_tool_use":
            made["ask, left to the host"] = shown(host.write(HookOutcome.ask("really?"), ctx, ask="host"))
        made["proceed with a note"] = shown(host.write(HookOutcome.proceed(), ctx, notes=NOTES))
        made["deny with a note"] = shown(host.write(HookOutcome.deny("not here"), ctx, notes=NOTES))
        made["failure"] = shown(host.failure(ctx.host_event, "it broke"))
        # Once per event, and apart where the tool matters.
        answers.setdefault(f"{ctx.host_event} of {ctx.tool_name}" if ctx.tool_name else ctx.host_event, made)
    return {"contexts": contexts, "answers": answers}


def text_of(golden: dict[str, Any]) -> str:
    """The file's text: one line for each field of a context and for each answer."""
    sections = []
    for section, entries in golden.items():
        blocks = []
        for entry, parts in entries.items():
            lines = [f"   {json.dumps(name)}: {json.dumps(part, ensure_ascii=False)}" for name, part in parts.items()]
            blocks.append(f"  {json.dumps(entry)}: {{\n" + ",\n".join(lines) + "\n  }")
        sections.append(f" {json.dumps(section)}: {{\n" + ",\n".join(blocks) + "\n }")
    return "{\n" + ",\n".join(sections) + "\n}\n"


if __name__ == "__main__":
    for name in HOSTS:
        (GOLDEN / f"{name}.json").write_text(text_of(build(name)), encoding="utf-8")
    sys.stdout.write("Written. Read the difference before you keep it.\n")
