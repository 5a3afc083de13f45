"""What was trusted is not what is there now, so nothing of it runs, and it is said what changed."""

from __future__ import annotations

import codecs
import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from select import select
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookPolicy, ToolCall
from agent_hooks.errors import TrustError
from agent_hooks.sources.hookconfs import load_hookconf
from agent_hooks.trust.discovery import discover

if TYPE_CHECKING:
    from commands import Done

    from .conftest import Victim

SCRIPT = ".claude/hooks/check.sh"
HONEST = "#!/bin/sh\ngrep -q forbidden && { echo 'not here' >&2; exit 2; }\nexit 0\n"
SETTINGS = ".claude/settings.json"
DENIES = """\
from agent_hooks import HookOutcome, hookimpl

@hookimpl
def before_tool_use(ctx):
    return HookOutcome.deny("not in src")
"""


@pytest.fixture
def trusted(victim: Victim) -> Victim:
    """Who has looked at an honest repository and trusted it."""
    victim.write(SCRIPT, HONEST, 0o755)
    victim.write(SETTINGS, settings("true", '"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh'))
    victim.write("hookconf.py", 'agent_hooks_plugins = ["policies.shell"]\n')
    victim.write("policies/shell.py", "from agent_hooks import hookimpl\n")
    victim.write("src/agent-hooks.toml", victim.table("true"))
    victim.write(".claude/skills/a/SKILL.md", '---\n{"name": "a", "hooks": {"Stop": []}}\n---\n')
    victim.trust()
    return victim


def settings(*commands: str, **fields: Any) -> dict[str, Any]:
    entries = [{"type": "command", "command": command, **fields} for command in commands]
    return {"hooks": {"PreToolUse": [{"hooks": entries}]}}


def forbidden(victim: Victim, **options: Any) -> Done:
    return victim.run(tool_input={"command": "forbidden"}, **options)


def test_the_gates_of_a_trusted_repository_hold_while_nothing_changes(trusted: Victim):
    answer = forbidden(trusted)
    assert answer.denies
    assert "not here" in answer.reason
    assert trusted.run().said == ""


def test_what_means_nothing_to_hooks_may_change(trusted: Victim):
    trusted.write(SETTINGS, {**settings("true", f'"$CLAUDE_PROJECT_DIR"/{SCRIPT}'), "model": "x", "permissions": {}})
    trusted.write("README.md", "new")
    trusted.write("policies/helper.py", "")
    assert forbidden(trusted).denies
    assert trusted.run().said == ""


# -- a later commit ----------------------------------------------------------------------------------------------------


def script_swapped_under_its_name(victim: Victim) -> str:
    victim.write(SCRIPT, f"#!/bin/sh\n{victim.touch}\n", 0o755)
    return f"{SCRIPT} has changed."


def script_of_the_same_length_and_time(victim: Victim) -> str:
    file = victim.repo / SCRIPT
    before = file.stat()
    victim.write(SCRIPT, HONEST.replace("forbidden", "forbiddem"), 0o755)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    return f"{SCRIPT} has changed."


def script_that_anybody_may_write(victim: Victim) -> str:
    (victim.repo / SCRIPT).chmod(0o777)
    return f"{SCRIPT} has the permissions 0777, which were 0755."


def script_gone(victim: Victim) -> str:
    (victim.repo / SCRIPT).unlink()
    return f"{SCRIPT} is gone."


def script_a_pipe(victim: Victim) -> str:
    (victim.repo / SCRIPT).unlink()
    os.mkfifo(victim.repo / SCRIPT)
    return f"{SCRIPT} is gone."


def script_of_somebody_else(victim: Victim) -> str:
    if os.geteuid() != 0:
        pytest.skip("only root gives a file to somebody else")
    os.chown(victim.repo / SCRIPT, 12345, -1)
    return f"{SCRIPT}, or the folder of the project, belongs to user 12345, not to you."


def folder_of_somebody_else(victim: Victim) -> str:
    if os.geteuid() != 0:
        pytest.skip("only root gives a folder to somebody else")
    os.chown(victim.repo, 12345, -1)
    return f"{SCRIPT}, or the folder of the project, belongs to user 12345, not to you."


