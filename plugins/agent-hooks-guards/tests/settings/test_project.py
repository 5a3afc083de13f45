"""Which settings hold where."""

from __future__ import annotations

import json
import os
import re

import pytest
from making import about, own_file, project
from settings_of import NO_FETCH, NO_SHELL, OWN_FILE, about_run, decided, dispatched, lines_in

import agent_hooks_guards
from agent_hooks import HookContext, HookManager, HookOutcome, SettingsError, Step
from agent_hooks_guards import Cancellation
from agent_hooks_guards.guards.limits import Starts
from agent_hooks_guards.settings import build


def test_nothing_happens_without_settings(tmp_path):
    assert decided(cwd=str(tmp_path)) is None
    assert decided(cwd=project(tmp_path / "p", '[tool.other]\nx = "agent_hooks"\ny = "\\u0041"')) is None
    assert decided(cwd=project(tmp_path / "q", "[tool.agent_hooks]\nx = 1")) is None
    assert decided(cwd=str(tmp_path / "no such folder")) is None


def test_settings_hold_in_their_folder_and_below(tmp_path):
    folder = project(tmp_path / "p", NO_FETCH)
    (tmp_path / "p" / "src" / "deep").mkdir(parents=True)
    assert decided(cwd=folder) == "deny"
    assert decided(cwd=os.path.join(folder, "src", "deep")) == "deny"
    assert decided(cwd=os.path.join(folder, "src", "deleted")) == "deny"
    assert decided(cwd=str(tmp_path)) is None


def test_the_settings_of_the_projects_folder_and_of_the_working_directory_hold(tmp_path):
    here, there = project(tmp_path / "p", NO_FETCH), project(tmp_path / "q", NO_SHELL)
    for fields in ({"project_dir": here, "cwd": there}, {"project_dir": there, "cwd": here}):
        assert [decided(kind=kind, **fields) for kind in ("fetch", "shell", "read")] == ["deny", "deny", None]


@pytest.mark.parametrize("field", ["cwd", "project_dir"])
def test_a_symbolic_link_leads_past_no_settings(tmp_path, field):
    """Neither past those where the link is, nor past those where it leads to."""
    project(tmp_path / "real", NO_FETCH)
    (tmp_path / "real" / "src").mkdir()
    project(tmp_path / "p", NO_SHELL)
    (tmp_path / "p" / "link").symlink_to(tmp_path / "real" / "src")
    fields = {field: str(tmp_path / "p" / "link")}
    assert [decided(kind=kind, **fields) for kind in ("fetch", "shell", "read")] == ["deny", "deny", None]
    gone = {field: str(tmp_path / "p" / "link" / "gone" / "too")}
    assert [decided(kind=kind, **gone) for kind in ("fetch", "shell", "read")] == ["deny", "deny", None]


def test_the_folder_above_a_symbolic_links_target_counts_where_the_way_leads_through_it(tmp_path):
    """``link/..`` is where the link leads to, and upwards; by its text it is the folder of the link."""
    project(tmp_path / "real", NO_FETCH)
    (tmp_path / "real" / "src").mkdir()
    project(tmp_path / "p", NO_SHELL)
    (tmp_path / "p" / "link").symlink_to(tmp_path / "real" / "src")
    cwd = str(tmp_path / "p" / "link" / "..")
    assert [decided(kind=kind, cwd=cwd) for kind in ("fetch", "shell", "read")] == ["deny", "deny", None]


@pytest.mark.parametrize("is_here", [True, False])
def test_a_folder_that_becomes_a_symbolic_link_is_noticed_at_the_next_event(tmp_path, monkeypatch, is_here):
    """It is moved into another project, with all that it has, and a link to it stands in its place: its own identity is
    the same as before.
    """
    project(tmp_path / "q", NO_FETCH)
    old, new = tmp_path / "p" / "src", tmp_path / "q" / "src"
    old.mkdir(parents=True)
    (old / "deep").mkdir()
    if is_here:
        monkeypatch.chdir(old / "deep")
    cwd = str(old / "deep")
    assert decided(cwd=cwd) is None
    old.rename(new)
    old.symlink_to(new)
    assert decided(cwd=cwd) == "deny"
    old.unlink()
    assert decided(cwd=cwd) is None


@pytest.mark.parametrize("is_here", [True, False])
def test_a_symbolic_link_that_leads_elsewhere_is_noticed_at_the_next_event(tmp_path, monkeypatch, is_here):
    link, cwd = tmp_path / "link", str(tmp_path / "link" / "src")
    for name, settings in (("p", NO_FETCH), ("q", NO_SHELL)):
        project(tmp_path / name, settings)
        (tmp_path / name / "src").mkdir()
    link.symlink_to(tmp_path / "p")
    if is_here:
        monkeypatch.chdir(cwd)
    assert [decided(kind=kind, cwd=cwd) for kind in ("fetch", "shell")] == ["deny", None]
    link.unlink()
    link.symlink_to(tmp_path / "q")
    assert [decided(kind=kind, cwd=cwd) for kind in ("fetch", "shell")] == [None, "deny"]


