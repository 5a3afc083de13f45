"""The hosts' wiring: their settings, and the ways to start them without it."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from environments import Gated

LISTED = (
    """claude --settings '{"disableAllHooks": true}' -p 'rm -rf build'""",
    "codex exec -c features.hooks=false 'do it'",
    "CODEX_HOME=/tmp/x codex exec 'do it'",
)
WITHOUT_HOOKS = r"""
claude -p x --settings '{"disableAllHooks":true}'
claude --settings='{"disableAllHooks": true}' -p x
claude --settings off.json -p x
echo '{"disableAllHooks": true}' > new.json; claude --settings new.json -p x
echo '{"disableAllHooks": true}' > ci.json; claude --settings ci.json -p x
claude --settings ci.json -p x
claude --settings '{"model": "opus"}' -p x
claude plugin install formatter
claude --plugin-dir tools/plugin -p x
claude --bare -p x
claude --setting-sources project -p x
claude --setting-sources= -p x
claude --setting-sources '' -p x
claude --dangerously-skip-permissions -p x
claude --allow-dangerously-skip-permissions -p x
claude config set disableAllHooks true
claude plugin uninstall agent-hooks
claude plugin disable agent-hooks@ours
CLAUDE_CONFIG_DIR=/tmp/x claude -p x
CLAUDE_CODE_SIMPLE=1 claude -p x
HOME=/tmp/x claude -p x
env HOME=/tmp claude -p x
env -i HOME=/tmp PATH=$PATH claude -p x
export CLAUDE_CONFIG_DIR=/tmp/x && claude -p x
export HOME=$(mktemp -d); codex exec x
XDG_CONFIG_HOME=/tmp opencode run x
opencode run --pure x
OPENCODE_PURE=1 opencode run x
AGENT_HOOKS_DISABLE=guards claude -p x
AGENT_HOOKS_CONFIG_DIR=/tmp/x codex exec x
PYTHONPATH=/tmp/evil claude -p x
LD_PRELOAD=/tmp/evil.so codex exec x
codex exec -c 'features.hooks=false' x
codex exec -c hooks.PreToolUse=[] x
codex exec --config hooks.PreToolUse=[] x
codex exec --config=features.hooks=false x
codex -cfeatures.codex_hooks=false exec x
codex exec -c 'projects."/x".trust_level="untrusted"' x
codex exec -c "$SETTING" x
codex exec --disable hooks x
codex --disable=hooks exec x
codex exec --dangerously-bypass-hook-trust x
codex exec --dangerously-bypass-approvals-and-sandbox x
codex exec --ignore-user-config x
codex features disable hooks
env CODEX_HOME=/tmp/x codex exec x
timeout 600 env CODEX_HOME=/tmp/x codex exec x
CODEX_HOME=.codex nohup codex exec x &
env -u CODEX_HOME codex exec x
env -uCODEX_HOME codex exec x
env --unset=CODEX_HOME codex exec x
unset CODEX_HOME && codex exec x
codex -p off exec x
codex -poff exec x
codex exec --profile=off x
codex --profile other exec x
npx -y @openai/codex exec -c features.hooks=false x
npx @anthropic-ai/claude-code --bare -p x
npx @anthropic-ai/claude-code@latest --settings '{"disableAllHooks": true}'
bash -c 'CODEX_HOME=/tmp/x codex exec x'
(export CODEX_HOME=/tmp/x; codex exec x)
echo "codex exec -c features.hooks=false x" | sh
tmux new-session -d 'claude --bare -p x'
screen -dm claude --bare
tmux new -d codex exec --disable hooks x
python -c "import os; os.system('claude --bare -p x')"
python -c "import subprocess; subprocess.run(['codex', 'exec', '-c', 'features.hooks=false', 'x'])"
GEMINI_CLI_HOME=/tmp/x gemini -p x
GEMINI_CLI_SYSTEM_SETTINGS_PATH=/tmp/x.json gemini -p x
gemini hooks disable agent-hooks
gemini hooks disable-all
COPILOT_HOME=/tmp/x copilot -p x --allow-all-tools
QWEN_HOME=/tmp/x qwen -p x
CURSOR_CONFIG_DIR=/tmp/x cursor-agent -p x
OPENCODE_CONFIG=/tmp/x.json opencode run x
""".strip().splitlines()

STARTED = r"""
claude -p 'What does disableAllHooks do?'
claude -p 'Explain --dangerously-skip-permissions' --model opus
claude -c
claude --continue -p x
claude --setting-sources user,project,local -p x
claude --setting-sources user,project -p x
claude mcp list
claude plugin list
claude config list
claude --version && codex --version
ANTHROPIC_API_KEY=$KEY claude -p x
ANTHROPIC_MODEL=opus CLAUDE_CODE_MAX_OUTPUT_TOKENS=8000 claude -p x
codex exec 'do it'
codex exec -m o3 --sandbox workspace-write 'do it'
codex exec -c model=o3 'do it'
codex exec -c model_reasoning_effort=high -c 'sandbox_workspace_write.network_access=true' x
codex exec --json -C src x
codex -p fast exec x
codex exec --profile fast x
env -u RUST_LOG codex exec x
unset RUST_LOG && codex exec x
codex login status
RUST_LOG=debug codex exec x
gemini -p 'how do hooks work'
gemini -m flash -p x
gemini mcp list
copilot -p x --allow-all-tools
cursor-agent -p x
npx -y @openai/codex --version
npm install -g @anthropic-ai/claude-code
docker run --rm -e HOME=/root image claude --dangerously-skip-permissions -p x
git commit -m 'claude --bare, codex exec -c features.hooks=false'
grep -rn disableAllHooks .claude docs
cat ~/.codex/config.toml .gemini/settings.json
HOME=/tmp/x pytest -q
CODEX_HOME=/tmp/x pytest tests/test_codex.py
PYTHONPATH=src pytest -q
export PYTHONPATH=src
which claude codex gemini
ls ~/.claude ~/.codex
cd codex && make install
cat claude.md > /tmp/x
cp docs/claude.md docs/codex.md
mkdir -p src/claude && touch src/claude/__init__.py
""".strip().splitlines()

OURS = '{"hooks": {"PreToolUse": [{"hooks": [{"command": "agent-hooks-core run --agent codex"}]}]}, "theme": "dark"}\n'
FILES = (
    ".codex/hooks.json .gemini/settings.json .qwen/settings.json .cursor/hooks.json .copilot/settings.json "
    ".copilot/hooks/ours.json .github/hooks/ours.json .factory/hooks.json .windsurf/hooks.json"
).split()
WRITING = r"""
echo '{}' > FILE
rm FILE
mv FILE /tmp
rm -f FILE && git status
cp /tmp/x.json FILE
sed -i s/agent-hooks-core/true/ FILE
jq 'del(.hooks)' FILE | sponge FILE
tee FILE < /dev/null
ln -sf /dev/null FILE
truncate -s 0 FILE
python -c "open('FILE', 'w').write('{}')"
""".strip().splitlines()
READING = r"""
cat FILE
jq .hooks FILE
grep -n command FILE
cp FILE /tmp/backup.json
git add FILE
diff FILE /tmp/x.json
""".strip().splitlines()


@pytest.mark.parametrize("command", LISTED)
def test_no_ordinary_command_starts_a_host_without_its_hooks(gated: Gated, command: str):
    decision, reason = gated.run("Bash", {"command": command})
    assert decision == "deny"
    assert "denied to agents" in reason
    assert "ask a person" in reason
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize("command", WITHOUT_HOOKS)
def test_a_host_is_not_started_without_its_hooks_or_with_other_settings(gated: Gated, command: str):
    (gated.project / "off.json").write_text('{"disableAllHooks": true}')
    (gated.project / "ci.json").write_text('{"model": "opus"}')
    codex = gated.home / ".codex"
    codex.mkdir(exist_ok=True)
    (codex / "config.toml").write_text("[profiles.off.features]\nhooks = false\n" if "off" in command else "")
    (codex / "other.config.toml").write_text("[features]\nhooks = false\n")
    assert gated.decides(command) == "deny"
    shutil.rmtree(codex)


@pytest.mark.parametrize("command", STARTED)
def test_a_host_may_be_started(gated: Gated, command: str):
    (gated.project / "ci.json").write_text('{"model": "opus"}')
    codex = gated.home / ".codex"
    codex.mkdir(exist_ok=True)
    (codex / "config.toml").write_text('[profiles.fast]\nmodel = "o4"\n')
    assert gated.decides(command) == "proceed"
    shutil.rmtree(codex)


@pytest.mark.parametrize("file", FILES)
def test_the_wiring_of_a_host_is_not_taken_out(gated: Gated, file: str):
    for folder in (gated.home, gated.project):
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(OURS)
        edit = {"file_path": str(path), "old_string": "agent-hooks-core", "new_string": "true"}
        assert gated.asked("Edit", edit)[0] == "deny"
        assert gated.asked("Write", {"file_path": str(path), "content": '{"hooks": {}}'})[0] == "deny"
        theme = {"file_path": str(path), "old_string": "dark", "new_string": "light"}
        assert gated.asked("Edit", theme)[0] == "proceed"
        if folder == gated.project:
            assert [each for each in WRITING if gated.decides(each.replace("FILE", file)) != "deny"] == []
            assert [each for each in READING if gated.decides(each.replace("FILE", file)) != "proceed"] == []
            assert gated.run("Write", {"file_path": str(path), "content": "{}"})[0] == "deny"
        path.unlink()


@pytest.mark.parametrize("file", FILES)
def test_a_hosts_settings_without_ours_are_files_like_any_other(gated: Gated, file: str):
    path = gated.project / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"mcpServers": {}}')
    args = {"file_path": str(path), "content": '{"mcpServers": {"x": {}}, "hooks": {"BeforeTool": []}}'}
    assert gated.asked("Write", args)[0] == "proceed"
    assert gated.decides(f"sed -i s/a/b/ {file}; rm {file}") == "proceed"
    switched = {"file_path": str(path), "content": '{"disableAllHooks": true, "hooksConfig": {"enabled": false}}'}
    assert gated.asked("Write", switched)[0] == "deny"
    path.unlink()


def test_codexs_own_configuration_keeps_its_hooks_and_the_rest_of_it_may_be_changed(gated: Gated):
    path = gated.home / ".codex" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        'model = "o3"\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "agent-hooks-core run"\n'
    )
    edit = {"file_path": str(path), "old_string": "o3", "new_string": "o4"}
    assert gated.asked("Edit", edit)[0] == "proceed"
    edit["new_string"] = 'o3"\n[profiles.x.features]\nhooks = false\n[x]\ny = "'
    assert gated.asked("Edit", edit)[0] == "deny"
    edit["new_string"] = 'o3"\n[features]\nhooks = false\nx = "'
    assert gated.asked("Edit", edit)[0] == "deny"
    assert gated.decides("echo '[features]\nhooks = false' >> ~/.codex/config.toml") == "deny"
    assert gated.decides("rm -rf ~/.codex") == "deny"
    path.unlink()
    assert gated.decides("rm -rf ~/.codex") == "proceed"


@pytest.mark.parametrize(
    "file", ["~/.bashrc", "~/.zshrc", "~/.profile", "~/.config/fish/config.fish", ".envrc", ".env"]
)
def test_no_shell_of_later_is_told_to_start_a_host_without_its_hooks(gated: Gated, file: str):
    for line in (
        "export CODEX_HOME=/tmp/x",
        "set -gx CLAUDE_CONFIG_DIR /tmp/x",
        "AGENT_HOOKS_DISABLE=guards",
        'alias claude="claude --bare"',
        "alias codex='codex -c features.hooks=false'",
    ):
        assert gated.asked("Bash", {"command": f"cat >> {file} <<'EOF'\n{line}\nEOF"})[0] == "deny"
        assert gated.asked("Write", {"file_path": file, "content": f"x=1\n{line}\n"})[0] == "deny"
    for line in (
        "export PATH=$HOME/.local/bin:$PATH",
        "alias c=claude",
        "DATABASE_URL=sqlite://",
        "# codex and claude",
    ):
        assert gated.asked("Bash", {"command": f"cat >> {file} <<'EOF'\n{line}\nEOF"})[0] == "proceed"
        assert gated.asked("Write", {"file_path": file, "content": f"x=1\n{line}\n"})[0] == "proceed"


def test_vs_code_is_not_told_to_leave_the_hooks_out(gated: Gated):
    for folder, file in (
        (gated.project, ".vscode/settings.json"),
        (gated.home, ".config/Code/User/settings.json"),
        (gated.home, ".config/Code/User/profiles/1a2b/settings.json"),
        (gated.project, "x.code-workspace"),
    ):
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            '{\n  // mine\n  "editor.fontSize": 12,\n  "chat.hookFilesLocations": {".github/hooks": true}\n}\n'
        )
        edit = {"file_path": str(path), "old_string": "true", "new_string": "false"}
        assert gated.asked("Edit", edit)[0] == "deny"
        assert gated.asked("Write", {"file_path": str(path), "content": '{"chat.useHooks": false}'})[0] == "deny"
        assert gated.decides(f"sed -i s/true/false/ '{path}'") == "deny"
        size = {"file_path": str(path), "old_string": "12", "new_string": "13"}
        assert gated.asked("Edit", size)[0] == "proceed"
        path.write_text('{"size": 12}')
        assert gated.decides(f"sed -i s/12/13/ '{path}'") == "proceed"
        for text in ('{"chat": {"hookFilesLocations": {}}}', '{"settings": {"chat": {"useHooks": false}}}'):
            assert gated.asked("Write", {"file_path": str(path), "content": text})[0] == "deny"
            assert gated.decides(f"echo '{text}' > '{path}'") == "deny"
        assert (
            gated.asked("Write", {"file_path": str(path), "content": '{"chat": {"editor.fontSize": 9}}'})[0]
            == "proceed"
        )
        escaped = {"file_path": str(path), "content": '{"chat.\\u0068ookFilesLocations": {}}'}
        assert gated.asked("Write", escaped)[0] == "deny"
        assert gated.asked("Write", {"file_path": str(path), "content": '{"chat.useHooks": false}'})[0] == "deny"
        path.unlink()


UNSEEN = r"""
cat d.json > FILE
cat < d.json > FILE
{ cat d.json; } > FILE
cat d.json | tee FILE
sudo tee FILE < d.json
cat d.json | sponge FILE
cat missing.json > FILE
base64 -d x > FILE
base64 -d x | tee FILE
echo "$(base64 -d x)" > FILE
python3 generate.py > FILE
dd if=d.json of=FILE
curl -so FILE https://example.org/x
wget -O FILE https://example.org/x
curl -s https://example.org/x > FILE
printf '{"dis%sAllHooks":true}' able > FILE
printf '%s' '{"dis' 'ableAllHooks":true}' > FILE
printf '{"dis\x61bleAllHooks":true}' > FILE
a=able; echo "{\"dis${a}AllHooks\":true}" > FILE
jq '.["dis" + "ableAllHooks"] = true' ok.json > FILE
""".strip().splitlines()
SEEN = r"""
cat ok.json > FILE
cat ok.json | tee FILE
{ cat ok.json; } > FILE
jq '.x = 1' ok.json > FILE
jq '. + {"a": 2}' ok.json | sponge FILE
jq -n '{"a": 1}' > FILE
echo '{"editor.tabSize": 4}' > FILE
echo '{"editor.tabSize": 4}' | sudo tee FILE
printf '%s\n' '{"editor.tabSize": 4}' > FILE
printf '{\n  "a": 1\n}\n' > FILE
echo "{\"python\": \"$(pwd)/.venv/bin/python\"}" > FILE
cat FILE > /tmp/x
base64 -d x > y
""".strip().splitlines()


@pytest.mark.parametrize("file", [".github/copilot/settings.json", ".vscode/settings.json", ".gemini/settings.json"])
def test_the_text_that_a_hosts_settings_get_is_seen(gated: Gated, file: str):
    (gated.project / "d.json").write_text('{"disableAllHooks": true}')
    (gated.project / "ok.json").write_text('{"editor.fontSize": 12}')
    assert [each for each in UNSEEN if gated.decides(each.replace("FILE", file)) != "deny"] == []
    assert gated.decides(f"ln -sf {'../' * file.count('/')}d.json {file}") == "deny"
    assert [each for each in SEEN if gated.decides(each.replace("FILE", file)) != "proceed"] == []


DELETING = (
    """python3 -c "import os; [os.remove(f) for f in os.listdir()]\"""",
    """python3 -Ic "import os; [os.remove(f) for f in os.listdir()]\"""",
    """node -e "fs.readdirSync('.').forEach(f => fs.unlinkSync(f))\"""",
    """perl -e 'unlink glob("*")'""",
    """echo "import os; [os.remove(f) for f in os.listdir()]" | python3""",
)


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
    path = gated.home / file[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(OURS)
    folder = file.rpartition("/")[0]
    assert [each for each in DELETING if gated.decides(f"cd {folder} && {each}") != "deny"] == []
    assert gated.asked("Bash", {"command": DELETING[0], "workdir": str(path.parent)})[0] == "deny"
    assert (
        gated.asked("run_python", {"code": "import os; os.remove(os.listdir()[0])", "cwd": str(path.parent)})[0]
        == "deny"
    )
    honest = (f"ls {folder}", f"cd {folder} && python3 -c 'print(open(\"{path.name}\").read())'", DELETING[0])
    assert [each for each in honest if gated.decides(each) != "proceed"] == []
    path.unlink()
    assert [each for each in DELETING if gated.decides(f"cd {folder} && {each}") != "proceed"] == []


@pytest.mark.parametrize(
    "command",
    [
        "cp -r T/.cursor/. ~/.cursor/",
        "cp -rT T/.cursor ~/.cursor",
        "cp -r T/.cursor ~/",
        "rsync -a T/.cursor/ ~/.cursor",
        "cp -r T/. .",
        "mv T/.github .",
        "cp -r T/.github/. .github",
    ],
)
def test_no_tree_with_other_hooks_is_copied_over_the_wiring(gated: Gated, tmp_path: Path, command: str):
    for folder, name in ((gated.home, ".cursor/hooks.json"), (gated.project, ".github/hooks/agent-hooks.json")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"hooks": {"preToolUse": [{"command": "/env/bin/agent-hooks-core run --agent cursor"}]}}')
        other = tmp_path / name
        other.parent.mkdir(parents=True)
        other.write_text('{"version": 1}')
    try:
        assert gated.decides(command.replace("T/", f"{tmp_path}/")) == "deny"
        assert gated.decides(f"cp -r {tmp_path}/. {tmp_path}2") == "proceed"
    finally:
        shutil.rmtree(gated.home / ".cursor")
        shutil.rmtree(gated.project / ".github")


def test_a_tree_with_the_settings_of_an_editor_may_be_copied(gated: Gated, tmp_path: Path):
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "settings.json").write_text('{"editor.fontSize": 12}')
    assert gated.decides(f"cp -r {tmp_path}/.vscode .") == "proceed"
    assert gated.decides(f"cp -r {tmp_path}/. .") == "proceed"
    (tmp_path / ".vscode" / "settings.json").write_text('{"chat.hookFilesLocations": {}}')
    assert gated.decides(f"cp -r {tmp_path}/.vscode .") == "deny"


