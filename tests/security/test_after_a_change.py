"""What was trusted is not what is there now, so nothing of it runs, and it is said what changed."""

from __future__ import annotations

import codecs
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
from projects import alter
from tables import tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from commands import Done

    from .conftest import Victim

SCRIPT = ".claude/hooks/check.sh"
SETTINGS = ".claude/settings.json"
TABLES = tables(__file__)
HONEST = TABLES["honest"][SCRIPT]
DENIES = """\
from agent_hooks import HookOutcome, hookimpl

@hookimpl
def before_tool_use(ctx):
    return HookOutcome.deny("not in src")
"""


@pytest.fixture
def trusted(victim: Victim) -> Victim:
    """Who has looked at an honest repository and trusted it."""
    victim.lay(TABLES["honest"])
    victim.trust()
    return victim


def forbidden(victim: Victim, **options: Any) -> Done:
    return victim.run(tool_input={"command": "forbidden"}, **options)


def test_the_gates_of_a_trusted_repository_hold_while_nothing_changes(trusted: Victim):
    answer = forbidden(trusted)
    assert answer.denies
    assert "not here" in answer.reason
    assert trusted.run().said == ""


def test_what_means_nothing_to_hooks_may_change(trusted: Victim):
    trusted.write(
        SETTINGS, {**trusted.hooks("true", f'"$CLAUDE_PROJECT_DIR"/{SCRIPT}'), "model": "x", "permissions": {}}
    )
    trusted.write("README.md", "new")
    trusted.write("policies/helper.py", "")
    assert forbidden(trusted).denies
    assert trusted.run().said == ""


# -- a later commit ----------------------------------------------------------------------------------------------------


def change(victim: Victim, name: str) -> str:
    """Make one of the changes; return what is said of it."""
    if name in OTHER_CHANGES:
        return OTHER_CHANGES[name](victim)
    table = victim.filled((TABLES["changes"] | TABLES["swaps"])[name])
    alter(victim.repo, table, victim.lay)
    return str(table.get("says", ""))


def script_of_the_same_length_and_time(victim: Victim) -> str:
    file = victim.repo / SCRIPT
    before = file.stat()
    victim.write(SCRIPT, HONEST.replace("forbidden", "forbiddem"), 0o755)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    return f"{SCRIPT} has changed."


def script_a_pipe(victim: Victim) -> str:
    (victim.repo / SCRIPT).unlink()
    os.mkfifo(victim.repo / SCRIPT)
    return f"{SCRIPT} is gone."


def given_away(victim: Victim, path: str) -> str:
    if os.geteuid() != 0:
        pytest.skip("only root gives a file to somebody else")
    os.chown(victim.repo / path, 12345, -1)
    return f"{SCRIPT}, or the folder of the project, belongs to user 12345, not to you."


OTHER_CHANGES: dict[str, Callable[[Victim], str]] = {
    "script_of_the_same_length_and_time": script_of_the_same_length_and_time,
    "script_a_pipe": script_a_pipe,
    "script_of_somebody_else": lambda victim: given_away(victim, SCRIPT),
    "folder_of_somebody_else": lambda victim: given_away(victim, ""),
}
CHANGES = pytest.mark.parametrize("name", [*TABLES["changes"], *OTHER_CHANGES])


@CHANGES
def test_after_a_change_nothing_runs_and_it_is_said_what_changed(trusted: Victim, name: str):
    changed = change(trusted, name)
    outcome = trusted.asked(cwd=trusted.repo / "src")
    assert (outcome.decision, trusted.was_hit) == ("proceed", False)
    assert "files changed since they were trusted: " in trusted.notes
    assert changed.rstrip(".") in trusted.notes
    assert f"`agent-hooks trust --diff {trusted.repo}`" in trusted.notes
    assert f"`agent-hooks trust {trusted.repo}`" in trusted.notes


@CHANGES
def test_after_a_change_who_wants_all_gates_or_nothing_gets_nothing(trusted: Victim, name: str):
    changed = change(trusted, name)
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
    "name",
    ["script_swapped_under_its_name", "command_swapped", "hookconf_added", "claude_folder_linked_outside", "all_gone"],
)
def test_the_real_command_runs_nothing_either_and_says_the_same(trusted: Victim, name: str):
    changed = change(trusted, name)
    answer = trusted.run(cwd=trusted.repo / "src")
    assert (answer.exit_code, trusted.was_hit) == (0, False)
    assert "files changed since they were trusted: " in answer.said
    assert changed.rstrip(".") in answer.said
    assert f"`agent-hooks trust {trusted.repo}`" in answer.said


def test_the_real_command_refuses_where_all_gates_are_wanted(trusted: Victim):
    change(trusted, "command_swapped")
    trusted.write_own(".config/agent-hooks/agent-hooks.toml", "[policy]\nrequire_project_gates = true\n")
    answer = trusted.run()
    assert answer.denies
    assert f"{SETTINGS} has changed" in answer.reason
    assert not trusted.was_hit


def test_the_folder_of_somebody_else_can_be_trusted_as_that(trusted: Victim):
    change(trusted, "folder_of_somebody_else")
    trusted.trust()
    assert forbidden(trusted).denies
    os.chown(trusted.repo, 54321, -1)
    assert "belongs to user 54321, not to user 12345." in trusted.run().said


def test_the_old_bytes_are_trusted_again_once_they_are_back(trusted: Victim):
    change(trusted, "script_swapped_under_its_name")
    trusted.write(SCRIPT, HONEST, 0o755)
    assert forbidden(trusted).denies


# -- another repository ------------------------------------------------------------------------------------------------


def copied(victim: Victim) -> Path:
    other = victim.folder / "copy"
    shutil.copytree(victim.repo, other)
    return other


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
    shutil.copy(record(victim), record(victim).with_stem(sha256(os.fsencode(other)).hexdigest()))
    return other


