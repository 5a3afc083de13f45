"""Files that are made to confuse, exhaust or hang whoever reads them: read in bounded time, or refused by name.

Each is looked at before it is trusted, which must not take long, and once it is trusted: what cannot be read is then
refused, and never taken for a file without gates.
"""

from __future__ import annotations

import json
import os
import socket
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookManager, ToolCall
from agent_hooks.errors import AgentHooksError
from agent_hooks.sources.skills import register_skill
from agent_hooks.trust.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Victim

SETTINGS = ".claude/settings.json"
# For one look at a repository; an honest one takes milliseconds.
SECONDS = 20
LIMIT = 1024 * 1024 - 1024
LONG = LIMIT // 2


def claude(**fields: Any) -> str:
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true", **fields}]}]}})


def matcher(text: str) -> str:
    entry = {"matcher": text, "hooks": [{"type": "command", "command": "true"}]}
    return json.dumps({"hooks": {"PreToolUse": [entry]}})


def toml(text: str) -> str:
    return f"[[hooks.before_tool_use]]\n{text}\n[[hooks.before_tool_use.hooks]]\ntype = 'command'\ncommand = 'true'\n"


# By name: the file, its content, and what is said of it.
UNREADABLE: dict[str, tuple[str, str | bytes, str]] = {
    "json_100_000_levels_deep": (SETTINGS, '{"hooks":' + "[" * 100_000, "nested too deeply"),
    "json_key_twice": (SETTINGS, '{"hooks": {},\n "hooks": {}}', "has the same key twice. It is 'hooks'"),
    "json_key_twice_in_disguise": (SETTINGS, '{"hooks": {"Stop": [],\n "St\\u006fp": []}}', "has the same key twice"),
    "json_nan": (SETTINGS, claude(timeout=1).replace("1}", "NaN}"), "NaN is no JSON number"),
    "json_infinity": (SETTINGS, claude(timeout=1).replace("1}", "1e999}"), "a number is too large"),
    "json_number_of_a_megabyte": (SETTINGS, claude(timeout=1).replace("1}", "9" * LIMIT + "}"), "is not JSON"),
    "json_half_a_character": (SETTINGS, '{"hooks": {"\\ud800": []}}', "has half of a character"),
    "json_with_comments": (SETTINGS, "// allowed elsewhere\n{}", "is not JSON"),
    "json_in_utf_16": (SETTINGS, claude().encode("utf-16"), "is not UTF-8"),
    "json_with_something_behind_it": (SETTINGS, "{}\n{}", "is not JSON"),
    "json_that_is_a_list": (SETTINGS, f"[{claude()}]", "is no object"),
    "settings_of_two_megabytes": (SETTINGS, claude(statusMessage="x" * 2 * LIMIT), "larger than 1 MiB"),
    "toml_of_two_megabytes": ("agent-hooks.toml", toml("# " + "x" * 2 * LIMIT), "larger than 1 MiB"),
    "toml_500_000_levels_deep": ("agent-hooks.toml", "a = " + "[" * (LIMIT // 2), "maximum recursion depth"),
    "toml_key_of_500_000_parts": ("agent-hooks.toml", "a" + ".a" * (LIMIT // 2) + " = 1", "more than 1000 dots"),
    "toml_key_twice": ("agent-hooks.toml", "ignore = []\nignore = []\n", "Cannot overwrite a value"),
    "toml_number_of_a_megabyte": ("agent-hooks.toml", "a = " + "9" * LIMIT, "Exceeds the limit"),
    "toml_in_utf_16": ("agent-hooks.toml", toml("").encode("utf-16"), "not TOML in UTF-8"),
    "toml_that_names_many_plugins": ("agent-hooks.toml", f"claude_plugins = {['x'] * 101}", "at most 100 items"),
    "command_longer_than_a_shell_takes": (SETTINGS, claude(command=f"true {'x' * 130 * 1024}"), "longer than 128 KiB"),
    "argument_longer_than_a_program_takes": (
        SETTINGS,
        claude(command="sh", args=["-c", '"' + " a" * 100_000]),
        "longer than 128 KiB",
    ),
    "command_that_names_many_folders": (
        SETTINGS,
        claude(command=" ".join(f"src/{number}" for number in range(25))),
        "more than 20 folders",
    ),
    "matcher_of_nested_groups": (SETTINGS, matcher("(?:" * 1000 + ")" * 1000), "too many brackets in each other"),
    "hookconf_of_two_megabytes": ("hookconf.py", "#" * 2 * LIMIT, "larger than 1 MiB"),
    "hookconf_500_000_brackets_deep": ("hookconf.py", "x = " + "(" * (LIMIT // 2), "SyntaxError"),
    "hookconf_500_000_signs_deep": ("hookconf.py", "agent_hooks_plugins = " + "-" * (LIMIT // 2) + "1", "hookconf.py"),
    "hookconf_that_names_20_000_modules": (
        "hookconf.py",
        f"agent_hooks_plugins = {[f'm{number}' for number in range(20_000)]}",
        "names more than 100 modules",
    ),
    "hookconf_that_names_a_path": ("hookconf.py", "agent_hooks_plugins = ['../evil']", "'../evil', which is not the"),
    "hookconf_that_is_binary": ("hookconf.py", b"\x7fELF\x00\xff", "hookconf.py"),
}
# Seconds, where another of the kind takes as long.
SLOWEST = {"condition_of_nested_brackets", "condition_of_stars"}
# What a file may ask for that takes long, though it can be read.
SLOW: dict[str, tuple[str, str]] = {
    "condition_of_half_a_megabyte": (SETTINGS, claude(**{"if": f"Bash({'a' * LONG})"})),
    "condition_of_nested_brackets": (SETTINGS, claude(**{"if": f"Bash({'(' * (LONG // 2)}{')' * (LONG // 2)})"})),
    "condition_of_stars": (SETTINGS, claude(**{"if": f"Bash({'*a' * 100_000})"})),
    "command_that_names_100_000_folders": (SETTINGS, claude(command=" ".join(f"{n}/.." for n in range(100_000)))),
    "words_that_name_many_folders": (SETTINGS, claude(command="true", args=[f"{n:x}/.." for n in range(10_000)])),
    "quote_of_half_a_megabyte": (SETTINGS, claude(command='"' + " a" * (LONG // 2))),
    "substitutions_without_end": (SETTINGS, claude(command="${PWD:-{$(`" * 2_000)),
    "matcher_with_nested_repetitions": (SETTINGS, matcher("^(a+)+$")),
    "matcher_with_overlapping_choices": (SETTINGS, matcher("^(a|a)*$")),
    "matcher_with_many_stars": (SETTINGS, matcher(".*.*.*.*.*.*.*.*x$")),
    "matcher_with_three_stars": (SETTINGS, matcher(".*.*.*x$")),
    "matcher_of_nested_groups": (SETTINGS, matcher("(?:" * 1000 + ")" * 1000)),
    "matcher_of_nested_counts": (SETTINGS, matcher("((a{1,100}){1,100}){1,100}")),
    "toml_matcher_with_nested_repetitions": ("agent-hooks.toml", toml("matcher = '^(a+)+$'")),
    "toml_matcher_of_5_000_stars": ("agent-hooks.toml", toml(f"matcher = '{'*a' * 5_000}'")),
    "addresses_with_many_stars": (
        SETTINGS,
        json.dumps(
            {
                "hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": f"https://a/{'a' * 5000}"}]}]},
                "allowedHttpHookUrls": [f"https://a/{'*a' * 1000}b"],
            }
        ),
    ),
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
    started = monotonic()
    victim.load()
    assert monotonic() - started < SECONDS
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
    started = monotonic()
    victim.trust()
    assert monotonic() - started < SECONDS
    assert victim.run(seconds=SECONDS, tool_name="a" * 190 + "!").exit_code in (0, 2)


def call(victim: Victim) -> HookContext:
    return HookContext("before_tool_use", cwd=str(victim.repo), tool_call=ToolCall("Bash", {"command": "make"}))


# -- what is no file ---------------------------------------------------------------------------------------------------


def pipe(file: Path) -> None:
    os.mkfifo(file)


def endless_device(file: Path) -> None:
    file.symlink_to("/dev/zero")


def terminal(file: Path) -> None:
    file.symlink_to("/dev/tty")


def own_input(file: Path) -> None:
    file.symlink_to("/dev/stdin")


def listening_socket(file: Path) -> None:
    # A path of its own: that of a socket must be short.
    here = os.getcwd()
    os.chdir(file.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    finally:
        os.chdir(here)


def folder(file: Path) -> None:
    file.mkdir()


def link_to_itself(file: Path) -> None:
    file.symlink_to(file.name)


def link_to_the_users_secrets(file: Path) -> None:
    secret = file.parents[2] / "home/.netrc"
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("password s3cr3t\n")
    file.symlink_to(secret)


@pytest.mark.parametrize("name", [SETTINGS, "agent-hooks.toml", "hookconf.py", "pyproject.toml"])
@pytest.mark.parametrize(
    "make",
    [pipe, endless_device, terminal, own_input, listening_socket, folder, link_to_itself, link_to_the_users_secrets],
)
def test_what_is_no_file_is_not_opened_and_nothing_of_it_is_told(victim: Victim, make: Any, name: str):
    file = victim.repo / name
    file.parent.mkdir(exist_ok=True)
    make(file)
    started = monotonic()
    manager, loader = victim.load()
    assert monotonic() - started < SECONDS
    assert [plugin.name for plugin in manager.plugins()] == ["agent_hooks.protection"]
    told = " ".join(map(str, loader.findings))
    assert "s3cr3t" not in told
    assert make is folder or str(file) in told


def test_the_real_command_does_not_wait_for_a_pipe(victim: Victim):
    for name in ("agent-hooks.toml", "hookconf.py"):
        pipe(victim.repo / name)
    assert victim.run(seconds=SECONDS).exit_code == 0
    said = victim.command("doctor", seconds=SECONDS).said
    assert f"{victim.repo}/agent-hooks.toml\n  It cannot be read: it is not a regular file." in said


# -- skills ------------------------------------------------------------------------------------------------------------

ALIASES = "".join(f"  {chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9))
FRONTMATTERS = {
    "aliases_that_multiply": (f"  a: &a [{','.join('x' * 9)}]\n{ALIASES}", "anchor"),
    "tag_that_runs_python": ("  a: !!python/object/apply:os.system ['touch canary']", "tag"),
    "tag_that_imports_python": ("  a: !!python/module:this", "tag"),
    "merge_key": ("  a: &a {Stop: []}\n  <<: *a", "anchor"),
    "key_twice": ("  Stop: []\n  Stop: []", "'Stop' is there twice"),
    "deep_brackets": ("  a: " + "[" * 100_000, "nested deeper than 32"),
    "deep_blocks": ("\n".join("  " * depth + "a:" for depth in range(1, 300)), "nested deeper than 32"),
    "list_of_100_000": ("  a: [" + "x," * 100_000 + "]", "more than 10000 values"),
    "quarter_of_a_megabyte": ("  a: " + "x" * 300_000, "larger than 256 KiB"),
    "number_of_100_000_digits": ("  a: " + "9" * 100_000, "too many digits"),
    "second_document": ("  Stop: []\n...\n--- x\nhooks: {PreToolUse: []}", ""),
    "line_that_only_some_end": ("  # a\u2028  Stop: []", "U+2028"),
    "half_a_character": ('  "\\ud800": []', "half of a character"),
}


@pytest.mark.parametrize("name", FRONTMATTERS)
def test_frontmatter_is_read_in_no_time_or_refused_with_its_line(victim: Victim, name: str):
    text, says = FRONTMATTERS[name]
    file = victim.write(".claude/skills/a/SKILL.md", f"---\nname: a\nhooks:\n{text}\n---\n")
    started = monotonic()
    discover(victim.repo)
    assert monotonic() - started < SECONDS
    with pytest.raises(AgentHooksError) as told:
        register_skill(HookManager(load_plugins=False), file, trusted=True)
    assert str(file) in str(told.value)
    assert says in str(told.value)
    assert not victim.was_hit


# -- answers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        '{"decision": "deny", "decision": "allow"}',
        '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow"}}',
        '{"decision": NaN}',
        '{"decision": "allow"',
        'noise {"decision": "deny"}',
        '[{"decision": "deny"}]',
        '{"decision": "denied"}',
        '{"decision": "deny"}' + " " * 2 * 1024 * 1024,
        '{"a":' * 5000,
        '{"decision": "deny", "reason": "\\ud800"}',
    ],
)
def test_an_answer_that_two_readers_would_read_differently_lets_nothing_through(victim: Victim, answer: str):
    victim.write("answer", answer)
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