def test_a_folder_that_is_gone_is_still_in_its_project(tmp_path, monkeypatch):
    """Also where this process is in it, and cannot say so any more."""
    folder = tmp_path / "p" / "src"
    project(tmp_path / "p", NO_FETCH)
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert decided(cwd=str(folder)) == "deny"


def test_a_file_that_is_reached_in_several_ways_counts_a_call_once(tmp_path):
    folder = project(tmp_path / "p", "[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = 2\n")
    (tmp_path / "link").symlink_to(folder)
    fields = {"cwd": str(tmp_path / "link"), "project_dir": folder, "session_id": "s"}
    assert [decided(**fields) for _ in range(3)] == [None, None, "deny"]


def test_without_either_this_processs_directory_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(project(tmp_path / "p", NO_FETCH))
    assert decided() == "deny"


def test_settings_further_in_add_to_those_further_out(tmp_path):
    project(tmp_path / "p", NO_FETCH)
    without = project(tmp_path / "p" / "a", "")
    nearer = project(tmp_path / "p" / "b", NO_FETCH.replace("fetch", "web_search"))
    empty = project(tmp_path / "p" / "c", "[tool.agent_hooks.guards]")
    assert [decided(cwd=folder) for folder in (without, nearer, empty)] == ["deny"] * 3
    assert decided(cwd=nearer, kind="web_search") == "deny"
    assert decided(cwd=without, kind="web_search") is None
    # A shell command may touch anything in the project.
    project(tmp_path / "p" / "b", NO_SHELL)
    assert decided(cwd=without, kind="shell") == "deny"


def test_each_files_limit_counts_for_itself_and_not_what_any_file_denies(tmp_path):
    limit = "[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = {}\n"
    project(tmp_path / "p", NO_SHELL + limit.format(3))
    inner = project(tmp_path / "p" / "a", limit.format(2))
    assert [decided(cwd=inner, kind="shell", session_id="s") for _ in range(3)] == ["deny"] * 3
    assert [decided(cwd=inner, session_id="s") for _ in range(3)] == [None, None, "deny"]


def test_the_audit_trail_of_every_file_is_written(tmp_path, state_folder):
    """Also if one of them cannot be, which is an error all the same, and if another file is wrong."""
    audit = "[tool.agent_hooks.guards.audit]\npath = '{}.jsonl'\n"
    project(tmp_path / "p", audit.format("outer"))
    project(tmp_path / "p" / "a", audit.format("inner"))
    wrong = project(tmp_path / "p" / "a" / "b", "[tool.agent_hooks]\nguards = 1\n")
    agent_hooks_guards.audit_call(about(cwd=wrong, outcome=HookOutcome.deny("No.")))
    (state_folder / "inner.jsonl").unlink()
    (state_folder / "inner.jsonl").mkdir()
    with pytest.raises(OSError, match=r"inner\.jsonl"):
        agent_hooks_guards.audit_call(about(cwd=wrong, outcome=HookOutcome.deny("No.")))
    assert len((state_folder / "outer.jsonl").read_text().splitlines()) == 2


def test_what_a_project_redacts_is_added_to_what_every_trail_does(tmp_path, state_folder):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards.audit]\npath = 'a.jsonl'\nredact = ['ticket']\n")
    args = {"password": "hunter22", "ticket": "T-1", "text": "t"}
    agent_hooks_guards.audit_call(about(args=args, cwd=folder, outcome=HookOutcome()))
    (line,) = lines_in(state_folder / "a.jsonl")
    assert json.loads(line)["args"] == {"password": "[redacted]", "ticket": "[redacted]", "text": "t"}


def test_no_run_is_limited_without_settings(tmp_path):
    for event in ("before_execution", "before_step", "after_step", "after_execution"):
        assert about_run(event, tmp_path) == []
        assert about_run(event, project(tmp_path / "p", NO_FETCH)) == []


def test_nobody_listens_to_the_steps_of_a_run_without_settings(tmp_path):
    hooks = HookManager().hooks()
    events = ("before_execution", "before_step", "after_step", "after_execution")
    assert not any(map(hooks.listens, events))
    project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_steps = 2\n")
    assert all(map(hooks.listens, events))