def command_swapped(victim: Victim) -> str:
    victim.write(SETTINGS, settings("true", victim.touch))
    return f"{SETTINGS} has changed."


def hook_added(victim: Victim) -> str:
    victim.write(SETTINGS, settings("true", f'"$CLAUDE_PROJECT_DIR"/{SCRIPT}', victim.touch))
    return f"{SETTINGS} has changed."


def hooks_reordered(victim: Victim) -> str:
    victim.write(SETTINGS, settings(f'"$CLAUDE_PROJECT_DIR"/{SCRIPT}', "true"))
    return f"{SETTINGS} has changed."


def gate_removed(victim: Victim) -> str:
    victim.write(SETTINGS, settings("true"))
    return f"{SETTINGS} has changed."


def gate_narrowed(victim: Victim) -> str:
    narrowed = settings("true", f'"$CLAUDE_PROJECT_DIR"/{SCRIPT}')
    narrowed["hooks"]["PreToolUse"][0]["matcher"] = "Write"
    victim.write(SETTINGS, narrowed)
    return f"{SETTINGS} has changed."


def gate_made_too_short(victim: Victim) -> str:
    victim.write(SETTINGS, settings("true", f'"$CLAUDE_PROJECT_DIR"/{SCRIPT}', timeout=0.001))
    return f"{SETTINGS} has changed."


def all_hooks_disabled(victim: Victim) -> str:
    victim.write(SETTINGS, {**settings("true", f'"$CLAUDE_PROJECT_DIR"/{SCRIPT}'), "disableAllHooks": True})
    return f"{SETTINGS} has changed."


def settings_emptied(victim: Victim) -> str:
    victim.write(SETTINGS, {})
    return f"{SETTINGS} is gone."


def settings_broken(victim: Victim) -> str:
    victim.write(SETTINGS, "{")
    return f"{SETTINGS} has changed."


def settings_added(victim: Victim) -> str:
    victim.write(".claude/settings.local.json", settings(victim.touch))
    return ".claude/settings.local.json is new."


def settings_of_ours_added(victim: Victim) -> str:
    victim.write("agent-hooks.toml", victim.table(victim.touch))
    return "agent-hooks.toml is new."


def table_added_to_pyproject(victim: Victim) -> str:
    victim.write("pyproject.toml", victim.table(victim.touch).replace("[[hooks.", "[[tool.agent_hooks.hooks."))
    return "pyproject.toml is new."


def settings_added_in_a_nested_folder(victim: Victim) -> str:
    victim.write("src/.claude/settings.json", settings(victim.touch))
    return "src/.claude/settings.json is new."


def hookconf_changed(victim: Victim) -> str:
    victim.write("hookconf.py", f'agent_hooks_plugins = ["policies.shell"]\n{victim.python}')
    return "hookconf.py has changed."


def hookconf_added(victim: Victim) -> str:
    victim.write("src/hookconf.py", victim.python)
    return "src/hookconf.py is new."


def module_changed(victim: Victim) -> str:
    victim.write("policies/shell.py", victim.python)
    return "policies/shell.py has changed."


def module_named(victim: Victim) -> str:
    victim.write("policies/more.py", victim.python)
    victim.write("hookconf.py", 'agent_hooks_plugins = ["policies.shell", "policies.more"]\n')
    return "hookconf.py has changed. policies/more.py is new."


def skill_changed(victim: Victim) -> str:
    handler = {"type": "command", "command": victim.touch}
    frontmatter = {"name": "a", "hooks": {"Stop": [{"hooks": [handler]}]}}
    victim.write(".claude/skills/a/SKILL.md", f"---\n{json.dumps(frontmatter)}\n---\n")
    return ".claude/skills/a/SKILL.md has changed."


def all_gone(victim: Victim) -> str:
    for path in (".claude", "hookconf.py", "policies", "src/agent-hooks.toml"):
        file = victim.repo / path
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    return f"{SCRIPT} is gone. {SETTINGS} is gone."


# -- links in place of what was there ----------------------------------------------------------------------------------


def script_linked_outside(victim: Victim) -> str:
    evil = victim.folder / "evil.sh"
    evil.write_text(f"#!/bin/sh\n{victim.touch}\n")
    evil.chmod(0o755)
    replaced(victim.repo / SCRIPT, evil)
    return f"{SCRIPT} has changed. {SCRIPT} leads to {evil}, not to itself."


