"""The settings that hooks get as an instance of their plugin's model, and the mistakes that are found in them."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from agent_hooks import (
    HookConfigLoader,
    HookContext,
    HookManager,
    PluginInfo,
    SettingsError,
    ToolCall,
    hookimpl,
    plugin_settings,
)
from agent_hooks.model.policy import ManagedSettings
from agent_hooks.sources.plugin_settings import PluginTable
from agent_hooks.sources.settings_models import read_table
from agent_hooks.trust.trust_store import TrustStore
from tables import tables

TABLES = tables(__file__)


class Limits(BaseModel):
    """A table in the table."""

    calls: int = Field(9, ge=0)


class House(BaseModel):
    """Settings that projects may tighten."""

    words: tuple[str, ...] = ()
    level: int = 0
    limits: dict[str, Limits] = {}
    first: Limits | None = Field(default=None, alias="the-first")

    def tighten(self, project: House) -> House:
        if project.level < self.level and "level" in project.model_fields_set:
            raise ValueError(f"the level is {self.level}")
        words = dict.fromkeys((*self.words, *project.words))
        return self.model_copy(update={"words": tuple(words), "level": max(self.level, project.level)})


class Own(BaseModel):
    """Settings that are nothing to projects."""

    model_config = ConfigDict(extra="forbid")

    place: Path = Path("here")
    least: int = 0
    most: int = 9

    @model_validator(mode="after")
    def _are_in_order(self) -> Own:
        if self.least > self.most:
            raise ValueError("least is more than most")
        return self


class Needy(BaseModel):
    """A key without a default."""

    key: str
    other: int = 0


class Open(BaseModel):
    """Any key."""

    model_config = ConfigDict(extra="allow")


def _of(text: str, info: ValidationInfo) -> str:
    return f"{text} of {info.context['table'].source}"  # type: ignore[index]


class Told(BaseModel):
    """A validator that looks where a value is from."""

    name: Annotated[str, AfterValidator(_of)] = ""
    level: int = 0


MODELS = {"house": House, "own": lambda: Own, "needy": Needy, "open": Open, "told": Told}


class Plugin:
    """A plugin with all of them."""

    def __init__(self, **more: Any) -> None:
        self.__dict__ |= more

    @hookimpl
    def agent_hooks_settings(self) -> dict[str, Any]:
        return MODELS


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The folders of the user, the machine, a project and a folder in it; each with a file that is written."""
    found = SimpleNamespace(
        user=tmp_path / "user", managed=tmp_path / "managed", project=tmp_path / "project", account=tmp_path / "account"
    )
    monkeypatch.setattr("agent_hooks.sources.files.config_dirs", lambda: (str(found.user),))
    monkeypatch.setattr("agent_hooks.sources.files.managed_dir", lambda: str(found.managed))
    monkeypatch.setattr("agent_hooks.sources.files._other_writer", lambda *_: "")
    monkeypatch.setattr("agent_hooks.sources.plugin_settings._of_projects", {})
    for folder in vars(found).values():
        folder.mkdir()
    (found.project / ".git").mkdir()
    found.inner = found.project / "inner"
    found.inner.mkdir()
    monkeypatch.chdir(found.project)

    def write(whose: str, text: str) -> str:
        path = getattr(found, whose) / "agent-hooks.toml"
        path.write_text(text)
        return str(path)

    found.write = write
    found.monkeypatch = monkeypatch
    return found


@pytest.fixture
def load(folders):
    """Load the configuration with a plugin, and trust the project."""

    def load(plugin: Any = None, *, trust: bool = True, **options: Any) -> HookConfigLoader:
        def made(**given: Any) -> HookManager:
            manager = HookManager(**{**given, "load_plugins": False})
            manager.register(plugin or Plugin(), "all", source="plugin")
            return manager

        folders.monkeypatch.setattr("agent_hooks.sources.loader.HookManager", made)
        if trust and (folders.project / "agent-hooks.toml").exists():
            store = TrustStore()
            store.trust(store.discover(str(folders.project)))
        loader = HookConfigLoader(str(folders.project), **options)
        loader.load()
        return loader

    return load


def at(folder: object) -> HookContext:
    return HookContext("before_step", cwd=str(folder))


def wrong(loader: HookConfigLoader) -> list[tuple[str, int, str]]:
    found = [each for each in loader.findings if each.kind == "wrong-settings"]
    assert all(each.must_be_repaired for each in found)
    return [(each.path, each.line, f"{each.message} {each.remedy}") for each in found]


