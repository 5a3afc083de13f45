"""A project with everything that a trust covers, a home with everything that is its owner's, and the gate for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent_hooks import HookContext, HookManager, ToolCall
from agent_hooks.model.outcome import Decision
from agent_hooks.trust.gate import Protection
from environments import Gated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from agent_hooks import HookOutcome

FILES = {
    "hookconf.py": "raise RuntimeError('never run')\n",
    "agent-hooks.toml": "",
    "README.md": "# A project\n",
    "src/app.py": "x = 1\n",
    "hooks/check.py": "print('{}')\n",
    "hooks/notes.md": "notes\n",
    ".claude/settings.json": '{"hooks": {}}\n',
    ".claude/agents/guard.md": "---\nname: guard\nhooks:\n  PreToolUse: []\n---\nBe careful.\n",
    ".claude/agents/plain.md": "---\nname: plain\n---\nBe quick.\n",
    "skills/guarded/SKILL.md": "---\nname: guarded\nhooks:\n  PreToolUse: []\n---\nSteps.\n",
    "skills/plain/SKILL.md": "---\nname: plain\n---\nSteps.\n",
    "pyproject.toml": '[project]\nname = "a"\nversion = "1"\n\n[tool.agent_hooks.policy]\non_gate_failure = "closed"\n',
    "broken/pyproject.toml": "[tool.agent_hooks]\nbroken = \n",
    "inner/pyproject.toml": "[tool.agent_hooks.policy]\nshadow = false\n",
    "package/pyproject.toml": '[project]\nname = "b"\nversion = "1"\n',
    "bad.patch": "--- a/hookconf.py\n+++ b/hookconf.py\n@@ -1 +1 @@\n-raise\n+pass\n",
    "good.patch": "--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n",
    "template/.claude/settings.json": "{}\n",
    "template/hookconf.py": "\n",
    "template/agent-hooks/agent-hooks.toml": "\n",
    "template/table.toml": "[tool.agent_hooks]\ndisabled = []\n",
}


class Guarded:
    """The project ``root``, the home ``home``, and what the gate says about calls in it."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        self.manager = HookManager(load_plugins=False)
        # The manifest of the project, settings of which only a part counts included.
        trusted = ("hookconf.py", "agent-hooks.toml", "hooks/check.py", "pyproject.toml", "skills/guarded/SKILL.md")
        # And what is the user's own, which need not be there.
        users = [home / ".claude" / name for name in ("settings.json", "settings.local.json")]
        self.gate = Protection([*(str(root / name) for name in trusted), *map(str, users)])
        self.manager.register(self.gate, "agent_hooks.protection", source="managed")

    def call(self, tool: str, args: dict[str, Any], *, kind: str | None = None, cwd: str | None = None) -> HookOutcome:
        call = ToolCall(tool, args, kind=kind)
        ctx = HookContext.before_tool_use(None, call, cwd=str(self.root) if cwd is None else cwd)
        outcome = self.manager.hooks().run_sync(ctx)
        assert not outcome.failed, outcome.reason
        return outcome

    def denies(self, tool: str, args: dict[str, Any], *, kind: str | None = None, cwd: str | None = None) -> bool:
        outcome = self.call(tool, args, kind=kind, cwd=cwd)
        is_denied = outcome.decision is Decision.DENY
        assert is_denied or outcome.decision is Decision.PROCEED
        if is_denied:
            assert "denied to agents" in outcome.reason
            assert "ask a person" in outcome.reason
        return is_denied

    def denies_command(self, command: str, *, cwd: str | None = None) -> bool:
        return self.denies("Bash", {"command": command}, cwd=cwd)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """The gate in a project, with the folders of a home that is not the machine's."""
    home = tmp_path_factory.mktemp("home")
    root = home / "project"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    trust = home / ".config" / "agent-hooks" / "trust"
    trust.mkdir(parents=True)
    (home / ".local" / "state" / "agent-hooks").mkdir(parents=True)
    (root / "notes.txt").symlink_to(root / ".claude" / "settings.json")
    (root / "shortcut").symlink_to(trust.parent)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AGENT_HOOKS_CONFIG_DIR", "AGENT_HOOKS_STATE_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(home))
        yield Guarded(root, home)


@pytest.fixture(scope="session", params=["inside", "outside"])
def gated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gated]:
    """The gate in an environment of the project, and in one of its own."""
    with Gated(tmp_path_factory.mktemp("gated"), inside=request.param == "inside") as made:
        yield made
