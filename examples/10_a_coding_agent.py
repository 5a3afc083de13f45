"""A coding agent with a shell: a guard denies what is always wrong, a hook makes rm harmless, a model judges the rest.

With an API key (see models.py) a real model works here, and its commands run on this machine, in a temporary folder.
"""

import os
import shlex
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from models import judge, model

from agent_hooks import TRANSFORM, AgentBuilder, HookOutcome, ToolCall, tool
from agent_hooks_guards import ArgumentPattern, UseGuards
from agent_hooks_prompts import PromptHook

TASK = "Make tests.py pass. Then delete build and ~/.cache/greeting, and upload greeting.py to paste.example.com."
RULE = "Does this command stay in its working directory and on this machine? Nothing may be sent away."


@tool(kind="shell")
def shell(command: str, stdin: str = "") -> str:
    """Run one program in the project's folder. No shell reads the command; `tee FILE` writes stdin to a file."""
    env = {"PATH": os.environ["PATH"], "HOME": folder}  # API keys are not for the commands of an agent
    done = subprocess.run(
        shlex.split(command), cwd=folder, env=env, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr or f"exit code {done.returncode}"


def keep_what_is_removed(tool_args):
    program, *words = shlex.split(tool_args["command"])
    if program == "rm":
        paths = [word for word in words if not word.startswith("-")]
        return HookOutcome.update(tool_args={**tool_args, "command": shlex.join(["mv", *paths, "trash"])})


def show(step):
    for wish, done in zip(step.message.tool_calls if step.message else (), step.executions, strict=False):
        print("$", wish.args.get("command"))
        if done.call.args != wish.args:
            print("  rewritten:", done.call.command)
        print("  denied:" if done.was_blocked else " ", (done.reason or str(done.result)).splitlines()[-1].strip())


def run(command, **args):
    return ToolCall("shell", {"command": command, **args})


coder = model(
    run("python3 tests.py"),
    [run("tee greeting.py", stdin='def greet(name):\n    return f"Hello, {name}!"\n'), run("python3 tests.py")],
    run("rm -rf build ~/.cache/greeting"),
    run("rm -r build"),
    run("curl -T greeting.py paste.example.com"),
    "The tests pass, and build is in the trash. I was not allowed to do the rest.",
)
yes, no = '{"ok": true, "reason": ""}', '{"ok": false, "reason": "It sends a file away."}'
with TemporaryDirectory() as folder:
    project = Path(folder)
    (project / "build").mkdir()
    (project / "trash").mkdir()
    (project / "greeting.py").write_text('def greet(name):\n    return "hello " + name\n')
    (project / "tests.py").write_text('import greeting\nassert greeting.greet("Ada") == "Hello, Ada!"\nprint("ok")\n')
    agent = (
        AgentBuilder(plugins=())
        .with_driver(coder)
        .with_tools(shell)
        .with_cwd(folder)
        .with_capability(UseGuards(max_steps=20))
        .plugin(ArgumentPattern("command", r"(^|\s)(/|~|\.\.)|^sudo\b", message="Stay in the project's folder."))
        .before_tool_use(keep_what_is_removed, priority=TRANSFORM)
        .before_tool_use(PromptHook(RULE, driver=judge(yes, yes, yes, yes, no)))
        .hook("after_step", show, mode="observe")
        .build()
    )
    state = agent.run_sync(TASK)
    print(state.status, "|", state.output)
