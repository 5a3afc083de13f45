"""What `agent-hooks install` writes, and what it writes there: agents change none of it, and cannot install."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent_hooks.cli.wiring.hosts import WIRINGS
from tables import tables

if TYPE_CHECKING:
    from environments import Gated

TABLES = tables(__file__)
TAKING = TABLES["taking"].splitlines()
OURS = '{"hooks": {"Stop": [{"command": "/env/bin/python -I -S /site/agent_hooks_core.py run --agent x"}]}}\n'


@pytest.mark.parametrize("command", TABLES["installing"].splitlines())
def test_an_agent_cannot_install_or_uninstall_however_it_spells_it(gated: Gated, command: str):
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize("command", TABLES["looking"].splitlines())
def test_an_agent_may_look_at_what_is_wired(gated: Gated, command: str):
    assert gated.decides(command) == "proceed"


def paths_of(gated: Gated, host: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("HOME", str(gated.home))
    for variable in (WIRINGS[host].variable, "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable or "XDG_CONFIG_HOME", raising=False)
    return [WIRINGS[host].path(), WIRINGS[host].path(str(gated.project))]


@pytest.mark.parametrize("host", WIRINGS)
def test_the_wired_file_of_each_host_is_kept_from_agents(gated: Gated, monkeypatch: pytest.MonkeyPatch, host: str):
    for path in paths_of(gated, host, monkeypatch):
        folder, _, name = path.rpartition("/")
        made = gated.home / "made"
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(gated.home)
            (gated.home / path).parent.mkdir(parents=True, exist_ok=True)
            (gated.home / path).write_text(OURS)
            try:
                assert gated.asked("Write", {"file_path": path, "content": "{}"})[0] == "deny"
                edit = {"file_path": path, "old_string": "/env/bin/python", "new_string": "/bin/true"}
                assert gated.asked("Edit", edit)[0] == "deny"
                assert [each for each in TAKING if gated.decides(each.replace("FILE", path)) != "deny"] == []
                assert gated.decides(f"rm -rf {folder}") == "deny"
                assert gated.decides(f"mv {folder} /tmp/away") == "deny"
                assert gated.decides(f"cat {path}; cp {path} /tmp/{name}") == "proceed"
            finally:
                (gated.home / path).unlink()
        assert not made.exists()


@pytest.mark.parametrize("host", ["copilot", "vscode", "opencode", "claude-code"])
def test_a_file_of_ours_alone_is_kept_from_agents_before_it_exists(
    gated: Gated, monkeypatch: pytest.MonkeyPatch, host: str
):
    for path in paths_of(gated, host, monkeypatch):
        assert gated.asked("Write", {"file_path": path, "content": "{}"})[0] == "deny"
        assert gated.decides(f"touch {path}") == "deny"


@pytest.mark.parametrize("host", [name for name in WIRINGS if name != "claude-code"])
def test_nothing_that_would_switch_ours_off_is_written_before_ours_is_there(
    gated: Gated, monkeypatch: pytest.MonkeyPatch, host: str
):
    for path in paths_of(gated, host, monkeypatch):
        content = '{"disableAllHooks": true, "hooksConfig": {"enabled": false}}'
        assert gated.asked("Write", {"file_path": path, "content": content})[0] == "deny"
        assert gated.asked("Write", {"file_path": path, "content": OURS})[0] == "deny"


def test_the_trust_of_codex_is_kept_from_agents(gated: Gated):
    path = gated.home / ".codex" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text('model = "o3"\n\n[hooks.state."/h/.codex/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n')
    try:
        write = {"file_path": str(path), "content": 'model = "o3"\n'}
        assert gated.asked("Write", write)[0] == "deny"
        edit = {"file_path": str(path), "old_string": "sha256:1", "new_string": "sha256:2"}
        assert gated.asked("Edit", edit)[0] == "deny"
        assert gated.asked("Edit", {**edit, "old_string": "o3", "new_string": "o4"})[0] == "proceed"
        distrust = 'o3"\n[projects."/p"]\ntrust_level = "untrusted"\n[x]\ny = "'
        assert gated.asked("Edit", {**edit, "old_string": "o3", "new_string": distrust})[0] == "deny"
        assert gated.decides("sed -i /trusted_hash/d ~/.codex/config.toml") == "deny"
        assert gated.decides("rm ~/.codex/config.toml") == "deny"
    finally:
        path.unlink()


@pytest.mark.parametrize("path", TABLES["kept"].splitlines())
def test_the_records_and_all_that_the_command_line_names_are_kept_from_agents(gated: Gated, path: str):
    file = gated.filled(path)
    assert gated.asked("Write", {"file_path": file, "content": ""})[0] == "deny"
    assert [each for each in TAKING if gated.decides(each.replace("FILE", file)) != "deny"] == []
