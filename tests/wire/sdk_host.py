"""The reference host of the SDK of AGENT-HOOKS-0.1 asks our command: ``SDK-PYTHON tests/wire/sdk_host.py PYTHON``.

Runs in an environment with `agent-hooks-sdk`, whose package has our name; PYTHON is that of an environment with ours.
First the host runs the SDK's test kit twice, the second time with our command beside each script of the kit: as many
vectors must pass. Then it asks our command alone, with hooks that refuse, ask, rewrite and warn, and must do as they
say. Each verdict must be valid by the SDK's schema and by its own reader. Exit code 0: all is so.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

sdk: Any = import_module("agent_hooks")
ctk: Any = import_module("agent_hooks.ctk")
runner: Any = import_module("agent_hooks.ctk.runner")
read_response = import_module("agent_hooks.response").InterceptorResponse.parse
ReferenceHarness = import_module("agent_hooks.ctk.reference").ReferenceHarness

SCHEMA = json.loads(files("agent_hooks").joinpath("schema/verdict.schema.json").read_text("utf-8"))
VALIDATOR = import_module("jsonschema").Draft202012Validator(SCHEMA)
# What the hooks do stands in the text that they judge: a word for it, and one for the point.
RULES = """\
from agent_hooks import HookOutcome, hookimpl

def answer(point, text, **new):
    word, _, at = str(text).partition(" ")
    if at != point:
        return None
    answers = {"refuse": HookOutcome.deny("refused"), "question": HookOutcome.ask("really?"),
               "rewrite": HookOutcome.update(**new), "context": HookOutcome.update(context="told")}
    return answers[word]

@hookimpl
def session_start(ctx):
    if "refuse" in ctx.payload["agent_init"]["tools_registered"]:
        return HookOutcome.stop("refused")

@hookimpl
def user_input(prompt):
    return answer("input", prompt, prompt="clean")

@hookimpl
def before_inference(request):
    first, *rest = request.messages
    return answer("message", first.content, request=request.replace(messages=(first.replace(content="clean"), *rest)))

@hookimpl
def after_inference(response):
    return answer("response", response.content, response=response.replace(content="clean"))

@hookimpl
def before_tool_use(tool_call):
    return answer("args", tool_call.args["text"], tool_args={"text": "clean"})

@hookimpl
def after_tool_use(result):
    return answer("result", result, result="clean")

@hookimpl
def before_output(output):
    return answer("output", output, output="clean")
