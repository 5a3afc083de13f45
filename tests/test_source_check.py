"""Mistakes in a module of hooks are found from its text: nothing of it runs."""

from __future__ import annotations

import pytest

from agent_hooks.testing.source_check import check_source
from tables import tables

TABLES = tables(__file__)

TOP = "from agent_hooks import HookOutcome, hookimpl\n"


def found(code):
    return [*check_source((TOP + code).encode(), "hookconf.py")]


@pytest.mark.parametrize(
    ("code", "line", "says"),
    [
        *TABLES["a_mistake_that_breaks_the_module_or_the_hook_is_an_error_with_its_line"],
        ("x = '\x00'", 0, "It is not Python"),
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
        *TABLES["what_would_work_has_no_findings"],
        "x = " + " + ".join("1" * 900),
        "if x: pass\n" + "elif x: pass\n" * 900,
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
