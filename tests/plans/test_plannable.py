"""Which configurations are planned: those that are the same in every process, as the source of their plugins shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from projects import HOOKCONF, denying, toml

from .changes import put
from .conftest import same

if TYPE_CHECKING:
    from .conftest import World

PLANNED = {
    "no match": """
        @hookimpl
        def before_tool_use(tool_call):
            return None
        """,
    "a match by names": """
        @hookimpl(match="shell|write")
        def before_tool_use(tool_call):
            return None
        """,
    "all options written out": """
        from agent_hooks import GUARD

        @hookimpl(match="*", priority=GUARD + 1, mode="gate", on_failure="closed", timeout=5.5, name="mine")
        def before_tool_use(tool_call):
            return None
        """,
    "a condition": """
        def is_configured():
            return True

        @hookimpl(when=is_configured)
        def before_tool_use(tool_call):
            return None
        """,
    "tryfirst, trylast, required and shadow": """
        @hookimpl(tryfirst=True, shadow=True)
        def before_tool_use(tool_call):
            return HookOutcome.deny("only in the shadow")

        @hookimpl(trylast=True, required=True)
        def after_tool_use(tool_call):
            return None
        """,
    "another name": """
        @hookimpl(specname="before_tool_use", priority=-3)
        def first(tool_call):
            return None

        @hookimpl(specname="before_tool_use")
        def second(tool_call):
            return None
        """,
    "the decorator of an event": """
        @hookimpl.before_tool_use(priority=-3)
        def first(tool_call):
            return None

        @hookimpl.before_tool_use
        def second(tool_call):
            return None
        """,
    "a name of Claude Code": """
        @hookimpl
        def pre_tool_use(tool_call):
            return None
        """,
    "an async hook": """
        @hookimpl(match="shell")
        async def before_tool_use(tool_call):
            return None
        """,
    "a wrapper": """
        @hookimpl(wrapper=True)
        def before_tool_use(tool_call):
            outcome = yield
            return outcome
        """,
    "an observer": """
        @hookimpl(mode="observe", background=True)
        def before_tool_use(tool_call):
            return None
        """,
    "a marker of pluggy": """
        import pluggy

        house = pluggy.HookimplMarker("agent_hooks")

        @house(tryfirst=True)
        def before_tool_use(tool_call):
            return None
        """,
    "constants and definitions": """
        import re
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            from pathlib import Path

        WORDS = frozenset({"a", "b"})
        PATTERN = re.compile("a+")
        LIMIT: int = 5 * 60

        class Rule:
            limit = LIMIT

            def holds(self):
                return True

        @hookimpl
        def before_tool_use(tool_call):
            return None
        """,
    "a cached function": """
        from functools import cache, lru_cache

        @cache
        def words():
            return ("a",)

        @lru_cache(maxsize=16)
        def more(text):
            return (text,)

        @hookimpl
        def before_tool_use(tool_call):
            return None
        """,
    "a class of data": """
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class Rule:
            word: str

        @hookimpl
        def before_tool_use(tool_call):
            return None
        """,
}

HOOK = """
@hookimpl
def before_tool_use(tool_call):
    return None
