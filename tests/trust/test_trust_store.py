"""Trust: what was looked at may run, and nothing else, whoever writes to the store at the same time."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import agent_hooks
from agent_hooks.errors import TrustError
from agent_hooks.trust import trust_store as trust
from agent_hooks.trust.discovery import discover
from agent_hooks.trust.trust_store import KEPT, TrustStore, trusted_project, trusted_skill
from projects import alter
from tables import tables

TABLES = tables(__file__)
SOURCE = str(Path(agent_hooks.__file__).parent.parent)
HOOKCONF = "from agent_hooks import hookimpl\n\n@hookimpl\ndef before_tool_use(ctx):\n    return None\n"
SKILL = """---
name: deploy
hooks:
  PreToolUse:
    - hooks:
        - type: command
          command: ["sh", "check.sh"]
---
"""


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(home / "config"))


@pytest.fixture
def root(tmp_path):
    """The root of a project with two files of hooks, a real path."""
    made = tmp_path.resolve() / "repo"
    (made / ".git").mkdir(parents=True)
    (made / "a").mkdir()
    (made / "hookconf.py").write_text(HOOKCONF)
    (made / "a" / "hookconf.py").write_text(HOOKCONF)
    for path in made.rglob("*.py"):
        path.chmod(0o644)
    return made


@pytest.fixture
def store():
    """The store in its usual place."""
    return TrustStore()


def record(store: TrustStore) -> Path:
    """The file of the only project in the store."""
    (path,) = Path(store.folder).iterdir()
    return path


# -- standing ----------------------------------------------------------------------------------------------------------


def test_a_project_without_hooks_is_empty(tmp_path, store):
    project = discover(tmp_path)
    assert store.standing(project).status == "empty"
    with pytest.raises(TrustError, match="There is nothing to trust"):
        store.trust(project)


def test_a_project_is_untrusted_until_somebody_trusts_it(root, store):
    project = discover(root)
    assert store.standing(project).status == "untrusted"
    assert not os.path.exists(store.folder)
    assert store.trust(project) == project.digest
    assert store.standing(project).status == "trusted"
    assert TrustStore().standing(discover(root)).status == "trusted"


def test_only_the_digest_that_was_asked_for_is_trusted(root, store):
    project = discover(root)
    with pytest.raises(TrustError, match=f"has the digest {project.digest}, not sha256:0000"):
        store.trust(project, "sha256:0000")
    assert store.standing(project).status == "untrusted"
    store.trust(project, project.digest)
    assert store.standing(project).status == "trusted"


def test_what_was_looked_at_is_trusted_and_not_what_is_there_by_then(root, store):
    project = discover(root)
    (root / "hookconf.py").write_text("import os\n")
    store.trust(project)
    assert store.standing(discover(root)).changes == ("hookconf.py has changed.",)


def change(root: Path, table: dict[str, Any]) -> None:
    """Change the project as a row of a table says; HOOKCONF in it stands for the file as it was."""

    def write(files: dict[str, str]) -> None:
        for name, content in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(content.replace("HOOKCONF", HOOKCONF), newline="")

    alter(root, table, write)


@pytest.mark.parametrize("case", TABLES["changes"].values(), ids=TABLES["changes"])
def test_any_change_ends_the_trust_and_is_told(root, store, case):
    store.trust(discover(root))
    change(root, case)
    standing = store.standing(discover(root))
    assert (standing.status, [*standing.changes]) == ("changed", case["says"])


def test_a_project_in_another_place_is_another_one(root, store, tmp_path):
    store.trust(discover(root))
    root.rename(tmp_path / "moved")
    assert store.standing(discover(tmp_path / "moved")).status == "untrusted"


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta", ".git"])
def test_making_a_repository_or_an_environment_of_a_folder_takes_no_hooks_out_of_the_project(root, store, mark):
    store.trust(discover(root))
    (root / "a" / mark).mkdir()
    assert store.standing(store.discover(root)).status == "trusted"
    assert store.standing(store.discover(root, near=["a/x.py"])).status == "trusted"
    assert store.diff(store.discover(root)) == ""
    (root / "a" / "hookconf.py").write_text("")
    assert store.standing(store.discover(root)).changes == ("a/hookconf.py has changed.",)


def test_a_folder_that_was_another_project_before_stays_one(root, store):
    (root / "a" / ".git").mkdir()
    store.trust(store.discover(root))
    assert store.known(root) == ("hookconf.py",)
    assert [file.path for file in store.discover(root, near=["a/x.py"]).files] == ["hookconf.py"]


# -- several manifests -------------------------------------------------------------------------------------------------


def branch(root: Path, name: int | str) -> str:
    """Let the project be as it is on a branch; return its digest."""
    (root / "hookconf.py").write_text(f"{HOOKCONF}# {name}\n")
    return discover(root).digest


PATHS = ("hookconf.py", "a/hookconf.py")
STATES = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(any)


class Branches(RuleBasedStateMachine):
    """A project of two files, each as one of three branches has it, or not there: its last five trusted states count.

    Beside it is another project, of which it knows nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.root, self.other = (Path(self.folder.name).resolve() / name for name in ("repo", "other"))
        self.other.mkdir()
        (self.root / "a").mkdir(parents=True)
        (self.other / "hookconf.py").write_text(HOOKCONF)
        self.store = TrustStore(self.root.parent / "trust")
        self.store.trust(discover(self.other))
        self.trusted: list[tuple[int, int]] = []
        self.check_out((1, 1))

    @rule(state=STATES)
    def check_out(self, state: tuple[int, int]) -> None:
        self.state = state
        for path, number in zip(PATHS, state, strict=True):
            if number:
                (self.root / path).write_text(f"{HOOKCONF}# {number}\n")
            else:
                (self.root / path).unlink(missing_ok=True)

    @rule(states=st.lists(STATES, min_size=1, max_size=8))
    def trust(self, states: list[tuple[int, int]]) -> None:
        for state in states:
            self.check_out(state)
            self.store.trust(discover(self.root))
            self.trusted = [*(each for each in self.trusted if each != state), state][-5:]

    @rule()
    def untrust(self) -> None:
        assert self.store.untrust(self.root) is bool(self.trusted)
        self.trusted = []

    def status_of(self, state: tuple[int, int]) -> str:
        return "trusted" if state in self.trusted else "changed" if self.trusted else "untrusted"

    @invariant()
    def stands_as_it_was_trusted(self) -> None:
        assert self.store.standing(self.store.discover(self.root)).status == self.status_of(self.state)
        assert self.store.standing(discover(self.other)).status == "trusted"

    @invariant()
    def an_event_sees_what_was_trusted_wherever_it_happens(self) -> None:
        known = {path for state in self.trusted for path, number in zip(PATHS, state, strict=True) if number}
        _, standing = self.store.examine(self.root, near=[])
        assert set(self.store.known(self.root)) == set(standing.known) == known
        seen = (self.state[0], self.state[1] if PATHS[1] in known else 0)
        assert standing.status == (self.status_of(seen) if any(seen) or self.trusted else "empty")

    def teardown(self) -> None:
        self.folder.cleanup()


