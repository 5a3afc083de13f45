"""Where files are read from, and which of them count."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from agent_hooks.errors import SettingsError
from agent_hooks.sources import files as sources
from agent_hooks.sources.files import ClaudeSource, ProjectSource, TomlSource, priority_of, project_roots
from agent_hooks.system.folders import claude_dir
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import TrustStore
from projects import HOOKCONF, Project, denying, settings, toml
from tables import tables

pytestmark = pytest.mark.usefixtures("config")

TABLES = tables(__file__)


def loaded(source):
    return list(source.load())


def finding_of(project, **options):
    """What is said of a project whose hooks are not active."""
    finding = ProjectSource(str(project.root), **options).finding
    assert finding is not None
    return finding


def as_if_owned(monkeypatch, **who):
    """Let every file belong to these, as far as the sources can see."""

    def stat(path):
        status = os.stat(path)
        known = {name: getattr(status, name) for name in ("st_mode", "st_uid", "st_gid")}
        return SimpleNamespace(**{**known, **who})

    monkeypatch.setattr(sources, "os", SimpleNamespace(**{**vars(os), "stat": stat}))


# -- our own files -----------------------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_says_nothing():
    assert loaded(TomlSource("user")) == []
    assert loaded(TomlSource("managed")) == []


def test_the_users_file_is_in_the_folder_of_configuration(config):
    (config / "agent-hooks.toml").write_text(toml(["true"]))
    (file,) = loaded(TomlSource("user"))
    (entry,) = file.entries
    assert (file.path, file.source, entry.source) == (str(config / "agent-hooks.toml"), "user", "user")
    assert entry.directory == str(config)


def test_a_source_for_one_folder_reads_that(tmp_path):
    (tmp_path / "agent-hooks.toml").write_text(toml(["true"]))
    (file,) = loaded(TomlSource("user", str(tmp_path)))
    assert file.path == str(tmp_path / "agent-hooks.toml")


def test_what_cannot_be_read_stops_everything(config):
    (config / "agent-hooks.toml").mkdir()
    (file,) = loaded(TomlSource("user"))
    (finding,) = file.findings
    assert (finding.kind, finding.blocks, finding.event) == ("unreadable", True, "")
    assert "not a regular file" in finding.message
    assert finding.path == str(config / "agent-hooks.toml")


@pytest.mark.parametrize("uid", [0, 1000])
@pytest.mark.parametrize("gid", [0, 5])
@pytest.mark.parametrize("mode", [0o644, 0o664, 0o646])
def test_the_machines_file_counts_only_if_nobody_but_root_can_write_it(tmp_path, monkeypatch, uid, gid, mode):
    as_if_owned(monkeypatch, st_uid=uid, st_gid=gid, st_mode=0o100000 | mode)
    (tmp_path / "agent-hooks.toml").write_text(toml(["true"]))
    (file,) = loaded(TomlSource("managed", str(tmp_path)))
    if uid == 0 and (mode == 0o644 or (gid == 0 and mode == 0o664)):
        assert ([entry.source for entry in file.entries], file.findings) == (["managed"], ())
        return
    (finding,) = file.findings
    assert file.entries == ()
    assert finding.blocks
    assert f"somebody other than root can change {tmp_path.resolve()}" in finding.message
    assert "belong to root" in finding.remedy


def test_a_folder_above_the_machines_file_that_others_can_write_is_found(tmp_path, monkeypatch):
    inner = tmp_path.resolve() / "open" / "inner"
    inner.mkdir(parents=True)
    (inner / "agent-hooks.toml").write_text(toml(["true"]))

    def stat(path):
        is_open = str(path).endswith("/open")
        return SimpleNamespace(st_uid=0, st_gid=5, st_mode=os.stat(path).st_mode & ~0o22 | (0o2 if is_open else 0))

    monkeypatch.setattr(sources, "os", SimpleNamespace(**{**vars(os), "stat": stat}))
    (finding,) = loaded(TomlSource("managed", str(inner)))[0].findings
    assert finding.message.endswith(f"can change {inner.parent}.")


@pytest.mark.parametrize(("source", "mode"), [("managed", 0o666), ("user", 0o666), ("user", 0o602)])
def test_a_file_that_others_can_write_in_earnest_does_not_count(tmp_path, source, mode):
    path = tmp_path / "agent-hooks.toml"
    path.write_text(toml(["true"]))
    path.chmod(mode)
    (file,) = loaded(TomlSource(source, str(tmp_path)))
    assert (file.entries, file.findings[0].blocks) == ((), True)
    path.chmod(0o664)  # a umask of 002
    assert source == "managed" or loaded(TomlSource(source, str(tmp_path)))[0].entries


# -- Claude Code's files -----------------------------------------------------------------------------------------------


def test_claude_codes_settings_of_the_user_are_where_claude_code_has_them(tmp_path, monkeypatch):
    home = tmp_path.resolve() / "home"
    assert claude_dir() == str(home / ".claude")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "~/elsewhere")
    assert claude_dir() == str(home / "elsewhere")
    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "settings.json").write_text(settings("PreToolUse", "true"))
    (file,) = loaded(ClaudeSource("user"))
    assert (file.form, file.source, [entry.mode for entry in file.entries]) == ("claude", "user", ["transform"])


def test_a_folder_of_claude_code_must_not_be_one_of_the_project(monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", ".claude")
    with pytest.raises(SettingsError, match=r"CLAUDE_CONFIG_DIR must be an absolute path, not '\.claude'"):
        ClaudeSource("user")


def test_without_a_home_folder_no_folder_of_a_project_stands_in_for_it(project, monkeypatch):
    project.write({"~/.claude/settings.json": settings("PreToolUse", "true")})
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(sources.os.path, "expanduser", lambda path: path)  # type: ignore[attr-defined]
    assert claude_dir() == ""
    assert loaded(ClaudeSource("user")) == []


def test_managed_settings_are_a_file_and_a_folder_of_files(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_other_writer", lambda _: "")
    folder = tmp_path / "managed-claude" / "managed-settings.d"
    folder.mkdir(parents=True)
    (folder.parent / "managed-settings.json").write_text(settings("PreToolUse", "0"))
    for name in ("20-b.json", "10-a.json", ".hidden.json", "note.txt"):
        (folder / name).write_text(settings("PreToolUse", name))
    files = loaded(ClaudeSource("managed"))
    assert [entry.config["command"] for file in files for entry in file.entries] == ["0", "10-a.json", "20-b.json"]
    assert {file.source for file in files} == {"managed"}


def test_managed_settings_that_others_can_write_do_not_count(tmp_path):
    path = tmp_path / "managed-settings.json"
    path.write_text(settings("PreToolUse", "true"))
    path.chmod(0o666)
    (file,) = loaded(ClaudeSource("managed", str(tmp_path)))
    assert (file.entries, file.form, file.findings[0].blocks) == ((), "claude", True)


def test_claude_codes_files_come_behind_ours_of_the_same_rank():
    made = [TomlSource("managed"), ClaudeSource("managed"), TomlSource("user"), ClaudeSource("user")]
    priorities = [source.priority() for source in made]  # type: ignore[attr-defined]
    assert priorities == sorted(priorities, reverse=True)
    assert priorities[-1] > priority_of("plugin") > priority_of("project") > priority_of("skill")


# -- plugins of Claude Code --------------------------------------------------------------------------------------------


def test_plugins_of_claude_code_are_read_from_the_folders_that_a_file_names(config):
    folder = config / "my-plugin" / "hooks"
    folder.mkdir(parents=True)
    (folder / "hooks.json").write_text(settings("PreToolUse", "${CLAUDE_PLUGIN_ROOT}/check.sh", description="Checks."))
    (config / "agent-hooks.toml").write_text('claude_plugins = ["./my-plugin", "my-plugin"]')
    own, plugin = loaded(TomlSource("user"))
    (entry,) = plugin.entries
    assert own.entries == ()
    assert (entry.plugin_root, entry.source, plugin.plugin_root) == (str(folder.parent), "user", str(folder.parent))


def test_a_plugin_that_is_not_there_is_a_finding_of_the_file_that_names_it(config):
    (config / "agent-hooks.toml").write_text('claude_plugins = ["gone"]')
    _, missing = loaded(TomlSource("user"))
    (finding,) = missing.findings
    assert (finding.path, finding.blocks) == (str(config / "agent-hooks.toml"), True)
    assert f"claude_plugins names 'gone', but there is no {config / 'gone' / 'hooks' / 'hooks.json'}" in finding.message


# -- projects ----------------------------------------------------------------------------------------------------------


def test_a_project_is_read_once_it_is_trusted(project):
    project.write({"agent-hooks.toml": toml(["true"])})
    before = ProjectSource(str(project.root))
    assert (loaded(before), before.is_trusted) == ([], False)
    project.trust()
    after = ProjectSource(str(project.root))
    assert (len(loaded(after)), after.is_trusted, after.finding) == (1, True, None)


@pytest.mark.parametrize("name", ["repo", "with space", "it's"])
def test_a_project_that_nobody_trusts_is_told_with_what_to_type(tmp_path, name):
    project = Project(tmp_path, name).write({"agent-hooks.toml": toml(["true"]), "hookconf.py": HOOKCONF})
    finding = finding_of(project)
    assert (finding.kind, finding.path, finding.blocks) == ("untrusted", str(project.root), False)
    assert finding.message == (
        f"2 gates are not active in the project {project.root}, because nobody has trusted its files."
    )
    quoted = {"repo": str(project.root), "with space": f"'{project.root}'"}.get(name, '"\'"')
    assert quoted in finding.remedy
    assert "`agent-hooks trust --show " in finding.remedy


@pytest.mark.parametrize(("files", "claude_settings", "said"), TABLES["not_active"])
def test_it_is_said_what_of_a_project_is_not_active(project, files, claude_settings, said):
    """Where Claude Code runs its settings itself, nobody has to trust them to us."""
    finding = ProjectSource(str(project.write(files).root), claude_settings=claude_settings).finding
    assert (finding.message.partition(" in the project ")[0] if finding else "") == said
    project.trust()
    assert ProjectSource(str(project.root)).finding is None


def test_claude_codes_settings_are_left_out_where_it_runs_them(project):
    project.write({".claude/settings.json": settings("PreToolUse", denying("no")), "hookconf.py": HOOKCONF}).trust()
    assert loaded(ProjectSource(str(project.root), claude_settings=False)) == []
    assert len(loaded(ProjectSource(str(project.root)))) == 1


def test_a_name_cannot_steer_a_terminal(tmp_path):
    project = Project(tmp_path, "a\x1b[2Jb").write({"agent-hooks.toml": toml(["true"])})
    finding = finding_of(project)
    assert finding.message.isprintable()
    assert finding.remedy.isprintable()


def test_a_project_that_changed_says_what_and_not_all_of_it(project):
    names = [f"sub{number}/hookconf.py" for number in range(6)]
    project.write(dict.fromkeys(names, HOOKCONF)).trust()
    project.write(dict.fromkeys(names, f"{HOOKCONF}# changed\n"))
    finding = finding_of(project)
    assert finding.kind == "changed"
    assert "sub0/hookconf.py has changed. sub1/hookconf.py has changed. sub2/hookconf.py has changed. 3 more." in (
        finding.message
    )
    assert "agent-hooks trust --diff" in finding.remedy


def test_a_project_whose_gates_went_away_says_no_number(project):
    project.write({"hookconf.py": HOOKCONF}).trust().write({"hookconf.py": ""})
    finding = finding_of(project)
    assert finding.message.startswith(f"The hooks are not active in the project {project.root}, because files changed")


def test_what_is_wrong_stops_nothing_in_a_project_that_nobody_trusts(project, tmp_path):
    (tmp_path / "outside.toml").write_text(toml(["true"]))
    (project.root / "agent-hooks.toml").symlink_to(tmp_path / "outside.toml")
    project.write({"hookconf.py": HOOKCONF})
    (finding,) = ProjectSource(str(project.root)).findings
    assert ("leads out of the project" in finding.message, finding.blocks) == (True, False)
    project.trust()
    (finding,) = ProjectSource(str(project.root)).findings
    assert finding.blocks


def test_what_is_wrong_with_claude_codes_settings_is_its_own_business_where_it_runs_them(project, tmp_path):
    (tmp_path / "outside.json").write_text(settings("PreToolUse", "true"))
    (project.root / ".claude").mkdir()
    (project.root / ".claude" / "settings.json").symlink_to(tmp_path / "outside.json")
    assert len(ProjectSource(str(project.root)).findings) == 1
    assert ProjectSource(str(project.root), claude_settings=False).findings == []


def test_nested_files_are_looked_for_on_the_way_or_everywhere(project):
    project.write({"a/hookconf.py": HOOKCONF, "b/hookconf.py": HOOKCONF})
    near = ProjectSource(str(project.root), near=[project.at("a/x.py")])
    assert [conf.directory for conf in near.project.confs] == [project.at("a")]
    project.trust()
    near = ProjectSource(str(project.root), near=[project.at("a/x.py")])
    assert [conf.directory for conf in near.project.confs] == [project.at("a"), project.at("b")]
    assert near.is_trusted


@pytest.mark.parametrize("marker", [".git/HEAD", "pyvenv.cfg"])
@pytest.mark.parametrize("near", [None, []])
def test_making_a_repository_of_a_folder_takes_no_gates_out_of_a_trusted_project(project, marker, near):
    project.write({"hookconf.py": HOOKCONF, "sub/deep/hookconf.py": HOOKCONF}).trust()
    project.write({f"sub/{marker}": ""})
    source = ProjectSource(str(project.root), near=near)
    assert source.is_trusted
    assert [conf.directory for conf in source.project.confs] == [str(project.root), project.at("sub/deep")]
    project.write({f"other/{marker}": "", "other/hookconf.py": HOOKCONF})
    assert ProjectSource(str(project.root), near=near).is_trusted


def test_an_environment_whose_python_a_hook_uses_is_not_searched(project):
    project.write({"agent-hooks.toml": toml([".venv/bin/check"]), ".venv/pyvenv.cfg": "", ".venv/bin/check": "exit 0"})
    project.write({".venv/lib/hookconf.py": HOOKCONF}).trust()
    source = ProjectSource(str(project.root))
    assert (source.is_trusted, source.project.confs) == (True, ())


# -- which projects ----------------------------------------------------------------------------------------------------


def test_a_repository_in_a_trusted_one_is_in_both(project):
    project.write({"hookconf.py": HOOKCONF}).trust()
    inner = Project(project.root, "vendor/lib")
    assert project_roots(str(inner.root)) == [str(inner.root), str(project.root)]
    TrustStore().untrust(project.root)
    assert project_roots(str(inner.root)) == [str(inner.root)]


def test_a_record_that_was_damaged_does_not_make_a_way_out(project):
    project.write({"hookconf.py": HOOKCONF}).trust()
    inner = Project(project.root, "vendor/lib")
    (record,) = (path for path in os.scandir(TrustStore().folder))
    with open(record.path, "w") as file:
        file.write("{}")
    assert project_roots(str(inner.root)) == [str(inner.root), str(project.root)]
    outer = ProjectSource(str(project.root))
    assert outer.finding is not None
    assert "damaged" in str(outer.standing.findings[0])


def test_a_repository_around_a_trusted_folder_is_no_way_out_of_its_gates(tmp_path):
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    (folder / "hookconf.py").write_text(HOOKCONF)
    TrustStore().trust(discover(folder))
    assert project_roots(str(folder)) == [str(folder)]
    (tmp_path / "outer" / ".git").mkdir()
    assert project_roots(str(folder)) == [str(tmp_path / "outer"), str(folder)]
    assert project_roots(str(folder / "deeper")) == [str(tmp_path / "outer"), str(folder)]


@pytest.mark.parametrize("variable", ["AGENT_HOOKS_CONFIG_DIR", "AGENT_HOOKS_STATE_DIR", "CLAUDE_CONFIG_DIR"])
def test_a_project_cannot_bring_the_users_own_configuration(project, monkeypatch, variable):
    monkeypatch.setenv(variable, project.at(".config"))
    with pytest.raises(SettingsError, match=rf"{variable} is .*/repo/\.config, which is inside the project .*/repo: "):
        project_roots(str(project.root))


def test_a_home_folder_that_is_a_repository_holds_the_users_own_configuration(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(tmp_path / ".config" / "agent-hooks"))
    assert project_roots(str(tmp_path)) == [str(tmp_path)]


def test_a_store_that_cannot_be_relied_on_is_the_reason_that_is_told(project, config):
    project.write({"agent-hooks.toml": toml(["true"])}).trust()
    (config / "trust").chmod(0o777)
    finding = finding_of(project)
    assert finding.kind == "untrusted"
    assert "it cannot be told whether they are trusted" in finding.message
    assert str(config / "trust") in finding.message
    assert "nobody has trusted" not in str(finding)
