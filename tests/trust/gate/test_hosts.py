"""The hosts' wiring: their settings, and the ways to start them without it."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from environments import Gated

TABLES = {name: text.splitlines() for name, text in tables(__file__).items()}
OURS = '{"hooks": {"PreToolUse": [{"hooks": [{"command": "agent-hooks-core run --agent codex"}]}]}, "theme": "dark"}\n'


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def writes(gated: Gated, path: Path | str, content: str) -> str:
    """What is decided about a call that writes the file."""
    return gated.asked("Write", {"file_path": str(path), "content": content})[0]


def edits(gated: Gated, path: Path, old: str, new: str) -> str:
    return gated.asked("Edit", {"file_path": str(path), "old_string": old, "new_string": new})[0]


def others(gated: Gated, table: str, expected: str, *, file: str = "", before: str = "") -> list[str]:
    """The commands of a table, with ``file`` and behind ``before``, about which something else is decided."""
    commands = [before + command.replace("FILE", file) for command in TABLES[table]]
    return [command for command in commands if gated.decides(command) != expected]


@pytest.mark.parametrize("command", TABLES["listed"])
def test_no_ordinary_command_starts_a_host_without_its_hooks(gated: Gated, command: str):
    assert gated.run("Bash", {"command": command})[0] == "deny"
    assert gated.decides(command) == "deny"


@pytest.fixture
def codex(gated: Gated) -> Iterator[Path]:
    """Codex's folder, and settings of the project for Claude Code: with hooks switched off, and with another model."""
    folder = gated.home / ".codex"
    write(gated.project / "off.json", '{"disableAllHooks": true}')
    write(gated.project / "ci.json", '{"model": "opus"}')
    folder.mkdir(exist_ok=True)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("command", TABLES["without_hooks"])
def test_a_host_is_not_started_without_its_hooks_or_with_other_settings(gated: Gated, codex: Path, command: str):
    write(codex / "config.toml", "[profiles.off.features]\nhooks = false\n" if "off" in command else "")
    write(codex / "other.config.toml", "[features]\nhooks = false\n")
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize("command", TABLES["started"])
def test_a_host_may_be_started(gated: Gated, codex: Path, command: str):
    write(codex / "config.toml", '[profiles.fast]\nmodel = "o4"\n')
    assert gated.decides(command) == "proceed"


@pytest.mark.parametrize("file", TABLES["settings"])
def test_the_wiring_of_a_host_is_not_taken_out(gated: Gated, file: str):
    for folder in (gated.home, gated.project):
        path = write(folder / file, OURS)
        assert edits(gated, path, "agent-hooks-core", "true") == "deny"
        assert writes(gated, path, '{"hooks": {}}') == "deny"
        assert edits(gated, path, "dark", "light") == "proceed"
        if folder == gated.project:
            assert others(gated, "writing", "deny", file=file) == []
            assert others(gated, "reading", "proceed", file=file) == []
            assert gated.run("Write", {"file_path": str(path), "content": "{}"})[0] == "deny"
        path.unlink()


@pytest.mark.parametrize("file", TABLES["settings"])
def test_a_hosts_settings_without_ours_are_files_like_any_other(gated: Gated, file: str):
    path = write(gated.project / file, '{"mcpServers": {}}')
    assert writes(gated, path, '{"mcpServers": {"x": {}}, "hooks": {"BeforeTool": []}}') == "proceed"
    assert gated.decides(f"sed -i s/a/b/ {file}; rm {file}") == "proceed"
    assert writes(gated, path, '{"disableAllHooks": true, "hooksConfig": {"enabled": false}}') == "deny"
    path.unlink()


def test_codexs_own_configuration_keeps_its_hooks_and_the_rest_of_it_may_be_changed(gated: Gated):
    hook = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "agent-hooks-core run"\n'
    path = write(gated.home / ".codex" / "config.toml", f'model = "o3"\n{hook}')
    assert edits(gated, path, "o3", "o4") == "proceed"
    assert edits(gated, path, "o3", 'o3"\n[profiles.x.features]\nhooks = false\n[x]\ny = "') == "deny"
    assert edits(gated, path, "o3", 'o3"\n[features]\nhooks = false\nx = "') == "deny"
    assert gated.decides("echo '[features]\nhooks = false' >> ~/.codex/config.toml") == "deny"
    assert gated.decides("rm -rf ~/.codex") == "deny"
    path.unlink()
    assert gated.decides("rm -rf ~/.codex") == "proceed"


@pytest.mark.parametrize(
    "file", ["~/.bashrc", "~/.zshrc", "~/.profile", "~/.config/fish/config.fish", ".envrc", ".env"]
)
@pytest.mark.parametrize(("table", "decision"), [("misleading_lines", "deny"), ("ordinary_lines", "proceed")])
def test_no_shell_of_later_is_told_to_start_a_host_without_its_hooks(
    gated: Gated, file: str, table: str, decision: str
):
    for line in TABLES[table]:
        assert gated.decides(f"cat >> {file} <<'EOF'\n{line}\nEOF") == decision
        assert writes(gated, file, f"x=1\n{line}\n") == decision


