"""The real coding agents with our command installed: what reached the model, and what ran."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from cli.wiring.test_client_events import unknown_events
from e2e.clients import CLIENTS, installed
from e2e.scenarios import ALL, ATTACKS, CLAUDES, SCENARIOS
from e2e.session import Session, together

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("what", SCENARIOS)
def test_scenario(what: str, name: str, session: Callable[[str], Session]):
    scenario = SCENARIOS[what]
    if name not in scenario.clients:
        pytest.skip(f"{name} cannot do that by its own protocol")
    here = session(name)
    for file, text in scenario.files:
        (here.project / file).write_text(text)
    model = here.ask(scenario.commands, scenario.prompt)
    assert [file for file in scenario.not_ran if here.ran(file)] == [], here.said
    assert [file for file in scenario.ran if not here.ran(file)] == [], here.said
    assert [text for text in scenario.told if not model.saw(text)] == [], here.said
    assert [text for text in scenario.not_told if model.saw(text)] == [], here.said
    assert scenario.requests in {None, len(model.requests)}, here.said


@pytest.mark.parametrize("name", sorted(CLAUDES))
@pytest.mark.parametrize("is_typed", [False, True], ids=["called", "typed"])
def test_lines_of_shell_in_skills(name: str, is_typed: bool, session: Callable[[str], Session]):
    here = session(name)
    for skill, line in (("bad", ": deny; echo > ran"), ("good", ": none; echo > after")):
        (here.project / f".claude/skills/{skill}").mkdir(parents=True)
        (here.project / f".claude/skills/{skill}/SKILL.md").write_text(f"---\ndescription: d\n---\n!`{line}`\n")
    models = [
        here.ask([], f"/{skill}") if is_typed else here.ask([("Skill", {"skill": skill})]) for skill in ("bad", "good")
    ]
    assert not here.ran("ran"), here.said
    assert here.ran("after"), here.said
    assert is_typed or models[0].saw("the-reason-of-deny"), here.said


@pytest.mark.parametrize("name", sorted(ALL))
def test_environment_moved_away(name: str, session: Callable[[str], Session]):
    here = session(name)
    here.move()
    model = here.ask([": none; echo > ran"])
    assert not here.ran("ran"), here.said
    # A person can still type; opencode has no line of shell that could say what is gone.
    assert (model.requests == []) == (name == "opencode")
    assert model.saw("is gone, so no hook can be asked") == (name != "opencode"), here.said
    here.restore()
    here.ask([": none; echo > after"])
    assert here.ran("after"), here.said


@pytest.mark.parametrize("name", sorted(ALL))
def test_environment_moved_away_during_a_session(name: str, session: Callable[[str], Session]):
    here = session(name)
    model = here.ask([": none; echo > before", ": none; echo > ran"], before={1: here.move})
    assert here.ran("before"), here.said
    assert not here.ran("ran"), here.said
    assert len(model.requests) > 1


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("what", ATTACKS)
def test_attack(what: str, name: str, session: Callable[[str], Session]):
    here = session(name)
    (site,) = here.environment.glob("lib/python*/site-packages")
    wiring = here.wiring()
    places = {
        "site": site,
        "bin": here.environment / "bin",
        "python": here.environment / "bin/python",
        "wiring": wiring,
        "config": here.folder / "config",
        "state": here.folder / "state",
    }
    before = _contents(here, wiring, site)
    model = here.ask([ATTACKS[what].format_map(places), ": deny; echo > ran"])
    assert _contents(here, wiring, site) == before, here.said
    assert not here.ran("ran")
    assert model.saw("the-reason-of-deny"), here.said


def _hooks(wiring: Path) -> str:
    """The hooks of a host's file: clients write settings of their own into the same one."""
    text = wiring.read_text() if wiring.exists() else ""
    if wiring.suffix != ".json" or not text.strip():
        return text
    hooks = json.loads(text)["hooks"]
    hooks.pop("PreSkillShellCommand", None)  # an older Claude Code takes out the events that it does not know
    return json.dumps(hooks)


def _contents(here: Session, wiring: Path, site: Path) -> dict[str, str]:
    """What the parts of the gate are: byte code left out, which Python writes itself."""
    files = [*(here.folder / "config").rglob("*"), *site.rglob("*"), *(here.environment / "bin").iterdir()]
    return {"hooks": _hooks(wiring)} | {
        str(file): sha256(file.read_bytes()).hexdigest() + str(file.readlink() if file.is_symlink() else "")
        for file in files
        if file.is_file() and "__pycache__" not in file.parts
    }


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_two_agents_on_one_store(name: str, session: Callable[[str], Session]):
    """Each has its own rounds, and each is denied."""
    pair = [session(name), session(name)]
    (pair[0].project / "again").touch()
    models = together(pair, [": deny; echo > ran"])
    assert not pair[0].ran("ran")
    assert all(model.saw("the-reason-of-deny") for model in models)
    # The prompt, the result of the call, and three rounds.
    assert [len(model.requests) for model in models] == [5, 5]


def test_every_client_has_its_row():
    assert set(CLIENTS) == ALL
    assert all(CLIENTS[name].host == "claude-code" for name in CLAUDES)


@pytest.mark.parametrize("name", ["claude", "gemini", "qwen"])
def test_every_event_of_the_newest_client_is_in_our_table(name: str, tmp_path: Path):
    """Codex, Copilot and opencode do not name their events in a form that can be told from other text."""
    client = CLIENTS[name]._replace(version="latest")
    program, why = installed(client, tmp_path)
    if program is None:
        pytest.skip(why)
    assert unknown_events(client.host, program) == []