def script_linked_to_its_double(victim: Victim) -> str:
    # The same bytes: but who can write there is not who was trusted.
    double = victim.write("tmp/check.sh", HONEST, 0o755)
    replaced(victim.repo / SCRIPT, double)
    return f"{SCRIPT} leads to tmp/check.sh, not to itself."


def settings_linked_outside(victim: Victim) -> str:
    evil = victim.folder / "evil.json"
    evil.write_text(json.dumps(settings(victim.touch)))
    replaced(victim.repo / SETTINGS, evil)
    return f"{SETTINGS} is gone."


def claude_folder_linked_outside(victim: Victim) -> str:
    evil = victim.folder / "evil"
    evil.mkdir()
    (evil / "settings.json").write_text(json.dumps(settings(victim.touch)))
    replaced(victim.repo / ".claude", evil)
    return f"{SETTINGS} is gone."


def claude_folder_linked_inside(victim: Victim) -> str:
    shutil.copytree(victim.repo / ".claude", victim.repo / "elsewhere")
    replaced(victim.repo / ".claude", victim.repo / "elsewhere")
    return f"{SETTINGS} leads to elsewhere/settings.json, not to itself."


def hookconf_linked_outside(victim: Victim) -> str:
    evil = victim.folder / "evil.py"
    evil.write_text(victim.python)
    replaced(victim.repo / "hookconf.py", evil)
    return "hookconf.py is gone."


def module_linked_to_a_device(victim: Victim) -> str:
    replaced(victim.repo / "policies/shell.py", Path("/dev/zero"))
    return "policies/shell.py is gone."


def replaced(file: Path, target: Path) -> None:
    shutil.rmtree(file) if file.is_dir() else file.unlink()
    file.symlink_to(target)


