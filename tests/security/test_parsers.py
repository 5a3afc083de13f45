"""Files that are made to confuse, exhaust or hang whoever reads them: read in few steps, or refused by name.

Each is looked at before it is trusted, which must not take long, and once it is trusted: what cannot be read is then
refused, and never taken for a file without gates.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookManager, ToolCall
from agent_hooks.errors import AgentHooksError
from agent_hooks.sources.skills import register_skill
from agent_hooks.trust.discovery import MAX_BYTES, discover
from tables import tables

from .conftest import Victim

if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS = ".claude/settings.json"
# Until the command counts as hanging.
SECONDS = 20
# For one look at a repository: two for each byte of the largest file that is read. An honest one takes some thousand.
MOST_CALLS = 2 * MAX_BYTES
TABLES = tables(__file__)


def calls_of(look: Callable[[], object]) -> int:
    """Return how many functions, of Python and of C, one look at a repository calls."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        look()
    finally:
        sys.setprofile(None)
    return calls


def hook(path: str, matcher: str = "", **fields: str) -> str:
    """Settings with one hook, of Claude Code or our own."""
    handler = {"type": "command", "command": "true", **fields}
    if path.endswith(".json"):
        return json.dumps({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [handler]}]}})
    table = f"[[hooks.before_tool_use]]\nmatcher = '{matcher}'\n"
    return f"{table}[[hooks.before_tool_use.hooks]]\ntype = 'command'\ncommand = 'true'\n"


def joined(pieces: list[Any]) -> str:
    """Pieces, some of which are repeated."""
    return "".join(piece if isinstance(piece, str) else piece[0] * piece[1] for piece in pieces)


UNREADABLE: dict[str, tuple[str, str | bytes, str]] = {
    **{name: (path, joined(pieces), says) for name, (path, pieces, says) in TABLES["unreadable"].items()},
    "json_in_utf_16": (SETTINGS, "{}".encode("utf-16"), "is not UTF-8"),
    "toml_in_utf_16": ("agent-hooks.toml", "a = 1".encode("utf-16"), "not TOML in UTF-8"),
    "hookconf_that_is_binary": ("hookconf.py", b"\x7fELF\x00\xff", "hookconf.py"),
}
# Seconds, where another of the kind takes as long.
SLOWEST = {"condition_of_nested_brackets", "condition_of_stars"}
ADDRESSES = {
    "hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": f"https://a/{'a' * 5000}"}]}]},
    "allowedHttpHookUrls": [f"https://a/{'*a' * 1000}b"],
}
SLOW: dict[str, tuple[str, str]] = {
    **{name: (path, hook(path, **{field: joined(parts)})) for name, (path, field, parts) in TABLES["slow"].items()},
    "command_that_names_100_000_folders": (
        SETTINGS,
        hook(SETTINGS, command=" ".join(f"{n}/.." for n in range(100_000))),
    ),
    "words_that_name_many_folders": (
        SETTINGS,
        json.dumps(Victim.hooks("true", args=[f"{number:x}/.." for number in range(10_000)])),
    ),
    "addresses_with_many_stars": (SETTINGS, json.dumps(ADDRESSES)),
    "unknown_keys": ("agent-hooks.toml", "".join(f"k{number} = 1\n" for number in range(10_000))),
    "plugins_that_are_not_there": ("agent-hooks.toml", f"claude_plugins = {[str(n) for n in range(20_000)]}"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_named_in_no_time_and_refused_once_trusted(victim: Victim, name: str):
    path, content, says = UNREADABLE[name]
    victim.write(path, content)
    for number in range(25):
        (victim.repo / f"src/{number}").mkdir(parents=True)
    victim.write("src/agent-hooks.toml", victim.table(victim.touch, beside="matcher = 'Nothing'"))
    assert calls_of(victim.load) < MOST_CALLS
    victim.trust()
    manager, loader = victim.load()
    outcome = manager.hooks().dispatch_sync(call(victim))
    assert (outcome.decision, victim.was_hit) == ("deny", False)
    assert f"{victim.repo / path}" in outcome.reason
    assert says in " ".join((outcome.reason, *map(str, loader.findings)))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] if name in SLOWEST else []) for name in SLOW]
)
def test_what_would_take_long_is_bounded(victim: Victim, name: str):
    path, content = SLOW[name]
    victim.write(path, content)
    victim.trust()
    assert victim.run(seconds=SECONDS, tool_name="a" * 190 + "!").exit_code in (0, 2)


def call(victim: Victim) -> HookContext:
    return HookContext("before_tool_use", cwd=str(victim.repo), tool_call=ToolCall("Bash", {"command": "make"}))


# -- what is no file ---------------------------------------------------------------------------------------------------


def listening_socket(file: Path) -> None:
    # A path of its own: that of a socket must be short.
    with pytest.MonkeyPatch.context() as patch, socket.socket(socket.AF_UNIX) as made:
        patch.chdir(file.parent)
        made.bind(file.name)


def link_to_the_users_secrets(file: Path) -> None:
    secret = file.parents[2] / "home/.netrc"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("password s3cr3t\n")
    file.symlink_to(secret)


def sparse(file: Path) -> None:
    file.touch()
    os.truncate(file, 3 * 1024**3)