# -- what holds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TABLES["cases"], ids=lambda case: case["shows"])
def test_settings_hold_and_mistakes_are_told_with_their_lines(load, folders, case):
    paths = {whose: folders.write(whose, case[whose]) for whose in vars(folders) if isinstance(case.get(whose), str)}
    found = wrong(load(trust=case.get("trusted", True)))
    expected = case.get("wrong", [])
    assert sorted(each[:2] for each in found) == sorted((paths[whose], line) for whose, line, _ in expected)
    for whose, line, words in expected:
        assert any(each[:2] == (paths[whose], line) and words in each[2] for each in found)
    assert "secret" not in str(found)
    models: dict[str, Any] = {**MODELS, "own": Own}
    for where, name, fields in case.get("holds", []):
        held = plugin_settings(models[name], at(getattr(folders, where)))
        assert held.model_dump(mode="json", include={*fields}, warnings=False) == fields
    for name, words in case.get("errors", {}).items():
        with pytest.raises(SettingsError, match=words):
            plugin_settings(models[name], at(folders.project))


def test_of_two_files_of_the_user_the_stricter_of_both_holds(load, folders):
    folders.monkeypatch.setattr(
        "agent_hooks.sources.files.config_dirs", lambda: (str(folders.user), str(folders.account))
    )
    path = folders.write("user", "[house]\nwords = ['moved']\n[own]\nmost = 3\nleast = 1\n[needy]\nkey = 'x'\n")
    folders.write("account", "[house]\nlevel = 3\n[own]\nmost = 5\n[needy]\nkey = 'y'\n")
    loader = load()
    assert plugin_settings(House, at("/")) == House(words=("moved",), level=3)
    assert plugin_settings(Own, at("/")) == Own(most=5)  # nothing tightens it
    assert plugin_settings(Needy, at("/")).key == "y"
    assert wrong(loader) == []
    found = [(each.path, each.line, each.blocks) for each in loader.findings if each.kind == "not-allowed"]
    assert found == [(path, 3, False), (path, 6, False)]
    folders.write("user", "[house]\nlevel = 1\n")
    with pytest.raises(SettingsError, match=f"{path}:2: .*the level is 3"):
        plugin_settings(House, at("/"))


def test_a_file_is_the_users_own_also_below_a_project(load, folders):
    os.symlink(folders.project / "agent-hooks.toml", folders.user / "agent-hooks.toml")
    folders.write("project", "[own]\nmost = 3\n")
    load()
    assert plugin_settings(Own, at(folders.project)).most == 3


def test_the_instance_is_the_same_until_a_file_changes(load, folders):
    folders.write("user", "[house]\nlevel = 1\n")
    load()
    first = plugin_settings(House, at("/"))
    assert plugin_settings(House, at("/")) is first
    folders.write("user", "[house]\nlevel = 22\n")
    assert plugin_settings(House, at("/")).level == 22


def test_a_file_that_becomes_wrong_is_an_error_from_then_on(load, folders):
    folders.write("user", "[house]\nlevel = 1\n")
    load()
    path = folders.write("user", "[house]\n\nlevle = 1\n")
    for _ in range(2):
        with pytest.raises(SettingsError, match="Did you mean 'level'") as caught:
            plugin_settings(House, at("/"))
    assert caught.value.origin == f"{path}:3"
    folders.write("user", "[house\n")
    with pytest.raises(SettingsError, match="It is not TOML"):
        plugin_settings(House, at("/"))


def test_a_model_of_nobody_is_an_error(load):
    class Stray(BaseModel):
        x: int = 0

    load()
    with pytest.raises(SettingsError, match="No plugin has the settings Stray"):
        plugin_settings(Stray, at("/"))


# -- mistakes ----------------------------------------------------------------------------------------------------------


def test_a_table_full_of_mistakes_is_told_in_short(load, folders):
    folders.write("user", "[house]\n" + "".join(f"key_{number} = 1\n" for number in range(2000)))
    assert len(wrong(load())) == 100
    with pytest.raises(SettingsError, match=r"key_9 is not a key here\..* And 1990 more\.$") as caught:
        plugin_settings(House, at("/"))
    assert "key_10 " not in str(caught.value)


