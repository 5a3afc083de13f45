"""Mistakes in a module of hooks are found from its text: nothing of it runs."""

from __future__ import annotations

import pytest

from agent_hooks.testing.source_check import check_source

TOP = "from agent_hooks import HookOutcome, hookimpl\n"


def found(code):
    return [*check_source((TOP + code).encode(), "hookconf.py")]


@pytest.mark.parametrize(
    ("code", "line", "says"),
    [
        ("@hookimpl\ndef before_tol_use(): ...", 3, "no such event. Did you mean 'before_tool_use'?"),
        ("@hookimpl(specname='PreToolUze')\ndef before_turn(): ...", 3, "a hook 'PreToolUze'"),
        ("@hookimpl.before_tol_use\ndef f(): ...", 3, "hookimpl has no 'before_tol_use'. Did you mean"),
        ("@hookimpl.PreToolUse\ndef f(): ...", 3, "Write hookimpl.before_tool_use."),
        ("@hookimpl\nasync def before_turn(tool_call): ...", 3, "'tool_call', which before_turn does not offer"),
        ("@hookimpl.before_tool_use\ndef f(tol_call): ...", 3, "Did you mean 'tool_call'?"),
        ("@hookimpl\ndef before_turn(ctx, *, message_count): ...", 3, "remove the * before 'message_count'"),
        ("class Rules:\n    @hookimpl\n    def before_turn(self, cts): ...", 4, "takes 'cts'"),
        ("if 1:\n  try:\n    @hookimpl\n    def before_turn(cts): ...\n  finally: pass", 5, "takes 'cts'"),
        ("@hookimpl\ndef agent_hooks_register(manger): ...", 3, "Did you mean 'manager'?"),
        ("@hookimpl\nasync def agent_hooks_register(manager): ...", 3, "plain functions, not async"),
        ("@hookimpl(modee='gate')\ndef before_turn(): ...", 3, "no option 'modee'. Did you mean 'mode'?"),
        ("@hookimpl.before_turn(specname='x')\ndef f(): ...", 3, "hookimpl has no option 'specname'."),
        ("@hookimpl(mode='gat')\ndef before_turn(): ...", 3, "mode must be one of gate, transform, observe"),
        ("@hookimpl(tryfirst=True, trylast=True)\ndef before_turn(): ...", 3, "contradict each other"),
        ("@hookimpl(background=True)\ndef before_turn(): ...", 3, 'add mode="observe"'),
        ("@hookimpl\ndef before_turn():\n    if 1:\n        yield", 3, "it must be marked wrapper=True"),
        ("@hookimpl(wrapper=True)\ndef before_turn():\n    def inner():\n        yield", 3, "so it must yield once"),
        ("@hookimpl.before_tool_use(match='shel')\ndef f(): ...", 3, "Did you mean 'shell'?"),
        ("@hookimpl(match='[')\ndef before_tool_use(): ...", 3, "is not a regular expression"),
        ("def before_tool_use(): ...", 2, "would never be called"),
        ("print(", 2, "It is not Python: '(' was never closed."),
        ("return", 2, "It is not Python: 'return' outside function."),
        ("x = '\0'", 0, "It is not Python"),
        ("x = " + "-" * 9000 + "1", 0, "It is not Python"),
    ],
)
def test_a_mistake_that_breaks_the_module_or_the_hook_is_an_error_with_its_line(code, line, says):
    (finding,) = found(code)
    assert (finding.line or 0, says in finding.message + finding.remedy, finding.blocks) == (line, True, True), finding


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("@hookimpl\ndef deployed(release): ...", "there is no such event"),  # which a plugin may add
        ("@hookimpl.notification(mode='gate')\ndef f(): ...", "has no effect"),
        ("@hookimpl.before_tool_use(match='Frobnicate')\ndef f(): ...", "it may never be asked"),
    ],
)
def test_what_may_be_right_is_a_warning(code, says):
    (finding,) = found(code)
    assert (says in finding.message, finding.blocks) == (True, False)


@pytest.mark.parametrize(
    "code",
    [
        "@hookimpl\ndef before_tool_use(ctx, tool_call, extra=None, /, state=None, *rest, **more): ...",
        "@hookimpl.before_tool_use(match='shell', priority=GUARD, timeout=2.5)\nasync def f(tool_call): ...",
        "@hookimpl.before_tool_use(mode=MODE, background=True)\ndef f(): ...",
        "@hookimpl(specname=NAME)\ndef f(anything): ...",
        "@hookimpl(**OPTIONS)\ndef before_turn():\n    yield",
        "@hookimpl(optionalhook=True)\ndef before_tol_use(anything): ...",
        "@hookimpl(wrapper=True)\nasync def PreToolUse(ctx):\n    yield",
        "@wrapped\n@hookimpl.before_turn\ndef f(anything): ...",
        "@property\ndef before_turn(self): ...",
        "class Rules:\n    def before_turn(self, anything): ...",
        "def f():\n    @hookimpl\n    def before_turn(anything): ...",
        "hookimpl = pluggy.HookimplMarker('agent_hooks')\n@hookimpl(hookwrapper=False)\ndef before_turn(): ...",
        "x = " + " + ".join("1" * 900),
        "if x: pass\n" + "elif x: pass\n" * 900,
        "",
    ],
)
def test_what_would_work_has_no_findings(code):
    assert found(code) == []


def test_a_tool_that_is_declared_is_known():
    code = (TOP + "@hookimpl.before_tool_use(match='Frobnicate')\ndef f(): ...").encode()
    assert [*check_source(code, "hookconf.py", known_tools=["Frobnicate"])] == []


def test_nothing_of_the_module_runs(capfd):
    parts = [
        "raise SystemExit(print('ran'))",
        "@hookimpl(priority=print('ran'), name=f'{print(0)}')\ndef before_turn(ctx: print('ran') = print('ran')): ...",
        "@hookimpl\ndef agent_hooks_register(manager): print('ran')",
        "@hookimpl\ndef agent_hooks_add_hookspecs(manager): print('ran')",
        "class C(metaclass=print):\n    @hookimpl\n    def before_turn(self, ctx: 'print()'): print('ran')",
    ]
    assert found("\n".join(parts)) == []
    assert capfd.readouterr() == ("", "")