def test_the_last_five_manifests_that_were_trusted_count_until_all_are_forgotten():
    assert KEPT == 5
    run_state_machine_as_test(Branches, settings=settings(max_examples=15, stateful_step_count=12))


def test_a_change_is_told_from_the_nearest_manifest_and_from_the_newest_of_these(root, store):
    (root / "a" / "hookconf.py").write_text("one\n")
    branch(root, 1)
    store.trust(discover(root))
    (root / "a" / "hookconf.py").write_text("two\n")
    branch(root, 2)
    store.trust(discover(root))
    branch(root, 3)
    assert store.standing(discover(root)).changes == ("hookconf.py has changed.",)
    assert "-# 2\n+# 3\n" in store.diff(discover(root))
    (root / "a" / "hookconf.py").write_text("one\n")
    assert store.standing(discover(root)).changes == ("hookconf.py has changed.",)
    assert "-# 1\n+# 3\n" in store.diff(discover(root))
    (root / "a" / "hookconf.py").write_text("three\n")  # as far from both
    assert "-# 2\n+# 3\n" in store.diff(discover(root))


def test_the_scripts_of_a_hook_are_those_of_the_manifest_that_is_there(root, store):
    (root / "SKILL.md").write_text(SKILL)
    digests = {}
    for name in ("one", "two"):
        (root / "check.sh").write_text(f"echo {name}\n")
        store.trust(discover(root))
        digests[name] = sha256(f"echo {name}\n".encode()).hexdigest()
    for name in ("one", "two", "one"):
        (root / "check.sh").write_text(f"echo {name}\n")
        (entry,) = trusted_skill(root / "SKILL.md").entries
        assert entry.scripts == {str(root / "check.sh"): digests[name]}
    (root / "check.sh").write_text("echo three\n")
    with pytest.raises(TrustError, match=r"check\.sh has changed"):
        trusted_skill(root / "SKILL.md")