def test_the_limits_of_every_file_hold(tmp_path):
    project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_steps = 1\nfinish_reasons = ['stop']\n")
    inner = project(tmp_path / "p" / "a", "[tool.agent_hooks.guards]\nmax_steps = 2\nfinish_reasons = ['length']\n")
    outer_line, inner_line = f"[{tmp_path}/p/pyproject.toml:4]", f"[{inner}/pyproject.toml:4]"
    assert about_run("before_step", inner) == [
        f"Step limit reached: 2/2 {inner_line}",
        f"Step limit reached: 2/1 {outer_line}",
    ]
    assert about_run("before_step", tmp_path / "p") == [f"Step limit reached: 2/1 {outer_line}"]
    assert about_run("after_step", inner, step=Step(finish_reason="stop")) == [
        f'Finish reason "stop" matched stop condition {outer_line}'
    ]
    assert about_run("after_step", tmp_path / "p", step=Step(finish_reason="length")) == []


def test_the_file_that_cancels_is_below_the_folder_of_the_settings(tmp_path):
    """For a run anywhere in it; one file is enough, whichever settings name it."""
    project(tmp_path / "p", "[tool.agent_hooks.guards]\ncancel_file = 'STOP'\n")
    own_file(tmp_path / "config", f"[guards]\ncancel_file = '{tmp_path}/OTHER'\n")
    inner = project(tmp_path / "p" / "a", "")
    (tmp_path / "p" / "a" / "STOP").touch()
    for event in ("before_execution", "before_step"):
        assert about_run(event, inner) == []
    (tmp_path / "p" / "STOP").touch()
    for event in ("before_execution", "before_step"):
        assert about_run(event, inner) == [f"Cancellation requested: there is a file {tmp_path}/p/STOP"]
    (tmp_path / "p" / "STOP").unlink()
    (tmp_path / "OTHER").touch()
    assert about_run("before_step", inner) == [f"Cancellation requested: there is a file {tmp_path}/OTHER"]


def test_the_time_of_a_run_goes_on_when_its_settings_are_edited(tmp_path, monkeypatch):
    """An agent that works on the project's file does not begin anew."""
    now = [100.0]
    starts = Starts(clock=lambda: now[0])
    monkeypatch.setattr(build, "starts", lambda: starts)
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_execution_time = 10\n")
    about_run("before_execution", folder, execution_id="e1")
    now[0] += 8
    assert about_run("before_step", folder, execution_id="e1") == []
    project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_execution_time = 8.50\n")
    now[0] += 1
    reached = f"Execution time limit reached: 9.00s/8.50s [{folder}/pyproject.toml:4]"
    assert about_run("before_step", folder, execution_id="e1") == [reached]
    about_run("after_execution", folder, execution_id="e1")
    assert about_run("before_step", folder, execution_id="e1") == []


def test_cancellation_has_its_own_priority_in_the_installed_plugin_too():
    manager = HookManager(load_plugins=False)
    manager.register(agent_hooks_guards, "guards")
    for event in Cancellation.events:
        found = [(hook.name, hook.priority, hook.mode) for hook in manager.describe(event)]
        cancel = "guards.cancel_execution" if event == "before_execution" else "guards.cancel_step"
        assert found == [(cancel, Cancellation.priority, "gate"), (f"guards.{event}", 200, "gate")]


def test_wrong_settings_stop_a_run_and_are_said_by_the_gates_only(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_step = 1\n")
    for event in ("before_execution", "before_step"):
        with pytest.raises(SettingsError, match="max_step is not a key here"):
            getattr(agent_hooks_guards, event)(HookContext(event, cwd=folder))
    assert about_run("after_step", folder, step=Step(finish_reason="stop")) == []
    assert about_run("after_execution", folder) == []


def test_nothing_that_decides_is_kept_outside_the_settings(tmp_path, state_folder):
    assert decided(cwd=project(tmp_path / "p", NO_FETCH)) == "deny"
    assert not state_folder.exists()


def test_settings_that_are_trusted_and_loaded_again_take_the_place_of_the_old(tmp_path):
    folder = project(tmp_path / "p", NO_FETCH)
    assert decided(cwd=folder) == "deny"
    project(tmp_path / "p", "")
    assert decided(cwd=folder) is None
    project(tmp_path / "p", NO_FETCH)
    assert decided(cwd=folder) == "deny"
    project(tmp_path / "p", NO_SHELL)
    assert decided(cwd=folder) is None


def test_a_file_that_changes_after_it_was_loaded_changes_nothing(tmp_path):
    folder = project(tmp_path / "p", NO_FETCH)
    (tmp_path / "p" / "pyproject.toml").write_text(NO_SHELL)
    assert [decided(cwd=folder, kind=kind) for kind in ("fetch", "shell")] == ["deny", None]


def test_a_broken_file_without_our_name_in_it_is_somebody_elses(tmp_path):
    assert decided(cwd=project(tmp_path / "p", 'broken = "my-agent')) is None


def test_a_key_may_be_written_with_escapes(tmp_path):
    """Where the core sees that the file is about us at all."""
    folder = project(tmp_path / "p", "# agent_hooks\n" + NO_FETCH.replace("agent_hooks", '"\\u0061\\u0067ent_hooks"'))
    assert decided(cwd=folder) == "deny"


def test_what_is_no_table_is_an_error_naming_the_file_and_the_line(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks]\nguards = []")
    with pytest.raises(SettingsError) as caught:
        decided(cwd=folder)
    assert str(caught.value).startswith(f"{folder}/pyproject.toml:5: ")
    assert "tool.agent_hooks.guards must be a table, not a list" in str(caught.value)


@pytest.mark.parametrize("whose", ["config", "managed"])
@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("\n[guards]\nblocklst = []\n", ":3"),
        ("guards = 1\n", ":1"),
        ('[guards.shell]\nlevel = "standard"\nrules.no-such-rule = "off"\n', ":3"),
        ('[[guards.allow]]\nrule = "no-such-rule"\n', ":2"),
        ("[guards", ""),
    ],
)
def test_a_refusal_for_wrong_settings_comes_from_their_line(tmp_path, whose, settings, line):
    (tmp_path / whose).mkdir()
    (tmp_path / whose / OWN_FILE).write_text(settings, encoding="utf-8")
    outcome = dispatched(about(kind="fetch"))
    assert outcome.decision == "deny"
    assert outcome.origin == f"{tmp_path / whose / OWN_FILE}{line}"