# Code that hosts load as they start, from a folder of the user or the project.
LOADED = (
    ".claude/skills/zz/.claude-plugin/plugin.json",
    ".claude/skills/zz/hooks/hooks.json",
    ".claude/plugins/cache/tt/mm/1.0.0/hooks/register.js",
    ".copilot/extensions/zz/extension.mjs",
    ".copilot/installed-plugins/zz/hooks.json",
    ".gemini/extensions/zz/hooks/hooks.json",
    ".github/extensions/zz/extension.mjs",
    ".opencode/plugins/zz.js",
    ".opencode/tools/zz.ts",
    ".qwen/extensions/zz/qwen-extension.json",
)
ORDINARY = (
    ".claude/skills/zz/SKILL.md",
    ".claude/skills/zz/scripts/hooks.py",
    ".claude/skills/zz/settings.json",
    ".claude/commands/zz.md",
    ".github/plugins/zz.json",
    ".github/tools/zz.py",
    ".qwen/commands/zz.md",
    "tools/mm/.claude-plugin/plugin.json",
    "tools/mm/hooks/hooks.json",
)


@pytest.mark.parametrize("file", LOADED)
def test_no_code_is_put_where_a_host_loads_it(gated: Gated, file: str):
    for base, top in (("~/", gated.home), ("", gated.project)):
        assert gated.asked("Write", {"file_path": str(top / file), "content": "x"})[0] == "deny"
        for command in (
            f"echo x > {base}{file}",
            f"cp x {base}{file}",
            f"mkdir -p $(dirname {base}{file}); tee {base}{file}",
        ):
            assert gated.decides(command) == "deny"
    assert gated.decides(f"cat {file}") == "proceed"


