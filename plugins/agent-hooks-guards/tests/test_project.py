"""Which settings hold where."""

from __future__ import annotations

import os

import pytest
from making import about, project

import agent_hooks_guards
from agent_hooks import (
    CLEANUP,
    AgentState,
    HookContext,
    HookManager,
    HookOutcome,
    HookRegistration,
    SettingsError,
    Step,
)
from agent_hooks_guards import Cancellation, build
from agent_hooks_guards.project import OWN_FILE, TABLES, _found
from agent_hooks_guards.time_limit import Starts

NO_FETCH = '[[tool.agent_hooks.guards.blocklist]]\ntools = ["fetch"]\n'
NO_SHELL = '[[tool.agent_hooks.guards.blocklist]]\ntools = ["shell"]\n'


def decided(name="x", **fields):
    outcome = agent_hooks_guards.before_tool_use(about(name, **{"kind": "fetch", **fields}))
    return None if outcome is None else str(outcome.decision)


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
    nearer = project(tmp_path / "p" / "b", NO_SHELL)
    empty = project(tmp_path / "p" / "c", "[tool.agent_hooks.guards]")
    assert [decided(cwd=folder) for folder in (without, nearer, empty)] == ["deny"] * 3
    assert decided(cwd=nearer, kind="shell") == "deny"
    assert decided(cwd=without, kind="shell") is None


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


def about_run(event, folder, **fields):
    """The messages of the stop signals that the installed plugin leaves."""
    ctx = HookContext(event, cwd=str(folder), **{"state": AgentState(steps=(Step(), Step())), **fields})
    manager = HookManager(load_plugins=False)
    manager.register(agent_hooks_guards)
    outcome = manager.hooks().dispatch_sync(ctx)
    assert (outcome.decision, outcome.findings) == ("proceed", ())
    return [signal.message for signal in outcome.signals]


def test_no_run_is_limited_without_settings(tmp_path):
    for event in ("before_execution", "before_step", "after_step", "after_execution"):
        assert about_run(event, tmp_path) == []
        assert about_run(event, project(tmp_path / "p", NO_FETCH)) == []


def test_the_limits_of_every_file_hold(tmp_path):
    project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_steps = 1\nfinish_reasons = ['stop']\n")
    inner = project(tmp_path / "p" / "a", "[tool.agent_hooks.guards]\nmax_steps = 2\nfinish_reasons = ['length']\n")
    assert about_run("before_step", inner) == ["Step limit reached: 2/2", "Step limit reached: 2/1"]
    assert about_run("before_step", tmp_path / "p") == ["Step limit reached: 2/1"]
    assert about_run("after_step", inner, step=Step(finish_reason="stop")) == [
        'Finish reason "stop" matched stop condition'
    ]
    assert about_run("after_step", tmp_path / "p", step=Step(finish_reason="length")) == []


def test_the_file_that_cancels_is_below_the_folder_of_the_settings(tmp_path):
    """For a run anywhere in it; one file is enough, whichever settings name it."""
    project(tmp_path / "p", "[tool.agent_hooks.guards]\ncancel_file = 'STOP'\n")
    inner = project(tmp_path / "p" / "a", f"[tool.agent_hooks.guards]\ncancel_file = '{tmp_path}/OTHER'\n")
    (tmp_path / "p" / "a" / "STOP").touch()
    for event in ("before_execution", "before_step"):
        assert about_run(event, inner) == []
    (tmp_path / "p" / "STOP").touch()
    for event in ("before_execution", "before_step"):
        assert about_run(event, inner) == [f"Cancellation requested: there is a file {tmp_path}/p/STOP"]
    (tmp_path / "OTHER").touch()
    assert about_run("before_step", inner) == [f"Cancellation requested: there is a file {tmp_path}/OTHER"]


