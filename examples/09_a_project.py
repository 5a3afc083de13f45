"""A project brings its own hooks: none of them runs before somebody has trusted its files, and any change ends that."""

from pathlib import Path
from tempfile import TemporaryDirectory

from agent_hooks import HookConfigLoader, HookContext, ToolCall
from agent_hooks.sources.files import ProjectSource
from agent_hooks.trust import TrustStore

FILES = {
    "hookconf.py": """
from agent_hooks import HookOutcome, hookimpl


@hookimpl(match="shell")
def before_tool_use(tool_call):
    if tool_call.may_run("git", "push", flags={"--force", "-f"}):
        return HookOutcome.deny("Nobody force-pushes here.")
""",
    "migrations/hookconf.py": """
from agent_hooks import HookOutcome, hookimpl


@hookimpl(match="write|edit|delete")
def before_tool_use(ctx):
    return HookOutcome.deny("Released migrations stay as they are.")
""",
    "agent-hooks.toml": """
[[hooks.before_tool_use]]
matcher = "write|edit"
hooks = [{ type = "command", command = ["python3", "hooks/no_keys.py"] }]
""",
    "hooks/no_keys.py": """
import json
import sys

event = json.load(sys.stdin)
if "PRIVATE KEY" in event["tool_input"]["content"]:
    print(json.dumps({"decision": "deny", "reason": "Keys do not belong into a repository."}))
""",
}
CALLS = (
    ToolCall("Bash", {"command": "git push --force"}),
    ToolCall("Write", {"file_path": "deploy.pem", "content": "-----BEGIN PRIVATE KEY-----"}),
    ToolCall("Write", {"file_path": "migrations/0001_users.sql", "content": ""}),
    ToolCall("Write", {"file_path": "src/app.py", "content": ""}),
    ToolCall("Write", {"file_path": "hookconf.py", "content": ""}),  # what hooks there are is not an agent's to say
)


def show(root, store):
    source = ProjectSource(str(root), store=store)
    print(f"{source.standing.status}:", *source.standing.changes)
    hooks = HookConfigLoader(sources=[source]).load(load_plugins=False).hooks()
    for call in CALLS:
        ctx = HookContext("before_tool_use", tool_call=call, cwd=str(root), project_dir=str(root))
        outcome = hooks.dispatch_sync(ctx)
        reason = outcome.reason.partition(":")[0]
        print(f"  {call.command or call.paths[0]:<26} {outcome.decision!s:<8} {reason}".rstrip())


with TemporaryDirectory() as folder:
    root = Path(folder).resolve() / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.lstrip())
    store = TrustStore(Path(folder, "config", "trust"))  # for you: `agent-hooks trust`, and the user's own store
    show(root, store)

    project = ProjectSource(str(root), store=store).project
    print("covered:", ", ".join(sorted(file.path for file in project.files)))
    store.trust(project, project.digest)
    show(root, store)

    (root / "hooks/no_keys.py").write_text("print('{}')\n")
    show(root, store)
