"""Settings that another process has read and validated: the same decisions and messages, without pydantic."""

from __future__ import annotations

import json
import marshal
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from asking import answers
from making import project

from agent_hooks.sources.plugin_settings import export_tables, restore_tables
from agent_hooks_guards import GuardsSettings
from agent_hooks_guards.settings import project as settings_project

_TIGHTENING = """
max_steps = 1
max_tokens = 500
max_execution_time = 0.0
finish_reasons = ["content_filter"]
cancel_file = "STOP"
blocklist = [{ tools = ["blocked", "web_search"], message = "Not {tool}." }]
allowlist = [
  { tools = ["shell", "read", "write", "fetch", "deploy", "blocked"], message = "Only those, not {tool}." },
]
shell = { level = "strict", rules = { git = "ask", git-push-force = "deny", make-deploy = "deny" } }
paths = { level = "strict", protect = ["protected"], deny_read = ["hidden"] }
secrets = { sends = "deny", commands = "deny", writes = "deny", results = "deny" }
egress = { level = "strict", deny = ["bad.example.com"], private = "deny", others = "ask" }
injection = { matcher = "shell" }

[audit]
path = "trail.jsonl"
redact = ["password"]
max_length = 50
results = true

[cost]
max = 0.01
[cost.prices]
claude-opus = { input = 15, output = 75, cached = 1.5, reasoning = 80 }
"*" = { input = 2.5, output = 8 }

[[arguments]]
matcher = "deploy|Bash"
field = "*"
pattern = 'need+le|some-unknown'
decision = "ask"
message = "{tool} {field} {pattern}"
[[arguments]]
field = "paths"
pattern = '\\.env$'

[[roles]]
tools = ["deploy"]
roles = ["admin"]
role_key = "role"
role_env = "ROLE_OF_NOBODY"
message = "{tool} is for {roles}."

[[rate_limit]]
max_calls = 8
matcher = "shell"
window_seconds = 1e9
[[rate_limit]]
max_calls = 3
matcher = "read"

[[rules]]
id = "make-deploy"
severity = "high"
reason = "Deploys are for the pipeline."
instead = "Open a pull request."
stops = ["make deploy"]
leaves = ["make"]
match = [{ program = ["make"], subcommand = ["deploy*"] }, { effect = ["write"], from = ["network"] }]
[[rules]]
id = "no-build"
severity = "medium"
reason = "It is needed."
instead = "Leave it."
match = [{ program = ["rm"], text = "bui+ld" }]
"""
_LOOSENING = """
paths = { level = "relaxed", allow_read = ["/srv/other"], allow_write = ["/srv/allowed"] }
secrets = { commands = "allow", writes = "ask", results = "redact" }
egress = { level = "relaxed", allow = ["good.example.com"], private = "allow" }
shell = { level = "relaxed", rules = { files-delete-home = "off" } }
injection = {}

[[allow]]
rule = "git-push-force"
branch = "feature/*"
until = 2999-12-31
reason = "rebasing"
[[allow]]
rule = "git-reset-hard"
command = "git reset --hard"
path = "~/app/**"
until = 2001-01-01
[[allow]]
rule = "no-build"
path = "/nowhere/**"
"""


def _table(text: str, name: str) -> str:
    """Return settings whose keys are below ``name``, which has its own table."""
    text = re.sub(r"^(\[+)(\w)", rf"\g<1>{name}.\g<2>", text, flags=re.MULTILINE)
    return f"[{name}]\n{text}"


@pytest.fixture
def passed_on(tmp_path):
    """Write the files of the user and of a project, both or one, and return the folder of the project."""

    def passed_on(user: str, of_project: str) -> str:
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "agent-hooks.toml").write_text(_table(user, "guards") if user else "", "utf-8")
        return project(tmp_path / "p", _table(of_project, "tool.agent_hooks.guards") if of_project else "")

    yield passed_on
    restore_tables(None)


def _in_another_process(code: str, *arguments: object, blocked: tuple[str, ...] = ()) -> str:
    """Run ``code`` in a process that cannot import the ``blocked`` modules, and return its output."""
    # -S: no site-packages of the tests' own, whose start-up imports are not ours.
    path = [entry for entry in sys.path if entry]
    setup = f"import sys; sys.path[:] = {path!r}; sys.modules.update(dict.fromkeys({blocked!r}))\n"
    command = [sys.executable, "-S", "-c", setup + code, *map(str, arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


_ASK = """
import json, marshal
from pathlib import Path
from agent_hooks.sources.plugin_settings import restore_tables
restore_tables(marshal.loads(Path(sys.argv[1]).read_bytes()))
from asking import answers
print(json.dumps(answers(sys.argv[2])))
"""
_BLOCKED = ("pydantic", "agent_hooks_guards.settings.schema", "agent_hooks.formats.toml", "agent_hooks.sources.files")


@pytest.mark.parametrize(
    ("user", "of_project"),
    [
        pytest.param(_TIGHTENING, "", id="user"),
        pytest.param("", _TIGHTENING, id="project"),
        pytest.param(_LOOSENING, "", id="looser user"),
        pytest.param(_LOOSENING, _TIGHTENING, id="looser user and project"),
        pytest.param("", "max_steps = 'many'", id="wrong project"),
        pytest.param("shell = { level = 'lax', rule = 1 }", _TIGHTENING, id="wrong user"),
        pytest.param("", "allow = [{ rule = 'git', branch = 'x' }]", id="loosening project"),
    ],
)
def test_the_answers_are_those_from_the_files(tmp_path, monkeypatch, passed_on, user, of_project):
    is_wrong = "many" in of_project or "lax" in user or "allow" in of_project.partition("=")[0]
    folder = passed_on(user, of_project)
    from_files = json.loads(json.dumps(answers(folder)))
    assert any(from_files) is bool(user or of_project)
    data = tmp_path / "data"
    data.write_bytes(marshal.dumps(export_tables()))
    trail = tmp_path / "state" / "trail.jsonl"
    lines = [json.loads(line) for line in trail.read_text("utf-8").splitlines()] if trail.exists() else []
    # Counters and trails begin anew.
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "other"))
    restored = json.loads(_in_another_process(_ASK, data, folder, blocked=() if is_wrong else _BLOCKED))
    assert restored == from_files
    if lines:
        written = [json.loads(line) for line in (tmp_path / "other" / "trail.jsonl").read_text("utf-8").splitlines()]
        assert [{**line, "time": ""} for line in written] == [{**line, "time": ""} for line in lines]