def test_the_time_of_a_run_goes_on_when_its_settings_are_edited(tmp_path, monkeypatch):
    """An agent that works on the project's file does not begin anew."""
    now = [100.0]
    monkeypatch.setattr(build, "_STARTS", Starts(clock=lambda: now[0]))
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_execution_time = 10\n")
    about_run("before_execution", folder, execution_id="e1")
    now[0] += 8
    assert about_run("before_step", folder, execution_id="e1") == []
    project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_execution_time = 8.50\n")
    now[0] += 1
    assert about_run("before_step", folder, execution_id="e1") == ["Execution time limit reached: 9.00s/8.50s"]
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
        with pytest.raises(SettingsError, match="max_step is not a setting"):
            getattr(agent_hooks_guards, event)(HookContext(event, cwd=folder))
    assert about_run("after_step", folder, step=Step(finish_reason="stop")) == []
    assert about_run("after_execution", folder) == []


def test_nothing_that_decides_is_kept_outside_the_settings(tmp_path, state_folder):
    assert decided(cwd=project(tmp_path / "p", NO_FETCH)) == "deny"
    assert not state_folder.exists()


def test_a_changed_file_is_read_again(tmp_path):
    folder = project(tmp_path / "p", NO_FETCH)
    assert decided(cwd=folder) == "deny"
    project(tmp_path / "p", "")
    assert decided(cwd=folder) is None
    project(tmp_path / "p", NO_FETCH)
    assert decided(cwd=folder) == "deny"
    # The same size, another time.
    project(tmp_path / "p", NO_SHELL)
    os.utime(tmp_path / "p" / "pyproject.toml", ns=(1, 1))
    assert decided(cwd=folder) is None


def dispatched(ctx, hook=None, priority=225):
    """What the installed plugin decides where ``hook`` is called too, by default between the two gates of a run."""
    manager = HookManager(load_plugins=False)
    manager.register(agent_hooks_guards)
    if hook is not None:
        manager.add(HookRegistration(ctx.event, lambda _ctx: hook(), priority=priority))
    return manager.hooks().dispatch_sync(ctx)


def lines_in(trail):
    return trail.read_text().splitlines() if trail.exists() else []


AUDIT = "[tool.agent_hooks.guards.audit]\n"
WRONG = "[tool.agent_hooks]\nguards = 1\n"


@pytest.mark.parametrize("event", ["before_execution", "before_step"])
def test_one_event_has_one_view_of_the_settings_and_the_next_its_own_even_with_the_same_context(tmp_path, event):
    ctx = HookContext(event, cwd=str(tmp_path / "p"), state=AgentState(), execution_id="e1")

    def write_wrong_settings():
        project(tmp_path / "p", WRONG)

    assert dispatched(ctx, write_wrong_settings).decision == "proceed"
    assert dispatched(ctx).decision == "stop"
    (tmp_path / "p" / "pyproject.toml").unlink()
    assert dispatched(ctx).decision == "proceed"


def test_a_call_is_audited_where_its_gate_found_that_this_is_wanted(tmp_path, state_folder):
    ctx = about(cwd=project(tmp_path / "p", AUDIT))
    dispatched(ctx, (tmp_path / "p" / "pyproject.toml").unlink, CLEANUP)
    assert len(lines_in(state_folder / "audit.jsonl")) == 1
    dispatched(ctx)
    assert len(lines_in(state_folder / "audit.jsonl")) == 1


def test_a_call_that_never_got_to_the_gate_is_audited_by_the_settings_of_now(tmp_path, state_folder):
    ctx = about(cwd=project(tmp_path / "p", AUDIT))
    dispatched(ctx)
    project(tmp_path / "p", "")
    assert dispatched(ctx, lambda: HookOutcome.deny("No."), priority=999).decision == "deny"
    assert len(lines_in(state_folder / "audit.jsonl")) == 1


