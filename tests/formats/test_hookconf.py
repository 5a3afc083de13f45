"""The modules and gates of a ``hookconf.py`` are found without running it."""

from __future__ import annotations

import pytest

from agent_hooks.errors import SettingsError
from agent_hooks.formats.hookconf import count_gates, named_modules


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("", ()),
        ("agent_hooks_plugins = []", ()),
        ("agent_hooks_plugins = ['a', 'b.c']", ("a", "b.c")),
        ("agent_hooks_plugins: list[str] = ('a',)", ("a",)),
        ("x = agent_hooks_plugins = ['a']", ("a",)),
        ("agent_hooks_plugins = ['a']\nagent_hooks_plugins = ['b']", ("b",)),
        ("agent_hooks_plugins: list[str]", ()),
        ("def f():\n    agent_hooks_plugins = ['a']", ()),
        ("nonsense(", ()),
    ],
)
def test_named_modules_are_read_and_not_run(code, names):
    assert named_modules(code.encode()) == names


@pytest.mark.parametrize("value", ["None", "'a'", "{'a'}", "{'a': 1}", "[1]", "[['a']]", "['a'] + ['b']", "[*'ab']"])
def test_named_modules_must_be_a_list_of_names(value):
    with pytest.raises(SettingsError, match="in line 2 must be one list of names"):
        named_modules(f"\nagent_hooks_plugins = {value}".encode())


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "a/b", "..", "a b", "1a", "a.py/", "a\0b"])
def test_named_modules_must_have_names_of_modules(name):
    with pytest.raises(SettingsError, match="which is not the name of a module"):
        named_modules(f"agent_hooks_plugins = [{name!r}]".encode())


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("", 0),
        ("nonsense(", 1),
        ("@hookimpl\ndef before_tool_use(): ...", 1),
        ("@h.hookimpl(priority=1)\nasync def PreToolUse(): ...", 1),
        ("@hookimpl(mode='observe')\ndef before_tool_use(): ...", 0),
        ("@hookimpl\ndef notification(): ...", 0),
        ("@hookimpl(specname='before_tool_use')\ndef check(): ...", 1),
        ("@hookimpl\ndef before_deploy(): ...", 1),
        ("@hookimpl.before_tool_use\ndef check(): ...", 1),
        ("@h.hookimpl.before_tool_use(priority=1)\nasync def check(): ...", 1),
        ("@hookimpl.before_tool_use(mode='observe')\ndef check(): ...", 0),
        ("@hookimpl.notification\ndef before_tool_use(): ...", 0),
        ("@other.before_tool_use\ndef before_tool_use(): ...", 0),
        ("@hookimpl(specname=7)\ndef before_tool_use(): ...", 1),
        ("@other\ndef before_tool_use(): ...", 0),
        ("@other()()\ndef before_tool_use(): ...", 0),
    ],
)
def test_gates_are_counted_without_running(code, count):
    assert count_gates(code.encode()) == count