def record_linked_to_the_repository(victim: Victim) -> Path:
    planted = victim.write("record.jsonl", record(victim).read_bytes(), 0o600)
    alter(victim.config, {"links": {str(record(victim)): planted}}, victim.lay)
    return victim.repo


def record_cut_short(victim: Victim) -> Path:
    record(victim).write_bytes(record(victim).read_bytes()[:100])
    return victim.repo


def record(victim: Victim) -> Path:
    (found,) = (victim.config / "trust").iterdir()
    return found


def writable(victim: Victim, place: str) -> Path:
    """Let others write the record, the store or the folder of settings."""
    (record(victim) if place == "record" else victim.config / place).chmod(0o666 if place == "record" else 0o777)
    return victim.repo


PLACES: dict[str, tuple[Callable[[Victim], Path], str]] = {
    "copied": (copied, "nobody has trusted"),
    "moved": (lambda victim: Path(shutil.move(victim.repo, victim.folder / "moved")), "nobody has trusted"),
    "behind_a_link_that_was_trusted": (behind_a_link_that_was_trusted, "nobody has trusted"),
    "record_of_another_path": (record_of_another_path, "damaged"),
    "record_linked_to_the_repository": (record_linked_to_the_repository, "cannot be read"),
    "record_that_others_can_write": (lambda victim: writable(victim, "record"), "Others can write it (mode 0666)"),
    "store_that_others_can_write": (lambda victim: writable(victim, "trust"), "Others can write it (mode 0777)"),
    "settings_that_others_can_write": (lambda victim: writable(victim, ""), "Others can write it"),
    "record_cut_short": (record_cut_short, "damaged"),
}


@pytest.mark.parametrize("name", PLACES)
def test_trust_is_for_these_bytes_at_this_place_in_a_store_of_ones_own(victim: Victim, name: str):
    place, says = PLACES[name]
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


@pytest.mark.parametrize(
    "swap",
    ["script_swapped_under_its_name", "script_linked_outside", "script_a_pipe", "script_gone", *TABLES["swaps"]],
)
def test_a_script_swapped_between_the_look_and_the_run_does_not_run(trusted: Victim, swap: str):
    manager, _ = trusted.load()
    change(trusted, swap)
    outcome = manager.hooks().dispatch_sync(call(trusted))
    assert outcome.decision == "deny"
    assert not trusted.was_hit
    assert f"{trusted.repo}/{SCRIPT}" in outcome.reason
    assert "trusted" in outcome.reason


def test_settings_swapped_between_the_look_and_the_run_change_nothing(trusted: Victim):
    manager, _ = trusted.load()
    change(trusted, "command_swapped")
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
    victim.write(SETTINGS, victim.hooks(program if fields else " ".join((program, *args)), **fields))
    victim.trust()
    victim.write(f"{SCRIPT}.evil", victim.python if is_python else f"#!/bin/sh\n{victim.touch}\n", 0o755)
    for name, real in {"sh": shutil.which("sh"), "bash": shutil.which("bash"), "python3": sys.executable}.items():
        interpreter = victim.folder / "swapping" / name
        interpreter.parent.mkdir(exist_ok=True)
        interpreter.write_text(SWAPPING.format(script=file, interpreter=real))
        interpreter.chmod(0o755)
    monkeypatch.setenv("PATH", str(victim.folder / "swapping"), prepend=os.pathsep)
    decisions = [victim.asked(tool_input={"command": each}).decision for each in ("forbidden", "make", "forbidden")]
    assert decisions == ["deny", "proceed", "deny"]
    assert not victim.was_hit
    # By its path, it would have been.
    subprocess.run([victim.folder / "swapping" / ("python3" if is_python else "sh"), file], input=b"", check=True)
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


@pytest.mark.parametrize("command", ['"$CLAUDE_PROJECT_DIR"/{}', 'true && "$CLAUDE_PROJECT_DIR"/{}'])
def test_a_script_that_changes_while_it_runs_lets_nothing_through(victim: Victim, command: str):
    evil = f"#!/bin/sh\\n{victim.touch}\\n"
    victim.write(SCRIPT, f'#!/bin/sh\nprintf \'{evil}\' > "$0.new"; chmod 755 "$0.new"; mv "$0.new" "$0"\n', 0o755)
    victim.write(SETTINGS, victim.hooks(command.format(SCRIPT)))
    victim.trust()
    answer = victim.run()
    assert answer.denies
    assert f"{victim.repo}/{SCRIPT} has changed since it was trusted; see `agent-hooks trust --diff`" in answer.reason
    victim.run()
    assert not victim.was_hit


# -- bytes that are not the file's -------------------------------------------------------------------------------------


def compiled(victim: Victim, cfile: str, **options: Any) -> None:
    evil = victim.folder / "evil.py"
    evil.write_text(victim.python)
    py_compile.compile(str(evil), cfile=cfile, doraise=True, **options)


def stale(victim: Victim, target: Path) -> None:
    """What an import would take for the compiled form of the file as it is: its time and size are right."""
    evil = victim.folder / "evil.py"
    size = target.stat().st_size
    evil.write_text(f"{victim.python.ljust(size - 1)[: size - 1]}\n")
    assert evil.stat().st_size == size
    os.utime(evil, ns=(target.stat().st_atime_ns, target.stat().st_mtime_ns))
    assert py_compile.compile(str(evil), cfile=cache_from_source(str(target)), doraise=True)


def unchecked(victim: Victim, target: Path) -> None:
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compiled(victim, cache_from_source(str(target)), invalidation_mode=mode)


def beside_it(victim: Victim, target: Path) -> None:
    compiled(victim, f"{target}c")


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