"""

NOT_PLANNED = {
    "a condition": "import sys\nif sys.platform:\n    @hookimpl\n    def before_tool_use():\n        return None\n",
    "a loop": "for name in ('before_tool_use', 'on_stop'):\n    globals()[name] = hookimpl(lambda ctx: None)\n",
    "a handled error": f"try:\n    import nothing\nexcept ImportError:\n    nothing = None\n{HOOK}",
    "a context": f"from contextlib import suppress\nwith suppress(ImportError):\n    import nothing\n{HOOK}",
    "a call": f"import os\nos.getcwd()\n{HOOK}",
    "the result of a call": f"import os\nHERE = os.getcwd()\n{HOOK}",
    "the result of a call as an annotated name": f"import os\nHERE: str = os.getcwd()\n{HOOK}",
    "a variable of the environment": f"import os\nSTRICT = os.environ['STRICT']\n{HOOK}",
    "whether there is a variable of the environment": f"import os\nSTRICT = 'STRICT' in os.environ\n{HOOK}",
    "the environment under another name": f"from os import environ as e\nSTRICT = 'STRICT' in e\n{HOOK}",
    "the arguments of the process": f"import sys\nSTRICT = len(sys.argv)\n{HOOK}",
    "a marker that the environment chooses": """
        import os

        def nothing(function):
            return function

        @(hookimpl if "STRICT" in os.environ else nothing)
        def before_tool_use(tool_call):
            return None
        """,
    "a marker of its own": """
        import os

        def marker(function):
            return hookimpl(function) if "STRICT" in os.environ else function

        @marker
        def on_stop():
            return None

        @hookimpl
        def before_tool_use(tool_call):
            return None
        """,
    "a marker of another module": """
        from house_marker import marker

        @marker
        def on_stop():
            return None

        @hookimpl
        def before_tool_use(tool_call):
            return None
        """,
    "a class whose body decides": f"import os\nclass A:\n    if 'STRICT' in os.environ:\n        x = 1\n{HOOK}",
    "a default that is called": f"import os\ndef f(x=os.environ.get('STRICT')):\n    return x\n{HOOK}",
    "a computed option": """
        PRIORITY = 5

        @hookimpl(priority=PRIORITY)
        def before_tool_use(tool_call):
            return None
        """,
    "a computed condition": """
        @hookimpl(when=len("made").__bool__)
        def before_tool_use(tool_call):
            return None
        """,
    "options from a table": """
        OPTIONS = {"priority": 5}

        @hookimpl(**OPTIONS)
        def before_tool_use(tool_call):
            return None
        """,
    "a match in a variable": """
        SHELL = "shell"

        @hookimpl(match=SHELL)
        def before_tool_use(tool_call):
            return None
        """,
    "a match by a function": """
        @hookimpl(match=lambda ctx: True)
        def before_tool_use(tool_call):
            return None
        """,
    "a match by a pattern": """
        import re

        @hookimpl(match=re.compile("Bash"))
        def before_tool_use(tool_call):
            return None
        """,
    "a hook that is imported": "from house_more import before_tool_use",
    "a hook that is assigned": "before_tool_use = hookimpl(lambda ctx: None)",
    "an else for what type checkers skip": """
        import os
        from typing import TYPE_CHECKING

        if TYPE_CHECKING:
            pass
        else:
            if os.path.exists("flag"):
                @hookimpl
                def user_input(prompt):
                    return None

        @hookimpl
        def before_tool_use(tool_call):
            return None
        """,
    "whatever another module has": f"from house_more import *\n{HOOK}",
    "a constant of ours that is bound again": """
        from agent_hooks import GUARD
        from house_more import STRICT as GUARD

        @hookimpl(name=GUARD)
        def before_tool_use(tool_call):
            return None
        """,
    "a hook that is bound again": """
        class Rules:
            hooks = hookimpl(lambda ctx: None)

        @hookimpl
        def before_tool_use(tool_call):
            return None

        before_tool_use = Rules.hooks
        """,
    "a decorator of another module with a known name": """
        from house_marker import marker as final

        @final
        def before_tool_use(tool_call):
            return None
        """,
    "a hook defined inside another": """
        def make():
            @hookimpl
            def before_tool_use(tool_call):
                return None
            return before_tool_use

        before_tool_use = make()
        """,
    "agent_hooks_register": f"@hookimpl\ndef agent_hooks_register(manager):\n    pass\n{HOOK}",
    "agent_hooks_config_sources": f"@hookimpl\ndef agent_hooks_config_sources():\n    return []\n{HOOK}",
    "agent_hooks_add_hookspecs": f"@hookimpl\ndef agent_hooks_add_hookspecs(manager):\n    pass\n{HOOK}",
    "agent_hooks_dispatched": f"@hookimpl\ndef agent_hooks_dispatched(ctx, outcome):\n    pass\n{HOOK}",
    "agent_hooks_executed": f"@hookimpl\ndef agent_hooks_executed(ctx):\n    pass\n{HOOK}",
    "agent_hooks_dispatch_started": f"@hookimpl\ndef agent_hooks_dispatch_started(ctx):\n    pass\n{HOOK}",
    "a module that removes its hook": f"{HOOK}\ndel hookimpl\n",
    "a namespace that is changed": f"{HOOK}\nvars()['x'] = 1\n",
}
BROKEN = {
    "a plugin that cannot be imported": "import nothing_of_this_name",
    "a hook with an unknown argument": "@hookimpl\ndef before_tool_use(nonsense):\n    pass\n",
}
MODULES = {
    "house_more.py": "import os\nfrom agent_hooks import hookimpl\nSTRICT = os.environ.get('STRICT')\n\n"
    "@hookimpl\ndef before_tool_use(ctx):\n    return None\n",
    "house_marker.py": "from agent_hooks import hookimpl\ndef marker(function):\n    return hookimpl(function)\n",
}


def is_planned(world: World, *, is_working: bool = True) -> bool:
    world.ask()
    answer = world.ask()
    found = world.is_planned()
    assert found == bool(world.kept)
    assert same(answer, world.ask_without())
    assert is_working != answer.denies, answer
    return found


@pytest.mark.parametrize("name", PLANNED)
def test_planned(name: str, world: World):
    world.command.install(PLANNED[name], "other")
    assert is_planned(world)


@pytest.mark.parametrize("name", NOT_PLANNED)
def test_not_planned(name: str, world: World):
    for module, source in MODULES.items():
        put(world.site / module, source)
    world.environment["STRICT"] = "no"
    world.command.install(NOT_PLANNED[name], "other")
    assert not is_planned(world)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_plugins_are_not_planned(name: str, world: World):
    world.command.install(BROKEN[name], "other")
    assert not is_planned(world, is_working=False)


def test_code_of_the_environment_is_not_planned(world: World):
    put(world.site / "sitecustomize.py", "import sys\n")
    assert not is_planned(world)


def test_a_plugin_that_is_an_object_is_not_planned(world: World):
    world.command.install(
        "class Rules:\n    @hookimpl\n    def before_tool_use(self):\n        pass\nrules = Rules()\n", "other"
    )
    points = world.site / "other-1.0.dist-info" / "entry_points.txt"
    put(points, "[agent_hooks]\nother = other_rules:rules\n")
    assert not is_planned(world)
    put(points, "[agent_hooks]\nother = other_rules:Rules\n")
    assert not is_planned(world, is_working=False)


def test_code_of_a_project_is_not_planned(world: World):
    world.command.trust(world.project.write({"hookconf.py": HOOKCONF.format(reason="code says no")}))
    assert not is_planned(world, is_working=False)


def test_a_project_without_trust_is_not_planned(world: World):
    world.project.write({"agent-hooks.toml": toml(denying("no"))})
    assert not is_planned(world)


def test_settings_that_cannot_be_honoured_are_not_planned(world: World):
    world.command.configure("[[hooks.before_tool_use]]\nnonsense = 1\n")
    assert not is_planned(world, is_working=False)


def test_a_plugin_disabled_by_the_environment_is_not_planned(world: World):
    world.environment["AGENT_HOOKS_DISABLE"] = "house"
    assert not is_planned(world)
