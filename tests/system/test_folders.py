"""Where this package keeps what is its own."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext, suppress
from types import SimpleNamespace

import platformdirs
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix
from platformdirs.windows import Windows

from agent_hooks.errors import SettingsError
from agent_hooks.system import folders
from agent_hooks.system.folders import (
    choose_config_dir,
    config_dir,
    config_dirs,
    lock_file,
    managed_dir,
    read_regular,
    state_dir,
    use_account,
    write_whole,
)
from agent_hooks.system.store import Store

pytestmark = pytest.mark.interpreter

FOLDERS = [(state_dir, "AGENT_HOOKS_STATE_DIR"), (config_dir, "AGENT_HOOKS_CONFIG_DIR")]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    for name in [name for name in os.environ if name.startswith(("AGENT_HOOKS_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "/home/someone")


@pytest.mark.parametrize(("folder", "variable"), FOLDERS)
def test_the_environment_goes_before_the_platform(monkeypatch, tmp_path, folder, variable):
    monkeypatch.setenv(variable, str(tmp_path))
    assert folder() == str(tmp_path)
    monkeypatch.setenv(variable, "~/mine")
    assert folder() == "/home/someone/mine"


def test_the_store_is_in_the_state_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path))
    assert Store().path == str(tmp_path / "store.sqlite3")


@pytest.mark.parametrize(("folder", "variable"), FOLDERS)
def test_a_relative_folder_is_refused(monkeypatch, folder, variable):
    """It would be another one in every working directory."""
    monkeypatch.setenv(variable, "here")
    with pytest.raises(SettingsError, match=f"{variable} must be an absolute path, not 'here'"):
        folder()


@pytest.mark.parametrize(
    ("platform", "system", "environment", "state", "config"),
    [
        (Unix, "linux", {}, "~/.local/state/agent-hooks", "~/.config/agent-hooks"),
        (Unix, "linux", {"XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}, "/s/agent-hooks", "/c/agent-hooks"),
        (MacOS, "darwin", {}, *["~/Library/Application Support/agent-hooks"] * 2),
        (Windows, "win32", {}, *["/AppData/CSIDL_LOCAL_APPDATA/agent-hooks"] * 2),
    ],
)
def test_each_platform_has_its_folders(monkeypatch, platform, system, environment, state, config):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platformdirs, "PlatformDirs", platform)
    monkeypatch.setattr("platformdirs.windows.get_win_folder", "/AppData/{}".format)  # which asks Windows
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert [state_dir(), config_dir()] == [each.replace("~", "/home/someone") for each in (state, config)]


ENVIRONMENTS = [
    *({"HOME": home} for home in ("/h", "/h/", "/", "//h", "", "here", None)),
    *({"XDG_CONFIG_HOME": path, "XDG_STATE_HOME": path} for path in ("/x", "/x/", "//x", "", " ", "here", "~/x")),
    {"HOME": "", "XDG_CONFIG_HOME": "/x"},
    {"HOME": "here", "XDG_STATE_HOME": "/x"},
    {"ANDROID_DATA": "/data", "ANDROID_ROOT": "/system"},
]


@pytest.mark.parametrize(("platform", "system"), [(Unix, "linux"), (MacOS, "darwin")])
@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=repr)
def test_a_folder_is_that_of_platformdirs_in_every_environment(monkeypatch, platform, system, environment):
    monkeypatch.setattr(platformdirs, "PlatformDirs", platform)
    monkeypatch.setattr(sys, "platform", system)
    for name, value in environment.items():
        monkeypatch.setenv(name, value) if value is not None else monkeypatch.delenv(name)
    found, expected = [], []
    for ours, theirs in ((state_dir, platformdirs.user_state_dir), (config_dir, platformdirs.user_config_dir)):
        try:
            expected.append(theirs("agent-hooks", appauthor=False))
        except RuntimeError:
            expected.append("")
        found.append("")
        with suppress(SettingsError):
            found[-1] = ours()
    assert found == [each if os.path.isabs(each) else "" for each in expected]


@pytest.mark.parametrize("folder", [state_dir, config_dir])
def test_a_relative_path_of_the_xdg_variables_is_never_used(monkeypatch, folder):
    """Their specification says that it is to be ignored; older versions of platformdirs do not."""
    monkeypatch.setattr(platformdirs, "PlatformDirs", Unix)
    usual = folder()
    monkeypatch.setenv("XDG_STATE_HOME", "here")
    monkeypatch.setenv("XDG_CONFIG_HOME", "here")
    found = usual
    with suppress(SettingsError):
        found = folder()
    assert found == usual


@pytest.mark.parametrize(("folder", "variable"), FOLDERS)
@pytest.mark.parametrize("error", [RuntimeError, ValueError, OSError])
def test_without_a_home_folder_the_error_says_what_to_set(monkeypatch, folder, variable, error):
    monkeypatch.setenv("HOME", "")

    def homeless(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(platformdirs, "user_state_dir", homeless)
    monkeypatch.setattr(platformdirs, "user_config_dir", homeless)
    with pytest.raises(SettingsError, match=f"no home folder.* set {variable} to an absolute path"):
        folder()


@pytest.mark.parametrize(("folder", "variable"), FOLDERS)
def test_a_home_folder_that_is_not_absolute_is_none(monkeypatch, folder, variable):
    monkeypatch.setenv("HOME", "here")
    for name in ("user_state_dir", "user_config_dir"):
        monkeypatch.setattr(platformdirs, name, lambda *_args, **_kwargs: "~/unknown")
    with pytest.raises(SettingsError, match=variable):
        folder()


@pytest.mark.parametrize(
    ("platform", "expected"),
    [("linux", "/etc/agent-hooks"), ("darwin", "/Library/Application Support/agent-hooks")],
)
def test_the_managed_folder_is_the_systems_whatever_the_environment_says(monkeypatch, tmp_path, platform, expected):
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("AGENT_HOOKS_MANAGED_DIR", "AGENT_HOOKS_CONFIG_DIR", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert managed_dir() == expected


def test_on_windows_the_managed_folder_is_where_only_administrators_write(monkeypatch, tmp_path):
    """The registry says where that is, not the environment; nor is it ProgramData, where anybody may make a folder."""
    registry = {("machine", r"SOFTWARE\Microsoft\Windows\CurrentVersion", 3): {"ProgramFilesDir": (r"C:\Programs", 1)}}
    winreg = SimpleNamespace(
        HKEY_LOCAL_MACHINE="machine",
        KEY_READ=1,
        KEY_WOW64_64KEY=2,
        OpenKey=lambda key, name, access: nullcontext(registry[key, name, access]),
        QueryValueEx=lambda key, name: key[name],
    )
    monkeypatch.setitem(sys.modules, "winreg", winreg)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("ProgramFiles", str(tmp_path))
    assert managed_dir() == os.path.join(r"C:\Programs", "agent-hooks")


@pytest.mark.parametrize("variables", [("AGENT_HOOKS_CONFIG_DIR", "AGENT_HOOKS_STATE_DIR"), ("HOME",)])
def test_no_folder_is_made_and_nothing_heavy_loaded_in_a_usual_environment(tmp_path, variables):
    code = (
        "import sys; from agent_hooks.system.folders import config_dir, managed_dir, state_dir\n"
        "config_dir(), managed_dir(), state_dir(); print('platformdirs' in sys.modules)"
    )
    environment = {**os.environ, **{name: f"{tmp_path}/{name}" for name in variables}}
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"
    assert [*tmp_path.iterdir()] == []


# -- files that are put in place whole ---------------------------------------------------------------------------------

TRUST = "from agent_hooks.trust import TrustStore; store = TrustStore(); store.trust(store.discover(HERE))"
CONVERSATION = """
import asyncio
from agent_hooks.runtime.conversations import FileConversations
from agent_hooks.model.state import AgentState
asyncio.run(FileConversations().save(ID, AgentState()))
"""
ENVIRONMENT = "from agent_hooks.trust.gate.environment import Environment; Environment(prefix=HERE + ID).parts"
# The system is asked to end the process where the new file would take the place of the old one.
KILL = "import os, signal; os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize("write", [TRUST, CONVERSATION, ENVIRONMENT], ids=["trust", "conversation", "environment"])
def test_what_a_killed_writer_left_long_ago_is_removed_by_the_next_one(tmp_path, write):
    project = tmp_path / "project"
    project.mkdir()
    (project / "agent-hooks.toml").write_text('[[hooks.before_tool_use]]\ncommand = "true"\n')
    environment = {**os.environ, "AGENT_HOOKS_STATE_DIR": str(tmp_path), "AGENT_HOOKS_CONFIG_DIR": str(tmp_path)}

    def run(name: str, kill: str = "") -> int:
        code = f"{kill}\nHERE, ID = {str(project)!r}, {name!r}\n{write}"
        return subprocess.run([sys.executable, "-c", code], env=environment, timeout=60, check=False).returncode

    def temporary() -> list[str]:
        return [str(path) for path in tmp_path.rglob("*.new")]

    assert run("first", KILL) == -9
    (left,) = temporary()
    os.utime(left, (0, 0))
    assert run("second") == 0
    assert temporary() == []


def test_what_another_writer_is_writing_stays(tmp_path, monkeypatch):
    replace = os.replace

    def meanwhile(source: str, target: str) -> None:
        monkeypatch.setattr(os, "replace", replace)
        write_whole(str(tmp_path / "other"), b"2")
        replace(source, target)

    monkeypatch.setattr(os, "replace", meanwhile)
    write_whole(str(tmp_path / "one"), b"1")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"one": b"1", "other": b"2"}


def test_a_file_of_somebody_else_that_is_called_new_stays(tmp_path):
    (tmp_path / "notes.new").write_text("")
    write_whole(str(tmp_path / "one"), b"1")
    assert {path.name for path in tmp_path.iterdir()} == {"notes.new", "one"}


@pytest.fixture
def account(monkeypatch, tmp_path):
    """The home of the process's account, in which the environment may not say where it is."""
    for name in ("_chosen", "_is_command"):
        monkeypatch.setattr(folders, name, getattr(folders, name))
    monkeypatch.setattr("pwd.getpwuid", lambda _: SimpleNamespace(pw_dir=str(tmp_path)))
    return tmp_path