def test_what_a_call_found_that_was_broken_off_is_nothing_to_the_next(tmp_path, state_folder):
    """As by the cancellation of a run, between the gate and the audit."""
    folder = project(tmp_path / "p", AUDIT)
    assert agent_hooks_guards.before_tool_use(about(cwd=folder)) is None
    project(tmp_path / "p", "")
    agent_hooks_guards.audit_call(about(cwd=folder, outcome=HookOutcome()))
    assert lines_in(state_folder / "audit.jsonl") == []


def test_what_events_have_found_is_not_piled_up(tmp_path):
    for number in range(5):
        dispatched(HookContext("after_step", cwd=str(tmp_path / str(number)), state=AgentState()))
    assert len(_found) == 1


@pytest.mark.parametrize("field", ["cwd", "project_dir"])
def test_an_event_in_the_middle_of_another_is_about_its_own_folder(tmp_path, field):
    """Though it may bear the same time."""
    wrong = project(tmp_path / "wrong", WRONG)
    here = project(tmp_path / "here", "[tool.agent_hooks.guards]\nmax_steps = 0\n")

    def ctx(folder):
        fields = {"cwd": str(tmp_path), field: folder}
        return HookContext("before_step", state=AgentState(), created_at=1.0, **fields)

    inner = []
    outcome = dispatched(ctx(here), lambda: inner.append(dispatched(ctx(wrong)).decision))
    assert (inner, outcome.decision, outcome.stop_signal.reason) == (["stop"], "proceed", "steps_limit")


@pytest.mark.parametrize("broken", ["[tool.agent_hooks.guards", 'x = "\xff"', "agent_hooks = " + "[" * 5000])
def test_a_file_that_cannot_be_read_as_toml_is_an_error_naming_it(tmp_path, broken):
    (tmp_path / "pyproject.toml").write_bytes(b"# agent_hooks\n" + broken.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"pyproject\.toml is not TOML in UTF-8, so it is not known which guards"):
        decided(cwd=str(tmp_path))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_settings_in_another_encoding_are_an_error_and_not_overlooked(tmp_path, encoding):
    (tmp_path / "pyproject.toml").write_bytes(NO_FETCH.encode(encoding))
    with pytest.raises(SettingsError, match=r"pyproject\.toml is not TOML in UTF-8"):
        decided(cwd=str(tmp_path))


def test_a_broken_file_without_our_name_in_it_is_somebody_elses(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "my-agent')
    assert decided(cwd=str(tmp_path)) is None


def test_a_key_may_be_written_with_escapes(tmp_path):
    folder = project(tmp_path / "p", NO_FETCH.replace("agent_hooks", '"\\u0061\\u0067ent_hooks"'))
    assert decided(cwd=folder) == "deny"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[tool]\nagent_hooks = 1", "tool.agent_hooks must be a table, not 1"),
        ("[[tool.agent_hooks]]\nguards = {}", r"tool.agent_hooks must be a table, not \["),
        ("[tool.agent_hooks]\nguards = []", r"tool.agent_hooks.guards must be a table, not \[\]"),
        *[
            (
                f"[[tool.agent_hooks.{key}.blocklist]]\ntools = ['x']",
                f"'{key}' is not .* did you mean {TABLES['pyproject.toml']}",
            )
            for key in ("guard", "gaurds", "Guards", "gards", "guardss")
        ],
        *[
            (f"[[tool.{key}.guards.blocklist]]\ntools = ['x']", f"'{key}' is not .* did you mean tool.agent_hooks")
            for key in ("agent-hooks", "agent_hook", "agenthooks", "Agent_Hooks", "agents_hooks", "agent-hooks-guards")
        ],
        ("[tool.agent_hooks.guards]\n[tool.agent-hooks.guards]", "'agent-hooks' is not"),
    ],
)
def test_what_was_surely_meant_for_the_guards_is_an_error_naming_the_file(tmp_path, table, said):
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(table)
    with pytest.raises(SettingsError, match=said) as caught:
        decided(cwd=str(folder))
    assert str(caught.value).startswith(f"{folder}/pyproject.toml: ")