@pytest.mark.parametrize(
    "place",
    [
        "PROJECT/.vscode/settings.json",
        "HOME/.config/Code/User/settings.json",
        "HOME/.config/Code/User/profiles/1a2b/settings.json",
        "PROJECT/x.code-workspace",
    ],
)
def test_vs_code_is_not_told_to_leave_the_hooks_out(gated: Gated, place: str):
    folder, _, file = place.partition("/")
    text = '{\n  // mine\n  "editor.fontSize": 12,\n  "chat.hookFilesLocations": {".github/hooks": true}\n}\n'
    path = write((gated.home if folder == "HOME" else gated.project) / file, text)
    assert edits(gated, path, "true", "false") == "deny"
    assert gated.decides(f"sed -i s/true/false/ '{path}'") == "deny"
    assert edits(gated, path, "12", "13") == "proceed"
    path.write_text('{"size": 12}')
    assert gated.decides(f"sed -i s/12/13/ '{path}'") == "proceed"
    assert writes(gated, path, '{"chat": {"editor.fontSize": 9}}') == "proceed"
    for switched in ('{"chat": {"hookFilesLocations": {}}}', '{"settings": {"chat": {"useHooks": false}}}'):
        assert writes(gated, path, switched) == "deny"
        assert gated.decides(f"echo '{switched}' > '{path}'") == "deny"
    assert writes(gated, path, '{"chat.\\u0068ookFilesLocations": {}}') == "deny"
    assert writes(gated, path, '{"chat.useHooks": false}') == "deny"
    path.unlink()


@pytest.mark.parametrize("file", [".github/copilot/settings.json", ".vscode/settings.json", ".gemini/settings.json"])
def test_the_text_that_a_hosts_settings_get_is_seen(gated: Gated, file: str):
    write(gated.project / "d.json", '{"disableAllHooks": true}')
    write(gated.project / "ok.json", '{"editor.fontSize": 12}')
    assert others(gated, "unseen", "deny", file=file) == []
    assert gated.decides(f"ln -sf {'../' * file.count('/')}d.json {file}") == "deny"
    assert others(gated, "seen", "proceed", file=file) == []


@pytest.mark.parametrize(
    "file",
    [
        "~/.cursor/hooks.json",
        "~/.gemini/settings.json",
        "~/.copilot/hooks/agent-hooks.json",
        "~/.config/opencode/plugins/agent-hooks.js",
    ],
)
def test_code_in_a_folder_with_the_wiring_need_not_name_it(gated: Gated, file: str):
    path = write(gated.home / file[2:], OURS)
    folder, code = file.rpartition("/")[0], TABLES["deleting"][0]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Bash", {"command": code, "workdir": str(path.parent)}),
        ("run_python", {"code": "import os; os.remove(os.listdir()[0])", "cwd": str(path.parent)}),
    ]
    assert others(gated, "deleting", "deny", before=f"cd {folder} && ") == []
    assert [gated.asked(*call)[0] for call in calls] == ["deny", "deny"]
    honest = (f"ls {folder}", f"cd {folder} && python3 -c 'print(open(\"{path.name}\").read())'", code)
    assert [each for each in honest if gated.decides(each) != "proceed"] == []
    path.unlink()
    assert others(gated, "deleting", "proceed", before=f"cd {folder} && ") == []


@pytest.mark.parametrize("command", TABLES["over_the_wiring"])
def test_no_tree_with_other_hooks_is_copied_over_the_wiring(gated: Gated, tmp_path: Path, command: str):
    wired = '{"hooks": {"preToolUse": [{"command": "/env/bin/agent-hooks-core run --agent cursor"}]}}'
    for folder, name in ((gated.home, ".cursor/hooks.json"), (gated.project, ".github/hooks/agent-hooks.json")):
        write(folder / name, wired)
        write(tmp_path / name, '{"version": 1}')
    try:
        assert gated.decides(command.replace("T/", f"{tmp_path}/")) == "deny"
        assert gated.decides(f"cp -r {tmp_path}/. {tmp_path}2") == "proceed"
    finally:
        shutil.rmtree(gated.home / ".cursor")
        shutil.rmtree(gated.project / ".github")


def test_a_tree_with_the_settings_of_an_editor_may_be_copied(gated: Gated, tmp_path: Path):
    settings = write(tmp_path / ".vscode" / "settings.json", '{"editor.fontSize": 12}')
    assert gated.decides(f"cp -r {tmp_path}/.vscode .") == "proceed"
    assert gated.decides(f"cp -r {tmp_path}/. .") == "proceed"
    settings.write_text('{"chat.hookFilesLocations": {}}')
    assert gated.decides(f"cp -r {tmp_path}/.vscode .") == "deny"


@pytest.mark.parametrize("file", TABLES["loaded"])
def test_no_code_is_put_where_a_host_loads_it(gated: Gated, file: str):
    for base, top in (("~/", gated.home), ("", gated.project)):
        assert writes(gated, top / file, "x") == "deny"
        for command in ("echo x > FILE", "cp x FILE", "mkdir -p $(dirname FILE); tee FILE"):
            assert gated.decides(command.replace("FILE", base + file)) == "deny"
    assert gated.decides(f"cat {file}") == "proceed"


@pytest.mark.parametrize("file", TABLES["ordinary"])
def test_other_files_of_hosts_and_of_plugins_that_are_being_written_are_ordinary(gated: Gated, file: str):
    assert writes(gated, gated.project / file, "x") == "proceed"
    assert gated.decides(f"echo x > {file}") == "proceed"


@pytest.mark.parametrize("command", TABLES["among_the_skills"])
def test_no_plugin_is_put_among_the_skills(gated: Gated, command: str):
    (gated.project / ".claude/skills").mkdir(parents=True)
    for file in ("tools/mm/.claude-plugin/plugin.json", "tools/mm/hooks/hooks.json", "tools/skill/SKILL.md"):
        write(gated.project / file, "{}")
    try:
        assert gated.decides(command) == "deny"
        if not re.search("tar|unzip|git", command):  # what these bring is not seen
            assert gated.decides(command.replace("tools/mm", "tools/skill")) == "proceed"
    finally:
        shutil.rmtree(gated.project / ".claude")
        shutil.rmtree(gated.project / "tools")
