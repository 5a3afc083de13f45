"""What a command runs besides itself: wrappers that change nothing, and what holds for all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wrapping import cases, command, inside

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import NETWORK, SECRET, UNKNOWN, Data
from agent_hooks_guards.programs.inner import inner

CASES = r"""
nice -n 5 rm x => rm x
nice -5 rm x => rm x
timeout -k 5 10 rm x => rm x
nice rm x => rm x
nice -n -5 rm x => rm x
nice --adjustment=5 rm x => rm x
ionice -c3 rm x => rm x
nohup rm x => rm x
setsid -w rm x => rm x
stdbuf -oL rm x => rm x
stdbuf -o L rm x => rm x
time -p rm x => rm x
time -f %e -o f rm x => rm x
timeout --signal=KILL 5s rm x => rm x
timeout 5 sh -c 'rm x' => sh -c 'rm x'
timeout --foreground 5 rm x => rm x
chronic rm x => rm x
strace -f -e trace=file -o f rm x => rm x
ltrace -o f rm x => rm x
valgrind --leak-check=full rm x => rm x
catchsegv rm x => rm x
proxychains4 -q rm x => rm x
torsocks rm x => rm x
sshpass -p pw ssh h rm x => ssh h rm x
firejail --net=none rm x => rm x
faketime '2020-01-01' rm x => rm x
caffeinate -i rm x => rm x
numactl -N 0 rm x => rm x
prlimit --nproc=5 rm x => rm x
cpulimit -l 50 -- rm x => rm x
unbuffer -p rm x => rm x
xvfb-run -a rm x => rm x
fakeroot -- rm x => rm x
dbus-run-session -- rm x => rm x
setpriv --reuid=1000 --clear-groups rm x => rm x
chpst -u nobody rm x => rm x
ionice -p 12 => nothing
setlock f rm x => rm x
env-cmd -f .env rm x => rm x
sudoedit f => nothing
printenv => nothing
ssh-keygen -t rsa => nothing
git-reset --hard => git reset --hard
/usr/lib/git-core/git-clean -fdx => git clean -fdx
ls -la => nothing
rm -rf / => nothing
echo 'rm x' => nothing
"""


@pytest.mark.parametrize(("text", "expected"), cases(CASES))
def test_the_words_behind_a_prefix_and_nothing_for_other_programs(text, expected):
    assert inside(text) == expected


def labelled(words, at, label):
    return Command(words[0], words, {at: frozenset((label,))})


def test_words_of_the_inner_command_keep_their_labels():
    (found,) = inner(labelled(["sudo", "-u", "x", "rm", "f"], 4, SECRET))
    assert found.argv == ["rm", "f"]
    assert found.labels == {1: {SECRET}}
    assert found.label == "sudo"


def test_a_code_keeps_where_it_comes_from():
    (found,) = inner(labelled(["bash", "-c", "x"], 2, NETWORK))
    assert found.code == Data("x", frozenset((NETWORK,)))
    (found,) = inner(labelled(["eval", "a", "b"], 2, NETWORK))
    assert found.code == Data("a b", frozenset((NETWORK,)))


def test_items_that_xargs_appends_keep_where_they_come_from():
    outer = Command("xargs", ["xargs", "rm", "-rf"], stdin=Data("a b", frozenset((NETWORK,))))
    (found,) = inner(outer)
    assert found.argv == ["rm", "-rf", "a", "b"]
    assert found.labels == {2: frozenset((NETWORK,)), 3: frozenset((NETWORK,))}


def test_more_items_than_are_looked_at_end_in_one_that_may_be_anything():
    outer = Command("xargs", ["xargs", "-n1", "rm"], stdin=Data(" ".join(map(str, range(1000)))))
    found = inner(outer)
    assert len(found) == 17
    assert found[-1].argv == ["rm", UNKNOWN]


def test_a_program_that_is_called_by_another_name_is_the_same():
    assert inside("gsudo rm x") == "nothing"
    assert inside("SUDO.EXE rm x") == "[root] rm x"
    assert inside("/usr/bin/python3.12 -c x") == "python{x} ['-c']"
    assert inside("gxargs -a f rm") == "rm '…'"


def test_numbers_of_runs_of_parallel_are_bounded():
    items = " ".join(f"i{at}" for at in range(500))
    assert len(inner(command(f"parallel rm ::: {items}"))) == 17


ODD_WORDS = [
    *r"- -- -c -e -x {} ; + -I -n1 ::: :::: exec run a=b -S -m -o ProxyCommand=x pdb timeit commands=[ !x @x".split(),
    *r"ssh -f -t alias.x=!y -v/:/x send-keys stuff \; %pipe% --bind ' \ -z shell $( ${ --eval env +! ext::".split(),
    *r"CMD BATCH artisan tinker --execute 1 eval --x= =".split(),
    *("", '"', UNKNOWN, f"-{UNKNOWN}"),
]
PROGRAMS = sorted({path.partition(" ")[0] for path in declarations().entries})
WORDS = st.one_of(
    st.sampled_from(ODD_WORDS),
    st.text(max_size=8),
)


@settings(max_examples=300)
@given(st.sampled_from(PROGRAMS), st.lists(WORDS, max_size=8), st.none() | st.text(max_size=30))
def test_any_words_can_be_asked_about(program, words, stdin):
    argv = [program, *words]
    data = None if stdin is None else Data(stdin)
    for each in inner(Command(program, argv, stdin=data, cwd="/work")):
        assert each.argv or each.language


def test_a_very_long_command_is_bounded():
    assert len(inner(Command("find", ["find", *(["/x"] * 5000), "-exec", "rm", "{}", ";"]))) == 16
    assert inner(Command("sudo", ["sudo", *(["-E"] * 50_000), "rm"]))[0].argv == ["rm"]
    assert len(inner(Command("xargs", ["xargs", "rm"], stdin=Data("a " * 200_000)))[0].argv or []) < 300


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retry sh -c 'rm x'", "sh -c 'rm x'"),
        ("nothing-known -n 3 -- /bin/bash -lc 'rm x'", "/bin/bash -lc 'rm x'"),
        ("echo sh -c 'rm x'", "nothing"),
        ("type sh -c 'rm x'", "nothing"),
        ("nothing-known sh", "nothing"),
        ("nothing-known sh --abc x", "nothing"),
    ],
)
def test_a_shell_with_a_text_runs_behind_a_program_that_nothing_is_known_of(text, expected):
    assert inside(text) == expected