def test_every_setting_is_among_these():
    document = tomllib.loads(
        f"{_TIGHTENING}\n{_LOOSENING.partition('[[allow]]')[1]}{_LOOSENING.partition('[[allow]]')[2]}"
    )
    given = {*_keys(document), *_keys(tomllib.loads(_LOOSENING))}
    schema = GuardsSettings.model_json_schema()
    # Rules about commands have tests of their own.
    tables = [schema, *(each for name, each in schema["$defs"].items() if name not in ("Match", "Count"))]
    assert {key for table in tables for key in table["properties"]} <= given


def _keys(value: object) -> set[str]:
    if isinstance(value, list):
        return {key for each in value for key in _keys(each)}
    return {*value, *(key for each in value.values() for key in _keys(each))} if isinstance(value, dict) else set()


def test_a_restored_exception_that_is_too_wide_here_is_as_wrong_as_in_the_file(tmp_path, monkeypatch, passed_on):
    """In one process the path is the whole machine, in another it is not."""
    folder = passed_on("allow = [{ rule = 'git', path = 'x/../..' }]", "")
    assert not any(isinstance(each, str) for each in answers(folder))
    restore_tables(marshal.loads(marshal.dumps(export_tables())))
    settings_project._built.clear()
    monkeypatch.chdir("/usr")
    (wrong,) = {each for each in answers(folder) if isinstance(each, str)}
    assert wrong.startswith(f"SettingsError: {tmp_path}/config/agent-hooks.toml:2: the settings [guards] are wrong.")
    assert "path = 'x/../..' is nearly everything" in wrong


_IMPORTS = """
import marshal
from pathlib import Path
from agent_hooks.sources.plugin_settings import restore_tables
import agent_hooks_guards
from agent_hooks_guards.model.tables import load_tables
# In a checkout the tables of the guards themselves are TOML.
for folder in {path.parent for path in Path(agent_hooks_guards.__file__).parent.rglob("*.toml")}:
    load_tables(str(folder))
heavy = ("pydantic", "tomllib", "typing", "inspect", "dataclasses", "decimal", "importlib_metadata")
for name in heavy:
    sys.modules.pop(name, None)
restore_tables(marshal.loads(Path(sys.argv[1]).read_bytes()))
from agent_hooks.model.context import HookContext
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.tool_call import ToolCall
call = ToolCall("Bash", {"command": "make deploy"}, kind="shell")
ctx = HookContext("before_tool_use", tool_call=call, cwd=sys.argv[2])
outcome = agent_hooks_guards.before_tool_use(ctx)
agent_hooks_guards.audit_call(ctx.replace(outcome=HookOutcome.proceed()))
print(None if outcome is None else outcome.reason, [name for name in heavy if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("arguments = [{ field = 'command', pattern = 'dep+loy' }]", 'Argument "command" of tool "Bash" is not'),
        ("[shell]\nlevel = 'strict'", "None"),
        (_TIGHTENING[_TIGHTENING.index("[[rules]]") :], "`make deploy`: Deploys are for the pipeline."),
        ("[audit]\nresults = true", "None"),
        ("[[allow]]\nrule = 'git'\nbranch = 'x'\nuntil = 2999-01-01", "None"),
        ("max_steps = 3\nmax_tokens = 3\n[cost]\nmax = 3\nprices = { '*' = { input = 1, output = 1 } }", "None"),
        (
            "blocklist = [{ tools = ['shell'] }]\nroles = [{ tools = ['x'] }]\nrate_limit = [{ max_calls = 9 }]",
            'Tool "',
        ),
        ("[paths]\nprotect = ['x']\n[egress]\ndeny = ['x.example']\n[secrets]\nwrites = 'deny'", "None"),
    ],
)
def test_a_call_is_decided_without_pydantic_and_toml(tmp_path, passed_on, text, reason):
    folder = passed_on(text, "")
    answers(folder)
    data = tmp_path / "data"
    data.write_bytes(marshal.dumps(export_tables()))
    Path(tmp_path / "config" / "agent-hooks.toml").unlink()
    printed = _in_another_process(_IMPORTS, data, folder, blocked=())
    assert printed.startswith(reason)
    assert printed.endswith(" []\n")