def test_other_keys_are_left_to_others(tmp_path):
    others = "[tool.agent_hooks]\n" + "".join(f"{key} = 1\n" for key in ("hooks", "policy", "prompts", "subagents"))
    assert decided(cwd=project(tmp_path / "p", f"{others}[tool.agent_tools]\n[tool.hooks]\n[tool.guards]")) is None


def test_a_file_that_cannot_be_opened_is_an_error_naming_it(tmp_path):
    (tmp_path / "pyproject.toml").mkdir()
    with pytest.raises(SettingsError, match=r"pyproject\.toml cannot be read"):
        decided(cwd=str(tmp_path))


def test_a_pipe_in_place_of_the_file_is_an_error_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pyproject.toml")
    with pytest.raises(SettingsError, match="it is not an ordinary file"):
        decided(cwd=str(tmp_path))


def test_a_wrong_file_denies_whatever_another_says(tmp_path):
    project(tmp_path / "p", "[tool.agent_hooks]\nguards = 1\n")
    with pytest.raises(SettingsError, match="must be a table"):
        decided(cwd=project(tmp_path / "p" / "a", NO_FETCH))


def test_wrong_settings_stay_wrong_until_they_are_mended(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nblocklst = []\n")
    for ctx in (about(kind="fetch", cwd=folder), about(kind="fetch", cwd=folder)):
        with pytest.raises(SettingsError, match="blocklst is not a setting"):
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
        return agent_hooks_guards.before_tool_use(about("get", kind="fetch", args={"url": url}, cwd=folder))

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


# -- agent-hooks.toml --------------------------------------------------------------------------------------------------

OWN_NO_FETCH = '[[guards.blocklist]]\ntools = ["fetch"]\n'
OWN_NO_SHELL = '[[guards.blocklist]]\ntools = ["shell"]\n'


def own_file(folder, settings):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / OWN_FILE).write_text(settings, encoding="utf-8")
    return str(folder)


def test_a_project_may_have_its_settings_in_either_file_or_in_both(tmp_path):
    folder = own_file(tmp_path / "p", OWN_NO_FETCH)
    (tmp_path / "p" / "src").mkdir()
    inner = os.path.join(folder, "src")
    assert [decided(kind=kind, cwd=inner) for kind in ("fetch", "shell", "read")] == ["deny", None, None]
    project(tmp_path / "p", NO_SHELL)
    assert [decided(kind=kind, cwd=inner) for kind in ("fetch", "shell", "read")] == ["deny", "deny", None]
    assert decided(cwd=str(tmp_path)) is None


@pytest.mark.parametrize("whose", ["config", "managed"])
def test_the_settings_of_the_user_and_of_the_machine_hold_everywhere(tmp_path, whose):
    own_file(tmp_path / whose, OWN_NO_FETCH)
    here = project(tmp_path / "p", NO_SHELL)
    assert [decided(kind=kind, cwd=here) for kind in ("fetch", "shell", "read")] == ["deny", "deny", None]
    assert [decided(kind=kind) for kind in ("fetch", "shell")] == ["deny", None]


def test_where_the_variable_does_not_say_the_user_has_the_platforms_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("AGENT_HOOKS_CONFIG_DIR")
    monkeypatch.setattr(
        "platformdirs.user_config_dir", lambda *_args, **_kwargs: str(tmp_path / "home" / "agent-hooks")
    )
    own_file(tmp_path / "home" / "agent-hooks", OWN_NO_FETCH)
    assert decided() == "deny"


def test_who_has_no_home_folder_has_no_settings_in_it(tmp_path, monkeypatch):
    monkeypatch.delenv("AGENT_HOOKS_CONFIG_DIR")
    monkeypatch.setattr("platformdirs.user_config_dir", lambda *_args, **_kwargs: "~/agent-hooks")
    assert decided() is None
    own_file(tmp_path / "managed", OWN_NO_FETCH)
    assert decided() == "deny"