NO_FILES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "endless_device": lambda file: file.symlink_to("/dev/zero"),
    "terminal": lambda file: file.symlink_to("/dev/tty"),
    "own_input": lambda file: file.symlink_to("/dev/stdin"),
    "listening_socket": listening_socket,
    "folder": Path.mkdir,
    "link_to_itself": lambda file: file.symlink_to(file.name),
    "link_to_the_users_secrets": link_to_the_users_secrets,
    "sparse": sparse,
}
OURS = pytest.mark.parametrize("name", [SETTINGS, "agent-hooks.toml", "hookconf.py", "pyproject.toml"])


@OURS
@pytest.mark.parametrize("kind", [kind for kind in NO_FILES if kind != "sparse"])
def test_what_is_no_file_is_not_opened_and_nothing_of_it_is_told(victim: Victim, kind: str, name: str):
    file = victim.repo / name
    file.parent.mkdir(exist_ok=True)
    NO_FILES[kind](file)
    manager, loader = victim.load()
    assert [plugin.name for plugin in manager.plugins()] == ["agent_hooks.protection"]
    told = " ".join(map(str, loader.findings))
    assert "s3cr3t" not in told
    assert kind == "folder" or str(file) in told


@pytest.mark.parametrize("kind", ["pipe", "sparse", "endless_device", "folder"])
@pytest.mark.parametrize("name", ["home/.config/agent-hooks/agent-hooks.toml", "home/.claude/settings.json"])
def test_what_is_no_file_of_settings_closes_the_gates(victim: Victim, name: str, kind: str):
    path = victim.folder / name
    path.parent.mkdir(parents=True)
    NO_FILES[kind](path)
    assert_closed_by(victim, path)


@OURS
@pytest.mark.parametrize("kind", ["pipe", "sparse", "endless_device"])
def test_what_is_no_file_of_a_trusted_project_is_named(victim: Victim, name: str, kind: str):
    victim.write("inner/agent-hooks.toml", victim.table("exit 0"))
    path = victim.repo / name
    victim.trust()
    path.parent.mkdir(exist_ok=True)
    NO_FILES[kind](path)
    assert_closed_by(victim, path)


def assert_closed_by(victim: Victim, path: Path) -> None:
    done = victim.run(seconds=SECONDS)
    assert done.exit_code == 2
    assert str(path) in done.json["systemMessage"]
    assert path.name in done.stderr
    assert victim.command("doctor", seconds=SECONDS).exit_code == 1


def test_the_real_command_does_not_wait_for_a_pipe(victim: Victim):
    for name in ("agent-hooks.toml", "hookconf.py"):
        os.mkfifo(victim.repo / name)
    assert victim.run(seconds=SECONDS).exit_code == 0
    said = victim.command("doctor", seconds=SECONDS).said
    assert f"{victim.repo}/agent-hooks.toml\n  It cannot be read: it is not a regular file." in said


# -- skills ------------------------------------------------------------------------------------------------------------

ALIASES = "".join(f"  {chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9))
FRONTMATTERS = {
    **{name: (joined(pieces), says) for name, (pieces, says) in TABLES["frontmatters"].items()},
    "aliases_that_multiply": (f"  a: &a [{','.join('x' * 9)}]\n{ALIASES}", "anchor"),
    "deep_blocks": ("\n".join("  " * depth + "a:" for depth in range(1, 300)), "nested deeper than 32"),
}


@pytest.mark.parametrize("name", FRONTMATTERS)
def test_frontmatter_is_read_in_no_time_or_refused_with_its_line(victim: Victim, name: str):
    text, says = FRONTMATTERS[name]
    file = victim.write(".claude/skills/a/SKILL.md", f"---\nname: a\nhooks:\n{text}\n---\n")
    assert calls_of(lambda: discover(victim.repo)) < MOST_CALLS
    with pytest.raises(AgentHooksError) as told:
        register_skill(HookManager(load_plugins=False), file, trusted=True)
    assert str(file) in str(told.value)
    assert says in str(told.value)
    assert not victim.was_hit


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES["answers"])
def test_an_answer_that_two_readers_would_read_differently_lets_nothing_through(victim: Victim, name: str):
    victim.write("answer", joined(TABLES["answers"][name]))
    victim.write("agent-hooks.toml", victim.table("cat answer"))
    victim.trust()
    manager, _ = victim.load()
    outcome = manager.hooks().dispatch_sync(call(victim))
    assert outcome.decision == "deny"
    assert "agent-hooks.toml:3" in outcome.reason


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["B\u0430sh", "Bash\u200b", "\uff22ash", "Bash ", "mcp__evil__Bash", "Bash\0", "evil.Bash"]
)
def test_a_name_that_only_looks_like_one_that_is_allowed_is_not_allowed(victim: Victim, name: str):
    allow = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": f"echo '{allow}'"}]}
    victim.write_own(".claude/settings.json", {"hooks": {"PreToolUse": [entry]}})
    manager, _ = victim.load()
    look_alike = HookContext("before_tool_use", cwd=str(victim.repo), tool_call=ToolCall(name, {"x": 1}))
    assert manager.hooks().dispatch_sync(call(victim)).decision == "allow"
    assert manager.hooks().dispatch_sync(look_alike).decision != "allow"
