"""Which files tools may read and write."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import about

from agent_hooks import RegistrationError
from agent_hooks_guards.guards.path import MAX_OPERATIONS, PathGuard
from tables import tables

TABLES = tables(__file__)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with keys, on a machine where nothing else is."""
    # Not below /tmp, where everything is temporary.
    monkeypatch.setattr("agent_hooks_guards.places.kinds._TEMP", ("/tmp/only/this/",))
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    (folder / ".ssh" / "id_rsa").write_text("key")
    (folder / "proj" / "src").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    return folder


class Asking:
    """Asks a guard about one tool call."""

    def __init__(self, home):
        self.home = home

    def outcome(self, kind, path, guard=None, name="Tool", key="file_path", cwd="proj", project="proj"):
        places: dict[str, Any] = {"cwd": str(self.home / cwd), "project_dir": str(self.home / project)}
        return (guard or PathGuard()).execute(about(name, kind, args={key: path}, **places))

    def __call__(self, *args, **fields):
        outcome = self.outcome(*args, **fields)
        return None if outcome is None else str(outcome.decision)

    def reason(self, *args, **fields):
        return self.outcome(*args, **fields).reason


@pytest.fixture
def ask(home):
    return Asking(home)


# -- what is decided ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "key", "path", "decision"), TABLES["a_file_address_is_the_file_and_fetching_it_reads_it"]
)
def test_a_file_address_is_the_file_and_fetching_it_reads_it(ask, kind, key, path, decision):
    assert (ask(kind, path, key=key) or "proceed") == decision


def test_what_is_read_from_an_address_may_be_written_as_a_path(ask, home):
    path = str(home / ".bashrc")
    outcome = PathGuard().execute(about("Tool", "mcp", args={"url": f"file://{path}", "path": path}))
    assert outcome is not None
    assert outcome.decision == "ask"


STANDARD = [
    (kind, path, decision)
    for kind, decisions in TABLES["standard"].items()
    for decision, paths in decisions.items()
    for path in paths
]


@pytest.mark.parametrize(("kind", "path", "decision"), [*STANDARD, ("read", "x\ud800", "deny")])
def test_what_is_decided_at_standard(ask, kind, path, decision):
    assert (ask(kind, path) or "proceed") == decision


def test_relaxed_denies_and_asks_nothing(ask):
    relaxed = PathGuard("relaxed")
    assert ask("read", "~/.ssh/id_rsa", relaxed) == "deny"
    assert ask("write", "~/.bashrc", relaxed) == "deny"
    assert ask("read", ".env", relaxed) is None
    assert ask("write", "~/x", relaxed) is None


def test_strict_asks_about_reading_outside_of_the_workspace(ask):
    strict = PathGuard("strict")
    assert ask("read", "~/x", strict) == "ask"
    assert ask("search", "/usr/include", strict) == "ask"
    assert ask("read", "src/x.py", strict) is None


def test_names_alone_may_be_listed(ask):
    assert ask("search", "**/.env*", name="Glob", key="pattern") is None
    assert ask("search", "~/.ssh", name="LS", key="path") is None
    assert ask("search", "*.pem", name="Grep", key="glob") == "deny"


def test_a_patch_is_judged_by_each_of_its_files(ask):
    patch = "*** Begin Patch\n*** Update File: src/x.py\n*** Move to: ../../.bashrc\n*** End Patch"
    assert ask("edit", patch, name="apply_patch", key="input", cwd="proj/src") == "deny"
    patch = "*** Begin Patch\n*** Add File: src/x.py\n+x\n*** Add File: ../y.py\n+y\n*** End Patch"
    assert ask("edit", patch, name="apply_patch", key="input") == "ask"


def test_several_files_are_asked_about_once(ask):
    reason = ask.reason("write", ["~/a", "~/b", "src/c"], key="paths")
    assert reason.count("[path-outside-write]") == 2


def test_a_deny_beats_the_asks_before_it(ask):
    assert ask("write", ["~/a", "~/.bashrc"], key="paths") == "deny"


