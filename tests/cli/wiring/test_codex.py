"""The trust of Codex in hooks: the hashes that it computes itself, written into its configuration and taken out."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from agent_hooks.cli.doctor import _of_wiring
from agent_hooks.cli.wiring import commands
from agent_hooks.cli.wiring.editors import trusted_hashes

VECTORS = json.loads((Path(__file__).parent / "codex_trust.json").read_text("utf-8"))
CONFIG = """\
# mine
model = "o3"  # the best

[projects."/p"]
trust_level = "trusted"

[hooks.state."/p/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:1"
"""


def states(home):
    config = home.path / ".codex" / "config.toml"
    return tomllib.loads(config.read_text()).get("hooks", {}).get("state", {})


@pytest.fixture
def config(home):
    path = home.path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(CONFIG)
    return path


@pytest.mark.parametrize("expected", VECTORS["expected"], ids=lambda each: each["key_suffix"])
def test_a_hash_is_the_one_that_codex_computes(expected):
    hashes = trusted_hashes("/h/hooks.json", VECTORS["hooks_json"]["hooks"], ours=False)
    assert hashes[f"/h/hooks.json:{expected['key_suffix']}"] == expected["currentHash"]


def test_without_being_told_to_nothing_is_trusted_and_the_person_is_told(home, config):
    said = home.install("codex", events=["on_stop"])[1]
    assert "Start `codex` once and trust the hooks" in said
    assert config.read_text() == CONFIG
    code, facts = home.status()
    assert code == 1
    assert "does not trust these hooks" in facts["codex", str(home.file("codex"))]["problems"][0]
    commands.status(as_json=False)
    assert "To mend it: agent-hooks install codex --trust\n" in home.capsys.readouterr().out
    (finding,) = _of_wiring([facts["codex", str(home.file("codex"))]])
    assert finding.remedy == "Type: agent-hooks install codex --trust"


@pytest.mark.parametrize("text", [CONFIG, CONFIG.replace("\n", "\r\n"), CONFIG.rstrip(), ""])
def test_trust_is_written_and_taken_out_byte_for_byte(home, config, text):
    config.write_bytes(text.encode())
    code, said = home.install("codex", events=["on_stop", "before_tool_use"], trust=True)
    assert (code, f"trusted in {config}" in said, "Start `codex` once" in said) == (0, True, False)
    hooks = home.read("codex")["hooks"]
    assert (
        trusted_hashes(str(home.file("codex")), hooks).items()
        <= {key: state["trusted_hash"] for key, state in states(home).items()}.items()
    )
    assert config.read_bytes().startswith(text.encode())
    assert config.read_bytes().count(b"\r\n") in (0, config.read_bytes().count(b"\n"))
    assert home.status()[0] == 0
    assert home.uninstall("codex")[0] == 0
    assert config.read_bytes() == text.encode()


def test_a_configuration_that_is_not_there_is_made_and_removed(home):
    home.install("codex", events=["on_stop"], trust=True)
    assert len(states(home)) == 1
    home.uninstall("codex")
    assert not (home.path / ".codex").exists()


def test_trust_follows_the_hooks_that_change_and_leaves_what_codex_wrote_meanwhile(home, config):
    home.write("codex", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}')
    home.install("codex", events=["on_stop"], trust=True)
    key = f"{home.file('codex')}:stop:1:0"
    assert key in states(home)
    config.write_text(config.read_text().replace('"o3"', '"o4"') + '\n[tui]\ntheme = "x"\n')
    home.install("codex", events=["before_tool_use"])  # trusted before, so again
    assert key not in states(home)
    assert f"{home.file('codex')}:pre_tool_use:0:0" in states(home)
    assert home.status()[0] == 0
    home.uninstall("codex")
    assert states(home).keys() == {"/p/.codex/hooks.json:stop:0:0"}
    found = tomllib.loads(config.read_text())
    assert (found["model"], found["tui"], "# the best" in config.read_text()) == ("o4", {"theme": "x"}, True)


def test_the_hooks_of_the_user_stay_trusted_when_those_of_a_project_are_taken_out(home, config):
    home.install("codex", events=["on_stop"], trust=True)
    trusted = config.read_bytes()
    home.install("codex", events=["on_stop"], trust=True, project=True)
    assert len(states(home)) == 3
    home.uninstall("codex", project=True)
    assert config.read_bytes() == trusted
    home.uninstall("codex")
    assert config.read_text() == CONFIG


def test_a_hook_that_moved_is_told(home):
    home.install("codex", events=["on_stop"], trust=True)
    settings = home.read("codex")
    settings["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "x"}]})
    home.write("codex", json.dumps(settings))
    assert "does not trust these hooks" in home.status()[1]["codex", str(home.file("codex"))]["problems"][0]
    home.install("codex", events=["on_stop"])
    assert home.status()[0] == 0


@pytest.mark.parametrize(
    ("text", "problem"), [("model = \n", "is not TOML"), ('hooks = "none"\n', "in a form that is not known")]
)
def test_a_configuration_that_is_not_understood_is_left_alone(home, config, text, problem):
    config.write_text(text)
    code, said = home.install("codex", events=["on_stop"], trust=True)
    assert (code, problem in said, "trust the hooks in Codex instead" in said) == (1, True, True)
    assert config.read_text() == text
    assert home.hooks("codex")