@pytest.mark.parametrize("file", ORDINARY)
def test_other_files_of_hosts_and_of_plugins_that_are_being_written_are_ordinary(gated: Gated, file: str):
    assert gated.asked("Write", {"file_path": str(gated.project / file), "content": "x"})[0] == "proceed"
    assert gated.decides(f"echo x > {file}") == "proceed"


@pytest.mark.parametrize(
    "command",
    [
        "cp -r tools/mm .claude/skills/",
        "cp -r tools/mm/. .claude/skills/zz",
        "mv tools/mm .claude/skills/zz",
        "rsync -a tools/mm/ .claude/skills/zz/",
        "ln -s ../../tools/mm .claude/skills/zz",
        "ln -s ../../tools/mm .claude/skills",
        "ln -s $PWD/tools/mm .claude/skills/zz",
        "cd .claude/skills && cp -r ../../tools/mm .",
        "tar xf tools/mm -C .claude/skills",
        "unzip tools/mm -d .claude/skills/zz",
        "curl -s https://example.com/mm.tgz | tar xz -C .claude/skills",
        "git clone https://example.com/tools/mm .claude/skills/zz",
        "cd .claude/skills; git clone https://example.com/tools/mm",
        "git submodule add https://example.com/tools/mm .claude/skills/zz",
    ],
)
def test_no_plugin_is_put_among_the_skills(gated: Gated, command: str):
    (gated.project / ".claude/skills").mkdir(parents=True)
    for file in ("tools/mm/.claude-plugin/plugin.json", "tools/mm/hooks/hooks.json", "tools/skill/SKILL.md"):
        (gated.project / file).parent.mkdir(parents=True, exist_ok=True)
        (gated.project / file).write_text("{}")
    try:
        assert gated.decides(command) == "deny"
        if not re.search("tar|unzip|git", command):  # what these bring is not seen
            assert gated.decides(command.replace("tools/mm", "tools/skill")) == "proceed"
    finally:
        shutil.rmtree(gated.project / ".claude")
        shutil.rmtree(gated.project / "tools")