def test_more_files_than_can_be_looked_at_are_denied(ask):
    assert ask("read", ["x"] * MAX_OPERATIONS, key="paths") is None
    assert ask("read", [f"x{at}" for at in range(MAX_OPERATIONS + 1)], key="paths") == "deny"


def test_a_shell_call_is_not_judged_here(ask):
    assert ask("shell", "cat ~/.ssh/id_rsa", key="command") is None


# -- as it is ----------------------------------------------------------------------------------------------------------


def test_a_link_counts_as_what_it_leads_to(ask, home):
    (home / "proj" / "notes.txt").symlink_to(home / ".ssh" / "id_rsa")
    (home / "proj" / "keys").symlink_to(home / ".ssh")
    (home / "proj" / "out").symlink_to(home)
    assert ask("read", "notes.txt") == "deny"
    assert ask("read", "keys/id_rsa") == "deny"
    assert ask("read", "keys/new") == "deny"
    assert ask("write", "out/x") == "ask"
    assert ask("write", "out/.bashrc") == "deny"


def test_a_folder_above_a_link_is_above_what_it_leads_to(ask, home):
    (home / "deep" / "er").mkdir(parents=True)
    (home / "proj" / "link").symlink_to(home / "deep" / "er")
    assert ask("write", "link/../x") == "ask"
    assert ask("write", "link/../../.profile") == "deny"


def test_a_link_that_leads_nowhere_counts_as_what_it_would_make(ask, home):
    (home / "proj" / "x").symlink_to(home / ".bash_profile")
    assert ask("write", "x") == "deny"


def test_a_link_to_a_protected_file_may_be_deleted(ask, home):
    (home / "proj" / "notes.txt").symlink_to(home / ".ssh" / "id_rsa")
    assert ask("delete", "notes.txt") is None


def test_links_in_a_circle_are_no_failure(ask, home):
    (home / "proj" / "a").symlink_to(home / "proj" / "b")
    (home / "proj" / "b").symlink_to(home / "proj" / "a")
    assert ask("read", "a") is None


def test_a_workspace_may_be_a_link_itself(ask, home):
    (home / "short").symlink_to(home / "proj")
    assert ask("write", "src/x.py", cwd="short", project="short") is None
    assert ask("write", "x.py", cwd="proj/src", project="short") is None
    assert ask("write", str(home / "proj" / "x.py"), cwd="short", project="proj") is None


def test_a_link_into_the_workspace_is_a_way_into_it_and_is_itself_outside(ask, home):
    (home / "short").symlink_to(home / "proj")
    assert ask("write", str(home / "short" / "x.py")) is None
    assert ask("delete", str(home / "short" / "src" / "x.py")) is None
    assert ask("write", str(home / "short" / ".." / "x.py")) == "ask"
    assert ask("write", str(home / "short" / ".git" / "hooks" / "pre-commit")) == "deny"
    assert ask("delete", str(home / "short")) == "ask"


def test_the_workspace_is_the_project_and_not_the_working_folder(ask):
    assert ask("write", "../x.py", cwd="proj/src") is None
    assert ask("write", "../../x.py", cwd="proj/src") == "ask"


def test_without_a_project_the_working_folder_is_the_workspace(home):
    guard = PathGuard()
    assert guard.execute(about(kind="write", args={"path": "x"}, cwd=str(home / "proj"))) is None
    outcome = guard.execute(about(kind="write", args={"path": "../x"}, cwd=str(home / "proj")))
    assert outcome is not None
    assert outcome.decision == "ask"


def test_temporary_folders_are_free(tmp_path):
    context = about(kind="write", args={"path": "/tmp/x/y"}, cwd=str(tmp_path))
    assert PathGuard("strict").execute(context) is None


# -- settings ----------------------------------------------------------------------------------------------------------


