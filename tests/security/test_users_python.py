"""A user's own hooks that run Python code import nothing from the repository that the agent works in."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tables import tables

if TYPE_CHECKING:
    from .conftest import Victim

CODE = "import json, sys; json.load(sys.stdin); import tabnanny"
TOOL = f"{sys.executable} -c '{CODE}'"
SHELL = f"""\
#!/bin/sh
{TOOL}
"""
PYTHON = f"""\
import subprocess, sys
import helper
subprocess.run([sys.executable, "-c", {CODE!r}], stdin=sys.stdin)
helper.refuse()
"""
HELPER = "import sys\ndef refuse():\n    print('not here', file=sys.stderr)\n    sys.exit(2)\n"


def plant(victim: Victim) -> None:
    for name in ("json", "tabnanny", "helper", "pytest"):
        victim.write(f"{name}.py", victim.python)


def own(victim: Victim, command: str, *lines: str) -> None:
    """Put a command into the user's own agent-hooks.toml."""
    handler = "\n".join(
        ["[[hooks.before_tool_use.hooks]]", 'type = "command"', f"command = {json.dumps(command)}", *lines]
    )
    victim.agent_hooks.configure(f"[[hooks.before_tool_use]]\n{handler}\n")


COMMANDS = tables(__file__)["commands"]
QUIET = CODE.replace("json.load(sys.stdin)", "pass")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_python_code_of_the_users_hooks_imports_nothing_of_the_repository(victim: Victim, command: str):
    plant(victim)
    victim.write_own("hooks/gate.sh", SHELL).chmod(0o755)
    uv = victim.write_own("bin/uv", '#!/bin/sh\nshift\nexec "$@"\n')
    uv.chmod(0o755)
    own(victim, command.replace("PYTHON", sys.executable).replace("CODE", CODE).replace("QUIET", QUIET))
    answer = victim.run(env={"PATH": f"{uv.parent}{os.pathsep}{os.environ['PATH']}"})
    assert (answer.exit_code, answer.said) == (0, "")
    assert not victim.was_hit


def test_the_same_holds_for_the_users_settings_of_claude_code(victim: Victim):
    plant(victim)
    victim.write_own(".claude/settings.json", victim.hooks(TOOL))
    assert victim.run(agent="codex").said == ""
    assert not victim.was_hit


@pytest.mark.parametrize(
    "command",
    [
        f"{sys.executable} ~/hooks/gate.py",
        f"env A=1 {sys.executable} -u ~/hooks/gate.py",
        f"{TOOL} < /dev/null; {sys.executable} ~/hooks/gate.py",
        "sh ~/hooks/both.sh",
    ],
)
def test_a_script_of_the_user_goes_on_to_import_what_is_beside_it(victim: Victim, command: str):
    plant(victim)
    victim.write_own("hooks/gate.py", PYTHON)
    victim.write_own("hooks/helper.py", HELPER)
    body = f'DIR="$(cd "$(dirname "$0")" && pwd)"\n{TOOL} < /dev/null\n{sys.executable} "$DIR/gate.py"\n'
    victim.write_own("hooks/both.sh", body)
    own(victim, command)
    answer = victim.run()
    assert answer.exit_code == 2
    assert "not here" in answer.stderr
    assert not victim.was_hit


def test_a_script_without_code_keeps_its_environment(victim: Victim):
    seen = victim.folder / "seen"
    victim.write_own("hooks/gate.py", f"import os\nopen({str(seen)!r}, 'w').write(repr(dict(os.environ)))\n")
    own(victim, f"{sys.executable} ~/hooks/gate.py")
    victim.run()
    assert "PYTHONSAFEPATH" not in seen.read_text()


@pytest.mark.parametrize("setting", ["safe_path = false", "env = { PYTHONSAFEPATH = '' }"])
def test_the_user_can_keep_the_project_importable(victim: Victim, setting: str):
    victim.write("policy.py", "import sys\nprint('not here', file=sys.stderr)\nsys.exit(2)\n")
    own(victim, f"{sys.executable} -m policy")
    assert "not here" not in victim.run().said
    own(victim, f"{sys.executable} -m policy", setting)
    assert "not here" in victim.run().stderr


def test_a_folder_of_the_users_choice_is_imported_from(victim: Victim):
    victim.write_own("lib/policy.py", "import sys\nprint('not here', file=sys.stderr)\nsys.exit(2)\n")
    own(victim, f"{sys.executable} -m policy", f"cwd = {json.dumps(str(victim.home / 'lib'))}")
    assert "not here" in victim.run().stderr


def test_a_project_cannot_make_itself_importable(victim: Victim):
    table = victim.table(f"{sys.executable} -c 'import json'") + "safe_path = false\n"
    victim.write("agent-hooks.toml", table)
    victim.trust()
    plant(victim)
    answer = victim.run()
    assert answer.exit_code == 2
    assert "'safe_path' is for TOML of the user or the machine" in answer.stderr
    assert not Path(victim.canary).exists()
