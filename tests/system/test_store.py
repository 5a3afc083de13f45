"""The shared counters: real files, real processes."""

from __future__ import annotations

import gc
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.errors import SettingsError, StoreError
from agent_hooks.system.store import MemoryStore, Store

pytestmark = pytest.mark.interpreter

PROCESSES = 12


@pytest.fixture(params=["file", "memory"])
def store(request, tmp_path):
    """Each of the two stores: what they promise is the same."""
    return Store(tmp_path / "state" / "store.sqlite3") if request.param == "file" else MemoryStore()


def start(code: str, *args: object) -> subprocess.Popen[str]:
    """Start a Python process that runs ``code``."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def outputs(processes: list[subprocess.Popen[str]]) -> list[str]:
    """What the processes printed once all may go on; each must have ended well."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    printed = []
    for process in processes:
        with process:
            assert process.stdout is not None
            printed.append(process.stdout.read())
    assert [process.returncode for process in processes] == [0] * len(processes)
    return printed


# -- what both stores promise ------------------------------------------------------------------------------------------


def test_a_counter_starts_at_zero_and_adds_up(store):
    """Never touched is 0; each increment returns the new value."""
    assert store.read("session", "calls") == 0
    assert [store.increment("session", "calls"), store.increment("session", "calls", 3)] == [1, 4]
    assert store.read("session", "calls") == 4


def test_scopes_and_keys_do_not_mix(store):
    """A counter is its scope and its key."""
    store.increment("a", "x")
    store.increment("b", "x", 5)
    store.increment("a", "y", 7)
    assert [store.read("a", "x"), store.read("b", "x"), store.read("a", "y")] == [1, 5, 7]


def test_reset_forgets_one_scope(store):
    """Other scopes keep their counters."""
    store.increment("a", "x")
    store.increment("a", "y")
    store.increment("b", "x")
    store.reset("a")
    assert [store.read("a", "x"), store.read("a", "y"), store.read("b", "x")] == [0, 0, 1]


def test_a_limit_is_all_or_nothing(store):
    """What would go above the limit is not counted, and the value it would have had is returned."""
    assert [store.increment("s", "k", limit=2) for _ in range(4)] == [1, 2, 3, 3]
    assert store.read("s", "k") == 2
    assert store.increment("s", "k", 5, limit=6) == 7
    assert store.increment("s", "k", 4, limit=6) == 6


def test_a_limit_of_zero_admits_nothing(store):
    """The first one is refused already."""
    assert store.increment("s", "k", limit=0) == 1
    assert store.read("s", "k") == 0


@pytest.mark.parametrize("step", [0, -1, 1.5, True])
def test_a_counter_only_grows_by_whole_steps(store, step):
    """Anything else is a mistake, said so."""
    with pytest.raises(ValueError, match="whole number from 1"):
        store.increment("s", "k", step)


def test_threads_are_counted_exactly(store):
    """Eight threads ask for more than the limit; exactly the limit is admitted."""
    admitted: list[int] = []

    def work() -> None:
        admitted.extend(n for n in (store.increment("s", "k", limit=50) for _ in range(10)) if n <= 50)

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(admitted) == list(range(1, 51))


@given(steps=st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 5), st.none() | st.integers(0, 12)), max_size=30))
def test_the_memory_store_counts_like_a_dictionary(steps):
    """Whatever the order of steps and limits."""
    store, expected = MemoryStore(), {"a": 0, "b": 0}
    for key, by, limit in steps:
        value = expected[key] + by
        assert store.increment("s", key, by, limit=limit) == value
        if limit is None or value <= limit:
            expected[key] = value
        assert store.read("s", key) == expected[key]


def test_counters_nobody_touched_are_removed_when_a_new_one_appears(tmp_path):
    """With nothing kept, a new session's first count removes the old sessions'."""
    for store in (Store(tmp_path / "s.sqlite3", keep_seconds=0), MemoryStore(keep_seconds=0)):
        store.increment("old", "k")
        store.increment("new", "k")
        assert [store.read("old", "k"), store.read("new", "k")] == [0, 1]