def test_what_was_trusted_before_does_not_outlive_a_store_that_others_could_write(root, store):
    branch(root, 1)
    store.trust(discover(root))
    Path(store.folder).chmod(0o777)
    branch(root, 2)
    store.trust(discover(root))
    assert store.standing(discover(root)).status == "trusted"
    branch(root, 1)
    assert store.standing(discover(root)).status == "changed"


def test_a_record_keeps_the_bytes_that_several_manifests_share_once(root, store):
    (root / "a" / "hookconf.py").write_text("# shared\n" * 10_000)
    sizes = []
    for name in (1, 2, 3):
        branch(root, name)
        store.trust(discover(root))
        sizes.append(record(store).stat().st_size)
    assert sizes[2] < sizes[0] * 1.1


@pytest.mark.parametrize("version", [1, 3])
def test_a_record_of_another_version_does_not_count_and_says_what_to_do(root, store, version):
    store.trust(discover(root))
    facts, newline, parts = record(store).read_bytes().partition(b"\n")
    record(store).write_bytes(json.dumps({**json.loads(facts), "version": version}).encode() + newline + parts)
    (finding,) = store.standing(discover(root)).findings
    assert finding.message == "Another version of agent-hooks has written this record of what was trusted."
    assert finding.remedy == f"Type `agent-hooks trust {root}` again."
    assert store.known(root) == ()


# -- the store can be relied on ----------------------------------------------------------------------------------------


def test_the_store_is_its_owners_alone(root, store):
    before = os.umask(0)
    try:
        store.trust(discover(root))
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(store.folder).st_mode) == 0o700
    assert stat.S_IMODE(record(store).stat().st_mode) == 0o600


def test_a_store_that_was_open_to_others_is_closed_when_it_is_written(root, store):
    os.makedirs(store.folder)
    os.chmod(store.folder, 0o777)
    store.trust(discover(root))
    assert stat.S_IMODE(os.stat(store.folder).st_mode) == 0o700
    assert store.standing(discover(root)).status == "trusted"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
@pytest.mark.parametrize("what", ["record", "folder"])
def test_a_store_that_others_can_write_does_not_count(root, store, mode, what):
    store.trust(discover(root))
    path = record(store) if what == "record" else Path(store.folder)
    path.chmod(mode | 0o100)
    standing = store.standing(discover(root))
    assert standing.status == "untrusted"
    assert f"Others can write it (mode {mode | 0o100:04o})" in standing.findings[0].message
    assert standing.findings[0].path == str(path)
    assert store.known(root) == ()
    assert store.diff(discover(root)).count("+++ ") == 2


def test_a_folder_above_that_everybody_can_write_makes_the_store_count_for_nothing(root, store):
    store.trust(discover(root))
    above = Path(store.folder).parent
    above.chmod(0o777)
    assert store.standing(discover(root)).status == "untrusted"
    with pytest.raises(TrustError, match=r"it would not count: .*config: Others can write it"):
        store.trust(discover(root))
    above.chmod(0o1777)  # as /tmp is: nobody can replace what is another's
    assert store.standing(discover(root)).status == "trusted"


def give_away(path: Path, user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file or folder look as if it were another user's, which only root could make it."""
    theirs = (path.stat().st_dev, path.stat().st_ino)

    def seen(look):
        def stat_of(*args, **kwargs):
            facts = look(*args, **kwargs)
            is_theirs = (facts.st_dev, facts.st_ino) == theirs
            return os.stat_result((*facts[:4], user, *facts[5:])) if is_theirs else facts

        return stat_of

    monkeypatch.setattr(os, "stat", seen(os.stat))
    monkeypatch.setattr(os, "fstat", seen(os.fstat))


@pytest.mark.parametrize("what", ["record", "folder", "above"])
def test_a_store_of_somebody_else_does_not_count(root, store, what, monkeypatch):
    store.trust(discover(root))
    path = {"record": record(store), "folder": Path(store.folder), "above": Path(store.folder).parent}[what]
    give_away(path, 12345, monkeypatch)
    standing = store.standing(discover(root))
    assert (standing.status, standing.findings[0].path) == ("untrusted", str(path))
    assert "It belongs to somebody else (user 12345)." in standing.findings[0].message


def test_a_store_counts_in_a_sandbox_that_does_not_know_root(root, store, monkeypatch):
    store.trust(discover(root))
    give_away(Path("/"), 65534, monkeypatch)
    assert store.standing(discover(root)).status == "trusted"


def test_a_record_that_is_a_link_does_not_count(root, store, tmp_path):
    store.trust(discover(root))
    record(store).rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o600)
    Path(store._path(str(root))).symlink_to(tmp_path / "elsewhere")
    assert store.standing(discover(root)).status == "untrusted"