def test_what_is_allowed_is_left_alone(ask, home):
    guard = PathGuard(allow_read=["~/.aws", ".env"], allow_write=["~/notes/**/*.md", "/data"])
    assert ask("read", "~/.aws/credentials", guard) is None
    assert ask("read", ".env", guard) is None
    assert ask("write", ".env", guard) == "ask"
    assert ask("write", "~/notes/a/b/c.md", guard) is None
    assert ask("write", "~/notes/c.md", guard) is None
    assert ask("write", "~/notes/a/b/c.sh", guard) == "ask"
    assert ask("write", "/data/x/y", guard) is None
    assert ask("write", "/database", guard) == "ask"


def test_a_link_from_what_is_allowed_leads_no_further(ask, home):
    (home / "notes").mkdir()
    (home / "notes" / "x").symlink_to(home / ".bashrc")
    assert ask("write", "~/notes/x", PathGuard(allow_write=["~/notes"])) == "deny"


def test_what_is_protected_is_not_changed_whatever_is_allowed(ask):
    guard = PathGuard("relaxed", protect=["migrations", "**/*.lock"], allow_write=["migrations"])
    assert ask("write", "migrations/1.sql", guard) == "deny"
    assert ask("read", "migrations/1.sql", guard) is None
    assert ask("edit", "sub/uv.lock", guard) == "deny"
    assert ask("edit", "uv.lock", guard) == "deny"
    assert ask("edit", "src/migrations/x", guard) is None


def test_what_may_not_be_read_may_not_be_written(ask):
    guard = PathGuard(deny_read=["private"])
    assert ask("read", "private/x", guard) == "deny"
    assert ask("write", "private/x", guard) == "deny"
    assert ask("read", "src/../private/x", guard) == "deny"


def test_a_workspace_can_be_given(ask, home):
    guard = PathGuard(workspace=str(home / "proj" / "src"))
    assert ask("write", "src/x.py", guard) is None
    assert ask("write", "x.py", guard) == "ask"


def test_a_level_that_is_none_is_refused():
    with pytest.raises(RegistrationError, match="relaxed, standard, strict"):
        PathGuard("loose")


# -- what is said ------------------------------------------------------------------------------------------------------


def test_a_reason_names_the_path_the_rule_and_the_way_out(ask):
    reason = ask.reason("write", "~/.bashrc")
    assert "~/.bashrc" in reason
    assert "allow_write" in reason
    assert reason.endswith("[path-startup]")


def test_a_list_of_who_may_log_in_is_not_said_to_run(ask):
    reason = ask.reason("write", "~/.ssh/authorized_keys")
    assert "who may log in" in reason
    assert reason.endswith("[path-accounts]")


@pytest.mark.parametrize("path", ["~/.bashrc", "/etc/hosts", "/etc/passwd", "/dev/sda", ".git/config", "~/.ssh/id_rsa"])
def test_a_reason_says_what_an_agent_can_do_itself(ask, path):
    reason = ask.reason("write", path).replace("A person can allow it with allow_write of the path guard.", "")
    assert len(reason[: reason.rindex("[")].rstrip(" .").split(". ")) > 1


def test_a_reason_says_where_a_link_leads(ask, home):
    (home / "proj" / "notes.txt").symlink_to(home / ".ssh" / "id_rsa")
    assert f"notes.txt ({home}/.ssh/id_rsa)" in ask.reason("read", "notes.txt")


def test_a_reason_shows_what_cannot_be_seen(ask):
    assert "\\u202e" in ask.reason("read", "~/.ssh/\u202eid_rsa")


def test_a_reason_never_shows_what_is_in_a_file(ask, home):
    (home / ".ssh" / "id_rsa").write_text("hunter2")
    assert "hunter2" not in ask.reason("read", "~/.ssh/id_rsa")


# -- in the engine -----------------------------------------------------------------------------------------------------


@given(st.text(), st.sampled_from(["read", "write", "delete", "search", "mcp"]))
def test_no_path_is_too_odd(path, kind):
    outcome = PathGuard("strict").execute(about(kind=kind, args={"path": path}, cwd=os.sep, project_dir="/work"))
    assert outcome is None or outcome.decision in ("ask", "deny")