def test_counters_are_kept_for_thirty_days(tmp_path):
    """29 days untouched is kept, 31 days is not."""
    store = Store(tmp_path / "s.sqlite3")
    store.increment("29 days", "k")
    store.increment("31 days", "k")
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE counters SET touched = touched - 86400 * 29 WHERE scope = '29 days'")
        connection.execute("UPDATE counters SET touched = touched - 86400 * 31 WHERE scope = '31 days'")
    store.increment("new", "k")
    assert [store.read("29 days", "k"), store.read("31 days", "k")] == [1, 0]


# -- many processes ----------------------------------------------------------------------------------------------------

COUNT = """
import sys
from agent_hooks.system.store import Store
store = Store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    print(store.increment("session", "calls"), store.increment("session", "limited", limit=int(sys.argv[3])))
"""


def test_many_processes_count_exactly_and_admit_exactly_the_limit(tmp_path):
    """Twelve processes start together on a file that does not exist yet: no count is lost, none is given twice."""
    path, each, limit = tmp_path / "state" / "store.sqlite3", 40, 100
    processes = [start(COUNT, path, each, limit) for _ in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    rows = [[int(n) for n in line.split()] for text in outputs(processes) for line in text.splitlines()]
    assert sorted(count for count, _ in rows) == list(range(1, PROCESSES * each + 1))
    assert sorted(taken for _, taken in rows if taken <= limit) == list(range(1, limit + 1))
    assert Store(path).read("session", "limited") == limit


FIRST = """
import sys
from agent_hooks.system.store import Store
print("ready", flush=True)
for path in sys.stdin:
    print(Store(path.strip()).increment("session", "calls"), flush=True)
"""


def test_many_processes_may_be_the_first_at_once(tmp_path):
    """Making the file ready is where SQLite itself does not wait: sixty new files, twelve processes at each."""
    processes = [start(FIRST) for _ in range(PROCESSES)]
    for line in ["", *(f"{tmp_path}/{number}.sqlite3\n" for number in range(60))]:
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(line)
            process.stdin.flush()
        answers = [process.stdout.readline() for process in processes if process.stdout is not None]
        assert line == "" or sorted(map(int, answers)) == list(range(1, PROCESSES + 1))
    outputs(processes)


FOREVER = """
import sys
from agent_hooks.system.store import Store
store = Store(sys.argv[1])
while True:
    print(store.increment("session", "calls"), flush=True)
"""


def test_a_killed_process_loses_nothing_it_had_counted(tmp_path):
    """Processes killed in the middle of their work leave a sound file with at least every count that they reported."""
    path = tmp_path / "store.sqlite3"
    reported = 0
    for _ in range(3):
        process = start(FOREVER, path)
        assert process.stdout is not None
        seen = [int(process.stdout.readline()) for _ in range(30)]
        process.kill()
        # Not with communicate(), which knows nothing of what readline() has read ahead.
        seen += [int(line) for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        process.communicate()
        assert seen == list(range(seen[0], seen[0] + len(seen)))
        assert seen[0] > reported
        reported = seen[-1]
    # At most the one count that was made but not yet reported when the last process was killed.
    assert Store(path).read("session", "calls") in (reported, reported + 1)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_forked_child_may_use_its_parents_store(tmp_path):
    """No connection is carried over a fork."""
    store = Store(tmp_path / "store.sqlite3")
    store.increment("s", "k")
    child = os.fork()
    if child == 0:
        os._exit(0 if store.increment("s", "k") == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.increment("s", "k") == 3


def test_a_forked_child_leaves_its_parents_connection_alone(tmp_path):
    """Also where another thread was just counting, and when the child ends in an orderly way."""
    path = tmp_path / "store.sqlite3"
    code = """
import os, sys
from agent_hooks.system.store import Store
store = Store(sys.argv[1])
store.increment("s", "k")
with store._transaction():
    child = os.fork()
    if child == 0:
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
assert store.increment("s", "k") == 2
"""
    (process,) = [start(code, path)]
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert Store(path).read("s", "k") == 2


def test_a_child_that_is_forked_while_its_parent_opens_the_file_waits_for_nobody(tmp_path):
    """The lock that another thread held is held for ever in the child."""
    store = Store(tmp_path / "store.sqlite3", busy_seconds=0.5)
    with store._turn:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = int(store.increment("s", "k") != 1)
            finally:
                os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.increment("s", "k") == 2


def test_a_file_that_was_moved_away_is_counted_anew(tmp_path):
    store = Store(tmp_path / "store.sqlite3")
    assert store.increment("s", "k", 5) == 5
    os.rename(store.path, tmp_path / "old.sqlite3")
    assert store.increment("s", "k") == 1
    assert Store(store.path).read("s", "k") == 1


def test_a_store_follows_the_state_folder(tmp_path, monkeypatch):
    store = Store()
    for folder, value in (("a", 1), ("b", 1), ("a", 2)):
        monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / folder))
        assert store.increment("s", "k") == value


def test_a_connection_is_opened_once_and_closed_with_its_store(tmp_path, monkeypatch):
    opened = []
    connect = sqlite3.connect

    def counting(*args, **options):
        opened.append(connect(*args, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", counting)
    store = Store(tmp_path / "store.sqlite3")
    for _ in range(5):
        store.increment("s", "k")
    assert len(opened) == 1
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_many_old_counters_are_removed_a_slice_at_a_time(tmp_path):
    store = Store(tmp_path / "store.sqlite3")
    with store._transaction() as connection:
        connection.executemany("INSERT INTO counters VALUES ('s', ?, 1, 0)", [(str(n),) for n in range(250)])
    for number, left in enumerate((151, 52, 3)):
        store.increment("new", str(number))
        with closing(sqlite3.connect(store.path)) as connection:
            assert connection.execute("SELECT count(*) FROM counters").fetchone() == (left,)


# -- the file ----------------------------------------------------------------------------------------------------------


def test_the_file_and_its_folder_are_for_their_owner_only(tmp_path):
    """0700 and 0600, whatever the umask, SQLite's companion files included."""
    folder = tmp_path / "state"
    store = Store(folder / "store.sqlite3")
    before = os.umask(0)
    try:
        store.increment("s", "k")
        with store._transaction():
            modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()}
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "store.sqlite3" in modes
    assert set(modes.values()) == {0o600}


def test_the_file_is_in_wal_mode(tmp_path):
    """So readers never wait for writers, and a killed writer leaves nothing to repair by hand."""
    store = Store(tmp_path / "store.sqlite3")
    store.increment("s", "k")
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@contextmanager
def unprivileged():
    """Act as an ordinary user where the tests run as root, whom permissions do not stop."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def open_to_all(folder: Path) -> None:
    """Let every user reach ``folder``, which pytest makes for its own user only."""
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == os.geteuid() and parent != Path(parent.anchor):
            parent.chmod(parent.stat().st_mode | 0o055)


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    """The error names the file and what to do."""
    folder = tmp_path / "state"
    folder.mkdir()
    open_to_all(folder)
    folder.chmod(0o555)
    with unprivileged(), pytest.raises(StoreError) as caught:
        Store(folder / "store.sqlite3").increment("s", "k")
    assert str(folder / "store.sqlite3") in str(caught.value)
    assert "AGENT_HOOKS_STATE_DIR" in str(caught.value)


def test_a_file_that_cannot_be_written_is_a_clear_error(tmp_path):
    """A store of somebody else's is not counted in."""
    store = Store(tmp_path / "store.sqlite3")
    store.increment("s", "k")
    open_to_all(tmp_path)
    Path(store.path).chmod(0o444)
    tmp_path.chmod(0o555)
    store = Store(store.path)
    with unprivileged(), pytest.raises(StoreError, match=r"readonly database|unable to open") as caught:
        store.increment("s", "k")
    assert "must be writable" in str(caught.value)


def test_a_damaged_file_is_a_clear_error_and_is_left_as_it_is(tmp_path):
    """It names the file and the remedy; nothing is counted and nothing is overwritten."""
    path = tmp_path / "store.sqlite3"
    path.write_bytes(b"this is not a database " * 200)
    for use in (lambda s: s.increment("s", "k"), lambda s: s.read("s", "k"), lambda s: s.reset("s")):
        with pytest.raises(StoreError) as caught:
            use(Store(path))
        assert str(path) in str(caught.value)
        assert "Move the file away" in str(caught.value)
    assert path.read_bytes() == b"this is not a database " * 200


def test_a_file_damaged_inside_is_a_clear_error(tmp_path):
    """The header is sound, the pages are not."""
    store = Store(tmp_path / "store.sqlite3")
    store.increment("s", "k")
    with closing(sqlite3.connect(store.path)) as connection:  # out of the log, into the file
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(store.path, "r+b") as file:
        file.seek(100)
        file.write(b"\xff" * (os.path.getsize(store.path) - 100))
    store = Store(store.path)  # what is open has read the pages before
    with pytest.raises(StoreError, match="Move the file away"):
        store.increment("s", "k")


def test_a_newer_files_format_is_refused(tmp_path):
    """An older program does not guess."""
    store = Store(tmp_path / "store.sqlite3")
    store.increment("s", "k")
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer agent-hooks"):
        store.increment("s", "k")


def test_a_locked_file_is_waited_for_only_so_long(tmp_path):
    """Another process keeps the lock; the wait is bounded and the error says why."""
    store = Store(tmp_path / "store.sqlite3", busy_seconds=0.05)
    store.increment("s", "k")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"locked.* for 0\.05 s"):
            store.increment("s", "k")
    assert store.increment("s", "k") == 2


def test_a_full_disk_is_a_clear_error(tmp_path):
    """Nothing is counted when the file cannot grow."""
    store = Store(tmp_path / "store.sqlite3")
    store.increment("s", "k")
    code = """
import resource, signal, sys
from agent_hooks.errors import StoreError
from agent_hooks.system.store import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
try:
    Store(sys.argv[1]).increment("s", "k")
except StoreError as error:
    print(error)
"""
    (message,) = outputs([start(code, store.path)])
    assert store.path in message
    assert "not full" in message
    assert store.read("s", "k") == 1


def test_a_name_that_is_not_text_is_a_clear_error(tmp_path):
    """A host's half of a surrogate pair cannot be stored, so it is not counted under another name."""
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path / "store.sqlite3").increment("session \ud800", "k")