def test_validators_are_told_the_table():
    table = PluginTable(name="told", path="/x/agent-hooks.toml", source="managed", settings={"name": "a"}, at="told")
    assert read_table(Told, table).name == "a of managed"


def test_a_table_of_nobody_closes_nothing_and_has_the_nearest_name(load, folders):
    path = folders.write("user", "\n[huose]\nx = 1\n")

    class Gate(Plugin):
        @hookimpl
        def before_tool_use(self) -> None: ...

    loader = load(Gate())
    (found,) = (each for each in loader.findings if each.kind == "unknown-plugin")
    assert (found.path, found.line, found.remedy, found.blocks) == (path, 2, "Did you mean 'house'?", False)
    assert ask(loader, folders.project).decision != "deny"


# -- gates -------------------------------------------------------------------------------------------------------------


class Gates(Plugin):
    """Decides about shells and prompts, and looks on elsewhere."""

    @hookimpl(match="shell")
    def before_tool_use(self) -> None: ...

    @hookimpl(mode="observe")
    def before_step(self) -> None: ...


def ask(loader: HookConfigLoader, folder: object, tool: str = "shell", event: str = "before_tool_use") -> Any:
    ctx = HookContext(event, cwd=str(folder), tool_call=ToolCall(tool, {"command": "ls"}) if "tool" in event else None)
    return loader.manager.hooks().dispatch_sync(ctx)


@pytest.mark.parametrize("whose", ["user", "managed"])
def test_a_mistake_closes_the_gates_of_the_plugin_and_no_others(load, folders, whose):
    path = folders.write(whose, "[house]\nlvl = 1\n")
    loader = load(Gates())
    outcome = ask(loader, folders.project)
    assert outcome.decision == "deny"
    assert f"{path}:2: the settings [house] are wrong. house.lvl is not a key here" in outcome.reason
    assert ask(loader, folders.project, tool="Read").decision != "deny"
    assert ask(loader, folders.project, event="before_step").decision != "deny"
    (hook,) = (hook for hook in loader.manager.describe("before_tool_use") if hook.name == "all")
    assert hook.plugin in loader.stand_ins


def test_a_projects_mistake_closes_them_in_the_project_once_it_is_trusted(load, folders):
    folders.write("project", "[house]\nlvl = 1\n")
    assert ask(load(Gates(), trust=False), folders.project).decision != "deny"
    loader = load(Gates())
    assert ask(loader, folders.inner).decision == "deny"
    assert ask(loader, folders.account).decision != "deny"


def test_wrong_tables_of_several_files_close_the_same_gates(load, folders):
    folders.write("user", "[house]\nlvl = 1\n[own]\nmst = 1\n")
    folders.write("managed", "[house]\nlvl = 1\n")
    folders.write("project", "[house]\nlvl = 1\n")
    loader = load(Gates())
    assert len(loader.stand_ins) == 4
    assert ask(loader, folders.project).decision == "deny"
    assert ask(loader, folders.project, tool="Read").decision != "deny"


def test_the_gates_open_when_the_users_file_is_repaired(load, folders):
    folders.write("user", "[house]\nlvl = 1\n")
    loader = load(Gates())
    assert ask(loader, folders.project).decision == "deny"
    folders.write("user", "[house]\nlevel = 1\n")
    assert ask(loader, folders.project).decision != "deny"


def test_a_mistake_cannot_be_ignored(load, folders):
    folders.write("user", "[house]\nlvl = 1\n")
    (finding,) = (each for each in load(Gates()).findings if each.kind == "wrong-settings")
    folders.write("user", f"ignore = ['{finding.id}']\n[house]\nlvl = 1\n")
    loader = load(Gates())
    assert ask(loader, folders.project).decision == "deny"
    assert finding.id in [each.id for each in loader.manager.findings]


def test_a_model_that_cannot_be_had_closes_them_too(load, folders):
    class Broken(Gates):
        @hookimpl
        def agent_hooks_settings(self) -> dict[str, Any]:
            return {"house": lambda: 1 / 0}

    assert wrong(load(Broken())) == []  # nobody has asked for it
    folders.write("user", "[house]\n")
    loader = load(Broken())
    assert "cannot use the settings [house]: ZeroDivisionError" in wrong(loader)[0][2]
    assert ask(loader, folders.project).decision == "deny"


class Easy:
    """A model that is made for some tables only."""

    def __init__(self, accepts: Any) -> None:
        self.accepts = accepts
        self.made = 0

    def __call__(self) -> type[BaseModel]:
        self.made += 1
        return Easygoing