"""
POINTS = {
    "input": "input",
    "message": "pre_model_call",
    "response": "post_model_call",
    "args": "pre_tool_call",
    "result": "post_tool_call",
    "output": "output",
}
# Where a refusal ends the turn of the reference host, and where hooks may ask.
ENDING = {"input", "message", "response", "output"}
ASKING = {"input", "message", "args"}


class Ours:
    """An interceptor: our command, with the user's files in ``folder``. ``verdicts``: those so far."""

    def __init__(self, python: str, folder: Path) -> None:
        self.words = [python, "-m", "agent_hooks_core", "run", "--agent", "agent-hooks-0.1", "--timeout", "60"]
        self.words += ["--config-dir", str(folder)]
        self.folder = folder
        self.verdicts: list[dict[str, Any]] = []

    def intercept(self, context: dict[str, Any]) -> dict[str, Any]:
        stdin = json.dumps(context)
        done = subprocess.run(
            self.words,
            input=stdin,
            cwd=self.folder,
            env={**os.environ, "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        self.verdicts.append(json.loads(done.stdout))
        VALIDATOR.validate(self.verdicts[-1])
        read_response(done.stdout)
        return self.verdicts[-1]


class Approving:
    """Whoever may lift a deny, and does."""

    def resolve(self, request: Any) -> Any:
        approved = sdk.ApprovalOutcome("approve")
        verdict = sdk.Verdict.from_wire({"decision": "allow"})
        return sdk.ApprovalResolution(outcome=approved, context_identity=request.context_identity, verdict=verdict)


def run_kit(ours: Ours) -> None:
    """Run the test kit without our command and with it."""
    scripted = runner.ScriptedInterceptor

    class Beside(scripted):  # type: ignore[misc, valid-type]  # of the SDK
        def intercept(self, context: dict[str, Any]) -> Any:
            assert ours.intercept(context) == {"decision": "allow"}
            return super().intercept(context)

    vectors = ctk.load_vectors()
    without = ctk.run_vectors(ReferenceHarness, vectors)
    runner.ScriptedInterceptor = Beside
    beside = ctk.run_vectors(ReferenceHarness, vectors)
    runner.ScriptedInterceptor = scripted
    wrong = [(one.id, two.failures) for one, two in zip(without, beside, strict=True) if one.status != two.status]
    passed = sum(one.status == "pass" for one in beside)
    assert not wrong, wrong
    assert passed > 70
    assert not any(one.status == "fail" for one in beside)
    print(f"{passed} of {len(vectors)} vectors pass with {len(ours.verdicts)} verdicts of ours, as without them")


def play(ours: Ours, at: str, text: str, *, tool: str = "echo", resolver: Any = None) -> Any:
    """Return the record of one turn with a tool call, and ``text`` at one point."""
    texts = {**dict.fromkeys(POINTS, "hello"), at: text}
    call = {"id": "c1", "name": tool, "args": {"text": texts["args"]}}
    said = [(texts["response"], [call], "tool_calls"), (texts["output"], [], "stop")]
    script = [{"respond": dict(zip(("content", "tool_calls", "finish_reason"), one, strict=True))} for one in said]
    scenario = {
        "input": {"content": text if at in ("input", "message") else "hello", "role": "user"},
        "tools": [{"name": tool, "behavior": [{"return": texts["result"]}]}],
        "model_script": script,
    }
    host = ReferenceHarness()
    host.setup(ctk.Scenario.from_wire(scenario), [ours], resolver, sdk.EnforcementMode("enforce"))
    return asyncio.run(host.run())


def decided(run: Any, point: str) -> dict[str, Any]:
    """Return the first record of a point."""
    record: dict[str, Any] = next(each for each in run.records if each["interception_point"] == point)
    return record


def run_rules(ours: Ours) -> None:
    """Let our hooks decide at each point, and look at the things that the host did."""
    (ours.folder / "hookconf.py").write_text(RULES, encoding="utf-8")
    for at, point in POINTS.items():
        refused = play(ours, at, f"refuse {at}")
        assert decided(refused, point)["verdict"]["reason"] == "agent_hooks:deny", refused
        assert refused.outcome.value == ("blocked" if at in ENDING else "completed"), refused
        assert bool(refused.tool_invocations) == (at in ("result", "output")), refused

        rewritten = play(ours, at, f"rewrite {at}")
        verdict = decided(rewritten, point)["verdict"]
        path = "$target.content" if at in ("input", "output") else "$target"
        assert (verdict["decision"], verdict["transform"]["path"]) == ("transform", path), rewritten
        assert rewritten.outcome.value == "completed"
        assert rewritten.final_output == ("clean" if at == "output" else "hello"), rewritten
        assert rewritten.tool_invocations[0]["args"] == {"text": "clean" if at == "args" else "hello"}, rewritten

        warned = play(ours, at, f"context {at}")
        assert decided(warned, point)["verdict"]["warnings"] == [{"message": "told"}], warned
        assert warned.outcome.value == "completed"

        if at in ASKING:
            closed = play(ours, at, f"question {at}")
            assert decided(closed, point)["verdict"]["decision"] == "deny", closed
            assert not closed.tool_invocations, closed
            lifted = play(ours, at, f"question {at}", resolver=Approving())
            assert decided(lifted, point)["resolved_by"] == "approval", lifted
            assert lifted.outcome.value == "completed"
            assert lifted.tool_invocations
    stopped = play(ours, "", "", tool="refuse")
    assert [each["interception_point"] for each in stopped.records] == ["agent_startup", "agent_shutdown"], stopped
    assert stopped.outcome.value == "blocked"
    print(f"the host did as the hooks said, by {len(ours.verdicts)} verdicts")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as of_kit, tempfile.TemporaryDirectory() as of_rules:
        run_kit(Ours(sys.argv[1], Path(of_kit)))
        run_rules(Ours(sys.argv[1], Path(of_rules)))