def test_other_keys_are_left_to_others(tmp_path):
    others = "[tool.agent_hooks]\n" + "".join(f"{key} = 1\n" for key in ("prompts", "subagents"))
    assert decided(cwd=project(tmp_path / "p", f"{others}[tool.agent_tools]\n[tool.hooks]\n[tool.guards]")) is None


def test_a_wrong_file_denies_whatever_another_says(tmp_path):
    project(tmp_path / "p", "[tool.agent_hooks]\nguards = 1\n")
    with pytest.raises(SettingsError, match="must be a table"):
        decided(cwd=project(tmp_path / "p" / "a", NO_FETCH))


def test_wrong_settings_stay_wrong_until_they_are_mended(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nblocklst = []\n")
    for ctx in (about(kind="fetch", cwd=folder), about(kind="fetch", cwd=folder)):
        with pytest.raises(SettingsError, match="blocklst is not a key here"):
            agent_hooks_guards.before_tool_use(ctx)
    project(tmp_path / "p", NO_FETCH)
    outcome = agent_hooks_guards.before_tool_use(ctx)
    assert outcome is not None
    assert outcome.decision == "deny"


def test_a_deny_stands_before_every_ask_and_asks_are_put_together(tmp_path):
    rules = """
[[tool.agent_hooks.guards.arguments]]
field = "url"
pattern = "^http:"
decision = "ask"
message = "Unencrypted?"
[[tool.agent_hooks.guards.arguments]]
field = "url"
pattern = "example"
decision = "ask"
message = "An example?"
[[tool.agent_hooks.guards.arguments]]
field = "url"
pattern = "evil"
message = "No."
"""
    folder = project(tmp_path / "p", rules)

    def judged(url):
        outcome = agent_hooks_guards.before_tool_use(about("get", kind="fetch", args={"url": url}, cwd=folder))
        return None if outcome is None else outcome.replace(reason=re.sub(r" \[[^]]*\]", "", outcome.reason))

    assert judged("https://fine.org") is None
    assert (judged("http://example.org").decision, judged("http://example.org").reason) == (
        "ask",
        "Unencrypted?\n\nAn example?",
    )
    assert (judged("http://evil.example").decision, judged("http://evil.example").reason) == ("deny", "No.")


def test_what_another_rule_denied_does_not_count_against_a_limit(tmp_path):
    folder = project(tmp_path / "p", NO_SHELL + "[[tool.agent_hooks.guards.rate_limit]]\nmax_calls = 1\n")
    assert [decided(cwd=folder, kind="shell", session_id="s") for _ in range(3)] == ["deny"] * 3
    assert [decided(cwd=folder, session_id="s") for _ in range(2)] == [None, "deny"]


def test_several_allowlists_must_all_agree(tmp_path):
    folder = project(
        tmp_path / "p",
        '[[tool.agent_hooks.guards.allowlist]]\ntools = ["read", "shell"]\n'
        '[[tool.agent_hooks.guards.allowlist]]\ntools = ["read"]\n',
    )
    assert decided(cwd=folder, kind="read") is None
    assert decided(cwd=folder, kind="shell") == "deny"


def test_the_audit_hooks_do_nothing_where_no_audit_is_asked_for(tmp_path, state_folder):
    folder = project(tmp_path / "p", NO_FETCH)
    agent_hooks_guards.audit_call(about(cwd=folder, outcome=HookOutcome()))
    agent_hooks_guards.audit_result(about(cwd=folder, outcome=HookOutcome()))
    assert not (state_folder / "audit.jsonl").exists()