DAMAGES = {**TABLES["damages"], "deep": "[" * 100_000}


@pytest.mark.parametrize("text", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_record_does_not_count_and_can_be_written_again(root, store, text):
    store.trust(discover(root))
    record(store).write_text(text.replace("ROOT", str(root)), "latin-1")
    standing = store.standing(discover(root))
    assert standing.status == "untrusted"
    assert "This record of what was trusted is damaged" in standing.findings[0].message
    assert f"`agent-hooks trust {root}`" in standing.findings[0].remedy
    store.trust(discover(root))
    assert store.standing(discover(root)).status == "trusted"


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_a_record_that_ends_early_never_trusts_more(root, store, share):
    store.trust(discover(root))
    path = record(store)
    facts = path.read_bytes().index(b"\n")
    path.write_bytes(path.read_bytes()[: int(facts * share)])
    assert store.standing(discover(root)).status == "untrusted"


def test_a_record_of_another_project_does_not_count(root, store, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "hookconf.py").write_text(HOOKCONF)
    store.trust(discover(root))
    record(store).rename(store._path(str(other)))
    assert store.standing(discover(other)).status == "untrusted"


def test_a_store_that_cannot_be_written_says_so(root, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrustError, match=r"Not trusted: .*/file/trust cannot be written .*AGENT_HOOKS_CONFIG_DIR"):
        TrustStore(tmp_path / "file" / "trust").trust(discover(root))


def test_a_write_that_fails_leaves_what_was_there(root, store, monkeypatch):
    store.trust(discover(root))
    before = record(store).read_bytes()

    def fail(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trust.os, "fsync", fail)  # type: ignore[attr-defined]
    (root / "hookconf.py").write_text("")
    with pytest.raises(TrustError, match="No space left"):
        store.trust(discover(root))
    assert record(store).read_bytes() == before


# -- many at once ------------------------------------------------------------------------------------------------------


WRITER = """
import sys
from agent_hooks.trust.discovery import discover
from agent_hooks.trust import TrustStore
store, root, turns = TrustStore(), sys.argv[1], int(sys.argv[2])
project = discover(root)
other = project.replace(files=project.files[:1])
print("ready", flush=True)
sys.stdin.read()
for turn in range(turns):
    store.trust(other if turn % 2 else project)
    found = store._trusted(root, parts=True)
    assert {manifest.digest for manifest in found} <= {project.digest, other.digest}
    assert found and all(file.part for manifest in found for file in manifest.files)
"""


def start(program: str, *args: object) -> subprocess.Popen[str]:
    """Start a process that runs ``program`` and waits for its stdin to end."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(*processes: subprocess.Popen[str], code: int = 0) -> None:
    """Let them run, at the same time, and wait until they have."""
    for process in processes:
        if process.stdin is not None:
            process.stdin.close()
    assert [process.wait(30) for process in processes] == [code] * len(processes)
    for process in processes:
        if process.stdout is not None:
            process.stdout.close()


def test_writers_at_the_same_time_leave_one_whole_record(root, store):
    processes = [start(WRITER, root, 30) for _ in range(4)]
    end(*processes)
    record(store)
    project = discover(root)
    both = {project.digest, project.replace(files=project.files[:1]).digest}
    assert {manifest.digest for manifest in store._trusted(str(root))} == both


ONE_EACH = """
import sys
from agent_hooks.trust.manifest import ManifestFile, Project
from agent_hooks.trust import TrustStore
root, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.read()
TrustStore().trust(Project(root=root, files=(ManifestFile(path=name, kind="script", mode=0, sha256=name),)))
"""


def test_what_others_write_at_the_same_time_is_not_lost(root, store):
    processes = [start(ONE_EACH, root, f"file-{number}") for number in range(KEPT)]
    end(*processes)
    assert set(store.known(root)) == {f"file-{number}" for number in range(KEPT)}


def test_a_writer_that_waits_does_not_bring_back_what_is_forgotten_meanwhile(root, store):
    store.trust(discover(root))
    with store._alone():
        process = start(ONE_EACH, root, "later")
        process.stdin.close()  # type: ignore[union-attr]
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        record(store).unlink()
    end(process)
    assert store.known(root) == ("later",)


def test_writers_that_are_killed_leave_a_whole_record(root, store):
    project = discover(root)
    store.trust(project)
    digests = {project.digest, project.replace(files=project.files[:1]).digest}
    for number in range(20):
        process = start(WRITER, root, 100_000)
        process.stdin.close()  # type: ignore[union-attr]
        for _ in range(number):
            assert {manifest.digest for manifest in store._trusted(str(root))} <= digests
        process.send_signal(signal.SIGKILL)
        end(process, code=-signal.SIGKILL)
        found = store._trusted(str(root), parts=True)
        assert found
        assert {manifest.digest for manifest in found} <= digests
    store.trust(project)
    assert [name for name in os.listdir(store.folder) if not name.endswith(".jsonl")] == []


# -- the diff ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", TABLES["diffs"].values(), ids=TABLES["diffs"])
def test_the_diff_shows_what_is_not_as_it_was_trusted(root, store, case):
    change(root, {"files": case.get("before", {})})
    store.trust(discover(root))
    change(root, case)
    text = store.diff(discover(root))
    assert case["shows"] in text
    assert "\n".join(text.splitlines()) == case["shows"] or case.get("partly")
    assert all(each.isprintable() or each in "\n\t" for each in text)


def test_the_diff_shows_all_of_what_was_never_trusted_and_nothing_of_what_is_as_it_was(root, store):
    shown_whole = store.diff(discover(root))
    assert shown_whole.count("--- /dev/null") == 2
    assert shown_whole.count("+def before_tool_use(ctx):") == 2
    store.trust(discover(root))
    assert store.diff(discover(root)) == ""


def test_the_diff_says_which_content_it_cannot_show(root, store, monkeypatch):
    (root / "agent-hooks.toml").write_text(
        '[[hooks.before_tool_use]]\n[[hooks.before_tool_use.hooks]]\ntype = "command"\ncommand = ["./program"]\n'
    )
    (root / "program").write_bytes(b"\x7fELF" * 300_000)
    (root / "program").chmod(0o755)
    store.trust(discover(root))
    (root / "program").write_bytes(b"\x7fELF" * 300_001)
    project = discover(root)
    digest = next(file.sha256 for file in project.files if file.path == "program")
    assert f"+++ program (script, mode 0755, sha256 {digest})" in store.diff(project)


# -- single files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def skill(root):
    """A skill of the project, with a script."""
    path = root / "skills" / "deploy" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(SKILL)
    (path.parent / "check.sh").write_text("exit 0\n")
    return path


def test_a_file_is_trusted_with_its_project(root, store, skill):
    with pytest.raises(TrustError, match=rf"SKILL.md may not be used. Nobody .* type `agent-hooks trust {root}`"):
        trusted_skill(skill)
    store.trust(discover(root))
    assert trusted_skill(skill).path == str(skill)
    assert trusted_project(skill).digest == discover(root).digest


def test_a_file_stays_trusted_with_its_project_when_its_folder_becomes_a_repository(root, store, skill):
    store.trust(discover(root))
    (skill.parent / ".git").mkdir()
    assert trusted_skill(skill).path == str(skill)
    (skill.parent / "check.sh").write_text("exit 1\n")
    with pytest.raises(TrustError, match=rf"check.sh has changed\. .*`agent-hooks trust {root}`"):
        trusted_skill(skill)


def test_a_trusted_skill_comes_with_the_digests_of_its_scripts(root, store, skill):
    store.trust(discover(root))
    entry = trusted_skill(skill).entries[0]
    assert list(entry.scripts) == [str(skill.parent / "check.sh")]


def test_a_file_is_not_trusted_when_anything_of_its_project_has_changed(root, store, skill):
    store.trust(discover(root))
    (root / "hookconf.py").write_text("")
    with pytest.raises(TrustError, match=r"hookconf\.py has changed"):
        trusted_skill(skill)


def test_a_skill_that_comes_later_is_not_trusted_and_ends_the_trust(root, store, skill):
    store.trust(discover(root))
    later = root / "other" / "SKILL.md"
    later.parent.mkdir()
    later.write_text(SKILL)
    with pytest.raises(TrustError, match=r"other/SKILL\.md is new"):
        trusted_skill(later)


def test_a_file_that_is_no_part_of_what_was_trusted_is_refused(root, store):
    store.trust(discover(root))
    (root / "agents").mkdir()
    (root / "agents" / "checker.md").write_text(SKILL)
    with pytest.raises(TrustError, match=r"is not covered by `agent-hooks trust .*\.claude/agents"):
        trusted_skill(root / "agents" / "checker.md")


def test_a_store_that_does_not_count_is_named_when_a_file_is_refused(root, store, skill):
    store.trust(discover(root))
    record(store).chmod(0o666)
    with pytest.raises(TrustError, match="Others can write it"):
        trusted_skill(skill)