CHANGES = [
    script_swapped_under_its_name,
    script_of_the_same_length_and_time,
    script_that_anybody_may_write,
    script_gone,
    script_a_pipe,
    script_of_somebody_else,
    folder_of_somebody_else,
    command_swapped,
    hook_added,
    hooks_reordered,
    gate_removed,
    gate_narrowed,
    gate_made_too_short,
    all_hooks_disabled,
    settings_emptied,
    settings_broken,
    settings_added,
    settings_of_ours_added,
    table_added_to_pyproject,
    settings_added_in_a_nested_folder,
    hookconf_changed,
    hookconf_added,
    module_changed,
    module_named,
    skill_changed,
    all_gone,
    script_linked_outside,
    script_linked_to_its_double,
    settings_linked_outside,
    claude_folder_linked_outside,
    claude_folder_linked_inside,
    hookconf_linked_outside,
    module_linked_to_a_device,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_after_a_change_nothing_runs_and_it_is_said_what_changed(trusted: Victim, change: Any):
    changed = change(trusted)
    outcome = trusted.asked(cwd=trusted.repo / "src")
    assert (outcome.decision, trusted.was_hit) == ("proceed", False)
    assert "files changed since they were trusted: " in trusted.notes
    assert changed.rstrip(".") in trusted.notes
    assert f"`agent-hooks trust --diff {trusted.repo}`" in trusted.notes
    assert f"`agent-hooks trust {trusted.repo}`" in trusted.notes


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_after_a_change_who_wants_all_gates_or_nothing_gets_nothing(trusted: Victim, change: Any):
    changed = change(trusted)
    with pytest.raises(TrustError, match=re.escape(changed.partition(". ")[0].rstrip("."))):
        trusted.load(policy=HookPolicy(require_project_gates=True))
    assert not trusted.was_hit


@pytest.mark.parametrize("mark", [".git/HEAD", "pyvenv.cfg", "conda-meta/history"])
def test_no_folder_with_a_gate_can_be_made_into_another_project(trusted: Victim, mark: str):
    trusted.write("src/hookconf.py", DENIES)
    trusted.trust()
    trusted.write(f"src/{mark}", "")
    for folder in (trusted.repo, trusted.repo / "src"):
        assert forbidden(trusted, cwd=folder).denies
        assert trusted.asked(cwd=folder, tool_input={"command": "ls src"}).reason == "not in src"
    manager, _ = trusted.load()
    assert manager.hooks().dispatch_sync(call(trusted)).reason == "not in src"


@pytest.mark.parametrize(
    "change",
    [script_swapped_under_its_name, command_swapped, hookconf_added, claude_folder_linked_outside, all_gone],
    ids=lambda change: change.__name__,
)
def test_the_real_command_runs_nothing_either_and_says_the_same(trusted: Victim, change: Any):
    changed = change(trusted)
    answer = trusted.run(cwd=trusted.repo / "src")
    assert (answer.exit_code, trusted.was_hit) == (0, False)
    assert "files changed since they were trusted: " in answer.said
    assert changed.rstrip(".") in answer.said
    assert f"`agent-hooks trust {trusted.repo}`" in answer.said


def test_the_real_command_refuses_where_all_gates_are_wanted(trusted: Victim):
    command_swapped(trusted)
    trusted.write_own(".config/agent-hooks/agent-hooks.toml", "[policy]\nrequire_project_gates = true\n")
    answer = trusted.run()
    assert answer.denies
    assert f"{SETTINGS} has changed" in answer.reason
    assert not trusted.was_hit


def test_the_folder_of_somebody_else_can_be_trusted_as_that(trusted: Victim):
    folder_of_somebody_else(trusted)
    trusted.trust()
    assert forbidden(trusted).denies
    os.chown(trusted.repo, 54321, -1)
    assert "belongs to user 54321, not to user 12345." in trusted.run().said


def test_the_old_bytes_are_trusted_again_once_they_are_back(trusted: Victim):
    script_swapped_under_its_name(trusted)
    trusted.write(SCRIPT, HONEST, 0o755)
    assert forbidden(trusted).denies


# -- another repository ------------------------------------------------------------------------------------------------


def copied(victim: Victim) -> Path:
    other = victim.folder / "copy"
    shutil.copytree(victim.repo, other)
    return other


def moved(victim: Victim) -> Path:
    return Path(shutil.move(victim.repo, victim.folder / "moved"))


def behind_a_link_that_was_trusted(victim: Victim) -> Path:
    link = victim.folder / "link"
    link.symlink_to(victim.repo)
    victim.trust(link)
    other = copied(victim)
    link.unlink()
    link.symlink_to(other)
    return link


def record_of_another_path(victim: Victim) -> Path:
    other = copied(victim)
    record = sha256(os.fsencode(victim.repo)).hexdigest()
    shutil.copy(
        victim.config / f"trust/{record}.jsonl", victim.config / f"trust/{sha256(os.fsencode(other)).hexdigest()}.jsonl"
    )
    return other


def record_linked_to_the_repository(victim: Victim) -> Path:
    record = next((victim.config / "trust").iterdir())
    planted = victim.write("record.jsonl", record.read_bytes(), 0o600)
    replaced(record, planted)
    return victim.repo


def record_that_others_can_write(victim: Victim) -> Path:
    next((victim.config / "trust").iterdir()).chmod(0o666)
    return victim.repo


def store_that_others_can_write(victim: Victim) -> Path:
    (victim.config / "trust").chmod(0o777)
    return victim.repo


def settings_folder_that_others_can_write(victim: Victim) -> Path:
    victim.config.chmod(0o777)
    return victim.repo


def record_cut_short(victim: Victim) -> Path:
    record = next((victim.config / "trust").iterdir())
    record.write_bytes(record.read_bytes()[:100])
    return victim.repo


@pytest.mark.parametrize(
    ("place", "says"),
    [
        pytest.param(copied, "nobody has trusted", id="copied"),
        pytest.param(moved, "nobody has trusted", id="moved"),
        pytest.param(behind_a_link_that_was_trusted, "nobody has trusted", id="behind_a_link_that_was_trusted"),
        pytest.param(record_of_another_path, "damaged", id="record_of_another_path"),
        pytest.param(record_linked_to_the_repository, "cannot be read", id="record_linked_to_the_repository"),
        pytest.param(
            record_that_others_can_write, "Others can write it (mode 0666)", id="record_that_others_can_write"
        ),
        pytest.param(store_that_others_can_write, "Others can write it (mode 0777)", id="store_that_others_can_write"),
        pytest.param(settings_folder_that_others_can_write, "Others can write it", id="settings_that_others_can_write"),
        pytest.param(record_cut_short, "damaged", id="record_cut_short"),
    ],
)
def test_trust_is_for_these_bytes_at_this_place_in_a_store_of_ones_own(victim: Victim, place: Any, says: str):
    victim.write("hookconf.py", victim.python)
    victim.trust()
    root = place(victim)
    answer = victim.run(cwd=root)
    assert not victim.was_hit
    assert f"not active in the project {root.resolve()}" in answer.said or "The hooks are not active" in answer.said
    assert says in answer.said
    assert any(what in answer.said for what in (f"`agent-hooks trust {root.resolve()}`", "then trust again", "Make it"))


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "0" * 64, "sha256:*", "the other's"])
def test_only_the_digest_of_what_is_there_is_trusted(victim: Victim, digest: str):
    victim.write("hookconf.py", "x = 1\n")
    other = copied(victim)
    victim.write("hookconf.py", victim.python)
    digest = digest.replace("the other's", discover(other).digest)
    answer = victim.command("trust", "--digest", digest)
    assert answer.exit_code == 1
    assert f"has the digest {discover(victim.repo).digest}, not {digest}. Look at it again." in answer.said
    victim.run()
    assert not victim.was_hit