def test_a_variable_that_names_no_folder_denies(monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", "relative")
    with pytest.raises(SettingsError, match="AGENT_HOOKS_CONFIG_DIR must be an absolute path"):
        decided()


def test_the_users_file_counts_once_for_who_works_beside_it(tmp_path):
    folder = own_file(tmp_path / "config", "[[guards.rate_limit]]\nmax_calls = 2\n")
    assert [decided(cwd=folder, session_id="s") for _ in range(3)] == [None, None, "deny"]


def test_the_users_file_has_limits_a_cancellation_and_an_audit_as_any(tmp_path, state_folder):
    folder = own_file(
        tmp_path / "config", "[guards]\nmax_steps = 1\ncancel_file = 'STOP'\n[guards.audit]\npath = 'mine.jsonl'\n"
    )
    assert about_run("before_step", tmp_path) == ["Step limit reached: 2/1"]
    (tmp_path / "config" / "STOP").touch()
    assert about_run("before_execution", tmp_path) == [f"Cancellation requested: there is a file {folder}/STOP"]
    agent_hooks_guards.audit_call(about(cwd=str(tmp_path), outcome=HookOutcome()))
    assert len(lines_in(state_folder / "mine.jsonl")) == 1


@pytest.mark.parametrize("whose", ["p", "config", "managed"])
def test_a_changed_file_of_our_own_is_read_again(tmp_path, whose):
    own_file(tmp_path / whose, OWN_NO_FETCH)
    (tmp_path / "p").mkdir(exist_ok=True)
    cwd = str(tmp_path / "p")
    assert decided(cwd=cwd) == "deny"
    own_file(tmp_path / whose, OWN_NO_SHELL)
    os.utime(tmp_path / whose / OWN_FILE, ns=(1, 1))  # the same size, another time
    assert decided(cwd=cwd) is None
    (tmp_path / whose / OWN_FILE).unlink()
    assert decided(cwd=cwd, kind="shell") is None


@pytest.mark.parametrize("whose", ["p", "config", "managed"])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("x = ", "is not TOML in UTF-8, so it is not known which guards it asks for"),
        ("guards = 1", "guards must be a table, not 1"),
        ("[guards]\nmax_step = 1", "guards.max_step is not a setting; those there are"),
        ("[gaurds]", "'gaurds' is not a setting: did you mean guards?"),
        ("[agent-hooks-guards]", "'agent-hooks-guards' is not a setting: did you mean guards?"),
        ("[tool.agent_hooks.guards]", "'tool' is not a setting here"),
        ("[[guards.blocklist]]\ntools = 1", r"guards.blocklist\[0\].tools: .*valid list, not 1"),
    ],
)
def test_what_is_wrong_with_a_file_of_our_own_names_it_and_its_key(tmp_path, whose, settings, said):
    folder = own_file(tmp_path / whose, settings)
    (tmp_path / "p").mkdir(exist_ok=True)
    with pytest.raises(SettingsError, match=said) as caught:
        decided(cwd=str(tmp_path / "p"))
    assert str(caught.value).startswith(f"{folder}/{OWN_FILE}")
    assert "tool.agent_hooks.guards." not in str(caught.value)


def test_other_keys_of_a_file_of_our_own_are_left_to_others(tmp_path):
    others = "disabled = []\n[policy]\ntimeout = 1\n[[hooks.PreToolUse]]\n[prompts]\n[guardrails]\n[audit]\n"
    assert decided(cwd=own_file(tmp_path / "p", others)) is None


def test_a_pyproject_has_no_settings_at_its_top(tmp_path):
    assert decided(cwd=project(tmp_path / "p", OWN_NO_FETCH + "# agent_hooks")) is None


def test_a_file_of_our_own_that_cannot_be_read_is_an_error_naming_it(tmp_path):
    (tmp_path / "config" / OWN_FILE).mkdir(parents=True)
    with pytest.raises(SettingsError, match=r"config/agent-hooks\.toml cannot be read"):
        decided()
