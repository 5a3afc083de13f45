"""The real coding agents, in a home of their own, asked one thing without a terminal."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

# A session on a loaded machine; it ends by itself long before, and one that does not is a failure.
PATIENCE = 300


class Client(NamedTuple):
    """A published version of a coding agent.

    ``configure`` writes into the home what makes it ask the model at a URL and returns what its environment needs
    besides. ``argv`` stands between its program and the prompt, with the URL where it says so. ``shell`` is its tool
    for commands, ``key`` the argument with the command, ``args`` are the others.
    """

    name: str
    host: str
    package: str
    version: str
    program: str
    configure: Callable[[Path, str], Mapping[str, str]]
    argv: tuple[str, ...]
    shell: str
    args: Mapping[str, Any] = {}
    key: str = "command"

    def call(self, command: str) -> tuple[str, dict[str, Any]]:
        """A call of its shell."""
        return self.shell, {self.key: command, **self.args}

    def asks(self, prompt: str, url: str) -> tuple[str, ...]:
        """The words behind the program that put the prompt to it; its model is at the URL."""
        return (*(word.replace("URL", url) for word in self.argv), prompt)


def _claude(home: Path, url: str) -> Mapping[str, str]:
    state = {"hasCompletedOnboarding": True, "bypassPermissionsModeAccepted": True}
    (home / ".claude.json").write_text(json.dumps(state))
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # it refuses to skip permissions for root otherwise
    }


def _codex(home: Path, url: str) -> Mapping[str, str]:
    return {}  # `argv` says it all, and its config.toml is left to `agent-hooks install`


def _gemini(home: Path, url: str) -> Mapping[str, str]:
    _merge(home / ".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _qwen(home: Path, url: str) -> Mapping[str, str]:
    _merge(home / ".qwen/settings.json", {"security": {"auth": {"selectedType": "openai"}}})
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "stand-in"}


def _copilot(home: Path, url: str) -> Mapping[str, str]:
    (home / ".copilot").mkdir(exist_ok=True)
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_OFFLINE": "true",
    }


def _opencode(home: Path, url: str) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"standin": {"name": "standin", "tool_call": True}},
    }
    _merge(
        home / ".config/opencode/opencode.json",
        {"provider": {"standin": provider}, "model": "standin/standin", "small_model": "standin/standin"},
    )
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _merge(file: Path, value: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    there = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(there | value))


_CLAUDE: dict[str, Any] = {
    "host": "claude-code",
    "package": "@anthropic-ai/claude-code",
    "program": "claude",
    "configure": _claude,
    "argv": ("--dangerously-skip-permissions", "-p"),
    "shell": "Bash",
    "args": {"description": "as scripted"},
}
CLIENTS = {
    client.name: client
    for client in (
        Client(name="claude", version="2.1.332", **_CLAUDE),
        Client(name="older-claude", version="2.1.200", **_CLAUDE),
        Client(
            name="codex",
            host="codex",
            package="@openai/codex",
            version="0.169.0",
            program="codex",
            configure=_codex,
            argv=(
                "exec",
                "--dangerously-bypass-approvals-and-sandbox",
                "--skip-git-repo-check",
                "-c",
                'model="gpt-5.2-codex"',
                "-c",
                'model_provider="standin"',
                "-c",
                'model_providers.standin={name="standin", base_url="URL/v1", wire_api="responses"}',
            ),
            shell="exec_command",
            key="cmd",
        ),
        Client(
            name="gemini",
            host="gemini",
            package="@google/gemini-cli",
            version="0.61.0",
            program="gemini",
            configure=_gemini,
            argv=("--yolo", "--model", "gemini-2.5-pro", "--prompt"),
            shell="run_shell_command",
            args={"description": "as scripted"},
        ),
        Client(
            name="qwen",
            host="qwen",
            package="@qwen-code/qwen-code",
            version="0.24.4",
            program="qwen",
            configure=_qwen,
            argv=("--yolo", "--auth-type", "openai", "--prompt"),
            shell="run_shell_command",
            args={"description": "as scripted", "is_background": False},
        ),
        Client(
            name="copilot",
            host="copilot",
            package="@github/copilot",
            version="1.0.102",
            program="copilot",
            configure=_copilot,
            argv=("--allow-all-tools", "--no-auto-update", "--prompt"),
            shell="bash",
            args={"description": "as scripted"},
        ),
        Client(
            name="opencode",
            host="opencode",
            package="opencode-ai",
            version="1.18.33",
            program="opencode",
            configure=_opencode,
            argv=("run",),
            shell="bash",
            args={"description": "as scripted"},
        ),
    )
}


def installed(client: Client, prefix: Path) -> tuple[Path | None, str]:
    """The client's program below a prefix of npm, which installs it if it is not there, or why there is none."""
    manifest = prefix / "node_modules" / client.package / "package.json"
    package = f"{client.package}@{client.version}"
    if not manifest.is_file() or json.loads(manifest.read_text())["version"] != client.version:
        npm = shutil.which("npm")
        if npm is None:
            return None, f"{package}: npm is not on PATH"
        prefix.mkdir(parents=True, exist_ok=True)
        words = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(prefix), package]
        ended = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
        if ended.returncode:
            return None, f"npm install {package}: {ended.stderr.strip()[-300:]}"
    return prefix / "node_modules/.bin" / client.program, ""


def run(argv: list[str], *, cwd: Path, env: Mapping[str, str], patience: float = PATIENCE) -> tuple[int | None, str]:
    """Run to the end; the exit code, None if it did not end, and what it said. Nothing of its group survives."""
    with subprocess.Popen(
        argv,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    ) as process:
        try:
            said, _ = process.communicate(timeout=patience)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            code, said = None, ""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return code, said