def test_what_changes_while_a_person_is_asked_is_not_what_they_trust(victim: Victim):
    victim.write("hookconf.py", "x = 1\n")
    above, below = os.openpty()
    arguments = [sys.executable, str(victim.script), "trust"]
    with subprocess.Popen(
        arguments, stdin=below, stdout=below, stderr=below, cwd=victim.repo, env=victim.environment
    ) as process:
        os.close(below)
        assert b"hookconf.py is run as Python" in read_until(above, b"[y/N]")
        victim.write("hookconf.py", victim.python)
        os.write(above, b"y\n")
        assert b"The files changed while you were asked" in read_until(above, b"type the command again")
    os.close(above)
    assert process.returncode == 1
    victim.run()
    assert not victim.was_hit


def read_until(descriptor: int, text: bytes) -> bytes:
    said, deadline = b"", monotonic() + 20
    while text not in b" ".join(said.split()):
        readable, _, _ = select([descriptor], [], [], max(0.0, deadline - monotonic()))
        assert readable, said
        said += os.read(descriptor, 4096)
    return b" ".join(said.split())


# -- between the look and the run --------------------------------------------------------------------------------------


def call(victim: Victim) -> HookContext:
    return HookContext("before_tool_use", cwd=str(victim.repo), tool_call=ToolCall("Bash", {"command": "make"}))


def evil_script(victim: Victim) -> None:
    victim.write(SCRIPT, f"#!/bin/sh\n{victim.touch}\n", 0o755)


def link_to_an_evil_script(victim: Victim) -> None:
    script_linked_outside(victim)


def a_pipe(victim: Victim) -> None:
    script_a_pipe(victim)


def an_endless_device(victim: Victim) -> None:
    replaced(victim.repo / SCRIPT, Path("/dev/zero"))


def a_folder(victim: Victim) -> None:
    (victim.repo / SCRIPT).unlink()
    (victim.repo / SCRIPT).mkdir()


@pytest.mark.parametrize(
    "swap", [evil_script, link_to_an_evil_script, a_pipe, an_endless_device, script_gone, a_folder]
)
def test_a_script_swapped_between_the_look_and_the_run_does_not_run(trusted: Victim, swap: Any):
    manager, _ = trusted.load()
    swap(trusted)
    outcome = manager.hooks().dispatch_sync(call(trusted))
    assert outcome.decision == "deny"
    assert not trusted.was_hit
    assert f"{trusted.repo}/{SCRIPT}" in outcome.reason
    assert "trusted" in outcome.reason


def test_settings_swapped_between_the_look_and_the_run_change_nothing(trusted: Victim):
    manager, _ = trusted.load()
    command_swapped(trusted)
    shutil.rmtree(trusted.repo / "policies")
    outcome = manager.hooks().dispatch_sync(call(trusted))
    assert (outcome.decision, trusted.was_hit) == ("proceed", False)