class Easygoing(BaseModel):
    by_file: ClassVar[bool] = True
    level: Literal["low", "high"] = "low"


def _fails(table: PluginTable) -> bool:
    raise ValueError(table.path)


@pytest.mark.parametrize(
    ("accepts", "is_made"),
    [
        (lambda table: table.settings["level"] == "high", False),
        (lambda table: table.source != "user", True),
        (lambda table: "yes", True),
        (_fails, True),
    ],
)
def test_a_model_is_not_made_for_a_table_that_its_plugin_accepts(load, folders, accepts, is_made):
    easy = Easy(accepts)
    plugin = Plugin(agent_hooks_settings=hookimpl(lambda: {"easy": easy}))
    folders.write("user", "[easy]\nlevel = 'high'\n")
    assert wrong(load(plugin)) == []
    assert bool(easy.made) == is_made
    path = folders.write("user", "[easy]\nlevel = 'mid'\n")
    assert [each[:2] for each in wrong(load(plugin))] == [(path, 2)]


def test_a_model_with_an_attribute_of_that_name_is_asked_as_any_other(load, folders):
    class Accepting(BaseModel):
        accepts: ClassVar[Any] = staticmethod(lambda table: True)
        level: int = 0

    path = folders.write("user", "[odd]\nlevel = 'x'\n")
    loader = load(Plugin(agent_hooks_settings=hookimpl(lambda: {"odd": Accepting})))
    assert [each[:2] for each in wrong(loader)] == [(path, 2)]


class Picky(BaseModel):
    """Its ``tighten`` fails, whatever it is given."""

    level: int = 0

    def tighten(self, project: Picky) -> Picky | None:
        if project.level == 1:
            raise SettingsError("one is too few")
        return None


@pytest.mark.parametrize("level", [1, 2])
def test_an_error_that_names_no_key_closes_them_too(load, folders, level):
    class Broken(Gates):
        @hookimpl
        def agent_hooks_settings(self) -> dict[str, Any]:
            return {"picky": Picky, "needy": Needy}

    path = folders.write("project", f"[picky]\nlevel = {level}\n")
    loader = load(Broken())
    assert [found[:2] for found in wrong(loader)] == [(path, 1)]
    assert ask(loader, folders.project).decision == "deny"
    # A key that must be given is one of the user's file.
    folders.write("project", "[needy]\nkey = 'x'\n")
    assert len(wrong(load(Broken()))) == 1


@pytest.mark.parametrize(("options", "event", "decision"), TABLES["closed_gates"])
def test_a_gate_is_closed_as_if_it_failed(load, folders, options, event, decision):
    folders.write("user", "[house]\nlvl = 1\n")
    plugin = Plugin(hook=hookimpl(specname=event, **options)(lambda: None))
    assert ask(load(plugin), folders.project, event=event).decision == decision


def test_a_broken_model_of_another_plugin_is_nothing_to_this_one(load, folders):
    load()
    other = HookManager(load_plugins=False)
    other.register(Plugin(agent_hooks_settings=hookimpl(lambda: {"z": lambda: 1 / 0})))
    assert plugin_settings(House, at(folders.project)) == House()


def test_a_number_of_a_project_is_finite(load, folders):
    path = folders.write("project", "[share]\nmost = nan\n")

    class Share(BaseModel):
        most: float = 1.0

        def tighten(self, project: Share) -> Share:
            if project.most > self.most:
                raise ValueError("that is more")
            return project

    loader = load(Plugin(agent_hooks_settings=hookimpl(lambda: {"share": Share})))
    assert [found[:2] for found in wrong(loader)] == [(path, 1)]


# -- declarations ------------------------------------------------------------------------------------------------------


def test_the_machines_settings_keep_a_plugin_that_calls_its_table_otherwise_than_itself(monkeypatch):
    points = [(PluginInfo(name="frost", distribution="frost", entry_point="frost"), Plugin)]
    monkeypatch.setattr("agent_hooks.engine.installed.found_points", lambda: points)
    for named, found in (("house", ("managed", "active")), ("other", ("plugin", "disabled"))):
        manager = HookManager(disabled=["frost"], managed=ManagedSettings(plugins=frozenset({named})))
        (info,) = manager.plugins()
        assert (info.source, info.status) == found