def test_in_a_hosts_command_the_accounts_configuration_counts_beside_that_of_the_environment(monkeypatch, account):
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", "/elsewhere")
    assert config_dirs() == ("/elsewhere",)
    use_account()
    own = folders.account_config_dir()
    assert own.startswith(str(account))
    assert config_dirs() == ("/elsewhere", own)
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", own)
    assert config_dirs() == (own,)


def test_a_folder_that_somebody_chooses_counts_alone(monkeypatch, account):
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", "/elsewhere")
    use_account()
    with pytest.raises(SettingsError, match="must be an absolute path, not 'here'"):
        choose_config_dir("here")
    choose_config_dir("/chosen")
    assert (config_dir(), config_dirs(), folders.chosen_config_dir()) == ("/chosen", ("/chosen",), "/chosen")
    choose_config_dir("")
    assert (len(config_dirs()), folders.chosen_config_dir()) == (2, "")


def test_an_account_without_an_entry_has_the_home_of_the_environment(monkeypatch, account):
    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", nobody)
    assert folders.account_home() == "/home/someone"
    monkeypatch.delenv("HOME")
    assert (folders.account_home(), folders.account_config_dir()) == ("", "")


def test_regular_files_are_read_up_to_the_limit(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_regular(str(file), 5) == b"12345"
    with pytest.raises(OSError, match="larger than"):
        read_regular(str(file), 4)
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(str(tmp_path), 5)


def test_a_write_that_fails_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_bytes(b"before")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        write_whole(str(file), b"after")
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"before", ["file"])


def test_a_file_is_written_for_its_owner_alone(tmp_path):
    write_whole(str(tmp_path / "file"), b"after")
    assert (tmp_path / "file").read_bytes() == b"after"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_a_lock_holds_until_its_file_is_closed(tmp_path):
    with open(tmp_path / "lock", "w") as first, open(tmp_path / "lock", "w") as second:
        assert lock_file(first.fileno())
        assert not lock_file(second.fileno(), wait=False)
        first.close()
        assert lock_file(second.fileno(), wait=False)