def test_a_hookconf_swapped_between_the_look_and_the_run_is_run_as_it_was_looked_at(victim: Victim):
    victim.write("hookconf.py", "WHO = 'honest'\n")
    (conf,) = discover(victim.repo).confs
    victim.write("hookconf.py", victim.python)
    assert load_hookconf(conf).WHO == "honest"
    assert not victim.was_hit


# Swaps the script right before its interpreter opens it, and puts the old one back before anybody looks again.
SWAPPING = """\
#!/bin/sh
mv "{script}" "{script}.old"; mv "{script}.evil" "{script}"
"{interpreter}" "$@"
code=$?
mv "{script}" "{script}.evil"; mv "{script}.old" "{script}"
exit $code
"""
IN_PYTHON = "#!/usr/bin/env python3\nimport sys\nsys.exit(2 if 'forbidden' in sys.stdin.read() else 0)\n"


@pytest.mark.parametrize("command", ["{}", "sh {}", "bash -e {} now", "/usr/bin/env python3 -u {}", "python3 {}"])
@pytest.mark.parametrize("fields", [{}, {"args": []}], ids=["text", "list"])
def test_a_script_swapped_behind_every_look_is_not_what_runs(
    victim: Victim, monkeypatch: Any, command: str, fields: Any
):
    is_python = "python3" in command
    file = victim.write(SCRIPT, IN_PYTHON if is_python else HONEST.replace("#!/bin/sh", "#!/usr/bin/env sh"), 0o755)
    program, *args = command.format(f"${{CLAUDE_PROJECT_DIR}}/{SCRIPT}").split()
    fields = {"args": args} if fields else {}
    victim.write(SETTINGS, settings(program if fields else " ".join((program, *args)), **fields))
    victim.trust()
    victim.write(f"{SCRIPT}.evil", victim.python if is_python else f"#!/bin/sh\n{victim.touch}\n", 0o755)
    for name, real in {"sh": shutil.which("sh"), "bash": shutil.which("bash"), "python3": sys.executable}.items():
        interpreter = victim.folder / "bin" / name
        interpreter.write_text(SWAPPING.format(script=file, interpreter=real))
        interpreter.chmod(0o755)
    monkeypatch.setenv("PATH", str(victim.folder / "bin"), prepend=os.pathsep)
    decisions = [victim.asked(tool_input={"command": each}).decision for each in ("forbidden", "make", "forbidden")]
    assert decisions == ["deny", "proceed", "deny"]
    assert not victim.was_hit
    # By its path, it would have been.
    subprocess.run([victim.folder / "bin" / ("python3" if is_python else "sh"), file], input=b"", check=True)
    assert victim.was_hit


def test_no_loop_that_swaps_a_script_gets_other_bytes_run(trusted: Victim):
    manager, _ = trusted.load()
    hooks = manager.hooks()
    script = trusted.repo / SCRIPT
    evil = trusted.write(f"{SCRIPT}.evil", f"#!/bin/sh\n{trusted.touch}\n", 0o755)
    kept = trusted.write(f"{SCRIPT}.kept", HONEST, 0o755)
    loop = "import os, sys\nscript, *others = sys.argv[1:]\nwhile True:\n  for each in others:\n"
    loop += "    os.link(each, script + '.new')\n    os.rename(script + '.new', script)\n"
    with subprocess.Popen([sys.executable, "-IS", "-c", loop, script, evil, kept]) as swapping:
        try:
            ctx = call(trusted).replace(tool_call=ToolCall("Bash", {"command": "forbidden"}))
            outcomes = [hooks.dispatch_sync(ctx) for _ in range(150)]
        finally:
            swapping.kill()
    assert {outcome.decision for outcome in outcomes} == {"deny"}
    assert any("not here" in outcome.reason for outcome in outcomes), "The honest script was never asked."
    assert not trusted.was_hit


def test_a_script_that_runs_by_its_path_lets_nothing_through_if_it_is_not_the_same_afterwards(victim: Victim):
    evil = f"#!/bin/sh\\n{victim.touch}\\n"
    victim.write(SCRIPT, f'#!/bin/sh\nprintf \'{evil}\' > "$0.new"; chmod 755 "$0.new"; mv "$0.new" "$0"\n', 0o755)
    victim.write(SETTINGS, settings(f'true && "$CLAUDE_PROJECT_DIR"/{SCRIPT}'))
    victim.trust()
    assert "has changed since it was trusted" in victim.asked().reason
    assert not victim.was_hit


