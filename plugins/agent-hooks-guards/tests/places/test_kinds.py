"""What a path is, by its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.places.kinds import is_settings_secret, kinds
from agent_hooks_guards.places.paths import Place, absolute
from tables import tables

TABLES = tables(__file__)

CWD = "/home/me/proj/src"
PLACE = Place(CWD, "/home/me", "/home/me/proj")


def of(path, place=PLACE, host=""):
    return kinds(absolute(path, place.cwd, place.home), place, host)


# -- where -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "expected"), TABLES["where_a_path_is"])
def test_where_a_path_is(path, expected):
    assert of(path) == frozenset(expected.split())


def test_an_empty_path_is_nothing():
    assert kinds("", PLACE) == frozenset()


def test_all_of_the_workspace_is_the_project_from_its_own_folder():
    here = Place("/work/app", "/home/me")
    for path in (".", "./", "*", "./*", "/work/app", "../app"):
        assert "project" in of(path, here), path
    assert "project" not in of("src/*", here)


def test_a_workspace_in_a_folder_of_the_system_is_a_workspace():
    for top in ("/var/www/site", "/opt/app", "/tmp/clone", "/root/app", "/mnt/c/Users/me/app"):
        assert of(f"{top}/x", Place(top, "/root")) == {"workspace"}, top


def test_who_works_in_the_root_or_in_a_folder_of_the_system_does_not_own_it():
    assert {"system", "workspace"} <= of("/etc/hosts", Place("/", "/root"))
    assert {"root", "project"} <= of("/", Place("/", "/root"))
    assert {"system", "workspace"} <= of("/etc/hosts", Place("/etc", "/root"))
    assert {"home", "project"} <= of("/home", Place("/home", "/root"))


def test_the_spelling_of_a_workspace_is_exact():
    assert "workspace" not in of("/home/me/PROJ/x")
    assert "system" in of("/ETC/hosts")
    assert "workspace" in of("c:\\work\\X", Place("C:/Work", "C:/Users/me"))


def test_another_machine_has_no_workspace():
    assert of("/home/me/proj/x", host="remote") == {"user", "outside"}
    assert of("/", host="container") == {"root", "outside"}
    assert of("/etc/shadow", host="remote") == {"system", "outside", "secret", "accounts"}


def test_a_place_that_is_not_known_has_no_workspace():
    assert of("/a/b", Place("", "")) == {"outside"}
    assert of("a/b", Place("", "")) == {"unknown"}


# -- by name -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", TABLES["secrets"].split())
def test_a_key_or_credential_is_known_by_its_name(path):
    assert "secret" in of(path)


@pytest.mark.parametrize("path", TABLES["no_secrets"].split())
def test_what_only_looks_like_a_key_is_none(path):
    assert "secret" not in of(path)


@pytest.mark.parametrize(
    "path",
    """
    ~/.bashrc ~/.zshrc ~/.profile ~/.config/fish/config.fish ~/.config/autostart/x.desktop
    ~/.config/systemd/user/x.service ~/Library/LaunchAgents/x.plist ~/.ssh/authorized_keys ~/.ssh/rc ~/.ssh/config
    .git/hooks/pre-commit repo.git/hooks/post-receive /etc/profile /etc/profile.d/x.sh /etc/cron.d/x /etc/crontab
    /etc/cron.daily/* /var/spool/cron/crontabs/root /etc/systemd/system/x.service /etc/rc.local /etc/ld.so.preload
    /Library/LaunchDaemons/x.plist /home/you/.bashrc /root/.bashrc /home/*/.bashrc ~/.bash* ~/.zsh??
    """.split(),
)
def test_what_runs_later_by_itself_is_known_by_its_name(path):
    assert "startup" in of(path)
    assert "startup" in of(path.replace("~", UNKNOWN))


@pytest.mark.parametrize(
    "path", [".bashrc", "dotfiles/.zshrc", "profile", "cron.d/x", ".github/workflows/x.yml", "~/x/.bashrc"]
)
def test_a_file_of_that_name_elsewhere_runs_nothing(path):
    assert "startup" not in of(path)


@pytest.mark.parametrize(("path", "kind"), TABLES["other_kinds_are_known_by_name"])
def test_other_kinds_are_known_by_name(path, kind):
    assert kind in of(path)


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/x", "git/x", ".claude/commands/x.md", "CLAUDE.md", "hookconf.pyc", "etc/passwd"]
)
def test_near_misses_are_only_files(path):
    assert of(path) == {"workspace"}


def test_the_settings_of_a_project_are_told_from_keys():
    assert is_settings_secret("/w/.env.local")
    assert is_settings_secret("/w/.NPMRC")
    assert is_settings_secret("/w/secrets.yaml")
    assert not is_settings_secret("/w/.env.example")
    assert not is_settings_secret("/w/id_rsa")
    assert not is_settings_secret("/w/credentials.json")


# -- bounds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "/a" * 1_000_000,
        "*/" * 1_000_000,
        "[" * 1_000_000,
        "/" + UNKNOWN * 1_000_000,
        "../" * 1_000_000,
        "/*?" * 1_000_000,
    ],
)
def test_an_endless_path_takes_no_time_to_speak_of(text):
    assert isinstance(of(text), frozenset)


@given(st.text())
def test_no_text_is_too_odd(text):
    assert isinstance(of(text), frozenset)
    assert isinstance(kinds(text, PLACE, "remote"), frozenset)


def test_a_home_in_a_temporary_folder_is_a_home():
    place = Place("/tmp/x/home/app", "/tmp/x/home", "/tmp/x/home/app")
    assert "home" in kinds("/tmp/x/home", place)
    assert "user" in kinds("/tmp/x/home/notes", place)
    assert "temp" not in kinds("/tmp/x/home/.ssh/id_rsa", place)
    assert kinds("/tmp/x/other", place) == {"temp"}
    assert kinds("/tmp/x/home/app/a.py", place) == {"workspace"}


def test_what_cannot_be_seen_of_a_path_is_not_known():
    assert kinds("\xad", Place("/home/dev/app", "/home/dev")) == {"unknown"}


@pytest.mark.parametrize("workspace", ["/srv", "/opt", "/mnt", "/media"])
def test_a_workspace_at_the_top_is_the_projects(workspace):
    place = Place(workspace, "/home/dev", workspace)
    assert kinds(f"{workspace}/app/main.py", place) == {"workspace"}
    assert kinds(workspace, place) == {"project"}
    assert "project" in kinds(f"{workspace}/*", place)
    assert "project" in kinds("/", place)