def test_making_a_store_touches_nothing(tmp_path):
    """The file appears when it is first needed, and SQLite is not imported before."""
    code = "import sys; from agent_hooks.system.store import Store; Store(sys.argv[1]); print('sqlite3' in sys.modules)"
    assert outputs([start(code, tmp_path / "state" / "store.sqlite3")]) == ["False\n"]
    assert not (tmp_path / "state").exists()


def test_a_store_without_a_folder_fails_where_it_is_used(tmp_path, monkeypatch):
    """Whoever never counts has no need of a home folder."""
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", "relative")
    store = Store()
    for use in (lambda: store.increment("s", "k"), lambda: store.read("s", "k"), lambda: store.reset("s")):
        with pytest.raises(SettingsError, match="AGENT_HOOKS_STATE_DIR"):
            use()
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "later"))
    assert store.increment("s", "k") == 1


# -- whether it can be written -----------------------------------------------------------------------------------------


def test_a_file_that_is_there_or_can_be_made_is_writable_and_looking_makes_nothing(tmp_path):
    store = Store(tmp_path / "a" / "b" / "store.sqlite3")
    assert store.problem == ""
    assert list(tmp_path.iterdir()) == []
    store.increment("scope", "key")
    assert store.problem == ""


@pytest.mark.parametrize("place", ["/dev/null/store.sqlite3", "/dev/null/a/b/store.sqlite3", "/dev"])
def test_what_cannot_be_a_file_is_not_writable(place):
    assert Store(place).problem == f"The store {place} cannot be written."


@pytest.mark.parametrize("kind", ["file", "folder", "parent"])
def test_what_permissions_forbid_is_not_writable(tmp_path, monkeypatch, kind):
    store = Store(tmp_path / "made" / "store.sqlite3")
    if kind != "parent":
        store.increment("scope", "key")
    forbidden = {"file": store.path, "folder": str(tmp_path / "made"), "parent": str(tmp_path)}[kind]
    # Root may write anywhere, so the system's answer stands in for that of an account that may not.
    monkeypatch.setattr("os.access", lambda path, mode: str(path) != forbidden)
    assert store.problem == f"The store {store.path} cannot be written."


def test_where_there_is_no_state_folder_that_is_the_problem(monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", "relative")
    assert "AGENT_HOOKS_STATE_DIR" in Store().problem