def test_a_script_that_changes_while_it_runs_lets_nothing_through(victim: Victim):
    evil = f"#!/bin/sh\\n{victim.touch}\\n"
    victim.write(SCRIPT, f'#!/bin/sh\nprintf \'{evil}\' > "$0.new"; chmod 755 "$0.new"; mv "$0.new" "$0"\n', 0o755)
    victim.write(SETTINGS, settings(f'"$CLAUDE_PROJECT_DIR"/{SCRIPT}'))
    victim.trust()
    answer = victim.run()
    assert answer.denies
    assert f"{victim.repo}/{SCRIPT} has changed since it was trusted; see `agent-hooks trust --diff`" in answer.reason
    victim.run()
    assert not victim.was_hit


# -- bytes that are not the file's -------------------------------------------------------------------------------------


def stale(victim: Victim, target: Path) -> None:
    """What an import would take for the compiled form of the file as it is: its time and size are right."""
    evil = victim.folder / "evil.py"
    source = target.read_text()
    evil.write_text(victim.python.ljust(len(source) - 1)[: len(source) - 1] + "\n")
    assert evil.stat().st_size == target.stat().st_size
    os.utime(evil, ns=(target.stat().st_atime_ns, target.stat().st_mtime_ns))
    made = py_compile.compile(str(evil), cfile=cache_from_source(str(target)), doraise=True)
    assert made is not None


def unchecked(victim: Victim, target: Path) -> None:
    evil = victim.folder / "evil.py"
    evil.write_text(victim.python)
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(evil), cfile=cache_from_source(str(target)), invalidation_mode=mode, doraise=True)


def beside_it(victim: Victim, target: Path) -> None:
    evil = victim.folder / "evil.py"
    evil.write_text(victim.python)
    py_compile.compile(str(evil), cfile=f"{target}c", doraise=True)


@pytest.mark.parametrize("poison", [stale, unchecked, beside_it])
def test_no_compiled_form_of_a_hookconf_is_ever_used_or_left(victim: Victim, poison: Any):
    target = victim.write("hookconf.py", f"{DENIES}{'#' * 300}\n")
    victim.trust()
    poison(victim, target)
    before = sorted(victim.repo.rglob("*.pyc"))
    answer = victim.run()
    assert answer.denies
    assert "not in src" in answer.reason
    assert not victim.was_hit
    assert sorted(victim.repo.rglob("*.pyc")) == before


@pytest.mark.parametrize("encoding", ["utf-7", "utf-16", "rot13", "raw_unicode_escape", "unicode_escape"])
def test_a_hookconf_is_run_as_the_text_that_a_person_sees(victim: Victim, encoding: str):
    evil = victim.python.strip()
    hidden = {
        "utf-7": "# +AAo-" + evil,
        "unicode_escape": "#\\n" + evil,
        "raw_unicode_escape": "#\\u000a" + evil,
        "rot13": codecs.encode(evil, "rot13"),
        "utf-16": evil.encode("utf-16-le").decode("latin-1"),
    }[encoding]
    victim.write("hookconf.py", f"# coding: {encoding}\n{hidden}\n".encode("latin-1"))
    victim.trust()
    victim.run()
    assert not victim.was_hit


def test_what_stands_beside_a_hookconf_is_not_imported_by_it(victim: Victim):
    for name in ("policies", "json", "agent_hooks_guards"):
        victim.write(f"{name}.py", victim.python)
    victim.write("hookconf.py", "import json, sys\nimport policies\n")
    victim.trust()
    answer = victim.run()
    assert answer.denies
    assert not victim.was_hit
    problem = "It could not be loaded (ModuleNotFoundError: No module named 'policies'"
    assert problem in answer.reason
    assert f"hookconf.py:2: {problem}" in answer.json["systemMessage"]


def test_a_hookconf_that_names_modules_only_when_it_runs_is_refused(victim: Victim):
    victim.write("evil.py", victim.python)
    victim.write("hookconf.py", "globals()['agent_' + 'hooks_plugins'] = ['evil']\n")
    victim.trust()
    answer = victim.run()
    assert answer.denies
    assert not victim.was_hit
    assert "must be one list of names, written out at the top of the file" in answer.reason
